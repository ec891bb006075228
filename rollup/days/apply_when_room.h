/* apply_when_room: a batch is applied as soon as the store has room for it.
 *
 * For batches that have no other way to wait: of a command, of the marking of old rows, of repairs.
 * Engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_APPLY_WHEN_ROOM_H
#define DAYBOOK_ROLLUP_DAYS_APPLY_WHEN_ROOM_H

#include "base/world/world.h"
#include "storage/engine/store.h"

/* Apply `batch` (the caller's, until `done`), again and again while the store is full.  `accepted`
 * is called once it is applied and will be durable, before `done`, which comes once, perhaps before
 * the call returns. */
void apply_when_room(struct store *store, struct executor *executor, struct write_batch *batch,
                     void (*accepted)(void *context), store_done done, void *context);
#endif
