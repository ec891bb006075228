/* row_segment: packed rows in pages: how a stream becomes a row segment and is read back.
 *
 * Pages have about 8 KiB before they are compressed by zstd.  Small partitions share a page, and a
 * large one has pages of its own.  Each page of a large partition, except the first, is labelled
 * with the position of the page's first item, so that a slice reads only the pages it needs.
 * docs/FORMATS.md "Narrow page" has the layout. */
#ifndef DAYBOOK_STORAGE_SEGMENT_ROW_SEGMENT_H
#define DAYBOOK_STORAGE_SEGMENT_ROW_SEGMENT_H

#include "storage/cell/stream.h"
#include "storage/segment/segment.h"

struct row_segment_writer;

must_check int row_segment_writer_open(struct world *world, const struct segment_info *info,
                                       struct row_segment_writer **writer_out, struct error *err);
/* Write one partition: its deletion and all items of `stream`, which the caller closes.  Partitions
 * must be written in (token, key) order; a partition without items and deletion is left out. */
must_check int row_segment_writer_partition(struct row_segment_writer *writer, int64_t token,
                                            struct bytes key, struct stream *stream,
                                            struct error *err);
/* As segment_writer_finish.  If nothing was written, there is no file, and `info_out->rows` is 0.
 * Rows, bounds of range deletions and partition deletions all count as rows. */
must_check int row_segment_writer_finish(struct row_segment_writer *writer,
                                         struct segment_info *info_out, struct error *err);
void row_segment_writer_close(struct row_segment_writer *writer);

/* False: by the segment's span (row_span.h) no partition has anything in the slice. */
bool row_segment_may_meet(const struct segment *segment, const struct table *table,
                          const struct slice *slice);

/* NULL in *stream_out: the segment has nothing of the partition.  The stream reads pages as it is
 * pulled, on the calling thread.  It holds a reference of the segment, and copies what `slice`
 * points to. */
must_check int row_segment_stream(struct segment *segment, const struct table *table, int64_t token,
                                  struct bytes key, const struct slice *slice,
                                  struct stream **stream_out, struct error *err);
/* From this call on the stream reads only pages that `read_budget` allows (segment.h), and ends
 * with -EAGAIN at any other page.  The budget must outlive the stream; NULL: no limit. */
void row_segment_stream_limit(struct stream *stream, struct segment_read_budget *read_budget);
#endif
