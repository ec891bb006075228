/* Lanes are tried first, then closings, then purges (compact_plan.h).
 *
 * For correct ranks, a choice that does not split must satisfy is_sound(), and a choice that splits
 * must have all runs with rows of its day.  All other conditions only affect cost. */
#include "storage/engine/compact_plan.h"

#include <stdlib.h>

#include "base/calendar.h"
#include "base/memory.h"

enum {
    CLOSED_DAYS = 2,  /* two days after it began, a UTC day is over in every time zone */
    CLOSE_SHARE = 10, /* the smaller runs need a tenth of the largest run's rows */
    OLDER_SHARE = 4   /* older runs may be four times as large as the others */
};

#define QUIET_US (INT64_C(600) * 1000000)  /* from a day's newest write to its closing */
#define PURGE_US (INT64_C(3600) * 1000000) /* from the newest overwrite to the purge */

/* ---- tiers ---- */

static uint32_t size_class(uint64_t size, uint64_t tier_bytes)
{
    uint32_t class = 0;
    for (uint64_t bound = tier_bytes; size >= bound && class < 16; bound *= 4)
        class ++;
    return class;
}

/* Whether the merged run is at least runs_min / 2 times as large as its largest input. */
static bool is_worth(const uint64_t *sizes, uint32_t start, uint32_t end, uint32_t runs_min)
{
    uint64_t largest = 0;
    uint64_t all = 0;
    for (uint32_t i = start; i < end; i++) {
        largest = sizes[i] > largest ? sizes[i] : largest;
        all += sizes[i];
    }
    return all >= largest * runs_min / 2;
}

/* Finds the newest stretch of runs in classes up to `class`.  In class 0 any stretch is worth a
 * merge, because the merge costs little. */
static bool stretch_of(const uint64_t *sizes, uint32_t count, uint32_t class, uint32_t runs_min,
                       uint64_t tier_bytes, uint32_t *start_out, uint32_t *end_out)
{
    for (uint32_t end = count; end >= runs_min; end--) {
        uint32_t start = end;
        while (start > 0 && end - start < COMPACT_RUNS_MAX &&
               size_class(sizes[start - 1], tier_bytes) <= class)
            start--;
        if (end - start >= runs_min && (class == 0 || is_worth(sizes, start, end, runs_min))) {
            *start_out = start;
            *end_out = end;
            return true;
        }
    }
    return false;
}

bool compact_plan_tiers(const uint64_t *sizes, uint32_t count, uint32_t runs_min,
                        uint64_t tier_bytes, uint32_t *start_out, uint32_t *end_out)
{
    for (uint32_t class = 0; class <= 16; class ++)
        if (stretch_of(sizes, count, class, class == 0 ? COMPACT_RUNS_MIN : runs_min, tier_bytes,
                       start_out, end_out))
            return true;
    return false;
}

/* ---- what may be merged ---- */

/* Whether the runs between the chosen ones have no rows of the chosen ones' days.  Row runs have no
 * days here, so no row run may lie between chosen ones. */
static bool is_sound(const struct compact_facts *facts, const uint32_t *chosen, uint32_t count)
{
    uint64_t first = facts->runs[chosen[0]].info->frame_first;
    uint64_t last = facts->runs[chosen[0]].info->frame_last;
    uint32_t next = 0;
    for (uint32_t i = 1; i < count; i++) {
        const struct segment_info *info = facts->runs[chosen[i]].info;
        last = info->frame_last > last ? info->frame_last : last;
    }
    for (uint32_t r = 0; r < facts->run_count; r++) {
        const struct compact_run *run = &facts->runs[r];
        if (next < count && chosen[next] == r) {
            next++;
            continue;
        }
        if (run->info->frame_first > last || run->info->frame_last < first)
            continue;
        for (uint32_t i = 0; i < count; i++)
            if (run->days->count == 0 || segment_days_meet(run->days, facts->runs[chosen[i]].days))
                return false;
    }
    return true;
}

/* ---- lanes ---- */

/* A run in the lane of its only day, or in the mixed lane. */
struct lane_entry {
    bool is_mixed;
    int32_t day;
    uint32_t run;
};

static int lane_compare(const void *a, const void *b)
{
    const struct lane_entry *first = a;
    const struct lane_entry *second = b;
    if (first->is_mixed != second->is_mixed)
        return first->is_mixed ? -1 : 1;
    if (first->day != second->day)
        return first->day < second->day ? -1 : 1;
    return first->run < second->run ? -1 : first->run > second->run;
}

/* The mixed runs are first in the array, which the caller frees. */
static struct lane_entry *lanes_of(const struct compact_facts *facts, uint32_t *mixed_count_out)
{
    struct lane_entry *entries = memory_alloc(facts->run_count * sizeof *entries);
    *mixed_count_out = 0;
    for (uint32_t i = 0; i < facts->run_count; i++) {
        const struct segment_days *days = facts->runs[i].days;
        bool is_mixed = days->count != 1;
        entries[i] = (struct lane_entry){is_mixed, is_mixed ? DAY_NONE : days->days[0].day, i};
        *mixed_count_out += is_mixed;
    }
    if (facts->run_count > 1)
        qsort(entries, facts->run_count, sizeof *entries, lane_compare);
    return entries;
}

static uint32_t lane_end(const struct lane_entry *entries, uint32_t count, uint32_t start)
{
    uint32_t end = start + 1;
    while (end < count && entries[end].is_mixed == entries[start].is_mixed &&
           entries[end].day == entries[start].day) {
        end++;
    }
    return end;
}

/* Begins at the oldest run if that costs little, because only such a merge can drop tombstones. */
static uint32_t reach_back(const uint64_t *sizes, uint32_t start, uint32_t end)
{
    uint64_t older = 0;
    uint64_t chosen = 0;
    for (uint32_t i = 0; i < end; i++)
        *(i < start ? &older : &chosen) += sizes[i];
    bool is_cheap = older / OLDER_SHARE <= chosen && end <= COMPACT_RUNS_MAX;
    return is_cheap ? 0 : start;
}

static bool is_asked(const struct compact_facts *facts, const uint32_t *runs, uint32_t count)
{
    uint32_t asked = 0;
    for (uint32_t i = 0; i < count; i++)
        asked += facts->runs[runs[i]].info->frame_first <= facts->asked_until;
    return asked > 1;
}

static bool find_tier(const struct compact_facts *facts, const uint32_t *group, uint32_t count,
                      uint32_t *start, uint32_t *end)
{
    bool has_row_runs = facts->runs[group[0]].days->count == 0;
    uint32_t runs_min = has_row_runs ? COMPACT_RUNS_MIN : COMPACT_COLUMNAR_MIN;
    uint64_t *sizes = memory_alloc(count * sizeof *sizes);
    for (uint32_t i = 0; i < count; i++)
        sizes[i] = facts->runs[group[i]].info->size;
    bool found = compact_plan_tiers(sizes, count, runs_min, facts->tier_bytes, start, end);
    if (found && has_row_runs)
        *start = reach_back(sizes, *start, *end);
    memory_free(sizes);
    return found;
}

static bool choose_stretch(const struct compact_facts *facts, const uint32_t *group, uint32_t count,
                           struct compact_choice *choice)
{
    uint32_t start = 0;
    uint32_t end = count < COMPACT_RUNS_MAX ? count : COMPACT_RUNS_MAX;
    bool found = facts->asked_until > 0 ? is_asked(facts, group, count)
                                        : find_tier(facts, group, count, &start, &end);
    /* A run of another lane that lies between the chosen runs may have rows of their days. */
    if (!found || !is_sound(facts, group + start, end - start))
        return false;
    for (uint32_t i = start; i < end; i++)
        choice->runs[choice->count++] = group[i];
    return true;
}

static bool choose_in_lane(const struct compact_facts *facts, const struct lane_entry *lane,
                           uint32_t count, struct compact_choice *choice)
{
    uint32_t *group = memory_alloc(count * sizeof *group);
    bool found = false;
    for (uint32_t start = 0, end; start < count && !found; start = end) {
        uint32_t size = 0;
        group[size++] = lane[start].run;
        for (end = start + 1; end < count; end++) {
            group[size++] = lane[end].run;
            if (!is_sound(facts, group, size)) {
                size--;
                break;
            }
        }
        found = size > 1 && choose_stretch(facts, group, size, choice);
    }
    memory_free(group);
    return found;
}

/* ---- closed days ---- */

static int run_compare(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a;
    uint32_t second = *(const uint32_t *)b;
    return first < second ? -1 : first > second;
}

struct closing {
    uint64_t rows;
    uint64_t rows_largest;
    int64_t newest_us;
    bool fits; /* into one merge */
};

static struct closing closing_of(const struct compact_facts *facts, const struct lane_entry *mixed,
                                 uint32_t mixed_count, const struct lane_entry *own,
                                 uint32_t own_count, int32_t day, struct compact_choice *choice)
{
    struct closing closing = {.fits = true};
    choice->count = 0;
    for (uint32_t i = 0; i < mixed_count + own_count; i++) {
        uint32_t run = i < mixed_count ? mixed[i].run : own[i - mixed_count].run;
        const struct day_rows *rows = segment_days_find(facts->runs[run].days, day);
        int64_t newest_us = facts->runs[run].info->timestamp_max_us;
        if (rows == NULL)
            continue;
        closing.rows += rows->rows;
        closing.rows_largest =
            rows->rows > closing.rows_largest ? rows->rows : closing.rows_largest;
        closing.newest_us = newest_us > closing.newest_us ? newest_us : closing.newest_us;
        closing.fits = closing.fits && choice->count < COMPACT_RUNS_MAX;
        if (closing.fits)
            choice->runs[choice->count++] = run;
    }
    if (choice->count > 1)
        qsort(choice->runs, choice->count, sizeof choice->runs[0], run_compare);
    return closing;
}

static bool must_split(const struct compact_facts *facts, const struct compact_choice *choice)
{
    for (uint32_t i = 0; i < choice->count; i++)
        if (facts->runs[choice->runs[i]].days->count > 1)
            return true;
    return false;
}

static bool is_over(const struct compact_facts *facts, int32_t day)
{
    return day != DAY_NONE && facts->now_us / 1000 / DAY_MS >= (int64_t)day + CLOSED_DAYS;
}

/* If at_us is in the future, choice->again_us is lowered to at_us. */
static bool is_due(const struct compact_facts *facts, int64_t at_us, struct compact_choice *choice)
{
    if (facts->now_us >= at_us)
        return true;
    choice->again_us = at_us < choice->again_us ? at_us : choice->again_us;
    return false;
}

static bool choose_closing(const struct compact_facts *facts, const struct lane_entry *mixed,
                           uint32_t mixed_count, const struct lane_entry *own, uint32_t own_count,
                           struct compact_choice *choice)
{
    int32_t day = own[0].day;
    if (!is_over(facts, day))
        return false;
    struct closing closing = closing_of(facts, mixed, mixed_count, own, own_count, day, choice);
    uint64_t small = closing.rows - closing.rows_largest;
    bool is_worth =
        closing.rows >= facts->day_rows_min && small >= closing.rows_largest / CLOSE_SHARE;
    bool is_time = facts->asked_until > 0
                       ? is_asked(facts, choice->runs, choice->count)
                       : is_worth && is_due(facts, closing.newest_us + QUIET_US, choice);
    if (choice->count < 2 || !closing.fits || !is_time) {
        choice->count = 0;
        return false;
    }
    choice->splits = must_split(facts, choice);
    choice->day = day;
    return true;
}

/* ---- deletions ---- */

static const struct lane_entry *lane_find(const struct lane_entry *entries, uint32_t mixed_count,
                                          uint32_t count, int32_t day, uint32_t *own_count_out)
{
    for (uint32_t i = mixed_count; i < count; i++) {
        if (entries[i].day == day) {
            *own_count_out = lane_end(entries, count, i) - i;
            return &entries[i];
        }
    }
    *own_count_out = 0;
    return NULL;
}

static bool overwrite_day(const struct compact_facts *facts, int32_t from, int32_t *day_out)
{
    bool found = false;
    for (uint32_t i = 0; i < facts->overwrite_count; i++) {
        const struct segment_days *days = facts->overwrites[i].days;
        for (uint32_t k = 0; k < days->count; k++) {
            if (days->days[k].day >= from && (!found || days->days[k].day < *day_out)) {
                *day_out = days->days[k].day;
                found = true;
            }
        }
    }
    return found;
}

static bool choose_purge(const struct compact_facts *facts, const struct lane_entry *entries,
                         uint32_t mixed_count, struct compact_choice *choice)
{
    bool is_asked_for = facts->asked_until > 0;
    uint64_t frame = 0;
    int64_t newest_us = 0;
    /* A requested merge purges days up to the last day that had overwrites at the request. */
    int32_t last = is_asked_for ? DAY_NONE : INT32_MAX;
    for (uint32_t i = 0; i < facts->overwrite_count; i++) {
        const struct segment_info *info = facts->overwrites[i].info;
        const struct segment_days *days = facts->overwrites[i].days;
        if (is_asked_for && info->frame_first <= facts->asked_until && days->count > 0 &&
            days->days[days->count - 1].day > last)
            last = days->days[days->count - 1].day;
        frame = info->frame_last > frame ? info->frame_last : frame;
        newest_us = info->timestamp_max_us > newest_us ? info->timestamp_max_us : newest_us;
    }
    /* Overwrites after the request are no reason to try days before purge_day again. */
    if (is_asked_for && frame > facts->asked_until)
        frame = facts->asked_until;
    int32_t from = frame > facts->purge_frame ? DAY_MIN : facts->purge_day;
    int32_t day = DAY_NONE;
    if (facts->overwrite_count == 0 || facts->overwrite_count > COMPACT_RUNS_MAX ||
        !overwrite_day(facts, from, &day) || day > last ||
        (!is_asked_for && !is_due(facts, newest_us + PURGE_US, choice))) {
        return false;
    }
    for (; overwrite_day(facts, from, &day) && day <= last; from = day + 1) {
        uint32_t own_count;
        const struct lane_entry *own =
            lane_find(entries, mixed_count, facts->run_count, day, &own_count);
        if (!is_over(facts, day))
            continue;
        struct closing closing =
            closing_of(facts, entries, mixed_count, own, own_count, day, choice);
        if (choice->count == 0 || !closing.fits)
            continue;
        choice->splits =
            must_split(facts, choice) &&
            (closing.rows >= facts->day_rows_min || !is_sound(facts, choice->runs, choice->count));
        choice->purges = true;
        choice->purge_frame = frame;
        choice->day = day;
        return true;
    }
    choice->count = 0;
    return false;
}

/* ---- all of it ---- */

bool compact_plan(const struct compact_facts *facts, struct compact_choice *choice_out)
{
    uint32_t mixed_count;
    bool found = false;
    *choice_out = (struct compact_choice){.day = DAY_NONE, .again_us = INT64_MAX};
    struct lane_entry *entries = lanes_of(facts, &mixed_count);
    for (uint32_t start = 0, end; start < facts->run_count && !found; start = end) {
        end = lane_end(entries, facts->run_count, start);
        found = choose_in_lane(facts, &entries[start], end - start, choice_out);
    }
    for (uint32_t start = mixed_count, end; start < facts->run_count && !found; start = end) {
        end = lane_end(entries, facts->run_count, start);
        found =
            choose_closing(facts, entries, mixed_count, &entries[start], end - start, choice_out);
    }
    found = found || choose_purge(facts, entries, mixed_count, choice_out);
    if (found && !choice_out->splits)
        check(is_sound(facts, choice_out->runs, choice_out->count));
    memory_free(entries);
    return found;
}
