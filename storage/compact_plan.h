/* compact_plan: which runs of one table and kind to merge next: a pure function.
 *
 * Runs come in the order of their frames.  What may be merged follows from the rank of a click,
 * which is its place among equals over all runs in that order (docs/ARCHITECTURE.md "Identity of a
 * click"): for each day, the runs that a merge takes must be neighbours among the runs that have
 * rows of that day.  So, in windows of a day:
 *
 *   lanes     the runs of one day alone, and the mixed ones (late clicks of many days, or days too
 *             small for runs of their own), each a lane in which runs are merged in tiers
 *   tiers     class(s) = floor(log4(s / 1 MiB)), 0 below.  The newest stretch of at least
 *             COMPACT_RUNS_MIN neighbours, none in a class above c, for the least c that has one:
 *             with runs of like size each row is written once per tier
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
#ifndef DAYBOOK_STORAGE_COMPACT_PLAN_H
#define DAYBOOK_STORAGE_COMPACT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/manifest.h"
#include "storage/segment_days.h"

enum { COMPACT_RUNS_MIN = 4, COMPACT_RUNS_MAX = 32 };

struct compact_run {
    const struct segment_info *info;
    const struct segment_days *days;   /* none of tables that are not ranked */
};

struct compact_facts {
    const struct compact_run *runs;    /* ascending by frame_first */
    uint32_t run_count;
    const struct compact_run *exceptions;      /* the narrow runs beside wide ones */
    uint32_t exception_count;
    /* Runs with frames up to this one are merged with each other as far as can be, however little
     * it gains; what comes after it is not waited for, and merges by itself.  0: none. */
    uint64_t asked_until;
    uint64_t day_rows_min;             /* of a day that is worth a run of its own */
    int64_t now_us;
    /* Purging was tried of days before purge_day, with the exceptions up to purge_frame. */
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

/* The tiers alone: true and the half-open interval [start, end) of `sizes` (bytes, oldest first).
 *
 *   classes, oldest first    0 0 0        nothing
 *                            0 0 0 0      merge all four
 *                            2 0 1 0 0    merge the last four (c = 1)
 *                            3 2 0 0 0    nothing */
bool compact_tiers(const uint64_t *sizes, uint32_t count, uint32_t *start_out, uint32_t *end_out);
#endif
