/* segment: the file of an immutable run: pages with checksums, a directory of partitions, a footer.
 *
 * This module does not depend on the contents of pages, which columnar_page.h and row_page.h
 * describe.  A file is written whole under a temporary name and synced, it is renamed, and the
 * folder is synced; the manifest makes it live.  Layout: FORMATS.md "Segment".
 *
 * An open segment does not change and is shared between threads.  Its directory (keys, tokens,
 * stats) is in memory, encoded (segment_directory.h); pages are read when they are needed, on any
 * thread. */
#ifndef DAYBOOK_STORAGE_SEGMENT_SEGMENT_H
#define DAYBOOK_STORAGE_SEGMENT_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/world/world.h"
#include "storage/segment/reader_pool.h"
#include "storage/segment/segment_days.h"
#include "storage/segment/segment_directory.h"
#include "storage/segment/segment_info.h"

enum {
    SEGMENT_KEY_MAX = 65535,           /* bytes of a partition key, as in Cassandra */
    SEGMENT_PAGE_MAX = 1 << 30,        /* bytes of an encoded page */
    SEGMENT_EXTRA_MAX = 1 << 28        /* bytes of the extra section */
};

void segment_path(uint64_t segment_id, char path[64]);         /* "segments/00000000000000a1.seg" */

/* ---- writing, on a background lane: segment_writer.c ---- */

struct segment_writer;

/* Begin a segment with the id, table, kind, frames and schema version of `info`.  The folder
 * segments/ must exist; a file that a crash left under the temporary name is replaced. */
must_check int segment_writer_open(struct world *world, const struct segment_info *info,
                                   struct segment_writer **writer_out, struct error *err);
/* Add a page; copies.  `first` labels a page of a partition of several pages, so that a reader can
 * search for the page of a row: it holds the position of the page's first row or bound, in a form
 * that depends on the segment's kind.  For other pages, and in a row segment for the partition's
 * first page, it is empty. */
must_check int segment_writer_page(struct segment_writer *writer, struct bytes encoded,
                                   struct bytes first, struct error *err);
/* The number that the next page will have: pages are numbered from 0, as they are added. */
uint32_t segment_writer_page_next(const struct segment_writer *writer);
/* Add a partition's directory entry, in (token, key) order; copies. */
must_check int segment_writer_partition(struct segment_writer *writer,
                                        const struct segment_partition *partition,
                                        struct error *err);
/* Keep `extra`, at most SEGMENT_EXTRA_MAX bytes that belong to the whole segment, such as the index
 * of its dictionaries, in a section with a checksum.  A reader has the section in memory while the
 * segment is open.  At most once; copies. */
must_check int segment_writer_extra(struct segment_writer *writer, struct bytes extra,
                                    struct error *err);
/* Make `timestamp_us` the newest write timestamp of the segment if it is newer than those
 * before. */
void segment_writer_timestamp(struct segment_writer *writer, int64_t timestamp_us);
/* Write the directory, the other sections and the footer, sync and rename the file, and sync the
 * folder.  *info_out gets what the manifest is to record.  The segment is then durable, but not yet
 * live. */
must_check int segment_writer_finish(struct segment_writer *writer, struct segment_info *info_out,
                                     struct error *err);
/* Whether no partition was added; *info_out then has 0 rows, for a caller that does not finish. */
bool segment_writer_is_empty(const struct segment_writer *writer, struct segment_info *info_out);
/* Free; removes the temporary file unless finish succeeded. */
void segment_writer_close(struct segment_writer *writer);

/* ---- reading, any thread: segment.c ---- */

struct segment;

/* Open a segment, and check all of it but its pages and the zeros before the footer.
 * ERROR_CORRUPT, ERROR_NEWER_FORMAT; every error names the file.  The segment's rows are counted by
 * day, by the keys of its table `days_of`; NULL: they are not counted.  The segment's readers leave
 * spares in the pool `readers`; the segment holds a reference of the pool. */
must_check int segment_open(struct world *world, const struct segment_info *info,
                            const struct table *days_of, struct reader_pool *readers,
                            struct segment **segment_out, struct error *err);
/* Check that the file is there and that its header and footer agree with `info`. */
must_check int segment_probe(struct world *world, const struct segment_info *info,
                             struct error *err);
/* Check that the footer of a damaged segment is whole and agrees with `info`: then its checksums
 * are those of the rest of the file before the damage. */
must_check int segment_footer_check(struct world *world, const struct segment_info *info,
                                    struct error *err);
/* Do segment_footer_check, and compare the footer with the footer of `other`.  *agrees_out is true
 * when, by the checksums in both footers, `other` has the bytes that the damaged segment had,
 * except for the id and the schema version in header and footer. */
must_check int segment_agrees(struct world *world, const struct segment_info *info,
                              const struct segment *other, bool *agrees_out, struct error *err);
struct segment *segment_ref(struct segment *segment);            /* thread safe */
void segment_unref(struct segment *segment);                     /* closes with the last */
/* Let the file be removed when the last reference is given up: a merge has replaced the segment. */
void segment_remove_at_close(struct segment *segment);

/* The segment's rows by day; empty if they were not counted. */
const struct segment_days *segment_days(const struct segment *segment);

const struct segment_info *segment_info(const struct segment *segment);
bool segment_is(const struct segment *segment, uint32_t table_id, enum segment_kind kind);
/* False: somebody has removed the segment's file; its data is lost when the segment is closed. */
bool segment_is_linked(const struct segment *segment);
uint32_t segment_partition_count(const struct segment *segment);
size_t segment_bytes(const struct segment *segment);             /* of memory */
/* False: the segment has no partition of that token.  True: it nearly always has one. */
bool segment_may_have(const struct segment *segment, int64_t token);
/* Find the partition's directory entry, which is given without key and stats.  False: the segment
 * does not have the partition. */
bool segment_find(struct segment *segment, int64_t token, struct bytes key,
                  struct segment_partition *partition_out);
bool segment_has(struct segment *segment, int64_t token, struct bytes key);
/* Take a cursor (segment_directory.h), which the caller alone uses until it gives the cursor back.
 * One cursor of each segment is kept, with the blocks that it has decoded, as long as the pool has
 * room.  To give NULL is fine. */
struct segment_cursor *segment_cursor_take(struct segment *segment);
void segment_cursor_give(struct segment *segment, struct segment_cursor *cursor);
uint32_t segment_page_count(const struct segment *segment);
struct bytes segment_page_first(const struct segment *segment, uint32_t page);
/* The bytes that segment_writer_extra got, or none.  They are valid as long as the segment. */
struct bytes segment_extra(const struct segment *segment);
/* The pool in which the segment's readers leave spares, and from which they borrow workspaces. */
struct reader_pool *segment_readers(const struct segment *segment);
/* The segment's place in the pool for the scratch of a row stream. */
struct reader_spare **segment_scratch(struct segment *segment);
/* The place for an expanded page of a row segment; several pages may share it. */
struct reader_spare **segment_page_place(struct segment *segment, uint32_t page);
/* How many pages a thread that must not wait may still read.  Such a thread reads only pages that
 * are in the system's page cache. */
struct segment_read_budget {
    uint32_t pages_left;
};
/* Whether one more page may be read.  If so, the page counts as read. */
bool segment_read_budget_take(struct segment_read_budget *read_budget);
/* Read a page into `page`, which is cleared first, and check it: ERROR_CORRUPT.  `read_budget`
 * NULL: the thread may wait for the disk.  Else the result is -EAGAIN, without setting `err`, when
 * the budget does not allow another page or the page cannot be read from the system's page
 * cache. */
must_check int segment_read_page(struct segment *segment, uint32_t page_index,
                                 struct segment_read_budget *read_budget, struct buffer *page,
                                 struct error *err);
/* Whether a page could not be read, or was damaged, since the segment was opened.  Any thread. */
bool segment_has_failed_read(const struct segment *segment);
/* Read and check all pages. */
must_check int segment_check_pages(struct segment *segment, struct error *err);
/* Check that the bytes that fill the last block before the footer are zeros: ERROR_CORRUPT.  No
 * reader needs these bytes, but a disk that changed them may have changed others. */
must_check int segment_check_zeros(struct segment *segment, struct error *err);
#endif
