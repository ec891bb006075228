/* known_resellers: the resellers that have figures, for readers who ask for all of them.
 *
 * They are listed by one scan of the figures, the first time that somebody asks; what is written
 * from then on is added.  In a read-only store, whose marks are in no set, resellers that have only
 * marks are listed too.  Memory: some 60 bytes and a name each, kept until the end. */
#ifndef DAYBOOK_ROLLUP_DAYS_KNOWN_RESELLERS_H
#define DAYBOOK_ROLLUP_DAYS_KNOWN_RESELLERS_H

#include "base/key_map.h"
#include "rollup/click_stream.h"
#include "storage/engine/store.h"

struct known_resellers {
    struct store *store;
    const struct click_stream *stream;
    bool is_read_only;
    bool is_complete;                  /* the figures were scanned once */
    struct key_map *map;               /* owned */
};

void known_resellers_init(struct known_resellers *known, struct store *store,
                          const struct click_stream *stream);
void known_resellers_release(struct known_resellers *known);

/* It has a figure, or will have. */
void known_resellers_add(struct known_resellers *known, struct bytes reseller);
/* `map` has all that have figures when `done` is called, perhaps before this returns. */
void known_resellers_read(struct known_resellers *known, store_done done, void *context);
#endif
