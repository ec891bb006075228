/* click_dedup: clicks that bring ids of their own, of which a repeated one is no other click.
 *
 *     rows of a batch ─▶ what is there under their ids, read as applied ─▶ each row is
 *         new         written, and counted
 *         a duplicate nothing is written: it is there, with the same amount
 *         different   refused: it is there, with another amount
 *     ─▶ rows and increments, applied if the days are as they were read; else read again
 *
 * The store cannot rank such clicks, so a row builder's block never reaches it: it is of a table
 * that exists here only, and becomes rows of the stream's when it is known which of them are new.
 * Engine thread. */
#ifndef DAYBOOK_INGEST_PARSE_CLICK_DEDUP_H
#define DAYBOOK_INGEST_PARSE_CLICK_DEDUP_H

#include "ingest/parse/reject.h"
#include "ingest/parse/stream_map.h"
#include "storage/engine/store.h"

/* The builder's table: the stream's columns under their numbers, and these. */
enum {
    CLICK_DEDUP_TABLE = 1,
    CLICK_DEDUP_RANK = 1001,           /* the last key column, which nobody fills */
    CLICK_DEDUP_CLICK_ID,              /* serialized */
    CLICK_DEDUP_LINE,                  /* its number in the batch, */
    CLICK_DEDUP_CONTENT                /* and the line, cut, should it be refused */
};

/* The schema of that table, for schema_unref. */
struct schema *click_dedup_schema(const struct ingest_stream *stream);

struct click_dedup;

/* `stream` and `store` outlive it. */
struct click_dedup *click_dedup_new(struct store *store, const struct ingest_stream *stream);
void click_dedup_free(struct click_dedup *dedup);              /* NULL is fine; nothing is read */

enum click_dedup_state {
    CLICK_DEDUP_EMPTY,
    CLICK_DEDUP_READING,
    CLICK_DEDUP_JUDGED,
    CLICK_DEDUP_FAILED
};
enum click_dedup_state click_dedup_state(const struct click_dedup *dedup);
const struct error *click_dedup_error(const struct click_dedup *dedup); /* of CLICK_DEDUP_FAILED */

/* EMPTY: find out what the block's rows are; `done` is called once, possibly at once, when it is
 * JUDGED or FAILED.  The block stays as it is until click_dedup_clear. */
void click_dedup_judge(struct click_dedup *dedup, const struct block *block,
                       void (*done)(void *context), void *context);
/* Forget what was judged: it was written, is of no use any more, or must be judged again. */
void click_dedup_clear(struct click_dedup *dedup);

/* Of what is JUDGED. */
uint64_t click_dedup_duplicates(const struct click_dedup *dedup);
uint64_t click_dedup_different(const struct click_dedup *dedup);
void click_dedup_add_rejects(const struct click_dedup *dedup, struct reject_list *rejects);
void click_dedup_add_rows(const struct click_dedup *dedup, struct write_batch *batch);
const struct store_expectation *click_dedup_expectations(const struct click_dedup *dedup,
                                                         uint32_t *count_out);
#endif
