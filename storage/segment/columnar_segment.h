/* columnar_segment: append-only runs on disk: columns in pages, coded near their information
 * content.
 *
 * A page has up to 64 Ki rows of one or more partitions.  Each column is stored as vectors
 * (vector_codec.h) of numbers that are mostly small: gaps between times, places of strings by how
 * frequent they are in the partition, amounts.  How the numbers are laid out decides their size;
 * a higher level of zstd gains nearly nothing (bench/results.md has bytes per click by column).
 * Layout: FORMATS.md "Wide page". */
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
/* Give all rows of the partition, which must stay until the work that this leaves is done. */
must_check int columnar_segment_writer_rows(struct columnar_segment_writer *writer,
                                            const struct columnar_rows *rows, struct error *err);
/* Or give sorted pieces of it in order, for partitions too large for memory; copies.  Codes of the
 * pieces are numbers that columnar_segment_writer_number returned since begin; their strings are
 * not read. */
must_check int columnar_segment_writer_append(struct columnar_segment_writer *writer,
                                              const struct columnar_rows *rows, struct error *err);
must_check int columnar_segment_writer_end(struct columnar_segment_writer *writer,
                                           struct error *err);
/* Say that no more partitions come, so that the open page, too, is encoded by steps and not by
 * columnar_segment_writer_finish. */
must_check int columnar_segment_writer_complete(struct columnar_segment_writer *writer,
                                                struct error *err);
/* Do some of the work that is left, for ten microseconds or, of a full page, a part of a column.
 * 1: there is more; 0: there is none. */
must_check int columnar_segment_writer_step(struct columnar_segment_writer *writer,
                                            struct error *err);

/* The number of a string in the dictionary.  Called between begin and end, when no work is left. */
uint32_t columnar_segment_writer_number(struct columnar_segment_writer *writer, uint32_t column,
                                        struct bytes string);
/* A column's strings by number; the array moves when a string is added.  `column` is an index into
 * the vectors of columnar_rows. */
const struct bytes *columnar_segment_writer_strings(const struct columnar_segment_writer *writer,
                                                    uint32_t column, uint32_t *count_out);
/* As segment_writer_finish.  When nothing was written there is no file, and `info_out->rows` is
 * 0. */
must_check int columnar_segment_writer_finish(struct columnar_segment_writer *writer,
                                              struct segment_info *info_out, struct error *err);
void columnar_segment_writer_close(struct columnar_segment_writer *writer);

/* ---- reading: columnar_segment.c ---- */

/* Reads partitions of one segment, on one thread.  It keeps the page that was decoded last, so that
 * reading in order decodes each page once.  Holds a reference of the segment. */
struct columnar_segment_reader;
struct columnar_segment_reader *columnar_segment_reader_new(struct segment *segment,
                                                            const struct table *table);
void columnar_segment_reader_free(struct columnar_segment_reader *reader);
/* Read all rows of the partition into `rows`, which is cleared first; strings are valid until the
 * next call.  ERROR_LIMIT for a partition of more rows than `row_limit`, which is read by
 * pieces. */
must_check int columnar_segment_reader_rows(struct columnar_segment_reader *reader,
                                            const struct segment_partition *partition,
                                            uint32_t row_limit, struct columnar_rows *rows,
                                            struct error *err);
/* Read the rows that page `piece` (0 .. page_count - 1) of the partition has, in the same way.  The
 * labels of a large partition's pages (segment_page_first) are the packed clusterings of their
 * first rows, without the rank. */
must_check int columnar_segment_reader_piece(struct columnar_segment_reader *reader,
                                             const struct segment_partition *partition,
                                             uint32_t piece, struct columnar_rows *rows,
                                             struct error *err);

/* ---- merging: columnar_segment_merge.c ---- */

/* What a merge does with each partition; every function may be NULL. */
struct columnar_segment_rules {
    void *context;
    /* Whether the partition belongs into this output; NULL: all do. */
    bool (*takes)(void *context, int64_t token, struct bytes key);
    /* Whether its rows may all be given the newest of their write timestamps: true where no
     * overwrite or deletion of any run lies between them in time.  Rows of one partition in several
     * runs otherwise keep a timestamp each, at a cost of log2(runs) bits a row.  NULL: never. */
    bool (*may_raise)(void *context, int64_t token, struct bytes key);
    /* The deletions by which the partition is purged: a stream of the whole partition, which the
     * merge closes, or NULL to purge nothing of it. */
    int (*deletions)(void *context, int64_t token, struct bytes key, struct stream **stream_out,
                     struct error *err);
    /* Returns the write timestamp that replaces a row's; it never falls where that rises.  NULL:
     * timestamps stay as they are. */
    int64_t (*restamp)(void *context, int64_t timestamp_us);
    /* Called with each partition; a negative result ends the merge with it. */
    int (*pause)(void *context, struct error *err);
    uint32_t page_rows;                /* of the output's pages; 0: 64 Ki */
};

/* Merge append-only runs that follow one another, given in frame order, into one segment; equal
 * rows stay in that order.  The merge takes memory for some pages of each input, whatever the size
 * of a partition, and for rows that are equal in the whole clustering.  `info` has the id, the
 * table, the kind and the frames of the output. */
must_check int columnar_segment_merge(struct world *world, const struct table *table,
                                      struct segment **inputs, uint32_t input_count,
                                      const struct segment_info *info,
                                      const struct columnar_segment_rules *rules,
                                      struct segment_info *info_out, struct error *err);
#endif
