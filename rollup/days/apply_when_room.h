/* apply_when_room: applies a batch as soon as the store has room for it.
 *
 * All functions run on the engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_APPLY_WHEN_ROOM_H
#define DAYBOOK_ROLLUP_DAYS_APPLY_WHEN_ROOM_H

#include "base/world/world.h"
#include "storage/engine/store.h"

/* Apply `batch`, which is borrowed until `done`.  While the store is full, the attempt is repeated
 * after pauses.  `refuses` (may be NULL) is called before each attempt; if it returns a negative
 * status, the attempts end.  `accepted` is called when the batch was applied and will be durable.
 * `done` is called once, after `accepted` or with an error, perhaps before this function
 * returns. */
void apply_when_room(struct store *store, struct executor *executor, struct write_batch *batch,
                     int (*refuses)(void *context, struct error *err),
                     void (*accepted)(void *context), store_done done, void *context);
#endif
