/* apply_when_room: applies a batch as soon as the store has room for it.
 *
 * For batches of a command, of the marking of a table's old rows, and of repairs, whose writers
 * have no other way to wait.  Engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_APPLY_WHEN_ROOM_H
#define DAYBOOK_ROLLUP_DAYS_APPLY_WHEN_ROOM_H

#include "base/world/world.h"
#include "storage/engine/store.h"

/* Apply `batch`, which stays the caller's and is borrowed until `done`; while the store is full,
 * try again.  `accepted` is called when the batch was applied and will be durable.  `done` is
 * called once, after it or with an error, perhaps before the call returns. */
void apply_when_room(struct store *store, struct executor *executor, struct write_batch *batch,
                     void (*accepted)(void *context), store_done done, void *context);
#endif
