/* test_array: the client library's memory grows with what is in it, and by doubling. */
#include "client/array.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

Test(array, items_stay_while_it_grows)
{
    uint32_t *items = NULL;
    size_t capacity = 0;
    uint32_t growths = 0;

    for (uint32_t i = 0; i < 100000; i++) {
        size_t before = capacity;
        cr_assert(array_reserve(&items, &capacity, i + 1, sizeof *items));
        cr_assert(capacity > i);
        growths += capacity != before;
        items[i] = i;
    }
    for (uint32_t i = 0; i < 100000; i++)
        cr_assert_eq(items[i], i);
    cr_expect_leq(growths, 10);
    free(items);
}
