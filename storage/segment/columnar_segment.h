/* columnar_segment: append-only runs on disk: columns in pages, encoded in little more than their
 * information content.
 *
 * A page has up to 64 Ki rows of one or more partitions.  docs/FORMATS.md "Wide page" has the
 * layout. */
#ifndef DAYBOOK_STORAGE_SEGMENT_COLUMNAR_SEGMENT_H
#define DAYBOOK_STORAGE_SEGMENT_COLUMNAR_SEGMENT_H

#include "storage/cell/columnar_rows.h"
#include "storage/segment/segment.h"

/* ---- writing: columnar_segment_writer.c ---- */

struct columnar_segment_writer;

/* A page has at most `page_rows` rows; 0: 64 Ki, the most that is allowed. */
must_check int columnar_segment_writer_open(struct world *world, const struct table *table,
                                            const struct segment_info *info, uint32_t page_rows,
                                            struct columnar_segment_writer **writer_out,
                                            struct error *err);
/* Write one partition: begin it, give its rows, end it.  Partitions must be written in (token, key)
 * order; a partition without rows is left out.  `rows` of begin is the number of rows that the
 * partition will get, so that a small partition is not cut. */
must_check int columnar_segment_writer_begin(struct columnar_segment_writer *writer, int64_t token,
                                             struct bytes key, uint64_t rows, struct error *err);
/* Give all rows of the partition. */
must_check int columnar_segment_writer_rows(struct columnar_segment_writer *writer,
                                            const struct columnar_rows *rows, struct error *err);
/* Or give a large partition in sorted pieces, in order; the rows are copied.  Codes of the pieces
 * are numbers that columnar_segment_writer_number returned since begin. */
must_check int columnar_segment_writer_append(struct columnar_segment_writer *writer,
                                              const struct columnar_rows *rows, struct error *err);
must_check int columnar_segment_writer_end(struct columnar_segment_writer *writer,
                                           struct error *err);
/* Returns the string's number in the dictionary.  Call this between begin and end. */
uint32_t columnar_segment_writer_number(struct columnar_segment_writer *writer, uint32_t column,
                                        struct bytes string);
/* Set the strings of rows whose codes are numbers of the dictionary.  Repeat the call after strings
 * were added, because that moves the arrays. */
void columnar_segment_writer_strings(const struct columnar_segment_writer *writer,
                                     struct columnar_rows *rows);
/* As segment_writer_finish.  If nothing was written, there is no file, and `info_out->rows` is
 * 0. */
must_check int columnar_segment_writer_finish(struct columnar_segment_writer *writer,
                                              struct segment_info *info_out, struct error *err);
void columnar_segment_writer_close(struct columnar_segment_writer *writer);

/* ---- reading: columnar_segment.c ---- */

/* Reads partitions of one segment, on one thread.  Holds a reference of the segment. */
struct columnar_segment_reader;
struct columnar_segment_reader *columnar_segment_reader_new(struct segment *segment,
                                                            const struct table *table);
/* Let the reader use what earlier readers decoded and left in the segment's pool, and leave there
 * its last page.  A reader that does not share reads each page from the disk, as a check must. */
void columnar_segment_reader_share(struct columnar_segment_reader *reader);
void columnar_segment_reader_free(struct columnar_segment_reader *reader);
/* Read all rows of the partition into `rows`, which is cleared first; strings are valid until the
 * next call.  ERROR_LIMIT: the partition has more than `row_limit` rows. */
must_check int columnar_segment_reader_rows(struct columnar_segment_reader *reader,
                                            const struct segment_partition *partition,
                                            uint32_t row_limit, struct columnar_rows *rows,
                                            struct error *err);
/* As columnar_segment_reader_rows, for the partition's rows in its page `piece` (0 .. page_count -
 * 1).  The labels of a large partition's pages (segment_page_first) are the packed clusterings of
 * their first rows, without the rank. */
must_check int columnar_segment_reader_piece(struct columnar_segment_reader *reader,
                                             const struct segment_partition *partition,
                                             uint32_t piece, struct columnar_rows *rows,
                                             struct error *err);

/* ---- merging: columnar_segment_merge.c ---- */

/* What a merge does with each partition; every function may be NULL. */
struct columnar_segment_rules {
    void *context;
    /* Whether the partition belongs in this output. */
    bool (*takes)(void *context, int64_t token, struct bytes key);
    /* Whether all rows of the partition may get the newest of their write timestamps, because no
     * overwrite or deletion has a timestamp between these.  NULL: never. */
    bool (*may_raise)(void *context, int64_t token, struct bytes key);
    /* Gives the deletions that purge the partition: a stream of the whole partition, which the
     * merge closes; NULL: none. */
    int (*deletions)(void *context, int64_t token, struct bytes key, struct stream **stream_out,
                     struct error *err);
    /* Returns a row's new write timestamp; results must have the order of the timestamps.  NULL:
     * timestamps stay. */
    int64_t (*restamp)(void *context, int64_t timestamp_us);
    /* Called about once for each page: a negative result ends the merge, which returns it. */
    int (*check_end)(void *context, struct error *err);
    uint32_t page_rows;                /* of the output's pages; 0: 64 Ki */
};

/* Merge append-only runs that follow one another, given in frame order, into one segment; equal
 * rows stay in that order.  `info` has the id, table, kind, frames and schema version of the
 * output. */
must_check int columnar_segment_merge(struct world *world, const struct table *table,
                                      struct segment **inputs, uint32_t input_count,
                                      const struct segment_info *info,
                                      const struct columnar_segment_rules *rules,
                                      struct segment_info *info_out, struct error *err);
#endif
