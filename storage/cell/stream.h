/* stream: the rows and bounds of one partition, from one run or merged from many.
 *
 * Memtables and segments give the same kind of stream:
 *
 *     open memtable ────┐
 *     frozen memtable ──┤             rows and bounds in
 *     row segment ──────┼─ merge ──▶  clustering order    ──▶ live rows  (a reader)
 *     columnar segments ┘                                 ──▶ a segment  (compaction)
 *
 * Each call of `next` yields one item, which is valid until the next call.  A static row comes
 * first, then rows and bounds within the slice in clustering order, or in the exact opposite order
 * when reversed.  A range deletion that is in force at an end of the slice gets a bound there. */
#ifndef DAYBOOK_STORAGE_CELL_STREAM_H
#define DAYBOOK_STORAGE_CELL_STREAM_H

#include "storage/cell/row.h"

/* `start` is before `end` in clustering order, also if `reversed` is set. */
struct slice {
    struct bound start;
    struct bound end;
    bool reversed;
    bool with_static;
};
struct slice stream_slice_all(void);
bool stream_slice_contains(const struct table *table, const struct slice *slice,
                           const struct clustering *clustering);

/* Order: the static row, then rows and bounds in clustering order. */
int stream_position_compare(const struct table *table, const struct unfiltered *a,
                            const struct unfiltered *b);

/* The first member of each kind of stream. */
struct stream {
    const struct table *table;
    struct deletion partition_deletion;   /* TIMESTAMP_NONE: none */
    /* 1: *out is the next item; 0: the end; negative: an error, which ends the stream. */
    int (*next)(struct stream *stream, struct unfiltered *out, struct error *err);
    void (*close)(struct stream *stream); /* frees the stream; NULL: nothing to free */
};

void stream_close(struct stream *stream);

/* The array must outlive the stream.  Its items must be in the order of a stream, and within the
 * slice that the reader wants. */
struct stream *stream_of_array(const struct table *table, struct deletion partition_deletion,
                               const struct unfiltered *items, size_t count);

/* What a reader at `now_s` (seconds since 1970) sees of `stream` (owned): live rows. */
struct stream *stream_live(struct stream *stream, int64_t now_s);

/* What a compaction at `now_s` keeps of `stream` (owned), when nothing outside `stream` was written
 * before `before_us`.  *has_dropped (borrowed) becomes true when anything is left out. */
struct stream *stream_purged(struct stream *stream, int64_t now_s, int64_t before_us,
                             bool *has_dropped);

/* ---- stream_merge.c ---- */

/* Merge streams of one partition and slice (owned).  Everything that a deletion hides is left out;
 * tombstones that nothing hides stay.  The merged stream's partition_deletion is the strongest of
 * the inputs. */
struct stream *stream_merge(const struct table *table, struct stream **streams, size_t count,
                            bool reversed);
#endif
