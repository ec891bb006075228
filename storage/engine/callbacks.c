#include "storage/engine/callbacks.h"

#include "base/memory.h"

void callbacks_add(struct callbacks *callbacks, store_done done, void *context)
{
    callbacks->items =
        memory_resize(callbacks->items, (callbacks->count + 1) * sizeof(struct callback));
    callbacks->items[callbacks->count++] = (struct callback){done, context};
}

void callbacks_move(struct callbacks *from, struct callbacks *to)
{
    for (uint32_t i = 0; i < from->count; i++)
        callbacks_add(to, from->items[i].done, from->items[i].context);
    from->count = 0;
}

void callbacks_call(struct callbacks *callbacks, int status, const struct error *err)
{
    struct callbacks taken = *callbacks;
    *callbacks = (struct callbacks){0};
    for (uint32_t i = 0; i < taken.count; i++)
        if (taken.items[i].done != NULL)
            taken.items[i].done(taken.items[i].context, status, err);
    callbacks_release(&taken);
}

void callbacks_release(struct callbacks *callbacks)
{
    memory_free(callbacks->items);
    *callbacks = (struct callbacks){0};
}
