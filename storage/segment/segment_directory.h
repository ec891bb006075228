/* segment_directory: which partitions a segment has, and in which pages; kept encoded in memory.
 *
 * Nearly all memory of an open segment is for its partitions, so blocks of partitions stay encoded.
 * A search compares upper halves of tokens, and decodes a block only where a half is equal.
 *
 * An open directory does not change, and threads share it.  A cursor holds a few decoded blocks and
 * serves one thread at a time. */
#ifndef DAYBOOK_STORAGE_SEGMENT_SEGMENT_DIRECTORY_H
#define DAYBOOK_STORAGE_SEGMENT_SEGMENT_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "storage/cell/partition_index.h"
#include "storage/cell/row.h"
#include "storage/cell/stats.h"

struct segment_partition {
    int64_t token;
    struct bytes key;
    uint64_t rows;
    uint32_t page_first;               /* the page in which the partition's rows begin */
    uint32_t page_count;               /* pages with its rows; 0: there is only a deletion */
    uint32_t entry;                    /* the index of the partition's entry in page_first */
    struct deletion deletion;          /* of the whole partition; TIMESTAMP_NONE: none */
    const struct partition_stats *stats;   /* none in a row segment: a writer gets NULL, a cursor
                                            * gives stats of zero rows. segment_find always gives
                                            * NULL */
};

/* The order of a partition against (token, key): <0, 0, >0. */
static inline int segment_directory_compare(const struct segment_partition *partition,
                                            int64_t token, struct bytes key)
{
    return partition_index_order(partition->token, partition->key, token, key);
}

struct segment_directory;
struct segment_cursor;
struct segment_info;
struct reader_pool;
struct reader_spare;
struct segment_days;
struct table;

/* Decode and check all of a directory's section `content`, whose checksum the caller has checked.
 * The directory takes over the bytes and leaves `content` empty.  ERROR_CORRUPT: a block is damaged
 * or out of order, the numbers of partitions and rows are not those of `info`, or a page at or past
 * `page_count` is named.  Rows are added to `days`, as segment_open says of `days_of`. */
must_check int segment_directory_open(const struct segment_info *info, uint32_t format,
                                      uint32_t page_count, struct buffer *content,
                                      const struct table *days_of, struct segment_days *days,
                                      struct reader_pool *readers,
                                      struct segment_directory **directory_out,
                                      struct error *err);
void segment_directory_free(struct segment_directory *directory);      /* NULL is fine */
uint32_t segment_directory_count(const struct segment_directory *directory);
size_t segment_directory_bytes(const struct segment_directory *directory);
/* False: the directory has no partition of that token.  True: it nearly always has one. */
bool segment_directory_may_have(const struct segment_directory *directory, int64_t token);

/* Take the cursor in `place` of the pool (reader_pool.h), or make one.
 * segment_directory_cursor_give puts the cursor into `place` again (NULL is fine).  The directory
 * and the pool must outlive the cursor. */
struct segment_cursor *segment_directory_cursor_take(const struct segment_directory *directory,
                                                     struct reader_pool *readers,
                                                     struct reader_spare **place);
void segment_directory_cursor_give(struct segment_cursor *cursor, struct reader_spare **place);

/* The partition of that index, in (token, key) order.  It is valid until the cursor's next use. */
const struct segment_partition *segment_directory_at(struct segment_cursor *cursor, uint32_t index);
/* The index of the first partition at or after (token, key); the count if there is none.  `key`
 * must not point to bytes of a partition that the same cursor gave. */
uint32_t segment_directory_seek(struct segment_cursor *cursor, int64_t token, struct bytes key);
/* NULL: the directory does not have the partition. */
const struct segment_partition *segment_directory_find(struct segment_cursor *cursor, int64_t token,
                                                       struct bytes key);
#endif
