/* callbacks: completions that wait for one and the same event, told in the order they came.
 *
 * A completion that is told may add others: those wait for the next time. */
#ifndef DAYBOOK_STORAGE_ENGINE_CALLBACKS_H
#define DAYBOOK_STORAGE_ENGINE_CALLBACKS_H

#include "storage/engine/store.h"

struct callback {
    store_done done;                   /* NULL: nothing is told */
    void *context;
};

/* All zero: none waits. */
struct callbacks {
    struct callback *items;
    uint32_t count;
};

void callbacks_add(struct callbacks *callbacks, store_done done, void *context);
/* Take back the one that was added last. */
void callbacks_drop_last(struct callbacks *callbacks);
/* Move all of `from` behind those of `to`. */
void callbacks_move(struct callbacks *from, struct callbacks *to);
/* Tell all of them; `err` NULL when `status` is 0. */
void callbacks_call(struct callbacks *callbacks, int status, const struct error *err);
void callbacks_release(struct callbacks *callbacks);
#endif
