/* compact_plan: which runs of one table and kind to merge next: a pure function.
 *
 * Runs come in the order of their frames.  What may be merged follows from the rank of a click,
 * which is its place among equals over all runs in that order
 * (docs/decisions/04-identity-of-a-click.md): for each day, the runs that a merge takes must be
 * neighbours among the runs that have rows of that day.  So, in windows of a day:
 *
 *   lanes     the runs of one day alone, and the mixed ones (late clicks of many days, or days too
 *             small for runs of their own), each a lane in which runs are merged in tiers
 *   tiers     class(s) = 1 + floor(log4(s / tier_bytes)), 0 below.  The newest stretch of
 *             neighbours, none in a class above c, for the least c that has one: four of them, and
 *             from class 1 on as many as COMPACT_RUNS_MIN or COMPACT_COLUMNAR_MIN says, together
 *             at least half as many times the size of the largest.  So by each merge the runs of
 *             all its rows become that much larger: a row is written seldom, however many runs come
 *             after it
 *   closing   a day that is over, and to which nothing has come for a while, is merged into one
 *             run as soon as the small ones make up a tenth of the largest.  What mixed runs have
 *             of it goes along; their other days are written out again as they are
 *   purging   a closed day to whose clicks deletions came is merged, if it is one run or many, so
 *             that rows and deletions go
 *
 *   runs, oldest first, with classes      1a 1a 1ab 0a 0b 0a 0a     days a and b; "ab" mixed
 *   lane a: 1a 1a | 0a 0a 0a              cut where a mixed run has rows of a
 *
 * Tables without ranks have one lane; there a merge takes in what is older when that is cheap,
 * because only then its tombstones go. */
#ifndef DAYBOOK_STORAGE_ENGINE_COMPACT_PLAN_H
#define DAYBOOK_STORAGE_ENGINE_COMPACT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/manifest/manifest.h"
#include "storage/segment/segment_days.h"

enum {
    COMPACT_RUNS_MIN = 4,      /* every report reads all of a row table's runs; */
    COMPACT_COLUMNAR_MIN = 8,  /* clicks are written more often than read */
    COMPACT_RUNS_MAX = 32,
    COMPACT_TIER_BYTES = 4 << 20       /* where class 1 begins; in tests earlier */
};

struct compact_run {
    const struct segment_info *info;
    const struct segment_days *days;   /* none of tables that are not ranked */
};

struct compact_facts {
    const struct compact_run *runs;    /* ascending by frame_first */
    uint32_t run_count;
    const struct compact_run *overwrites;      /* the row runs beside columnar ones */
    uint32_t overwrite_count;
    /* Not 0: only what somebody asked for is chosen, that runs with frames up to this one are
     * merged with each other as far as can be, however little it gains.  That comes to an end,
     * however many runs come after them. */
    uint64_t asked_until;
    uint64_t day_rows_min;             /* of a day that is worth a run of its own */
    uint64_t tier_bytes;               /* where class 1 begins */
    int64_t now_us;
    /* Purging was tried of days before purge_day, with the overwrites up to purge_frame. */
    uint64_t purge_frame;
    int32_t purge_day;
};

struct compact_choice {
    uint32_t runs[COMPACT_RUNS_MAX];   /* ascending */
    uint32_t count;
    bool splits;                       /* `day` becomes one run, the rest of each input another */
    bool purges;                       /* it was chosen for its deletions */
    int32_t day;
    int64_t again_us;                  /* nothing now: when to ask again; INT64_MAX: not by time */
};

/* True when there is something to merge. */
bool compact_plan(const struct compact_facts *facts, struct compact_choice *choice_out);

/* The tiers alone: true and the half-open interval [start, end) of `sizes` (bytes, oldest first);
 * from class 1 on, which begins at `tier_bytes`, it is `runs_min` runs long at least.
 *
 *   MiB, oldest first, runs_min 4    1 1 1         nothing
 *                                    1 1 1 1       merge all four
 *                                    90 3 5 3 3    merge the last four (c = 1)
 *                                    90 1 9 3 3    nothing: less than two times 9
 *                                    250 90 1 1    nothing */
bool compact_plan_tiers(const uint64_t *sizes, uint32_t count, uint32_t runs_min,
                        uint64_t tier_bytes, uint32_t *start_out, uint32_t *end_out);
#endif
