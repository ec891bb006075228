/* segment_directory: which partitions a segment has, and in which pages; kept encoded in memory.
 *
 * With 100,000 resellers or ten years of days a segment has a million partitions of a few rows, so
 * that nearly all memory of an open segment is for its partitions.  Therefore blocks of partitions
 * stay encoded (about 10 bytes a partition).  A partition is searched for in an array of the upper
 * halves of all tokens (4 bytes a partition).  A block is decoded only when the half of one of its
 * tokens agrees, and then the block nearly always has the partition.  To decode a block of a few
 * hundred entries takes about 10 us.
 *
 * An open directory does not change and is shared between threads.  A cursor holds a few decoded
 * blocks and serves one thread at a time. */
#ifndef DAYBOOK_STORAGE_SEGMENT_SEGMENT_DIRECTORY_H
#define DAYBOOK_STORAGE_SEGMENT_SEGMENT_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "storage/cell/partition_index.h"
#include "storage/cell/row.h"
#include "storage/cell/stats.h"

/* One partition in a segment. */
struct segment_partition {
    int64_t token;
    struct bytes key;
    uint64_t rows;
    uint32_t page_first;               /* the page in which its rows begin */
    uint32_t page_count;               /* how many pages, page_first included, have rows of it */
    uint32_t entry;                    /* its place in page_first, which small partitions share */
    struct deletion deletion;          /* of the whole partition; TIMESTAMP_NONE: none */
    const struct partition_stats *stats;   /* a partition of a row segment has none: a writer then
                                            * gets NULL, and a cursor gives stats of zero rows.
                                            * segment_find always gives NULL */
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

/* Open a directory: decode and check all of its section `content`, whose checksum was checked
 * before.  `format` is the format of the segment (segment_format.h).  The directory takes over the
 * bytes and leaves `content` empty.  ERROR_CORRUPT unless it has as many partitions and rows as
 * `info` says, and names only pages below `page_count`.  Its rows are added to `days`, by the keys
 * of table `days_of` (NULL: they are not).  Blocks are decoded with a workspace of `readers`. */
must_check int segment_directory_open(const struct segment_info *info, uint32_t format,
                                      uint32_t page_count, struct buffer *content,
                                      const struct table *days_of, struct segment_days *days,
                                      struct reader_pool *readers,
                                      struct segment_directory **directory_out,
                                      struct error *err);
void segment_directory_free(struct segment_directory *directory);      /* NULL is fine */
uint32_t segment_directory_count(const struct segment_directory *directory);
size_t segment_directory_bytes(const struct segment_directory *directory);     /* of memory */
/* False: the directory has no partition of that token.  True: it nearly always has one. */
bool segment_directory_may_have(const struct segment_directory *directory, int64_t token);

/* segment_directory_cursor_take takes the cursor that lies in `place` of the pool (reader_pool.h),
 * with the blocks that it has decoded, or makes one; segment_directory_cursor_give leaves the
 * cursor in the place for the next reader (NULL is fine).  The cursor uses workspaces of the pool.
 * The directory and the pool must outlive the cursor. */
struct segment_cursor *segment_directory_cursor_take(const struct segment_directory *directory,
                                                     struct reader_pool *readers,
                                                     struct reader_spare **place);
void segment_directory_cursor_give(struct segment_cursor *cursor, struct reader_spare **place);

/* A partition by its index, in (token, key) order.  It is valid until the cursor's next use. */
const struct segment_partition *segment_directory_at(struct segment_cursor *cursor, uint32_t index);
/* The index of the first partition at or after (token, key); the count if there is none.  `key`
 * must not point to bytes of a partition that the same cursor gave. */
uint32_t segment_directory_seek(struct segment_cursor *cursor, int64_t token, struct bytes key);
/* The partition; NULL if the directory does not have it. */
const struct segment_partition *segment_directory_find(struct segment_cursor *cursor, int64_t token,
                                                       struct bytes key);
#endif
