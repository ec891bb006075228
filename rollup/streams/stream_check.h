/* stream_check: what may be written into the tables that a stream uses.
 *
 * One check for every door, made by the store before it takes a batch (store_set_commit_check), so
 * that the rollup and the report never meet a day, a rate or an amount that they cannot use. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAM_CHECK_H
#define DAYBOOK_ROLLUP_STREAMS_STREAM_CHECK_H

#include "rollup/click_stream.h"
#include "storage/cell/block.h"
#include "storage/cell/mutation.h"

/* A mutation of the stream's clicks or rates, whose values are of their columns' types; that of
 * another table passes.  What deletes rows or cells passes, whatever their key is: they may be
 * older than the stream.  ERROR_INVALID says what would do. */
must_check int stream_check(const struct click_stream *stream, const struct table *table,
                            const struct mutation *mutation, struct error *err);
/* The same of a block of the stream's clicks. */
must_check int stream_check_block(const struct click_stream *stream, const struct table *table,
                                  const struct block *block, struct error *err);
#endif
