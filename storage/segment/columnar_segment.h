/* columnar_segment: append-only runs on disk: columns in pages, coded near their information
 * content.
 *
 * A page holds up to 64 Ki rows of one or more partitions.  Per column it keeps streams of like
 * bytes that zstd level 1 can Huffman-code (bucketed deltas of time with raw low bits, codes ranked
 * by frequency within the partition, byte planes of amounts), because layout is everything and the
 * zstd level nothing (bench/results.md has bytes per click by column).  Layout: FORMATS.md
 * "Columnar page". */
#ifndef DAYBOOK_STORAGE_SEGMENT_COLUMNAR_SEGMENT_H
#define DAYBOOK_STORAGE_SEGMENT_COLUMNAR_SEGMENT_H

#include "storage/cell/columnar_rows.h"
#include "storage/segment/segment.h"

enum { COLUMNAR_SEGMENT_INPUTS_MAX = 64 };     /* of one merge */

/* ---- writing: columnar_segment_writer.c ---- */

struct columnar_segment_writer;

/* `page_rows`: rows of a page, at most; 0: 64 Ki, which is also the most. */
must_check int columnar_segment_writer_open(struct world *world, const struct table *table,
                                            const struct segment_info *info, uint32_t page_rows,
                                            struct columnar_segment_writer **writer_out,
                                            struct error *err);
/* Write one partition, in (token, key) order: begin, give the rows, end.  Its stats are worked out
 * from the rows here; one without rows is left out.  Each of these calls may leave work, of
 * milliseconds where a page is full: a thread that has to do something else meanwhile does it by
 * calls of columnar_segment_writer_step until one returns 0; else the next of these calls does it.
 * `rows` is how many are to come: small partitions keep to one page. */
must_check int columnar_segment_writer_begin(struct columnar_segment_writer *writer, int64_t token,
                                             struct bytes key, uint64_t rows, struct error *err);
/* All rows of the partition; they stay until the work that this leaves is done. */
must_check int columnar_segment_writer_rows(struct columnar_segment_writer *writer,
                                            const struct columnar_rows *rows, struct error *err);
/* Or sorted pieces of it in order, for partitions too large for memory.  Codes of the pieces are
 * numbers that columnar_segment_writer_number gave since begin; their strings are not looked at. */
must_check int columnar_segment_writer_append(struct columnar_segment_writer *writer,
                                              const struct columnar_rows *rows, struct error *err);
must_check int columnar_segment_writer_end(struct columnar_segment_writer *writer,
                                           struct error *err);
/* No more partitions come: what is in the open page is encoded by steps, too, and not by finish. */
must_check int columnar_segment_writer_complete(struct columnar_segment_writer *writer,
                                                struct error *err);
/* Do some ten microseconds of the work that is left, or of a full page a part of a column; 1: there
 * is more, 0: there is none. */
must_check int columnar_segment_writer_step(struct columnar_segment_writer *writer,
                                            struct error *err);

/* Between begin and end, when no work is left. */
uint32_t columnar_segment_writer_number(struct columnar_segment_writer *writer, uint32_t column,
                                        struct bytes string);
/* A column's strings by number (`column` counts as in columnar_rows); moves when one is added. */
const struct bytes *columnar_segment_writer_strings(const struct columnar_segment_writer *writer,
                                                    uint32_t column, uint32_t *count_out);
/* As segment_writer_finish; `info_out->rows` 0 and no file when nothing was written. */
must_check int columnar_segment_writer_finish(struct columnar_segment_writer *writer,
                                              struct segment_info *info_out, struct error *err);
void columnar_segment_writer_close(struct columnar_segment_writer *writer);

/* ---- reading: columnar_segment.c ---- */

/* Reads partitions of one segment; keeps the last decoded page, so reading in order decodes each
 * page once.  One per thread and job; holds a reference of the segment. */
struct columnar_segment_reader;
struct columnar_segment_reader *columnar_segment_reader_new(struct segment *segment,
                                                            const struct table *table);
void columnar_segment_reader_free(struct columnar_segment_reader *reader);
/* All rows of the partition into `rows` (cleared); strings stay valid until the next call.  A
 * partition of more rows than `row_limit` gives ERROR_LIMIT: read it by pieces. */
must_check int columnar_segment_reader_rows(struct columnar_segment_reader *reader,
                                            const struct segment_partition *partition,
                                            uint32_t row_limit, struct columnar_rows *rows,
                                            struct error *err);
/* The rows that page `piece` (0 .. page_count - 1) of the partition has, in the same way.
 * segment_page_first labels the pages of a large partition with their first row's clustering
 * without the rank, packed. */
must_check int columnar_segment_reader_piece(struct columnar_segment_reader *reader,
                                             const struct segment_partition *partition,
                                             uint32_t piece, struct columnar_rows *rows,
                                             struct error *err);

/* ---- merging: columnar_segment_merge.c ---- */

/* What a merge asks about each partition; any may be NULL. */
struct columnar_segment_rules {
    void *context;
    /* Whether it belongs into this output; NULL: all do. */
    bool (*takes)(void *context, int64_t token, struct bytes key);
    /* Whether its rows may all be given the newest of their write timestamps: true where no
     * overwrite or deletion of any run lies between them in time.  Rows of one partition in several
     * runs otherwise keep a timestamp each, at a cost of log2(runs) bits a row.  NULL: never. */
    bool (*may_raise)(void *context, int64_t token, struct bytes key);
    /* The deletions that take their rows with them: a stream of the whole partition, which becomes
     * the merge's, or NULL to purge nothing of it. */
    int (*deletions)(void *context, int64_t token, struct bytes key, struct stream **stream_out,
                     struct error *err);
    /* What a row's write timestamp becomes, by a function that ascends.  NULL: what it is. */
    int64_t (*restamp)(void *context, int64_t timestamp_us);
    /* Called with each partition; a negative result ends the merge with it. */
    int (*pause)(void *context, struct error *err);
    uint32_t page_rows;                /* of the output's pages; 0: 64 Ki */
};

/* Merge neighbouring append-only runs (in frame order) into one segment, stably, piece by piece: it
 * takes memory for some pages of each input, whatever the size of a partition, plus its rows that
 * are equal in the whole clustering.  `info`: id, table, kind, frames of the whole. */
must_check int columnar_segment_merge(struct world *world, const struct table *table,
                                      struct segment **inputs, uint32_t input_count,
                                      const struct segment_info *info,
                                      const struct columnar_segment_rules *rules,
                                      struct segment_info *info_out, struct error *err);
#endif
