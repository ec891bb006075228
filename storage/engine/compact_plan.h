/* compact_plan: a pure function that chooses which runs of one table and kind to merge next.
 *
 * Runs are ordered by their frames.  The rank of a click is its place, over all runs in that order,
 * among the clicks of the same ad and millisecond (docs/decisions/04-identity-of-a-click.md).
 * Therefore, for each day, the runs that a merge takes must be neighbours among the runs that have
 * rows of that day.
 *
 *   lanes     The runs that have rows of one day only are the lane of that day.  The mixed runs
 *             (late clicks of many days, and days too small for separate runs) are one lane, and
 *             so are all row runs of a table.  Runs of a lane are merged in tiers.
 *   tiers     A run of s bytes is in class 1 + floor(log4(s / tier_bytes)), and below tier_bytes in
 *             class 0.  A stretch for class c is a series of neighbours in classes up to c.  A
 *             stretch for c = 0 has at least COMPACT_RUNS_MIN runs.  A stretch for any other c has
 *             at least n runs, where n is COMPACT_RUNS_MIN for row runs and COMPACT_COLUMNAR_MIN
 *             for columnar ones, and is at least n/2 times as large as its largest run.  Of the
 *             lowest class that has a stretch, the newest stretch is merged.
 *   closing   A day of day_rows_min rows or more that is over, and got no rows for ten minutes, is
 *             merged into one run.  This is done only if its smaller runs together have at least a
 *             tenth as many rows of the day as its largest run.  The mixed runs are written again
 *             without the day.
 *   purging   A day that is over and has deletions of its clicks is merged, even if it is a single
 *             run.
 *
 *   runs, oldest first, with classes      1a 1a 1ab 0a 0b 0a 0a     days a and b; "ab" mixed
 *   lane a: 1a 1a | 0a 0a 0a              cut where a mixed run has rows of a
 */
#ifndef DAYBOOK_STORAGE_ENGINE_COMPACT_PLAN_H
#define DAYBOOK_STORAGE_ENGINE_COMPACT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/manifest/manifest.h"
#include "storage/segment/segment_days.h"

enum {
    COMPACT_RUNS_MIN = 4,      /* few, because reports read all row runs of a table */
    COMPACT_COLUMNAR_MIN = 8,  /* more, because clicks are written more often than read */
    COMPACT_RUNS_MAX = 32,
    COMPACT_TIER_BYTES = 4 << 20       /* where class 1 begins */
};

struct compact_run {
    const struct segment_info *info;
    const struct segment_days *days;   /* empty for row runs, unless they are `overwrites` */
};

struct compact_facts {
    const struct compact_run *runs;    /* ascending by frame_first */
    uint32_t run_count;
    const struct compact_run *overwrites;      /* the row runs beside columnar ones */
    uint32_t overwrite_count;
    /* Not 0: a full merge was requested.  A merge is then chosen if two of its runs begin at this
     * frame or before, or if it purges deletions up to this frame. */
    uint64_t asked_until;
    uint64_t day_rows_min;             /* the fewest rows of a day with a separate run */
    uint64_t tier_bytes;
    int64_t now_us;
    /* Purges of the days before purge_day were tried, with the overwrites up to purge_frame. */
    uint64_t purge_frame;
    int32_t purge_day;
};

struct compact_choice {
    uint32_t runs[COMPACT_RUNS_MAX];   /* ascending */
    uint32_t count;
    bool splits;                       /* rows of `day` become one run; the other rows of each input
                                        * become a run of their own */
    bool purges;                       /* deletions of `day` are purged */
    uint64_t purge_frame;              /* if `purges`: the next compact_facts.purge_frame */
    int32_t day;
    int64_t again_us;                  /* wall time to plan again; INT64_MAX: after a write */
};

/* True: there is something to merge. */
bool compact_plan(const struct compact_facts *facts, struct compact_choice *choice_out);

/* Choose by tiers alone, from the sizes of runs (bytes, oldest first).  True: merge the runs
 * [*start_out, *end_out).
 *
 *   MiB, oldest first, runs_min 4    1 1 1         nothing
 *                                    1 1 1 1       merge all four
 *                                    90 3 5 3 3    merge the last four (c = 1)
 *                                    90 1 9 3 3    nothing: less than two times 9
 *                                    250 90 1 1    nothing */
bool compact_plan_tiers(const uint64_t *sizes, uint32_t count, uint32_t runs_min,
                        uint64_t tier_bytes, uint32_t *start_out, uint32_t *end_out);
#endif
