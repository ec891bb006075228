/* stream_check: checks what is written into the tables that a stream uses.
 *
 * The store checks every batch before it applies the batch (store_set_commit_check), whichever
 * protocol or command the batch came from.  So the rollup and the report never find a day, a rate
 * or an amount that they cannot use. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAM_CHECK_H
#define DAYBOOK_ROLLUP_STREAMS_STREAM_CHECK_H

#include "rollup/click_stream.h"
#include "storage/cell/block.h"
#include "storage/cell/mutation.h"

/* Check a mutation, if it is of the stream's clicks or rates.  Its values have the types of their
 * columns.  Deletions of rows and cells are not checked, because they may delete rows that are
 * older than the stream.  ERROR_INVALID: the error's text says which values may be written. */
must_check int stream_check(const struct click_stream *stream, const struct table *table,
                            const struct mutation *mutation, struct error *err);
/* The same for a block of the stream's clicks. */
must_check int stream_check_block(const struct click_stream *stream, const struct table *table,
                                  const struct block *block, struct error *err);
#endif
