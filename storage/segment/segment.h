/* segment: the file of an immutable run: pages with checksums, a directory of partitions, a footer.
 *
 * The container knows nothing of what is in a page: columnar_page.h and row_page.h do.  A file is
 * written whole under a temporary name, synced, renamed, the directory synced; the manifest makes
 * it live.  Written past the page cache in large pieces.  Layout: FORMATS.md "Segment".
 *
 * An open segment is frozen and shared between threads: its directory (keys, tokens, stats) is in
 * memory, compressed (segment_directory.h); pages are read on demand by any lane. */
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

/* `info`: id, table_id, kind, frames, schema_version are taken from it.  The directory segments/
 * must be there; what a crash left under the temporary name is replaced. */
must_check int segment_writer_open(struct world *world, const struct segment_info *info,
                                   struct segment_writer **writer_out, struct error *err);
/* Add a page; `first` labels it for seeking where it belongs to a partition of several pages (the
 * packed clustering of its first row, in a form of the page's own), else empty.  Copies. */
must_check int segment_writer_page(struct segment_writer *writer, struct bytes encoded,
                                   struct bytes first, struct error *err);
/* The number that the next page will have: pages are numbered from 0, as they are added. */
uint32_t segment_writer_page_next(const struct segment_writer *writer);
/* Add a partition's directory entry, in (token, key) order; copies. */
must_check int segment_writer_partition(struct segment_writer *writer,
                                        const struct segment_partition *partition,
                                        struct error *err);
/* Keep `extra` (a dictionary of the whole segment, say; at most SEGMENT_EXTRA_MAX bytes) in a
 * checked section, which stays in memory while the segment is open.  At most once; copies. */
must_check int segment_writer_extra(struct segment_writer *writer, struct bytes extra,
                                    struct error *err);
/* Note the write timestamp of something in the segment. */
void segment_writer_timestamp(struct segment_writer *writer, int64_t timestamp_us);
/* Write directory and footer, sync, rename, sync the directory.  `info_out` is what the manifest
 * records.  The segment is durable, and not yet live. */
must_check int segment_writer_finish(struct segment_writer *writer, struct segment_info *info_out,
                                     struct error *err);
/* Free; removes the temporary file unless finish succeeded. */
void segment_writer_close(struct segment_writer *writer);

/* ---- reading, any thread: segment.c ---- */

struct segment;

/* ERROR_CORRUPT names the file and offset.  Its rows are counted by day, by the keys of `days_of`,
 * its table; NULL: they are not.  What is left for readers lies in `readers`, of which it takes a
 * reference. */
must_check int segment_open(struct world *world, const struct segment_info *info,
                            const struct table *days_of, struct reader_pool *readers,
                            struct segment **segment_out, struct error *err);
/* Whether the file is there and the one that `info` says, by its header and footer. */
must_check int segment_probe(struct world *world, const struct segment_info *info,
                             struct error *err);
/* Whether the footer of a damaged segment is whole and the one that `info` says: then it tells what
 * all else in the file was. */
must_check int segment_footer_check(struct world *world, const struct segment_info *info,
                                    struct error *err);
/* The same, and whether all else in `other` is what was in it, bit by bit, by the checksums in both
 * footers: header and footer may have another id and schema version. */
must_check int segment_agrees(struct world *world, const struct segment_info *info,
                              const struct segment *other, bool *agrees_out, struct error *err);
struct segment *segment_ref(struct segment *segment);            /* thread safe */
void segment_unref(struct segment *segment);                     /* closes at the last */
/* Remove the file when the last reference goes (it was compacted away). */
void segment_remove_at_close(struct segment *segment);

/* None where rows were not counted by day. */
const struct segment_days *segment_days(const struct segment *segment);

const struct segment_info *segment_info(const struct segment *segment);
bool segment_is(const struct segment *segment, uint32_t table_id, enum segment_kind kind);
/* Whether its file still has a name. */
bool segment_is_linked(const struct segment *segment);
uint32_t segment_partition_count(const struct segment *segment);
size_t segment_bytes(const struct segment *segment);             /* of memory */
/* False: it has nothing of a partition of that token.  True: nearly always it has. */
bool segment_may_have(const struct segment *segment, int64_t token);
/* Where the partition is, without its key and stats.  False: the segment has nothing of it. */
bool segment_find(struct segment *segment, int64_t token, struct bytes key,
                  struct segment_partition *partition_out);
bool segment_has(struct segment *segment, int64_t token, struct bytes key);
/* A cursor (segment_directory.h), the caller's alone until he gives it back; one is kept, with the
 * blocks it has decoded, as long as the pool has room.  NULL is fine to give. */
struct segment_cursor *segment_cursor_take(struct segment *segment);
void segment_cursor_give(struct segment *segment, struct segment_cursor *cursor);
uint32_t segment_page_count(const struct segment *segment);
struct bytes segment_page_first(const struct segment *segment, uint32_t page);
/* What segment_writer_extra was given, or empty.  Lives as long as the segment. */
struct bytes segment_extra(const struct segment *segment);
/* Where its readers leave what they would like to find again, and borrow what they work with. */
struct reader_pool *segment_readers(const struct segment *segment);
/* The place in it for what readers of a row segment work with, */
struct reader_spare **segment_scratch(struct segment *segment);
/* and the one for the expanded page, which it may share with others. */
struct reader_spare **segment_page_place(struct segment *segment, uint32_t page);
/* How many pages a thread that must not wait may still read; none but those that are in the
 * system's memory. */
struct segment_read_budget {
    uint32_t pages_left;
};
/* Whether it may read one more, which counts. */
bool segment_read_budget_take(struct segment_read_budget *read_budget);
/* Read a page and check it; `page` is cleared first.  Also ERROR_CORRUPT; and -EAGAIN, of which
 * `err` says nothing, where `read_budget` (NULL: there is none) does not allow it. */
must_check int segment_read_page(struct segment *segment, uint32_t page_index,
                                 struct segment_read_budget *read_budget, struct buffer *page,
                                 struct error *err);
/* Whether a page could not be read, or was damaged, since the segment was opened.  Any thread. */
bool segment_has_failed_read(const struct segment *segment);
/* Read and check all of them. */
must_check int segment_check_pages(struct segment *segment, struct error *err);
/* Whether the zeros before the footer are: nothing needs them, and a disk that changed them may
 * change more.  Also ERROR_CORRUPT. */
must_check int segment_check_zeros(struct segment *segment, struct error *err);
#endif
