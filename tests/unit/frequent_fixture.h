/* frequent_fixture: compares the keys that base/frequent.h found with those that are expected. */
#ifndef DAYBOOK_TESTS_FREQUENT_FIXTURE_H
#define DAYBOOK_TESTS_FREQUENT_FIXTURE_H

#include <criterion/criterion.h>

#include "base/frequent.h"

/* `expected`: the first `most` keys, with a blank behind each. */
static void expect_top(const struct frequent *frequent, uint32_t most, const char *expected)
{
    const struct frequent_key *keys[FREQUENT_KEYS];
    uint32_t count = frequent_top(frequent, most, keys);
    struct buffer text = {0};

    for (uint32_t i = 0; i < count; i++)
        buffer_printf(&text, "%.*s ", (int)keys[i]->key.size, (const char *)keys[i]->key.data);
    buffer_put_u8(&text, 0);
    cr_expect_str_eq((const char *)text.data, expected);
    buffer_release(&text);
}
#endif
