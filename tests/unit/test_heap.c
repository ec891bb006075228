/* test_heap: what is popped comes before, or with, all that is left. */
#include "base/heap.h"

#include <criterion/criterion.h>

enum { ITEMS = 300 };

/* The context is the sign of the order. */
static bool is_before(const void *context, const void *a, const void *b)
{
    int sign = *(const int *)context;
    return sign * *(const int *)a < sign * *(const int *)b;
}

static void expect_ordered(int sign, size_t count)
{
    int numbers[ITEMS];
    void *items[ITEMS];
    struct heap heap = {.items = items};
    for (size_t i = 0; i < count; i++) {
        numbers[i] = (int)(i * 179 % 83);
        heap_push(&heap, is_before, &sign, &numbers[i]);
    }
    const int *before = NULL;
    for (size_t i = 0; i < count; i++) {
        const int *popped = heap_pop(&heap, is_before, &sign);
        cr_assert(before == NULL || !is_before(&sign, popped, before));
        before = popped;
    }
    cr_expect_eq(heap.count, 0);
}

Test(heap, items_come_out_in_order)
{
    for (size_t count = 0; count <= ITEMS; count++) {
        expect_ordered(1, count);
        expect_ordered(-1, count);
    }
}
