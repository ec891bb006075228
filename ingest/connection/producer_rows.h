/* producer_rows: the table `producer`: written in a batch's own frame, read when ingest opens,
 * deleted when a producer is forgotten.
 *
 * Who is known in memory is who has rows, but for the time between a change and its frame's sync;
 * so a recovery knows, and has forgotten, exactly those that the log says. */
#ifndef DAYBOOK_INGEST_CONNECTION_PRODUCER_ROWS_H
#define DAYBOOK_INGEST_CONNECTION_PRODUCER_ROWS_H

#include "ingest/connection/ingest_private.h"

/* Remember `known` as the producer's, with the rest of `batch`. */
void producer_rows_add(struct write_batch *batch, const struct table *table,
                       const struct producer *producer, const struct producer_batch *known);

/* What a row says: whose batch, in which epoch, which.  ERROR_CORRUPT when it is none that was
 * written. */
must_check int producer_rows_read(const struct table *table, const struct page_row *row,
                                  uint8_t id_out[UUID_SIZE], uint64_t *epoch_out,
                                  struct producer_batch *batch_out, struct error *err);
/* A row of the table, into memory.  ERROR_CORRUPT when it is none that was written. */
must_check int producer_rows_take(struct producer_table *producers, const struct table *table,
                                  const struct page_row *row, struct error *err);

/* Count what the producers in memory take, after a change. */
void producer_rows_tell(struct ingest *ingest);

/* One more is about to be added, by a load or another connection: forget those that have been
 * silent for PRODUCER_SILENT_DAYS, a few at a time, and the evictable one if all places are taken.
 * ERROR_LIMIT: there is no place; ERROR_FULL: there will be, when the store takes writes again. */
must_check int producer_rows_make_room(struct ingest *ingest, bool is_load, struct error *err);
/* Delete its rows, and then forget it: it has no connection, and all its batches are durable.
 * `done` once that is durable, which is not called if this fails. */
must_check int producer_rows_drop(struct ingest *ingest, struct producer *producer,
                                  store_done done, void *context, struct error *err);
#endif
