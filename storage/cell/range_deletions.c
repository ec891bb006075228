/* range_deletions: a sweep over starts and ends.
 *
 * At every place where a range starts or ends, the strongest of the open ranges is in force from
 * there on.  A bound is written where the deletion in force changes:
 *
 *     [----------- 3 -----------)
 *           [----- 7 -----)
 *              [-- 5 --)
 *     [- 3 -[----- 7 -----[- 3 -)         four bounds; 5 is never in force
 *
 * The open ranges are in a heap, the strongest first.  A range that has ended is removed only when
 * it becomes the first of the heap: so n ranges take n log n time, however they overlap. */
#include "storage/cell/range_deletions.h"

#include <stdlib.h>

#include "base/heap.h"
#include "base/memory.h"

struct range_sweep {
    const struct table *table;
    struct range_deletion **starts; /* sorted by start */
    struct range_deletion **ends;   /* sorted by end */
    struct heap open;               /* the strongest first */
};

/* Cut a range to the slice; false: nothing is left of it. */
static bool range_cut(const struct table *table, struct range_deletion *range,
                      const struct slice *slice)
{
    if (row_bound_compare(table, &range->start, &slice->start) < 0)
        range->start = slice->start;
    if (row_bound_compare(table, &range->end, &slice->end) > 0)
        range->end = slice->end;
    return row_bound_compare(table, &range->start, &range->end) < 0;
}

static int compare_starts(const void *a, const void *b, void *table)
{
    const struct range_deletion *const *left = a;
    const struct range_deletion *const *right = b;

    return row_bound_compare(table, &(*left)->start, &(*right)->start);
}

static int compare_ends(const void *a, const void *b, void *table)
{
    const struct range_deletion *const *left = a;
    const struct range_deletion *const *right = b;

    return row_bound_compare(table, &(*left)->end, &(*right)->end);
}

static bool is_stronger(const void *context, const void *a, const void *b)
{
    (void)context;
    return row_deletion_supersedes(((const struct range_deletion *)a)->deletion,
                                   ((const struct range_deletion *)b)->deletion);
}

/* The strongest range of the heap, which may have ended.  NULL: the heap is empty. */
static const struct range_deletion *open_first(const struct range_sweep *sweep)
{
    return sweep->open.count > 0 ? sweep->open.items[0] : NULL;
}

/* The strongest of the open ranges that end behind `place`. */
static struct deletion open_strongest(struct range_sweep *sweep, const struct bound *place)
{
    const struct range_deletion *first;

    while ((first = open_first(sweep)) != NULL &&
           row_bound_compare(sweep->table, &first->end, place) <= 0)
        (void)heap_pop(&sweep->open, is_stronger, NULL);
    return first != NULL ? first->deletion : DELETION_NONE;
}

static size_t sweep_run(struct range_sweep *sweep, size_t count, struct unfiltered *bounds)
{
    const struct table *table = sweep->table;
    struct deletion in_force = DELETION_NONE;
    size_t started = 0;
    size_t written = 0;

    for (size_t ended = 0; ended < count;) {
        const struct bound *place = &sweep->ends[ended]->end;
        if (started < count && row_bound_compare(table, &sweep->starts[started]->start, place) < 0)
            place = &sweep->starts[started]->start;
        while (started < count &&
               row_bound_compare(table, &sweep->starts[started]->start, place) == 0)
            heap_push(&sweep->open, is_stronger, NULL, sweep->starts[started++]);
        while (ended < count && row_bound_compare(table, &sweep->ends[ended]->end, place) == 0)
            ended++;
        struct deletion next = open_strongest(sweep, place);
        if (next.timestamp_us == in_force.timestamp_us && next.local_s == in_force.local_s)
            continue;
        bounds[written].kind = UNFILTERED_BOUND;
        bounds[written].bound = *place;
        bounds[written].before = in_force;
        bounds[written++].after = next;
        in_force = next;
    }
    return written;
}

static struct unfiltered bound_turned(struct unfiltered bound)
{
    struct deletion before = bound.before;

    bound.before = bound.after;
    bound.after = before;
    return bound;
}

static void bounds_reverse(struct unfiltered *bounds, size_t count)
{
    for (size_t i = 0; i < (count + 1) / 2; i++) {
        struct unfiltered last = bound_turned(bounds[i]);
        bounds[i] = bound_turned(bounds[count - 1 - i]);
        bounds[count - 1 - i] = last;
    }
}

size_t range_deletions_bounds(const struct table *table, struct range_deletion *ranges,
                              size_t count, struct deletion partition_deletion,
                              const struct slice *slice, struct unfiltered *bounds_out)
{
    struct range_deletion **pointers = memory_alloc(3 * count * sizeof(struct range_deletion *));
    struct range_sweep sweep = {
        .table = table,
        .starts = pointers,
        .ends = pointers + count,
        .open.items = (void **)(pointers + 2 * count),
    };
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (!row_deletion_supersedes(ranges[i].deletion, partition_deletion) ||
            !range_cut(table, &ranges[i], slice))
            continue;
        sweep.starts[kept] = &ranges[i];
        sweep.ends[kept++] = &ranges[i];
    }
    /* qsort_r takes its context without const; the comparisons do not write to the table. */
    void *context = (void *)(uintptr_t)table;
    qsort_r(sweep.starts, kept, sizeof *pointers, compare_starts, context);
    qsort_r(sweep.ends, kept, sizeof *pointers, compare_ends, context);
    size_t written = sweep_run(&sweep, kept, bounds_out);
    memory_free(pointers);
    if (slice->reversed)
        bounds_reverse(bounds_out, written);
    return written;
}
