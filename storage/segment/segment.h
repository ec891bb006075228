/* segment: the file of an immutable run: pages with checksums, a directory of partitions, a footer.
 *
 * A file is written under a temporary name, synced and renamed, and its folder is synced; the
 * manifest makes it live.  docs/FORMATS.md "Segment" has the layout.
 *
 * An open segment does not change, and threads share it. */
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
    SEGMENT_KEY_MAX = 65535,           /* bytes of a partition key */
    SEGMENT_PAGE_MAX = 1 << 30,        /* bytes of an encoded page */
    SEGMENT_EXTRA_MAX = 1 << 28        /* bytes of the extra section */
};

void segment_path(uint64_t segment_id, char path[64]);         /* "segments/00000000000000a1.seg" */

/* ---- writing, on a background lane: segment_writer.c ---- */

struct segment_writer;

/* Begin a segment with the id, table, kind, frames and schema version of `info`.  The folder
 * segments/ must exist; a temporary file that a crash left is replaced. */
must_check int segment_writer_open(struct world *world, const struct segment_info *info,
                                   struct segment_writer **writer_out, struct error *err);
/* Add a page; copies.  If the page's partition has several pages, `first` is the page's label: the
 * position of its first row or bound, in the form of the segment's kind.  Otherwise `first` is
 * empty, and also for the partition's first page in a row segment. */
must_check int segment_writer_page(struct segment_writer *writer, struct bytes encoded,
                                   struct bytes first, struct error *err);
/* Pages are numbered from 0, as they are added. */
uint32_t segment_writer_page_next(const struct segment_writer *writer);
/* Add a partition's directory entry, in (token, key) order; copies. */
must_check int segment_writer_partition(struct segment_writer *writer,
                                        const struct segment_partition *partition,
                                        struct error *err);
/* Keep `extra`, at most SEGMENT_EXTRA_MAX bytes that belong to the whole segment.  They stay in
 * memory while the segment is open.  Call this at most once; copies. */
must_check int segment_writer_extra(struct segment_writer *writer, struct bytes extra,
                                    struct error *err);
/* The segment keeps the newest of these write timestamps. */
void segment_writer_timestamp(struct segment_writer *writer, int64_t timestamp_us);
/* Write the directory, the other sections and the footer, sync and rename the file, and sync the
 * folder.  *info_out gets the info for the manifest.  The segment is then durable, but not yet
 * live. */
must_check int segment_writer_finish(struct segment_writer *writer, struct segment_info *info_out,
                                     struct error *err);
/* Whether no partition was added; *info_out then has 0 rows. */
bool segment_writer_is_empty(const struct segment_writer *writer, struct segment_info *info_out);
/* Free the writer, and remove the temporary file if there is one. */
void segment_writer_close(struct segment_writer *writer);

/* ---- reading, any thread: segment.c ---- */

struct segment;

/* Open a segment, and check all of it except its pages and the zeros before the footer.
 * ERROR_CORRUPT, ERROR_NEWER_FORMAT; every error names the file.  Rows are counted by the day in
 * their partition key; `days_of` is their table, or NULL: they are not counted.  Readers leave
 * spares in the pool `readers`, of which the segment holds a reference. */
must_check int segment_open(struct world *world, const struct segment_info *info,
                            const struct table *days_of, struct reader_pool *readers,
                            struct segment **segment_out, struct error *err);
/* Check that the file exists, and that its header and footer agree with `info`. */
must_check int segment_probe(struct world *world, const struct segment_info *info,
                             struct error *err);
/* Check that the footer of a damaged segment is whole and agrees with `info`, so that its checksums
 * can be used. */
must_check int segment_footer_check(struct world *world, const struct segment_info *info,
                                    struct error *err);
/* Do segment_footer_check, and compare the footer with that of `other`.  *agrees_out: by the
 * checksums, `other` has the damaged segment's bytes, except for the id and the schema version. */
must_check int segment_agrees(struct world *world, const struct segment_info *info,
                              const struct segment *other, bool *agrees_out, struct error *err);
struct segment *segment_ref(struct segment *segment);            /* thread safe */
void segment_unref(struct segment *segment);
/* The file is removed when the last reference is released. */
void segment_remove_at_close(struct segment *segment);

/* The segment's rows by day; empty if they were not counted. */
const struct segment_days *segment_days(const struct segment *segment);

const struct segment_info *segment_info(const struct segment *segment);
bool segment_is(const struct segment *segment, uint32_t table_id, enum segment_kind kind);
/* False: somebody has removed the file, and its data is lost when the segment is closed. */
bool segment_is_linked(const struct segment *segment);
uint32_t segment_partition_count(const struct segment *segment);
size_t segment_bytes(const struct segment *segment);
/* False: the segment has no partition of that token.  True: it nearly always has one. */
bool segment_may_have(const struct segment *segment, int64_t token);
/* *partition_out gets no key and no stats.  False: the segment does not have the partition. */
bool segment_find(struct segment *segment, int64_t token, struct bytes key,
                  struct segment_partition *partition_out);
bool segment_has(struct segment *segment, int64_t token, struct bytes key);
/* The caller alone uses the cursor (segment_directory.h) until it gives the cursor back.  Giving
 * NULL is fine. */
struct segment_cursor *segment_cursor_take(struct segment *segment);
void segment_cursor_give(struct segment *segment, struct segment_cursor *cursor);
uint32_t segment_page_count(const struct segment *segment);
struct bytes segment_page_first(const struct segment *segment, uint32_t page);
/* The bytes that segment_writer_extra got, or none; valid as long as the segment. */
struct bytes segment_extra(const struct segment *segment);
struct reader_pool *segment_readers(const struct segment *segment);
/* The segment's place in the pool for the scratch of a row stream, or for the dictionaries of a
 * columnar segment. */
struct reader_spare **segment_scratch(struct segment *segment);
/* The place for an expanded or decoded page; several pages may share it. */
struct reader_spare **segment_page_place(struct segment *segment, uint32_t page);
/* How many pages a thread that must not wait may still read.  Such a thread reads only pages that
 * are in the system's page cache. */
struct segment_read_budget {
    uint32_t pages_left;
};
/* Whether one more page may be read; if so, it counts as read. */
bool segment_read_budget_take(struct segment_read_budget *read_budget);
/* Read a page into `page`, which is cleared first, and check it: ERROR_CORRUPT.  `read_budget`
 * NULL: the thread may wait for the disk.  Else the result is -EAGAIN, without `err`, if the budget
 * is used up or the page is not in the system's page cache. */
must_check int segment_read_page(struct segment *segment, uint32_t page_index,
                                 struct segment_read_budget *read_budget, struct buffer *page,
                                 struct error *err);
/* Whether a page could not be read, or was damaged, since the segment was opened.  Any thread. */
bool segment_has_failed_read(const struct segment *segment);
must_check int segment_check_pages(struct segment *segment, struct error *err);
/* Check that the bytes that fill the last block before the footer are zeros: ERROR_CORRUPT.  A disk
 * that changed them may have changed others. */
must_check int segment_check_zeros(struct segment *segment, struct error *err);
#endif
