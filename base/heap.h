/* heap: a priority queue, as a binary heap.  Items of equal priority are popped in any order.
 *
 * The functions are inline so that the compiler can inline the comparisons as well. */
#ifndef DAYBOOK_BASE_HEAP_H
#define DAYBOOK_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct heap {
    void **items;                      /* the owner's, with room to push; items[0] is popped next */
    size_t count;
};

/* Whether item `a` comes before item `b`. */
typedef bool heap_order(const void *context, const void *a, const void *b);

static inline void heap_push(struct heap *heap, heap_order *is_before, const void *context,
                             void *item)
{
    size_t at = heap->count++;

    while (at > 0 && is_before(context, item, heap->items[(at - 1) / 2])) {
        heap->items[at] = heap->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->items[at] = item;
}

static inline void *heap_pop(struct heap *heap, heap_order *is_before, const void *context)
{
    check(heap->count > 0);
    void **items = heap->items;
    void *first = items[0];
    void *last = items[--heap->count];
    size_t at = 0;

    for (size_t child = 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count && is_before(context, items[child + 1], items[child]))
            child++;
        if (!is_before(context, items[child], last))
            break;
        items[at] = items[child];
        at = child;
    }
    items[at] = last;
    return first;
}
#endif
