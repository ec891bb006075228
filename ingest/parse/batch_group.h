/* batch_group: consecutive numbered batches of one producer, whose rows are one block.
 *
 * So what is done once for each reseller's day, and once for each write batch, is done once for all
 * of them.  Each batch keeps its number, its hash and its answer. */
#ifndef DAYBOOK_INGEST_PARSE_BATCH_GROUP_H
#define DAYBOOK_INGEST_PARSE_BATCH_GROUP_H

#include "base/hash128.h"
#include "ingest/parse/row_builder.h"

enum {
    BATCH_GROUP_MAX = 16,              /* batches; fewer than PRODUCER_WINDOW */
    BATCH_GROUP_ROWS_MAX = 4096,       /* some 0.6 ms of the engine thread */
    BATCH_GROUP_ROWS_ASKED = 2048      /* half of that while there are queries, which wait */
};

struct batch_group_member {
    uint64_t sequence;
    uint64_t lines;                    /* or rows, as announced */
    uint64_t bytes;                    /* as sent */
    struct hash128 hash;
    uint32_t rows_end, rejects_end;    /* where its rows and rejects end in the part; they begin
                                        * where those of the batch before it end.  Lines of rejects
                                        * count from 1 in each batch */
};

struct batch_group {
    struct row_part *part;             /* owned; its block is finished */
    size_t size;                       /* bytes of the input that it is made of */
    uint64_t lines;                    /* that the input adds to the connection's lines */
    size_t strings_bytes;              /* of the dictionary after the group's STRINGS frames; 0: it
                                        * has none */
    uint32_t count;
    struct batch_group_member batches[BATCH_GROUP_MAX];
};

/* Whether a batch may be the next of the group, whose rows are in `builder`.  A group of more than
 * one batch has at most `rows_max` rows. */
bool batch_group_admits(const struct batch_group *group, const struct row_builder *builder,
                        uint32_t rows_max, uint64_t sequence, uint64_t lines);
/* Add the batch whose rows are in the builder, and whose number and lines in batches[count]; `hash`
 * is of its content, `bytes` is its size as sent. */
void batch_group_add(struct batch_group *group, const struct row_builder *builder,
                     const struct hash128_stream *hash, size_t bytes);

/* The rejects of one batch: a view of the part's. */
struct reject_list batch_group_rejects(const struct batch_group *group, uint32_t index);
/* Where its rows begin in the block, and how many there are. */
uint32_t batch_group_rows(const struct batch_group *group, uint32_t index, uint32_t *first_out);
#endif
