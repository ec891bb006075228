/* range_deletions: runs of ranges, and a sweep over starts and ends.
 *
 * A run has ranges that do not overlap, in order.  Each added range is a run of its own, the newest
 * of a list.  FOLD_RUNS runs of about the same size are folded: one run that deletes the same
 * replaces them in the list, and keeps them as its parts for readers at earlier frames:
 *
 *     newest ─▶ @9 ─▶ @8 ─▶ [@7 .. @3] ─▶ ...       a reader at 5 goes from [@7 .. @3] to its parts
 *                                │
 *                              parts ─▶ @7 ─▶ @6 ─▶ ... ─▶ @3 ─▶ ...
 *
 * Everywhere the strongest of the open ranges is in force.  There is a bound where the deletion in
 * force changes:
 *
 *     [----------- 3 -----------)
 *           [----- 7 -----)
 *              [-- 5 --)
 *     [- 3 -[----- 7 -----[- 3 -)         four bounds; 5 is never in force
 *
 * A sweep has the next place of each run in a heap.  So its memory depends on the number of runs,
 * not on the number of ranges. */
#include "storage/cell/range_deletions.h"

#include "base/arena.h"
#include "base/heap.h"
#include "base/memory.h"

enum {
    FOLD_RUNS = 16,
    LEVEL_MAX = 3 /* runs of this level are not folded */
};

/* A bound is packed as a byte for its side and a packed clustering. */
struct packed_range {
    struct bytes start;
    struct bytes end;
    struct deletion deletion;
};

struct range_run {
    const struct range_run *older;
    const struct range_run *parts; /* the newest of the folded runs; NULL: none */
    uint64_t frame_first;          /* its ranges were added by frames from this one ... */
    uint64_t frame;                /* ... to this one */
    const struct packed_range *ranges;
    uint32_t count;
    uint16_t level; /* by `count`, but never above the level of an older run */
    uint16_t equal; /* runs of this level from here on in the list; 1 at LEVEL_MAX */
};

/* A range has a near and a far end, in the order of the sweep. */
struct range_source {
    const struct packed_range *range;
    uint32_t left; /* ranges from `range` on */
    bool is_open;
    struct bytes packed;
    struct bound place; /* the far end of `range` if open, else the near end */
};

struct range_sweep {
    const struct table *table;
    struct deletion partition_deletion;
    bool reversed;
    struct bound first; /* the slice, in the order of the sweep */
    struct bound last;
    struct deletion in_force;
    struct bytes packed; /* the last place, unless it is an end of the slice */
    struct heap heap;    /* of sources, by place; owned */
    size_t source_count;
    struct range_source sources[];
};

static void bound_put(const struct bound *bound, struct buffer *buffer)
{
    buffer_put_u8(buffer, bound->side == BOUND_AFTER);
    row_clustering_pack(&bound->prefix, buffer);
}

static void bound_get(struct bytes packed, struct bound *bound_out)
{
    struct reader reader = reader_of(packed);

    bound_out->side = reader_u8(&reader) != 0 ? BOUND_AFTER : BOUND_BEFORE;
    row_clustering_unpack(&reader, &bound_out->prefix);
}

/* ---- the sweep ---- */

/* <0: the sweep comes to `a` first. */
static int place_order(const struct range_sweep *sweep, const struct bound *a,
                       const struct bound *b)
{
    int order = row_bound_compare(sweep->table, a, b);

    return sweep->reversed ? -order : order;
}

static bool is_before(const void *sweep, const void *a, const void *b)
{
    return place_order(sweep, &((const struct range_source *)a)->place,
                       &((const struct range_source *)b)->place) < 0;
}

/* Move to the near end of the next range.  False: there is none within the slice. */
static bool source_begin(const struct range_sweep *sweep, struct range_source *source)
{
    if (source->left == 0)
        return false;
    source->packed = sweep->reversed ? source->range->end : source->range->start;
    bound_get(source->packed, &source->place);
    if (place_order(sweep, &source->place, &sweep->first) < 0)
        source->place = sweep->first;
    return place_order(sweep, &source->place, &sweep->last) < 0;
}

/* False: the run has no further place. */
static bool source_turn(const struct range_sweep *sweep, struct range_source *source)
{
    source->is_open = !source->is_open;
    if (!source->is_open) {
        source->range += sweep->reversed ? -1 : 1;
        source->left--;
        return source_begin(sweep, source);
    }
    source->packed = sweep->reversed ? source->range->start : source->range->end;
    bound_get(source->packed, &source->place);
    if (place_order(sweep, &source->place, &sweep->last) > 0)
        source->place = sweep->last;
    return true;
}

/* How many ranges of the run end where the slice begins, or before. */
static uint32_t run_skipped(const struct range_sweep *sweep, const struct range_run *run)
{
    uint32_t low = 0;
    uint32_t high = run->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct bound far;
        bound_get(sweep->reversed ? run->ranges[run->count - 1 - middle].start
                                  : run->ranges[middle].end,
                  &far);
        if (place_order(sweep, &far, &sweep->first) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void sweep_add(struct range_sweep *sweep, const struct range_run *run)
{
    struct range_source *source = &sweep->sources[sweep->source_count];
    uint32_t skipped = run_skipped(sweep, run);

    if (skipped == run->count)
        return;
    source->left = run->count - skipped;
    source->range = &run->ranges[sweep->reversed ? source->left - 1 : skipped];
    if (!source_begin(sweep, source))
        return;
    sweep->source_count++;
    heap_push(&sweep->heap, is_before, sweep, source);
}

static const struct range_run *run_visible(const struct range_run *run, uint64_t frame)
{
    while (run != NULL && run->frame > frame)
        run = run->parts != NULL && run->frame_first <= frame ? run->parts : run->older;
    return run;
}

/* A sweep over the runs from `newest` to the one before `end`. */
static struct range_sweep *sweep_new(const struct range_run *newest, const struct range_run *end,
                                     const struct table *table, const struct slice *slice,
                                     uint64_t frame, struct deletion partition_deletion)
{
    size_t count = 0;

    newest = run_visible(newest, frame);
    for (const struct range_run *at = newest; at != end; at = run_visible(at->older, frame))
        count++;
    if (count == 0)
        return NULL;
    struct range_sweep *sweep =
        memory_zeroed(1, sizeof *sweep + count * sizeof(struct range_source));
    sweep->table = table;
    sweep->partition_deletion = partition_deletion;
    sweep->reversed = slice->reversed;
    sweep->first = slice->reversed ? slice->end : slice->start;
    sweep->last = slice->reversed ? slice->start : slice->end;
    sweep->in_force = DELETION_NONE;
    sweep->heap.items = memory_alloc(count * sizeof(void *));
    for (const struct range_run *at = newest; at != end; at = run_visible(at->older, frame))
        sweep_add(sweep, at);
    return sweep;
}

struct range_sweep *range_deletions_sweep(const struct range_run *newest, const struct table *table,
                                          const struct slice *slice, uint64_t frame,
                                          struct deletion partition_deletion)
{
    return sweep_new(newest, NULL, table, slice, frame, partition_deletion);
}

static struct deletion open_strongest(const struct range_sweep *sweep)
{
    struct deletion strongest = sweep->partition_deletion;
    bool is_found = false;

    for (size_t i = 0; i < sweep->source_count; i++) {
        const struct range_source *source = &sweep->sources[i];
        if (!source->is_open || !row_deletion_supersedes(source->range->deletion, strongest))
            continue;
        strongest = source->range->deletion;
        is_found = true;
    }
    return is_found ? strongest : DELETION_NONE;
}

bool range_deletions_next(struct range_sweep *sweep, struct unfiltered *place_out)
{
    if (sweep->heap.count == 0)
        return false;
    const struct range_source *first = sweep->heap.items[0];
    *place_out = (struct unfiltered){
        .kind = UNFILTERED_BOUND, .bound = first->place, .before = sweep->in_force};
    sweep->packed = first->packed;
    do {
        struct range_source *source = heap_pop(&sweep->heap, is_before, sweep);
        if (source_turn(sweep, source))
            heap_push(&sweep->heap, is_before, sweep, source);
        first = sweep->heap.items[0];
    } while (sweep->heap.count > 0 && place_order(sweep, &first->place, &place_out->bound) == 0);
    sweep->in_force = open_strongest(sweep);
    place_out->after = sweep->in_force;
    return true;
}

bool range_deletions_changes(const struct unfiltered *place)
{
    return place->before.timestamp_us != place->after.timestamp_us ||
           place->before.local_s != place->after.local_s;
}

void range_deletions_end(struct range_sweep *sweep)
{
    if (sweep == NULL)
        return;
    memory_free(sweep->heap.items);
    memory_free(sweep);
}

/* ---- adding ---- */

static uint16_t level_of(uint32_t count)
{
    uint16_t level = 0;

    for (; count > 1; count = (count + FOLD_RUNS - 1) / FOLD_RUNS)
        level++;
    return level;
}

/* `run.level` is its highest possible level. */
static void run_add(const struct range_run **newest, struct range_run run,
                    const struct packed_range *ranges, struct arena *arena)
{
    if (run.count > 0)
        run.ranges = arena_copy_item(arena, ranges, run.count * sizeof *ranges);
    if (run.level > level_of(run.count))
        run.level = level_of(run.count);
    run.equal = 1;
    if (run.older != NULL && run.older->level == run.level)
        run.equal = (uint16_t)(run.older->equal + (run.level < LEVEL_MAX));
    *newest = arena_copy_item(arena, &run, sizeof run);
}

static void runs_fold(const struct range_run **newest, const struct table *table,
                      struct arena *arena)
{
    const struct slice all = stream_slice_all();
    const struct range_run *end = *newest;
    struct range_run run = {
        .parts = *newest, .frame = (*newest)->frame, .level = (uint16_t)((*newest)->level + 1)};
    size_t most = 0;

    for (uint32_t i = 0; i < FOLD_RUNS; i++, end = end->older) {
        run.frame_first = end->frame_first;
        most += end->count;
    }
    run.older = end;
    struct range_sweep *sweep = sweep_new(*newest, end, table, &all, UINT64_MAX, DELETION_NONE);
    /* n ranges have at most 2 n places, each of which begins at most one range. */
    struct packed_range *ranges = memory_alloc(2 * most * sizeof *ranges);
    struct unfiltered bound;
    while (range_deletions_next(sweep, &bound)) {
        if (!range_deletions_changes(&bound))
            continue;
        if (bound.before.timestamp_us != TIMESTAMP_NONE)
            ranges[run.count++].end = sweep->packed;
        ranges[run.count].start = sweep->packed;
        ranges[run.count].deletion = bound.after;
    }
    range_deletions_end(sweep);
    run_add(newest, run, ranges, arena);
    memory_free(ranges);
}

void range_deletions_add(const struct range_run **newest, const struct table *table,
                         const struct bound *start, const struct bound *end,
                         struct deletion deletion, uint64_t frame, struct arena *arena,
                         struct buffer *scratch)
{
    const struct range_run run = {
        .older = *newest, .frame_first = frame, .frame = frame, .count = 1};
    struct packed_range range = {.deletion = deletion};

    if (row_bound_compare(table, start, end) >= 0)
        return;
    buffer_clear(scratch);
    bound_put(start, scratch);
    range.start = arena_copy(arena, buffer_view(scratch));
    buffer_clear(scratch);
    bound_put(end, scratch);
    range.end = arena_copy(arena, buffer_view(scratch));
    run_add(newest, run, &range, arena);
    while ((*newest)->equal == FOLD_RUNS)
        runs_fold(newest, table, arena);
}
