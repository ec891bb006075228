/* batch_group: numbered batches of one producer, one behind the other, whose rows are one block.
 *
 * What is done once a reseller's day, and once a batch of the store's, is done once for all of
 * them.  Each keeps its number, its hash and its answer. */
#ifndef DAYBOOK_INGEST_PARSE_BATCH_GROUP_H
#define DAYBOOK_INGEST_PARSE_BATCH_GROUP_H

#include "base/hash128.h"
#include "ingest/parse/row_builder.h"

enum {
    BATCH_GROUP_MAX = 16,              /* batches; fewer than PRODUCER_WINDOW */
    BATCH_GROUP_ROWS_MAX = 4096,       /* some 0.6 ms of the engine thread, */
    BATCH_GROUP_ROWS_ASKED = 2048      /* and half of it while there are questions, which wait */
};

struct batch_group_member {
    uint64_t sequence;
    uint64_t lines;                    /* or rows, as announced */
    uint64_t bytes;                    /* as sent */
    struct hash128 hash;
    uint32_t rows_end, rejects_end;    /* of the part: its own are before these, and behind the
                                        * batch's before it; lines count from 1 in each batch */
};

struct batch_group {
    struct row_part *part;             /* owned; its block is finished */
    size_t size;                       /* of the input that it is made of, */
    uint64_t lines;                    /* and what that adds to the connection's lines */
    size_t strings_bytes;              /* what the dictionary takes after the STRINGS frames in
                                        * it; 0: there are none */
    uint32_t count;
    struct batch_group_member batches[BATCH_GROUP_MAX];
};

/* Whether a batch may be the group's next, whose rows are in `builder`; of more than one batch the
 * group has at most `rows_max` rows. */
bool batch_group_admits(const struct batch_group *group, const struct row_builder *builder,
                        uint32_t rows_max, uint64_t sequence, uint64_t lines);
/* The batch's rows are in the builder, and its number and lines in batches[count]; `hash` is of its
 * content, `bytes` as it was sent. */
void batch_group_add(struct batch_group *group, const struct row_builder *builder,
                     const struct hash128_stream *hash, size_t bytes);

/* The rejects of one batch: a view of the part's. */
struct reject_list batch_group_rejects(const struct batch_group *group, uint32_t index);
/* Where its rows begin in the block, and how many there are. */
uint32_t batch_group_rows(const struct batch_group *group, uint32_t index, uint32_t *first_out);
#endif
