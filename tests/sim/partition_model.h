/* partition_model: random histories of one partition, and what a reader must see, by brute force.
 *
 * The model keeps the list of everything that was written and computes each cell by looking at all
 * of it; it shares nothing with the merging code but the order of the clustering columns.  Every
 * write has a timestamp of its own, so that no rule about ties is needed. */
#ifndef DAYBOOK_TESTS_SIM_PARTITION_MODEL_H
#define DAYBOOK_TESTS_SIM_PARTITION_MODEL_H

#include "base/arena.h"
#include "storage/cell/mutation.h"
#include "storage/cell/stream.h"

enum { MODEL_TABLE = 900, MODEL_COUNTER_TABLE = 901, MODEL_PLAIN_TABLE = 902 };

enum model_column {
    MODEL_PK = 1, MODEL_C1, MODEL_C2, MODEL_S, MODEL_A, MODEL_B, MODEL_M
};

enum model_kind {
    MODEL_INSERT, MODEL_UPDATE, MODEL_DELETE_CELL, MODEL_DELETE_ROW, MODEL_DELETE_RANGE,
    MODEL_DELETE_PARTITION, MODEL_UPDATE_STATIC, MODEL_PUT_MAP, MODEL_CLEAR_MAP, MODEL_KINDS
};

struct model_write {
    enum model_kind kind;
    uint64_t frame;
    int64_t timestamp_us;
    bool server_timestamp;         /* written as TIMESTAMP_SERVER */
    int c1, c2;
    int value;
    struct slice range;
};

/* Keyspace k with t (pk text, c1 int, c2 text, s text static, a int, b text, m map<text, int>,
 * c2 descending), counters (pk text, c1 int, clicks, views, total static) and plain (pk text, a
 * int).  The columns of t have the ids above. */
struct schema *model_schema(void);
struct bytes model_key(void);
int64_t model_token(void);

uint64_t model_random(uint64_t *state);
struct slice model_slice(uint64_t *random, struct arena *arena);

/* `count` writes in frames 1, 2, ...; timestamps shuffled within their neighbourhood. */
void model_history(uint64_t *random, struct model_write *writes, size_t count,
                   struct arena *arena);
void model_mutation(const struct model_write *write, struct arena *arena,
                    struct mutation *mutation_out);

/* The live rows that the writes up to `frame` leave within `slice`, as text. */
void model_print(const struct model_write *writes, size_t count, uint64_t frame,
                 const struct slice *slice, struct buffer *text);
/* The same from a stream (closed): its live rows. */
void model_print_stream(struct stream *stream, struct buffer *text);
/* Everything a stream (closed) yields, bounds and deletions too; fails the test unless it is in
 * order, within the slice, and its bounds pair up. */
void model_print_raw(struct stream *stream, const struct slice *slice, struct buffer *text);
#endif
