/* test_tallies: every key is had once, however little memory there is. */
#include "rollup/verify/tallies.h"

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
static void fill(struct tallies *tallies, uint32_t times)
{
    char text[16];
    for (uint32_t i = 0; i < KEYS * times; i++) {
        struct tally *tally = tallies_of(tallies, key_of(i % KEYS, text));
        if (tally != NULL)
            tally->counted += 1 + i % KEYS;
    }
}

static void check_round(const struct tallies *tallies, uint32_t times, uint32_t *seen)
{
    for (uint32_t i = 0; i < tallies_count(tallies); i++) {
        struct bytes key;
        uint32_t number;
        const struct tally *tally = tallies_at(tallies, i, &key);
        char text[16];
        snprintf(text, sizeof text, "%.*s", (int)key.size, (const char *)key.data);
        cr_assert_eq(sscanf(text, "ad-%u", &number), 1);
        cr_assert(tallies_takes(tallies, key));
        cr_assert_eq(tally->counted, (int64_t)times * (1 + number), "half of %s is missing", text);
        seen[number]++;
    }
}

static uint32_t rounds_with(int64_t bytes_max)
{
    struct keeper keeper = {.output = {.keep = keep}, .bytes_max = bytes_max};
    struct tallies *tallies = tallies_new(&keeper.output);
    uint32_t *seen = memory_zeroed(KEYS, sizeof *seen);
    uint32_t rounds = 0;
    tallies_begin(tallies);
    do {
        fill(tallies, 2);
        check_round(tallies, 2, seen);
        cr_assert_lt(++rounds, ROUNDS_MAX);
    } while (tallies_next(tallies));
    for (uint32_t i = 0; i < KEYS; i++)
        cr_assert_eq(seen[i], 1, "ad-%u was had %u times", i, seen[i]);
    cr_assert_leq(keeper.most, bytes_max);
    tallies_free(tallies);
    cr_assert_eq(keeper.bytes, 0);
    memory_free(seen);
    return rounds;
}

Test(tallies, all_keys_are_had_at_once_where_there_is_room)
{
    cr_expect_eq(rounds_with(INT64_MAX), 1);
}

Test(tallies, every_key_is_had_whole_in_one_of_many_rounds)
{
    uint32_t few = rounds_with(8 << 20);
    uint32_t many = rounds_with(2 << 20);
    cr_expect_gt(few, 1);
    cr_expect_gt(many, few);
}

Test(tallies, get_on_where_there_is_no_room_at_all)
{
    cr_expect_gt(rounds_with(0), KEYS / 512);
}

Test(tallies, nobody_counts_what_a_command_without_a_server_keeps)
{
    struct command_output output = {0};
    struct tallies *tallies = tallies_new(&output);
    tallies_begin(tallies);
    fill(tallies, 1);
    cr_expect_eq(tallies_count(tallies), KEYS);
    cr_expect_not(tallies_next(tallies));
    tallies_free(tallies);
}

Test(tallies, a_round_made_narrower_keeps_what_it_still_takes_and_leaves_the_rest)
{
    struct command_output output = {0};
    struct tallies *tallies = tallies_new(&output);
    uint32_t *seen = memory_zeroed(KEYS, sizeof *seen);
    tallies_begin(tallies);
    fill(tallies, 1);
    cr_expect(tallies_narrow(tallies));
    check_round(tallies, 1, seen);
    cr_expect_gt(tallies_count(tallies), KEYS / 4);
    cr_expect(tallies_next(tallies));
    fill(tallies, 1);
    check_round(tallies, 1, seen);
    cr_expect_not(tallies_next(tallies));
    for (uint32_t i = 0; i < KEYS; i++)
        cr_assert_eq(seen[i], 1);
    tallies_free(tallies);
    memory_free(seen);
}

Test(tallies, one_key_alone_is_not_halved)
{
    struct command_output output = {0};
    struct tallies *tallies = tallies_new(&output);
    tallies_begin(tallies);
    cr_expect_not(tallies_narrow(tallies));
    tallies_of(tallies, bytes_text("a"))->before = 3;
    cr_expect_not(tallies_narrow(tallies));
    struct bytes key;
    cr_expect_eq(tallies_at(tallies, 0, &key)->before, 3);
    tallies_free(tallies);
}
