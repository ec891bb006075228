/* columnar_purge: removes from a partition's columns the rows that its deletions hide.
 *
 * It serves a merge whose inputs have all rows that the deletions can hide, so that the deletions
 * can be removed, too. */
#ifndef DAYBOOK_STORAGE_SEGMENT_COLUMNAR_PURGE_H
#define DAYBOOK_STORAGE_SEGMENT_COLUMNAR_PURGE_H

#include "storage/cell/columnar_rows.h"
#include "storage/cell/stream.h"

struct columnar_purge;

/* `deletions` is a stream of the whole partition, in clustering order; the purge closes it. */
struct columnar_purge *columnar_purge_new(struct stream *deletions);
void columnar_purge_free(struct columnar_purge *purge);      /* NULL is fine */

/* Remove the hidden rows from `rows`, the next rows of the partition; the others keep their ranks.
 * Call it with the rows in clustering order; rows that differ only in their rank must be in the
 * same call. */
must_check int columnar_purge_rows(struct columnar_purge *purge, struct columnar_rows *rows,
                                   struct error *err);

/* Whether a partition with these overwrites can be purged: 1, 0, or an error.  The stream is closed
 * here.  The partition can be purged if the overwrites are only deletions, and rows to which
 * clients gave ranks below 0.  No appended row has such a rank.  Any other overwrite refers to an
 * appended row by its rank, and a partition with such an overwrite is left as it is. */
must_check int columnar_purge_may(struct stream *overwrites, struct error *err);
#endif
