/* batch_group: consecutive numbered batches of one producer, whose rows are one block. */
#ifndef DAYBOOK_INGEST_PARSE_BATCH_GROUP_H
#define DAYBOOK_INGEST_PARSE_BATCH_GROUP_H

#include "base/hash128.h"
#include "ingest/parse/row_builder.h"

enum {
    BATCH_GROUP_MAX = 16,              /* batches; fewer than PRODUCER_WINDOW, so that none replaces
                                        * another one of the group */
    BATCH_GROUP_ROWS_MAX = 4096        /* rows */
};

struct batch_group_member {
    uint64_t sequence;
    uint64_t lines;                    /* the number of lines or rows that the batch announces */
    uint64_t bytes;                    /* of the batch as the client sent it */
    struct hash128 hash;
    uint32_t rows_end, rejects_end;    /* ends in the part; each batch begins where the one before
                                        * ends.  Line numbers of rejects count from 1 in each
                                        * batch */
};

struct batch_group {
    struct row_part *part;             /* owned; its block is finished */
    size_t size;                       /* bytes of input */
    uint64_t lines;
    size_t strings_bytes;              /* memory of the connection's dictionary after the group's
                                        * STRINGS frames; 0: the group has none */
    uint32_t count;
    struct batch_group_member batches[BATCH_GROUP_MAX];
};

/* Whether the batch may join the group, whose rows are in `builder`. */
bool batch_group_admits(const struct batch_group *group, const struct row_builder *builder,
                        uint64_t sequence, uint64_t lines);
/* Add a batch that the client sent as `bytes` bytes.  The caller has put the batch's rows into the
 * builder, and its number and lines into batches[count]. */
void batch_group_add(struct batch_group *group, const struct row_builder *builder,
                     const struct hash128_stream *hash, size_t bytes);

/* The rejects of batch `index`, as a view of the part's list. */
struct reject_list batch_group_rejects(const struct batch_group *group, uint32_t index);
/* The number of rows of batch `index`; *first_out is the first row's index in the block. */
uint32_t batch_group_rows(const struct batch_group *group, uint32_t index, uint32_t *first_out);
#endif
