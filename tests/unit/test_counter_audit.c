/* test_counter_audit: every key is had once, however little memory there is. */
#include "rollup/verify/counter_audit.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"

/* A command that may keep so much. */
struct keeper {
    struct command_output output; /* first */
    int64_t bytes, bytes_max, most;
};

static bool keep(struct command_output *output, int64_t change_bytes)
{
    struct keeper *keeper = (struct keeper *)output;
    if (change_bytes > 0 && keeper->bytes + change_bytes > keeper->bytes_max)
        return false;
    keeper->bytes += change_bytes;
    keeper->most = keeper->bytes > keeper->most ? keeper->bytes : keeper->most;
    return true;
}

enum { KEYS = 20000, ROUNDS_MAX = 500 };

static struct bytes key_of(uint32_t number, char text[16])
{
    return bytes_of(text, (size_t)snprintf(text, 16, "ad-%u", number));
}

/* Each key `times` over, as counters read once and clicks counted once are. */
static void fill(struct counter_audit *audit, uint32_t times)
{
    char text[16];
    for (uint32_t i = 0; i < KEYS * times; i++) {
        struct counter_audit_entry *entry = counter_audit_of(audit, key_of(i % KEYS, text));
        if (entry != NULL)
            entry->counted += 1 + i % KEYS;
    }
}

static void check_round(const struct counter_audit *audit, uint32_t times, uint32_t *seen)
{
    for (uint32_t i = 0; i < counter_audit_count(audit); i++) {
        struct bytes key;
        uint32_t number;
        const struct counter_audit_entry *entry = counter_audit_at(audit, i, &key);
        char text[16];
        snprintf(text, sizeof text, "%.*s", (int)key.size, (const char *)key.data);
        cr_assert_eq(sscanf(text, "ad-%u", &number), 1);
        cr_assert(counter_audit_takes(audit, key));
        cr_assert_eq(entry->counted, (int64_t)times * (1 + number), "half of %s is missing", text);
        seen[number]++;
    }
}

static uint32_t rounds_with(int64_t bytes_max)
{
    struct keeper keeper = {.output = {.keep = keep}, .bytes_max = bytes_max};
    struct counter_audit *audit = counter_audit_new(&keeper.output);
    uint32_t *seen = memory_zeroed(KEYS, sizeof *seen);
    uint32_t rounds = 0;
    counter_audit_begin(audit);
    do {
        fill(audit, 2);
        check_round(audit, 2, seen);
        cr_assert_lt(++rounds, ROUNDS_MAX);
    } while (counter_audit_next(audit));
    for (uint32_t i = 0; i < KEYS; i++)
        cr_assert_eq(seen[i], 1, "ad-%u was had %u times", i, seen[i]);
    cr_assert_leq(keeper.most, bytes_max);
    counter_audit_free(audit);
    cr_assert_eq(keeper.bytes, 0);
    memory_free(seen);
    return rounds;
}

Test(counter_audit, all_keys_are_had_at_once_where_there_is_room)
{
    cr_expect_eq(rounds_with(INT64_MAX), 1);
}

Test(counter_audit, every_key_is_had_whole_in_one_of_many_rounds)
{
    uint32_t few = rounds_with(8 << 20);
    uint32_t many = rounds_with(2 << 20);
    cr_expect_gt(few, 1);
    cr_expect_gt(many, few);
}

Test(counter_audit, get_on_where_there_is_no_room_at_all)
{
    cr_expect_gt(rounds_with(0), KEYS / 512);
}

Test(counter_audit, nobody_counts_what_a_command_without_a_server_keeps)
{
    struct command_output output = {0};
    struct counter_audit *audit = counter_audit_new(&output);
    counter_audit_begin(audit);
    fill(audit, 1);
    cr_expect_eq(counter_audit_count(audit), KEYS);
    cr_expect_not(counter_audit_next(audit));
    counter_audit_free(audit);
}

Test(counter_audit, a_round_made_narrower_keeps_what_it_still_takes_and_leaves_the_rest)
{
    struct command_output output = {0};
    struct counter_audit *audit = counter_audit_new(&output);
    uint32_t *seen = memory_zeroed(KEYS, sizeof *seen);
    counter_audit_begin(audit);
    fill(audit, 1);
    cr_expect(counter_audit_narrow(audit));
    check_round(audit, 1, seen);
    cr_expect_gt(counter_audit_count(audit), KEYS / 4);
    cr_expect(counter_audit_next(audit));
    fill(audit, 1);
    check_round(audit, 1, seen);
    cr_expect_not(counter_audit_next(audit));
    for (uint32_t i = 0; i < KEYS; i++)
        cr_assert_eq(seen[i], 1);
    counter_audit_free(audit);
    memory_free(seen);
}

Test(counter_audit, a_round_is_halved_until_it_has_one_hash_whatever_its_entries)
{
    struct command_output output = {0};
    struct counter_audit *audit = counter_audit_new(&output);
    counter_audit_begin(audit);
    for (uint32_t i = 0; i < 64; i++) {
        cr_assert_gt(counter_audit_beside(audit), 0, "there is a limit");
        cr_assert(counter_audit_narrow(audit), "%u", i);
        cr_expect_eq(counter_audit_count(audit), 0);
    }
    cr_expect_not(counter_audit_narrow(audit));
    cr_expect_eq(counter_audit_beside(audit), 0, "it could never end otherwise");
    counter_audit_free(audit);
}

Test(counter_audit, has_more_room_for_clicks_without_counters_as_long_as_it_may_keep_it)
{
    struct keeper keeper = {.output = {.keep = keep}, .bytes_max = 11 << 20};
    struct counter_audit *audit = counter_audit_new(&keeper.output);
    counter_audit_begin(audit);
    size_t first = counter_audit_beside(audit);
    for (size_t times = 2; times <= 8; times *= 2) {
        cr_assert(counter_audit_make_room(audit));
        counter_audit_again(audit);
        cr_expect_eq(counter_audit_beside(audit), times * first);
        cr_expect_geq(keeper.bytes, (int64_t)(times * first));
    }
    cr_assert(counter_audit_make_room(audit));
    counter_audit_again(audit);
    cr_expect_eq(counter_audit_beside(audit), 8 * first);
    cr_expect(counter_audit_next(audit), "the range was halved instead");
    cr_expect_eq(counter_audit_beside(audit), 8 * first);
    cr_expect_not(counter_audit_next(audit));
    cr_expect_leq(keeper.most, keeper.bytes_max);
    counter_audit_free(audit);
    cr_expect_eq(keeper.bytes, 0);
}
