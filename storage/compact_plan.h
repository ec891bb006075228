/* compact_plan: which neighbouring runs to merge next: a pure function of their sizes.
 *
 * Runs of one table and kind stand in the order of their frames; only neighbours may merge, because
 * the rank of a click is its place among equals over runs in that order (docs/ARCHITECTURE.md
 * "Identity of a click").  Tiers by size: class(s) = floor(log4(s / 1 MiB)), 0 below.  The newest
 * stretch of at least COMPACT_RUNS_MIN neighbours, none in a class above c, is merged, for the
 * least c that has one.  With runs of like size each row is written once per tier:
 *
 *   classes, oldest first    0 0 0        nothing
 *                            0 0 0 0      merge all four
 *                            2 0 1 0 0    merge the last four (c = 1)
 *                            3 2 0 0 0    nothing */
#ifndef DAYBOOK_STORAGE_COMPACT_PLAN_H
#define DAYBOOK_STORAGE_COMPACT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum { COMPACT_RUNS_MIN = 4, COMPACT_RUNS_MAX = 32 };

/* True and the half-open interval [start, end) of `sizes` (bytes, oldest first) to merge. */
bool compact_plan(const uint64_t *sizes, uint32_t count, uint32_t *start_out, uint32_t *end_out);
#endif
