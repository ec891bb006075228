/* stream_check: checks what is written into the tables that a stream uses.
 *
 * The store has every batch checked before it applies the batch (store_set_commit_check).  Blocks
 * that were checked when they were parsed are not checked again. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAM_CHECK_H
#define DAYBOOK_ROLLUP_STREAMS_STREAM_CHECK_H

#include "rollup/click_stream.h"
#include "storage/cell/block.h"
#include "storage/cell/mutation.h"

/* Check a mutation, if it is of the stream's clicks or rates.  Static rows are not checked.
 * Deletions are not checked either, because the deleted rows may be older than the stream.
 * ERROR_INVALID: the error's text says which values may be written. */
must_check int stream_check(const struct click_stream *stream, const struct table *table,
                            const struct mutation *mutation, struct error *err);
must_check int stream_check_block(const struct click_stream *stream, const struct table *table,
                                  const struct block *block, struct error *err);
#endif
