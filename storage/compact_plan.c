/* compact_plan: see the header; the rule is all there is. */
#include "storage/compact_plan.h"

static uint32_t size_class(uint64_t size)
{
    uint32_t class = 0;
    for (uint64_t bound = 4 << 20; size >= bound && class < 16; bound *= 4) {
        class++;
    }
    return class;
}

/* The newest stretch of runs with no class above `class`. */
static bool stretch_of(const uint64_t *sizes, uint32_t count, uint32_t class, uint32_t *start_out,
                       uint32_t *end_out)
{
    for (uint32_t end = count; end >= COMPACT_RUNS_MIN; end--) {
        uint32_t start = end;
        while (start > 0 && end - start < COMPACT_RUNS_MAX &&
               size_class(sizes[start - 1]) <= class) {
            start--;
        }
        if (end - start >= COMPACT_RUNS_MIN) {
            *start_out = start;
            *end_out = end;
            return true;
        }
    }
    return false;
}

bool compact_plan(const uint64_t *sizes, uint32_t count, uint32_t *start_out, uint32_t *end_out)
{
    for (uint32_t class = 0; class <= 16; class++) {
        if (stretch_of(sizes, count, class, start_out, end_out)) {
            return true;
        }
    }
    return false;
}
