/* test_frequent: the keys that come most often are found among many that come once. */
#include "tests/unit/frequent_fixture.h"

#include <stdio.h>

static struct frequent frequent;

static void forget(void)
{
    frequent_release(&frequent);
}

TestSuite(frequent, .fini = forget);

static void add(const char *key, uint64_t times)
{
    frequent_add(&frequent, bytes_text(key), times);
}

Test(frequent, few_keys_are_counted_exactly)
{
    expect_top(&frequent, 3, "");
    add("ads", 2);
    add("bees", 5);
    add("ads", 4);
    add("cats", 5);
    expect_top(&frequent, 3, "ads bees cats ");
    expect_top(&frequent, 1, "ads ");
}

/* Each key that comes once takes a place, and no frequent key loses its own. */
Test(frequent, many_rare_keys_displace_no_frequent_one)
{
    char key[16];

    for (uint32_t i = 0; i < 20000; i++) {
        (void)snprintf(key, sizeof key, "rare%u", i);
        add(key, 1);
        if (i % 10 == 0)
            add("tenth", 1);
        if (i % 20 == 0)
            add("twentieth", 1);
    }
    expect_top(&frequent, 2, "tenth twentieth ");
}

Test(frequent, what_came_earlier_fades)
{
    add("earlier", 100);
    for (int i = 0; i < 40; i++) {
        frequent_fade(&frequent);
        add("now", 1);
    }
    expect_top(&frequent, 2, "now earlier ");
    add("forever", UINT64_MAX);
    add("forever", UINT64_MAX);
    expect_top(&frequent, 1, "forever ");
}
