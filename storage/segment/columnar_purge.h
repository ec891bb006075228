/* columnar_purge: takes out of a partition's columns the rows that its deletions hide.
 *
 * For a merge that takes in everything that the deletions can hide, so that they may go too. */
#ifndef DAYBOOK_STORAGE_SEGMENT_COLUMNAR_PURGE_H
#define DAYBOOK_STORAGE_SEGMENT_COLUMNAR_PURGE_H

#include "storage/cell/columnar_rows.h"
#include "storage/cell/stream.h"

struct columnar_purge;

/* `deletions` is a stream of the whole partition, in clustering order; owned. */
struct columnar_purge *columnar_purge_new(struct stream *deletions);
void columnar_purge_free(struct columnar_purge *purge);      /* NULL is fine */

/* The partition's next rows, in order, all equals of a row together: those that are hidden are
 * removed, the others keep their ranks. */
must_check int columnar_purge_rows(struct columnar_purge *purge, struct columnar_rows *rows,
                                   struct error *err);

/* Whether a partition's overwrites (owned) are nothing but deletions of what the store ranks, and
 * rows that clients named by ranks below 0, which no fresh row can have.  What else they hold is
 * bound to appended rows by its rank, and such a partition is left as it is.  1: they are; 0: not;
 * negative: an error. */
must_check int columnar_purge_may(struct stream *overwrites, struct error *err);
#endif
