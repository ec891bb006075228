/* compact_plan: chooses which runs of one table and kind to merge next: a pure function.
 *
 * Runs come in the order of their frames.  The rank of a click is its place among its equals over
 * all runs in that order (docs/decisions/04-identity-of-a-click.md).  So for each day, the runs
 * that a merge takes must be neighbours among the runs that have rows of that day:
 *
 *   lanes     the runs of one day alone are a lane, and the mixed runs are one (late clicks of many
 *             days, and days too small for separate runs); runs of a lane are merged in tiers
 *   tiers     class(s) = 1 + floor(log4(s / tier_bytes)), 0 below.  The newest stretch of
 *             neighbours, none in a class above c, for the least c that has one: four of them, and
 *             from class 1 on as many as COMPACT_RUNS_MIN or COMPACT_COLUMNAR_MIN says, together
 *             at least half as many times the size of the largest.  So each merge puts its rows in
 *             a run that is that much larger, and a row is seldom written again, however many runs
 *             follow
 *   closing   a day that is over, and has had no new rows for a while, is merged into one run as
 *             soon as its small runs have a tenth of the rows of the largest.  Its rows in mixed
 *             runs are included; the other days of those runs are written again as they are
 *   purging   a closed day that has deletions of its clicks is merged, even if it is a single run,
 *             so that the deleted rows and the deletions are dropped
 *
 *   runs, oldest first, with classes      1a 1a 1ab 0a 0b 0a 0a     days a and b; "ab" mixed
 *   lane a: 1a 1a | 0a 0a 0a              cut where a mixed run has rows of a
 *
 * Tables other than event tables have one lane.  There a merge takes in all older runs when that is
 * cheap, because only then its tombstones can be dropped. */
#ifndef DAYBOOK_STORAGE_ENGINE_COMPACT_PLAN_H
#define DAYBOOK_STORAGE_ENGINE_COMPACT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/manifest/manifest.h"
#include "storage/segment/segment_days.h"

enum {
    COMPACT_RUNS_MIN = 4,      /* few: every report reads all row runs of a table */
    COMPACT_COLUMNAR_MIN = 8,  /* more: clicks are written more often than read */
    COMPACT_RUNS_MAX = 32,
    COMPACT_TIER_BYTES = 4 << 20       /* where class 1 begins; in tests earlier */
};

struct compact_run {
    const struct segment_info *info;
    const struct segment_days *days;   /* none, except of event tables */
};

struct compact_facts {
    const struct compact_run *runs;    /* ascending by frame_first */
    uint32_t run_count;
    const struct compact_run *overwrites;      /* the row runs beside columnar ones */
    uint32_t overwrite_count;
    /* Not 0: a full merge was requested.  Then only merges of runs with frames up to this one are
     * chosen, as long as any is possible, however little it gains.  That comes to an end, however
     * many runs are written meanwhile. */
    uint64_t asked_until;
    uint64_t day_rows_min;             /* of a day that is worth a separate run */
    uint64_t tier_bytes;               /* where class 1 begins */
    int64_t now_us;
    /* Days before purge_day were tried for a purge, with the overwrites up to purge_frame. */
    uint64_t purge_frame;
    int32_t purge_day;
};

struct compact_choice {
    uint32_t runs[COMPACT_RUNS_MAX];   /* ascending */
    uint32_t count;
    bool splits;                       /* `day` becomes one run, the rest of each input another */
    bool purges;                       /* it was chosen for its deletions */
    int32_t day;
    int64_t again_us;                  /* when to call again; INT64_MAX: only after a write */
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
