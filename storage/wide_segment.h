/* wide_segment: fresh runs on disk: columns in pages, coded near their information content.
 *
 * A page holds up to 64 Ki rows of one or more partitions.  Per column it keeps streams of like
 * bytes that zstd level 1 can Huffman-code (bucketed deltas of time with raw low bits, codes ranked
 * by frequency within the partition, byte planes of amounts), because layout is everything and the
 * zstd level nothing (bench/README.md has bytes per click by column).  Layout: FORMATS.md
 * "Wide page". */
#ifndef DAYBOOK_STORAGE_WIDE_SEGMENT_H
#define DAYBOOK_STORAGE_WIDE_SEGMENT_H

#include "storage/segment.h"
#include "storage/wide_rows.h"

struct wide_segment_writer;

must_check int wide_segment_writer_open(struct world *world, const struct table *table,
                                        const struct segment_info *info,
                                        struct wide_segment_writer **writer_out,
                                        struct error *err);
/* Write one partition, in (token, key) order; its stats are worked out from the rows here. */
must_check int wide_segment_writer_partition(struct wide_segment_writer *writer, int64_t token,
                                             struct bytes key, const struct wide_rows *rows,
                                             struct error *err);
must_check int wide_segment_writer_finish(struct wide_segment_writer *writer,
                                          struct segment_info *info_out, struct error *err);
void wide_segment_writer_close(struct wide_segment_writer *writer);

/* Reads partitions of one segment; keeps the last decoded page, so reading in order decodes each
 * page once.  One per thread and job; holds a reference of the segment. */
struct wide_segment_reader;
struct wide_segment_reader *wide_segment_reader_new(struct segment *segment,
                                                    const struct table *table);
void wide_segment_reader_free(struct wide_segment_reader *reader);
/* All rows of the partition into `rows` (cleared); strings stay valid until the next call.  A
 * partition of more rows than `row_limit` gives ERROR_LIMIT (read it by slices). */
must_check int wide_segment_reader_rows(struct wide_segment_reader *reader,
                                        const struct segment_partition *partition,
                                        uint32_t row_limit, struct wide_rows *rows,
                                        struct error *err);

/* Merge neighbouring fresh runs (in frame order) into one segment; partitions that are in one input
 * only are copied through, the others merged stably.  `info`: id, table, kind, frames of the whole. */
must_check int wide_segment_merge(struct world *world, const struct table *table,
                                  struct segment **inputs, uint32_t input_count,
                                  const struct segment_info *info, struct segment_info *info_out,
                                  struct error *err);
#endif
