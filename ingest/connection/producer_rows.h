/* producer_rows: the rows of the table `producer`: written in the frame of the batch that they are
 * about, read when ingest opens, deleted when a producer is dropped.
 *
 * Memory has exactly the producers that have rows, but for the time between a change and the sync
 * of its frame.  So after a recovery memory has the producers that the log has. */
#ifndef DAYBOOK_INGEST_CONNECTION_PRODUCER_ROWS_H
#define DAYBOOK_INGEST_CONNECTION_PRODUCER_ROWS_H

#include "ingest/connection/ingest_private.h"

/* Add the row of the producer's batch `known` to `batch`. */
void producer_rows_add(struct write_batch *batch, const struct table *table,
                       const struct producer *producer, const struct producer_batch *known);

/* Read a row: the producer, its epoch, and the batch.  ERROR_CORRUPT where the row cannot have been
 * written. */
must_check int producer_rows_read(const struct table *table, const struct page_row *row,
                                  uint8_t id_out[UUID_SIZE], uint64_t *epoch_out,
                                  struct producer_batch *batch_out, struct error *err);
/* Take a row of the table into memory.  ERROR_CORRUPT where it cannot have been written. */
must_check int producer_rows_take(struct producer_table *producers, const struct table *table,
                                  const struct page_row *row, struct error *err);

/* After a change of the producers: charge for their memory, and set their metric. */
void producer_rows_tell(struct ingest *ingest);

/* Make place for one more producer, of a load or of another connection: drop those that have been
 * silent for PRODUCER_SILENT_DAYS, a bounded number at a time, and the evictable one if all places
 * are taken.  ERROR_LIMIT: there is no place; ERROR_FULL: there will be one when the store takes
 * writes again. */
must_check int producer_rows_make_room(struct ingest *ingest, bool is_load, struct error *err);
/* Delete the producer's rows and drop it from memory; it has no connection, and all its batches are
 * durable.  `done` is called once the deletion is durable, and not where an error is returned. */
must_check int producer_rows_drop(struct ingest *ingest, struct producer *producer,
                                  store_done done, void *context, struct error *err);
#endif
