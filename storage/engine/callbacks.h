/* callbacks: a list of callbacks that wait for one event, called in the order they were added.
 *
 * A callback may add callbacks; these are called at the next event. */
#ifndef DAYBOOK_STORAGE_ENGINE_CALLBACKS_H
#define DAYBOOK_STORAGE_ENGINE_CALLBACKS_H

#include "storage/engine/store.h"

struct callback {
    store_done done;                   /* NULL: nothing is called */
    void *context;
};

/* All zero: empty. */
struct callbacks {
    struct callback *items;
    uint32_t count;
};

void callbacks_add(struct callbacks *callbacks, store_done done, void *context);
void callbacks_move(struct callbacks *from, struct callbacks *to);
/* Call and remove all; `err` may be NULL if `status` is 0. */
void callbacks_call(struct callbacks *callbacks, int status, const struct error *err);
void callbacks_release(struct callbacks *callbacks);
#endif
