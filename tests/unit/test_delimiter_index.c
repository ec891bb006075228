/* The vector index against the portable one, and both against a plain look at each byte. */
#include "ingest/parse/delimiter_index.h"

#include <criterion/criterion.h>
#include <string.h>

/* xorshift64*: the same lines in every run. */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

Test(delimiter_index, both_indexes_find_the_same_delimiters_at_every_size)
{
    uint8_t text[400 + DELIMITER_PADDING];
    uint32_t best[400 + DELIMITER_EXTRA];
    uint32_t portable[400 + DELIMITER_EXTRA];
    uint64_t state = 42;

    for (size_t size = 0; size <= 400; size++) {
        size_t count;
        size_t expected = 0;

        for (size_t i = 0; i < sizeof text; i++) {
            uint64_t random = random_next(&state) >> 32;

            text[i] = random % 3 == 0 ? ',' : random % 3 == 1 ? '\n' : (uint8_t)(random >> 8);
        }
        count = delimiter_index_best()(text, size, best);
        cr_assert(delimiter_index_portable(text, size, portable) == count);
        cr_assert(memcmp(best, portable, count * sizeof best[0]) == 0);
        for (uint32_t i = 0; i < size; i++)
            if (text[i] == ',' || text[i] == '\n')
                cr_assert(expected < count && best[expected++] == i);
        cr_assert(expected == count);
    }
}
