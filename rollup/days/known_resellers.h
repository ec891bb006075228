/* known_resellers: the resellers that have figures, for readers of the figures of all resellers.
 *
 * The first call of known_resellers_read finds them by one scan of the figures.  Resellers whose
 * first figure is written later are added.  In a read-only store resellers that have only marks are
 * included. */
#ifndef DAYBOOK_ROLLUP_DAYS_KNOWN_RESELLERS_H
#define DAYBOOK_ROLLUP_DAYS_KNOWN_RESELLERS_H

#include "base/key_map.h"
#include "rollup/click_stream.h"
#include "storage/engine/store.h"

struct known_resellers {
    struct store *store;
    const struct click_stream *stream;
    bool is_complete;                  /* the figures were scanned once */
    struct key_map *map;               /* owned */
};

void known_resellers_init(struct known_resellers *known, struct store *store,
                          const struct click_stream *stream);
void known_resellers_release(struct known_resellers *known);

void known_resellers_add(struct known_resellers *known, struct bytes reseller);
/* Call `done` when `map` has all resellers that have figures, perhaps before the call returns. */
void known_resellers_read(struct known_resellers *known, store_done done, void *context);
#endif
