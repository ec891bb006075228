/* stream_check: checks what is written into the tables that a stream uses.
 *
 * The store makes this check of every batch, from whichever door, before it applies it
 * (store_set_commit_check), so that the rollup and the report never find a day, a rate or an amount
 * that they cannot use. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAM_CHECK_H
#define DAYBOOK_ROLLUP_STREAMS_STREAM_CHECK_H

#include "rollup/click_stream.h"
#include "storage/cell/block.h"
#include "storage/cell/mutation.h"

/* Check a mutation whose values are of their columns' types, if it is of the stream's clicks or
 * rates.  Deletions of rows and cells are not checked: what they delete may be older than the
 * stream.  ERROR_INVALID says which values may be written. */
must_check int stream_check(const struct click_stream *stream, const struct table *table,
                            const struct mutation *mutation, struct error *err);
/* The same of a block of the stream's clicks. */
must_check int stream_check_block(const struct click_stream *stream, const struct table *table,
                                  const struct block *block, struct error *err);
#endif
