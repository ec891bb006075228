/* producer_rows: writes, reads and deletes the rows of the table `producer`.
 *
 * Memory also has connected producers that have sent no batch yet, and higher epochs whose first
 * batch has not come.  Otherwise memory and rows differ only between a change and its sync. */
#ifndef DAYBOOK_INGEST_CONNECTION_PRODUCER_ROWS_H
#define DAYBOOK_INGEST_CONNECTION_PRODUCER_ROWS_H

#include "ingest/connection/ingest_private.h"

void producer_rows_add(struct write_batch *batch, const struct table *table,
                       const struct producer *producer, const struct producer_batch *known);

/* ERROR_CORRUPT: the row is damaged. */
must_check int producer_rows_read(const struct table *table, const struct page_row *row,
                                  uint8_t id_out[UUID_SIZE], uint64_t *epoch_out,
                                  struct producer_batch *batch_out, struct error *err);
/* ERROR_CORRUPT: the row is damaged; ERROR_LIMIT: there are too many producers. */
must_check int producer_rows_take(struct producer_table *producers, const struct table *table,
                                  const struct page_row *row, struct error *err);

/* Report the number and the memory of the producers.  To be called after each change of them. */
void producer_rows_tell(struct ingest *ingest);

/* Make room for one more producer.  The last PRODUCERS_KEPT places are for connections of `daybook
 * load` only (`is_load`).  Drops some producers that were silent for PRODUCER_SILENT_DAYS, or else
 * the one that producer_evictable chooses.  ERROR_LIMIT: there is no room.  ERROR_FULL: try again
 * when the store accepts writes. */
must_check int producer_rows_make_room(struct ingest *ingest, bool is_load, struct error *err);
/* Delete the rows of `count` producers and drop them from memory.  They must have no connection,
 * and all their batches must be durable.  `done` (may be NULL) is called when the deletion is
 * durable, but not after an error. */
must_check int producer_rows_drop(struct ingest *ingest, struct producer *const *producers,
                                  uint32_t count, store_done done, void *context,
                                  struct error *err);
#endif
