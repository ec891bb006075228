/* stream: the rows and bounds of one partition, from one run or merged from many.
 *
 * Memtables and segments give the same kind of stream, so that reads, verifications and compactions
 * are loops over a stream:
 *
 *     open memtable ────┐
 *     frozen memtable ──┤             rows and bounds in
 *     row segment ──────┼─ merge ──▶  clustering order    ──▶ live rows  (a reader)
 *     columnar segments ┘                                 ──▶ a segment  (compaction)
 *
 * A stream is pulled: each call of `next` yields one item, which is valid until the next call.  A
 * stream yields a static row first if it has one, then rows and bounds within its slice in
 * clustering order, or in the exact opposite order when reversed.  If a range deletion is in force
 * at the start of the slice, a bound is yielded there; the same holds at its end.  So every range
 * that a bound begins is ended by a later bound. */
#ifndef DAYBOOK_STORAGE_CELL_STREAM_H
#define DAYBOOK_STORAGE_CELL_STREAM_H

#include "storage/cell/row.h"

/* The part of a partition between two bounds, start before end in clustering order. */
struct slice {
    struct bound start;
    struct bound end;
    bool reversed;
    bool with_static;
};
struct slice stream_slice_all(void);
bool stream_slice_contains(const struct table *table, const struct slice *slice,
                           const struct clustering *clustering);

/* Order of two items of one partition: the static row, then rows and bounds in clustering order.
 * 0: rows of the same clustering, or bounds at the same place. */
int stream_position_compare(const struct table *table, const struct unfiltered *a,
                            const struct unfiltered *b);

/* The base of every stream: the first member of the struct of each kind of stream. */
struct stream {
    const struct table *table;
    struct deletion partition_deletion;   /* TIMESTAMP_NONE: none */
    /* 1: *out is the next item; 0: the end; negative: an error, after which the stream may not be
     * pulled. */
    int (*next)(struct stream *stream, struct unfiltered *out, struct error *err);
    void (*close)(struct stream *stream); /* frees the stream; NULL: there is nothing to free */
};

/* Close a stream of any kind; NULL is fine. */
void stream_close(struct stream *stream);

/* A stream of the items of an array.  The array must outlive the stream.  Its items must be in the
 * order in which the stream is to yield them, and within the slice already. */
struct stream *stream_of_array(const struct table *table, struct deletion partition_deletion,
                               const struct unfiltered *items, size_t count);

/* A stream of what a reader at `now_s` (seconds since 1970) sees of `stream` (owned): live rows, no
 * bounds. */
struct stream *stream_live(struct stream *stream, int64_t now_s);

/* A stream of what a compaction at `now_s` keeps of `stream` (owned), when nothing outside `stream`
 * was written before `before_us`; INT64_MAX: there is nothing outside.  `*has_dropped` becomes true
 * when anything is left out.  `has_dropped` must outlive the stream. */
struct stream *stream_purged(struct stream *stream, int64_t now_s, int64_t before_us,
                             bool *has_dropped);

/* ---- stream_merge.c ---- */

/* Merge streams of one partition (owned), which were all opened with the same slice.  The merged
 * stream yields merged rows and bounds, without what a deletion hides and with all tombstones that
 * no deletion hides.  Its partition_deletion is the strongest of the inputs. */
struct stream *stream_merge(const struct table *table, struct stream **streams, size_t count,
                            bool reversed);
#endif
