/* segment: the file of an immutable run: pages with checksums, a directory of partitions, a footer.
 *
 * This module does not depend on what is in a page: columnar_page.h and row_page.h have that.  A
 * file is written whole under a temporary name and synced, it is renamed, and the directory is
 * synced; the manifest makes it live.  Layout: FORMATS.md "Segment".
 *
 * An open segment does not change and is shared between threads.  Its directory (keys, tokens,
 * stats) is in memory, encoded (segment_directory.h); pages are read when they are needed, on any
 * lane. */
#ifndef DAYBOOK_STORAGE_SEGMENT_SEGMENT_H
#define DAYBOOK_STORAGE_SEGMENT_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/world/world.h"
#include "storage/cell/row.h"
#include "storage/cell/stats.h"
#include "storage/segment/reader_pool.h"
#include "storage/segment/segment_days.h"
#include "storage/segment/segment_directory.h"
#include "storage/segment/segment_info.h"

enum {
    SEGMENT_KEY_MAX = 65535,           /* bytes of a partition key, as in Cassandra */
    SEGMENT_PAGE_MAX = 1 << 30,        /* bytes of an encoded page */
    SEGMENT_EXTRA_MAX = 1 << 28
};

void segment_path(uint64_t segment_id, char path[64]);         /* "segments/00000000000000a1.seg" */

/* ---- writing, on a background lane: segment_writer.c ---- */

struct segment_writer;

/* Begin a segment with the id, table, kind, frames and schema version of `info`.  The directory
 * segments/ must be there; what a crash left under the temporary name is replaced. */
must_check int segment_writer_open(struct world *world, const struct segment_info *info,
                                   struct segment_writer **writer_out, struct error *err);
/* Add a page; copies.  `first` labels a page of a partition of several pages, so that a reader can
 * search for the page of a row: it holds the packed clustering of the page's first row, in a form
 * that depends on the segment's kind.  For other pages it is empty. */
must_check int segment_writer_page(struct segment_writer *writer, struct bytes encoded,
                                   struct bytes first, struct error *err);
/* The number that the next page will have: pages are numbered from 0, as they are added. */
uint32_t segment_writer_page_next(const struct segment_writer *writer);
/* Add a partition's directory entry, in (token, key) order; copies. */
must_check int segment_writer_partition(struct segment_writer *writer,
                                        const struct segment_partition *partition,
                                        struct error *err);
/* Keep `extra`, at most SEGMENT_EXTRA_MAX bytes that belong to the whole segment, such as the index
 * of its dictionaries, in a section with a checksum, which is in memory while the segment is open.
 * At most once; copies. */
must_check int segment_writer_extra(struct segment_writer *writer, struct bytes extra,
                                    struct error *err);
/* Take the write timestamp of something in the segment into account. */
void segment_writer_timestamp(struct segment_writer *writer, int64_t timestamp_us);
/* Write directory and footer, sync, rename, sync the directory.  *info_out gets what the manifest
 * is to record.  The segment is durable then, and not live yet. */
must_check int segment_writer_finish(struct segment_writer *writer, struct segment_info *info_out,
                                     struct error *err);
/* Free; removes the temporary file unless finish succeeded. */
void segment_writer_close(struct segment_writer *writer);

/* ---- reading, any thread: segment.c ---- */

struct segment;

/* ERROR_CORRUPT names the file and offset.  The segment's rows are counted by day, by the keys of
 * its table `days_of`; NULL: they are not counted.  Its readers leave what the next ones can use in
 * `readers`, of which it takes a reference. */
must_check int segment_open(struct world *world, const struct segment_info *info,
                            const struct table *days_of, struct reader_pool *readers,
                            struct segment **segment_out, struct error *err);
/* Check that the file is there and that its header and footer agree with `info`. */
must_check int segment_probe(struct world *world, const struct segment_info *info,
                             struct error *err);
/* Check that the footer of a damaged segment is whole and agrees with `info`: then its checksums
 * say what the rest of the file was. */
must_check int segment_footer_check(struct world *world, const struct segment_info *info,
                                    struct error *err);
/* The same; and in *agrees_out whether `other` has the bytes that the segment had, by the checksums
 * in both footers, but for another id and schema version in header and footer. */
must_check int segment_agrees(struct world *world, const struct segment_info *info,
                              const struct segment *other, bool *agrees_out, struct error *err);
struct segment *segment_ref(struct segment *segment);            /* thread safe */
void segment_unref(struct segment *segment);                     /* closes at the last */
/* Remove the file when the last reference is given up, as a merge has replaced the segment. */
void segment_remove_at_close(struct segment *segment);

/* None where rows were not counted by day. */
const struct segment_days *segment_days(const struct segment *segment);

const struct segment_info *segment_info(const struct segment *segment);
bool segment_is(const struct segment *segment, uint32_t table_id, enum segment_kind kind);
/* Whether its file still has a name. */
bool segment_is_linked(const struct segment *segment);
uint32_t segment_partition_count(const struct segment *segment);
size_t segment_bytes(const struct segment *segment);             /* of memory */
/* False: the segment has no partition of that token.  True: it nearly always has one. */
bool segment_may_have(const struct segment *segment, int64_t token);
/* Where the partition is, without its key and stats.  False: the segment has nothing of it. */
bool segment_find(struct segment *segment, int64_t token, struct bytes key,
                  struct segment_partition *partition_out);
bool segment_has(struct segment *segment, int64_t token, struct bytes key);
/* A cursor (segment_directory.h), for the caller alone until it is given back.  One cursor is kept,
 * with the blocks that it has decoded, as long as the pool has room.  To give NULL is fine. */
struct segment_cursor *segment_cursor_take(struct segment *segment);
void segment_cursor_give(struct segment *segment, struct segment_cursor *cursor);
uint32_t segment_page_count(const struct segment *segment);
struct bytes segment_page_first(const struct segment *segment, uint32_t page);
/* What segment_writer_extra was given, or empty.  Valid as long as the segment. */
struct bytes segment_extra(const struct segment *segment);
/* The pool in which its readers leave what the next ones can use, and from which they borrow
 * workspaces. */
struct reader_pool *segment_readers(const struct segment *segment);
/* The segment's place in the pool for the scratch of a row stream. */
struct reader_spare **segment_scratch(struct segment *segment);
/* The place for an expanded page of a row segment; several pages may have the same. */
struct reader_spare **segment_page_place(struct segment *segment, uint32_t page);
/* How many pages a thread that must not wait may still read, all of which must be in the system's
 * page cache. */
struct segment_read_budget {
    uint32_t pages_left;
};
/* Whether one more page may be read, which then counts as read. */
bool segment_read_budget_take(struct segment_read_budget *read_budget);
/* Read a page into `page`, which is cleared first, and check it: ERROR_CORRUPT.  Where
 * `read_budget` (NULL: there is none) does not allow to read it, the result is -EAGAIN, and `err`
 * is not set. */
must_check int segment_read_page(struct segment *segment, uint32_t page_index,
                                 struct segment_read_budget *read_budget, struct buffer *page,
                                 struct error *err);
/* Whether a page could not be read, or was damaged, since the segment was opened.  Any thread. */
bool segment_has_failed_read(const struct segment *segment);
/* Read and check all pages. */
must_check int segment_check_pages(struct segment *segment, struct error *err);
/* Check that the bytes before the footer which fill its block are zeros: ERROR_CORRUPT.  Nothing
 * needs them, but a disk that changed them may change other bytes. */
must_check int segment_check_zeros(struct segment *segment, struct error *err);
#endif
