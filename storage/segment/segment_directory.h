/* segment_directory: which partitions a segment has, and where; in memory as it is on the disk.
 *
 * With 100,000 resellers or ten years of days a segment has a million partitions of a few rows, so
 * that an open segment takes the memory that its partitions take.  Therefore blocks of partitions
 * stay as they were encoded (10 bytes a partition), beside an array of the upper halves of all
 * tokens (4 bytes a partition), in which a partition is searched for.  A block is decoded only
 * where a half agrees, and then it nearly always has the partition; that takes 10 us for some
 * hundred entries.
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
    const struct partition_stats *stats;   /* those of row segments are of zero rows.  Never NULL
                                            * when read; NULL stands for none when written */
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

/* Open the directory whose section, of the given format (segment_format.h), is `content`: decode
 * and check all of it.  Its checksum was checked before.  Takes the bytes and leaves `content`
 * empty.  ERROR_CORRUPT unless it has the partitions and rows of `info` and names only pages below
 * `page_count`.  Its rows are added to `days`, by the keys of `days_of` (NULL: they are not);
 * decodes with a workspace of `readers`. */
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

/* A cursor: the one that lies in `place` of the pool (reader_pool.h), with the blocks that it has
 * decoded, or a new one; and leave it there for the next reader.  The directory and the pool, whose
 * workspaces decode, outlive their cursors. */
struct segment_cursor *segment_directory_cursor_take(const struct segment_directory *directory,
                                                     struct reader_pool *readers,
                                                     struct reader_spare **place);
void segment_directory_cursor_give(struct segment_cursor *cursor, struct reader_spare **place);

/* A partition by its index, in (token, key) order.  It is valid until the cursor's next use. */
const struct segment_partition *segment_directory_at(struct segment_cursor *cursor, uint32_t index);
/* The index of the first partition at or after (token, key); the count if there is none.  `key`
 * must not point into what the same cursor gave. */
uint32_t segment_directory_seek(struct segment_cursor *cursor, int64_t token, struct bytes key);
/* The partition; NULL if the directory does not have it. */
const struct segment_partition *segment_directory_find(struct segment_cursor *cursor, int64_t token,
                                                       struct bytes key);
#endif
