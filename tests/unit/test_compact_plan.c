/* Which runs are merged: lanes of days, tiers, closings, and what must never be merged. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/calendar.h"
#include "storage/engine/compact_plan.h"

enum { RUNS_MAX = 16, MB = 1 << 20 };

#define NOW_US (INT64_C(20000) * DAY_MS * 1000)

/* "a": a run with rows of day a, "ab": one with rows of two.  Sizes in MiB, 1000 rows each MiB. */
struct sketch {
    const char *days;
    uint32_t size_mb;
};

struct plan {
    struct segment_info infos[RUNS_MAX];
    struct segment_days days[RUNS_MAX];
    struct compact_run runs[RUNS_MAX];
    struct compact_facts facts;
    struct compact_choice choice;
};

/* Day a is long over; day z is now. */
static int32_t day_of(char letter)
{
    return letter == 'z' ? 20000 : 19000 + (letter - 'a');
}

static void sketch_runs(struct plan *plan, const struct sketch *sketches, uint32_t count)
{
    memset(plan, 0, sizeof *plan);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t share = strlen(sketches[i].days);
        plan->infos[i] = (struct segment_info){.id = i + 1,
                                               .frame_first = 10 * i + 1,
                                               .frame_last = 10 * i + 10,
                                               .size = (uint64_t)sketches[i].size_mb * MB};
        for (const char *c = sketches[i].days; *c != '\0'; c++)
            segment_days_add(&plan->days[i], day_of(*c), sketches[i].size_mb * 1000 / share);
        plan->runs[i] = (struct compact_run){&plan->infos[i], &plan->days[i]};
    }
    plan->facts = (struct compact_facts){.runs = plan->runs,
                                         .run_count = count,
                                         .day_rows_min = 1000,
                                         .tier_bytes = COMPACT_TIER_BYTES,
                                         .now_us = NOW_US};
}

/* The chosen runs as digits, "/" and a day where one is split off; "" for nothing. */
static void expect_choice(struct plan *plan, const char *expected)
{
    char text[64] = "";
    if (compact_plan(&plan->facts, &plan->choice)) {
        for (uint32_t i = 0; i < plan->choice.count; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%u", plan->choice.runs[i]);
        if (plan->choice.splits)
            snprintf(text + strlen(text), sizeof text - strlen(text), "/%c",
                     'a' + plan->choice.day - 19000);
    }
    cr_expect_str_eq(text, expected, "'%s', not '%s'", text, expected);
    for (uint32_t i = 0; i < RUNS_MAX; i++)
        segment_days_release(&plan->days[i]);
}

#define EXPECT(expected, ...)                                                                      \
    do {                                                                                           \
        const struct sketch sketches_[] = {__VA_ARGS__};                                           \
        struct plan plan_;                                                                         \
        sketch_runs(&plan_, sketches_, sizeof sketches_ / sizeof sketches_[0]);                    \
        expect_choice(&plan_, expected);                                                           \
    } while (0)

/* In an open day runs are merged in tiers, each day by itself. */
Test(compact_plan, runs_of_a_day_are_merged_in_tiers)
{
    EXPECT("", {"z", 1}, {"z", 1}, {"z", 1});
    EXPECT("0123", {"z", 1}, {"z", 1}, {"z", 1}, {"z", 1});
    EXPECT("1234", {"z", 90}, {"z", 1}, {"z", 3}, {"z", 1}, {"z", 1});
}

/* From class 1 on eight runs of clicks, or four of others, and all at least four times the largest,
 * or two times: a merged run is not written again with each few small ones that come after it. */
Test(compact_plan, what_was_merged_is_not_merged_again_before_its_like_are_there)
{
    uint32_t start;
    uint32_t end;
    cr_expect(compact_plan_tiers((uint64_t[]){90 * MB, 3 * MB, 5 * MB, 3 * MB, 3 * MB}, 5, 4,
                                 COMPACT_TIER_BYTES, &start, &end));
    cr_expect(start == 1 && end == 5);
    cr_expect_not(compact_plan_tiers((uint64_t[]){90 * MB, 1 * MB, 9 * MB, 3 * MB, 3 * MB}, 5, 4,
                                     COMPACT_TIER_BYTES, &start, &end));
    cr_expect_not(compact_plan_tiers((uint64_t[]){200 * MB, 60 * MB, 60 * MB, 60 * MB}, 4, 4,
                                     COMPACT_TIER_BYTES, &start, &end));
    EXPECT("", {"z", 8}, {"z", 8}, {"z", 8}, {"z", 8}, {"z", 8}, {"z", 8}, {"z", 8});
    EXPECT("01234567", {"z", 8}, {"z", 8}, {"z", 8}, {"z", 8}, {"z", 8}, {"z", 8}, {"z", 8},
           {"z", 8});
    EXPECT("", {"z", 64}, {"z", 8}, {"z", 8}, {"z", 8}, {"z", 8}, {"z", 8}, {"z", 8}, {"z", 8});
}

/* How often the bytes of so many equal runs, one after the other, are written again. */
static uint64_t times_written(uint32_t flushes, uint32_t runs_min, uint32_t runs_max)
{
    const uint64_t size = 20 * (uint64_t)MB;
    uint64_t sizes[64];
    uint64_t written = 0;
    uint32_t count = 0;
    for (uint32_t flush = 0; flush < flushes; flush++) {
        uint32_t start;
        uint32_t end;
        sizes[count++] = size;
        while (compact_plan_tiers(sizes, count, runs_min, COMPACT_TIER_BYTES, &start, &end)) {
            uint64_t merged = 0;
            for (uint32_t i = start; i < end; i++)
                merged += sizes[i];
            written += merged;
            sizes[start] = merged;
            memmove(&sizes[start + 1], &sizes[end], (count - end) * sizeof sizes[0]);
            count -= end - start - 1;
        }
        cr_assert_leq(count, runs_max);
    }
    return written / (flushes * size);
}

/* A merge makes the runs of its rows four times as large, or twice: 4096 is 4 to the sixth. */
Test(compact_plan, a_day_however_long_is_written_again_as_often_as_its_logarithm)
{
    cr_expect_leq(times_written(4096, COMPACT_COLUMNAR_MIN, 24), 6);
    cr_expect_leq(times_written(4096, COMPACT_RUNS_MIN, 16), 12);
}

/* A mixed run cuts the lanes of the days it has rows of, and no others. */
Test(compact_plan, nothing_is_merged_across_a_run_with_the_same_day)
{
    EXPECT("", {"z", 1}, {"z", 1}, {"zy", 1}, {"z", 1}, {"z", 1});
    EXPECT("0134", {"z", 1}, {"z", 1}, {"xy", 1}, {"z", 1}, {"z", 1});
    EXPECT("", {"zy", 1}, {"zx", 1}, {"y", 90}, {"zy", 1}, {"zx", 1});
    EXPECT("0134", {"zy", 1}, {"zx", 1}, {"w", 90}, {"zy", 1}, {"zx", 1});
}

/* A day that is over is merged into one run, with what mixed runs have of it, but not for a trifle,
 * and not while it is still written to. */
Test(compact_plan, a_closed_day_becomes_one_run)
{
    EXPECT("01", {"a", 90}, {"a", 9});
    EXPECT("", {"a", 90}, {"a", 8});
    EXPECT("012/a", {"a", 90}, {"ab", 9}, {"a", 9});
    EXPECT("", {"z", 90}, {"z", 20});
    struct plan plan;
    sketch_runs(&plan, (const struct sketch[]){{"a", 90}, {"a", 20}}, 2);
    plan.infos[1].timestamp_max_us = NOW_US - 1;
    expect_choice(&plan, "");
    cr_expect_eq(plan.choice.again_us, NOW_US - 1 + INT64_C(600000000));
}

/* On request: until each day is in one run. */
Test(compact_plan, what_was_asked_for_takes_the_smallest_too)
{
    struct plan plan;
    sketch_runs(&plan, (const struct sketch[]){{"a", 900}, {"ab", 1}}, 2);
    plan.facts.asked_until = 20;
    expect_choice(&plan, "01/a");
    sketch_runs(&plan, (const struct sketch[]){{"a", 900}, {"b", 1}}, 2);
    plan.facts.asked_until = 20;
    expect_choice(&plan, "");
    sketch_runs(&plan, (const struct sketch[]){{"z", 900}, {"z", 1}, {"z", 1}}, 3);
    plan.facts.asked_until = 11;
    expect_choice(&plan, "012");
}

/* Runs that came after the request would keep who asked waiting for ever. */
Test(compact_plan, what_came_after_the_request_is_not_waited_for)
{
    struct plan plan;
    sketch_runs(&plan, (const struct sketch[]){{"z", 900}, {"z", 1}, {"z", 1}}, 3);
    plan.facts.asked_until = 10;
    expect_choice(&plan, "");
    sketch_runs(&plan, (const struct sketch[]){{"a", 900}, {"ab", 1}}, 2);
    plan.facts.asked_until = 10;
    expect_choice(&plan, "");
}

/* A closed day with deletions is merged alone, once for all that is known. */
Test(compact_plan, deletions_of_a_closed_day_are_purged_once)
{
    struct plan plan;
    struct plan overwrites;
    for (int round = 0; round < 3; round++) {
        sketch_runs(&plan, (const struct sketch[]){{"a", 90}, {"b", 90}}, 2);
        sketch_runs(&overwrites, (const struct sketch[]){{"b", 1}}, 1);
        overwrites.infos[0].timestamp_max_us = NOW_US - (round == 1 ? 1 : INT64_C(3600000000));
        plan.facts.overwrites = overwrites.runs;
        plan.facts.overwrite_count = 1;
        if (round == 2) {
            plan.facts.purge_frame = 10;
            plan.facts.purge_day = day_of('b') + 1;
        }
        expect_choice(&plan, round == 0 ? "1" : "");
        cr_expect_eq(plan.choice.purges, round == 0);
        segment_days_release(&overwrites.days[0]);
    }
}

/* Deletions that came after the request neither keep those of the request from being purged, nor
 * prolong it. */
Test(compact_plan, a_request_purges_its_deletions_though_later_ones_are_there)
{
    struct plan plan;
    struct plan overwrites;
    for (int round = 0; round < 3; round++) {
        sketch_runs(&plan, (const struct sketch[]){{"a", 90}, {"b", 90}, {"c", 90}}, 3);
        sketch_runs(&overwrites, (const struct sketch[]){{"b", 1}, {"c", 1}}, 2);
        plan.facts.overwrites = round < 2 ? overwrites.runs : overwrites.runs + 1;
        plan.facts.overwrite_count = round < 2 ? 2 : 1;
        plan.facts.asked_until = 10;
        if (round == 1) {
            plan.facts.purge_frame = 20;
            plan.facts.purge_day = day_of('b') + 1;
        }
        expect_choice(&plan, round == 0 ? "1" : "");
        for (int i = 0; i < 2; i++)
            segment_days_release(&overwrites.days[i]);
    }
}

/* Without days there is one lane, and a merge goes back to the oldest run if that is cheap. */
Test(compact_plan, tables_without_ranks_reach_back_for_their_tombstones)
{
    EXPECT("01234", {"", 10}, {"", 1}, {"", 1}, {"", 1}, {"", 1});
    EXPECT("1234", {"", 90}, {"", 1}, {"", 1}, {"", 1}, {"", 1});
}
