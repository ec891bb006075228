/* columnar_purge: removes from a partition's columns the rows that its deletions hide.
 *
 * A merge that purges removes the deletions, too, so its inputs must have all rows that the
 * deletions can hide. */
#ifndef DAYBOOK_STORAGE_SEGMENT_COLUMNAR_PURGE_H
#define DAYBOOK_STORAGE_SEGMENT_COLUMNAR_PURGE_H

#include "storage/cell/columnar_rows.h"
#include "storage/cell/stream.h"

struct columnar_purge;

/* `deletions` is a stream of the whole partition, in clustering order; the purge closes it. */
struct columnar_purge *columnar_purge_new(struct stream *deletions);
void columnar_purge_free(struct columnar_purge *purge);      /* NULL is fine */

/* Remove the hidden rows from `rows`; the others keep their ranks.  Successive calls must have the
 * partition's rows in clustering order; rows that differ only in rank must be in one call. */
must_check int columnar_purge_rows(struct columnar_purge *purge, struct columnar_rows *rows,
                                   struct error *err);

/* Whether a partition with these overwrites can be purged: 1, 0, or an error.  Closes the stream.
 * A partition can be purged if its overwrites are only deletions, and rows to which clients gave
 * ranks below 0.  A row with a rank from 0 on prevents the purge, because it refers to an appended
 * row by this rank.  A static row with cells prevents it, too. */
must_check int columnar_purge_may(struct stream *overwrites, struct error *err);
#endif
