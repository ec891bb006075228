/* Figures for readers: reseller ascending by bytes, day descending.
 *
 * amount_by_day is ordered by token, so its resellers are listed first (known_resellers.h).
 * Resellers are read in the order in which they are stored, a batch of them with one read.  A
 * window (figure_window.h) keeps the figures that were read, and returns them in the order of
 * names:
 *
 *     list      anna bert carl dora emil ...      by name
 *     batches   [dora anna emil] [carl ...]       by token: one read of the store each
 *     window    anna bert carl dora emil ...      given by name when all batches are in it
 *
 * If a window had to drop resellers, the next window has as many resellers as were kept.
 *
 * If the query is for current figures, figures computed in memory replace rows that are out of date
 * (dirty_overlay.h).  Rows and computed figures have the same order and are merged:
 *
 *     rows      11-30  11-28  11-27          pending   11-29  11-28
 *     answer    11-30  11-29* 11-28* 11-27
 *
 * Figures from memory are returned without any wait, so after TURN_DAYS_MAX days the engine thread
 * does other work first.
 *
 * For figures as of a time, the ledger is read backwards.  The first entry of a day that is not
 * later than this time has the figure. */
#include <stdlib.h>

#include "base/murmur3.h"
#include "rollup/days/figure_window.h"
#include "rollup/days/dirty_overlay.h"
#include "rollup/days/rollup_private.h"
#include "storage/cell/partition_index.h"
#include "storage/engine/store_rows.h"
#include "base/arena.h"
#include "base/memory.h"
#include "rollup/days/ledger.h"

enum {
    ARENA_CHUNK = 16 * 1024,
    TURN_DAYS_MAX = 512,
    BATCH_RESELLERS_MAX = READ_KEYS_MAX,
    BATCH_FRESH_MAX = 512, /* a batch with so many days to be computed takes no more resellers */
    WINDOW_GROWTH = 4      /* a window has this many times the resellers of the previous one */
};

struct placed {
    int64_t token;
    uint32_t reseller; /* index into `resellers` of the reading */
};

struct figure_reading {
    struct rollup *rollup;
    struct arena *arena;
    struct bytes *resellers; /* ascending, each once; for sums in any order */
    uint32_t reseller_count;
    struct figure_query query;     /* its resellers are not used */
    struct dirty_overlay *overlay; /* NULL: rows are enough */
    uint64_t behind;               /* days whose row differs from their figure, or is missing */

    struct figure_window *window; /* NULL: in any order */
    uint32_t window_first;
    uint32_t window_count;
    uint32_t window_most; /* resellers of the next window */
    struct placed *placed;
    uint32_t placed_capacity;
    uint32_t placed_next; /* index into `placed`: the first that is in no batch yet */

    struct bytes batch[BATCH_RESELLERS_MAX];
    uint32_t batch_resellers[BATCH_RESELLERS_MAX]; /* the index of each in `resellers` */
    uint32_t batch_count;
    uint32_t batch_at;                /* index into `batch` of the reseller whose rows are read;
                                       * `batch_count`: there are no more */
    int64_t given_day;                /* as of a time: the last day that was given of this
                                       * reseller */
    const struct day_figure *pending; /* computed figures of this reseller that are not given yet */
    const struct day_figure *pending_end;

    struct timer time_slice;
    uint32_t time_slice_days; /* days and resellers processed since the time slice began */
    bool (*each)(void *context, const struct day_figure *figure);
    store_done done;
    void *context;
    bool is_calling; /* the function that starts a read has not returned yet */
    bool is_answered;
    bool is_enough;
    struct error err;
};

static void report_memory(const struct figure_reading *reading)
{
    int64_t change = quota_unreported(reading->rollup->figures);
    if (change != 0)
        memory_held_change(reading->rollup->store->held, MEMORY_HELD_FIGURES, change);
}

static void reading_free(struct figure_reading *reading)
{
    memory_free(reading->resellers);
    memory_free(reading->placed);
    figure_window_free(reading->window);
    report_memory(reading);
    dirty_overlay_free(reading->overlay);
    arena_free(reading->arena);
    memory_free(reading);
}

void rollup_figures_stop(struct figure_reading *reading)
{
    store_done done = reading->done;
    void *context = reading->context;
    const struct error err = reading->err;
    if (reading->query.behind != NULL)
        *reading->query.behind += reading->behind;
    reading_free(reading);
    done(context, err.code, &err);
}

/* ---- one reseller of a batch ---- */

static void reseller_begin(struct figure_reading *reading)
{
    reading->pending = reading->pending_end = NULL;
    reading->given_day = INT64_MIN;
    if (reading->batch_at == reading->batch_count)
        return;
    if (reading->overlay != NULL) {
        uint32_t count;
        reading->pending = dirty_overlay_figures(reading->overlay, reading->batch_at, &count);
        reading->pending_end = count > 0 ? reading->pending + count : reading->pending;
    }
}

static void give(struct figure_reading *reading, const struct day_figure *figure)
{
    reading->time_slice_days++;
    if (reading->query.in_any_order) {
        reading->is_enough = !reading->each(reading->context, figure);
        return;
    }
    figure_window_add(reading->window,
                      reading->batch_resellers[reading->batch_at] - reading->window_first, figure);
    report_memory(reading);
}

/* Give the next computed figure, instead of `row`; NULL: the day has no row.  An open day without
 * clicks has no figure. */
static void give_pending(struct figure_reading *reading, const struct day_figure *row)
{
    struct day_figure figure = *reading->pending++;
    figure.state = row != NULL ? row->state : DAY_OPEN;
    bool is_there = figure.clicks > 0 || figure.state != DAY_OPEN;
    if (row != NULL ? !figure_identical(row, &figure) : is_there)
        reading->behind++;
    if (is_there)
        give(reading, &figure);
}

static void give_pending_after(struct figure_reading *reading, int64_t day)
{
    while (reading->pending < reading->pending_end && reading->pending->day > day &&
           !reading->is_enough)
        give_pending(reading, NULL);
}

static int give_priced(struct figure_reading *reading, const struct day_figure *row,
                       struct error *err)
{
    struct day_figure figure = *row;
    int rc = dirty_overlay_price(reading->overlay, reading->batch_at, &figure);
    if (rc < 0)
        return error_set(err, rc, "an amount has too many digits");
    if (!figure_identical(row, &figure))
        reading->behind++;
    give(reading, &figure);
    return 0;
}

/* Advance to this reseller of the batch; the resellers before it have no more rows.  `reseller`
 * without data: advance to the end of the batch. */
static void reach(struct figure_reading *reading, struct bytes reseller)
{
    while (reading->batch_at < reading->batch_count && !reading->is_enough) {
        if (reseller.data != NULL && bytes_equal(reading->batch[reading->batch_at], reseller))
            return;
        if (!reading->query.is_as_of)
            give_pending_after(reading, INT64_MIN);
        reading->batch_at++;
        reading->time_slice_days++;
        reseller_begin(reading);
    }
}

static int give_row(void *context, const struct table *table, const struct page_row *row,
                    struct error *err)
{
    struct figure_reading *reading = context;
    struct day_figure figure;
    int rc = figure_read(table, row, &figure, err);
    if (rc < 0)
        return rc;
    reach(reading, row->key);
    give_pending_after(reading, figure.day);
    if (reading->is_enough)
        return true;
    if (reading->pending < reading->pending_end && reading->pending->day == figure.day)
        give_pending(reading, &figure);
    else if (reading->overlay != NULL)
        rc = give_priced(reading, &figure, err);
    else
        give(reading, &figure);
    return rc < 0 ? rc : reading->is_enough;
}

static int give_entry(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    struct figure_reading *reading = context;
    struct ledger_entry entry;
    int rc = ledger_read(table, row, &entry, err);
    if (rc < 0)
        return rc;
    reach(reading, row->key);
    if (entry.at_ms > reading->query.as_of_ms || entry.new.day == reading->given_day)
        return 0;
    reading->given_day = entry.new.day;
    entry.new.state = DAY_PUBLISHED;
    give(reading, &entry.new);
    return reading->is_enough;
}

/* ---- one batch after the other ---- */

static void batch_read(void *context, int status, const struct error *err)
{
    struct figure_reading *reading = context;
    error_keep(&reading->err, status, err);
    if (status == 0)
        reach(reading, bytes_of(NULL, 0));
    if (reading->is_calling)
        reading->is_answered = true;
    else
        rollup_figures_go_on(reading);
}

static void read_rows(struct figure_reading *reading)
{
    const struct click_stream *stream = reading->rollup->stream;
    const struct figure_query *query = &reading->query;
    struct day_slice_text text;
    struct read_request request =
        store_rows_request(query->is_as_of ? stream->ledger_table_id : stream->figures_table_id,
                           &reading->batch[0], READ_DURABLE);
    request.keys = reading->batch;
    request.key_count = reading->batch_count;
    request.slice = query->is_as_of ? ledger_slice(query->day_from, query->day_to, &text)
                                    : figure_slice(query->day_from, query->day_to, &text);
    request.slice.reversed = query->is_as_of;
    reading->batch_at = 0;
    reseller_begin(reading);
    store_rows_read(reading->rollup->store, &request, query->is_as_of ? give_entry : give_row,
                    batch_read, reading);
}

static void overlay_read(void *context, int status, const struct error *err)
{
    struct figure_reading *reading = context;
    if (status < 0)
        batch_read(reading, status, err);
    else
        read_rows(reading);
}

static void read_batch(struct figure_reading *reading)
{
    if (reading->overlay != NULL)
        dirty_overlay_read(reading->overlay, reading->batch, reading->batch_count,
                           reading->query.day_from, reading->query.day_to, overlay_read, reading);
    else
        read_rows(reading);
}

/* Resellers that the window has dropped are left out. */
static void take_batch(struct figure_reading *reading)
{
    uint32_t end = reading->query.in_any_order
                       ? reading->reseller_count
                       : reading->window_first + figure_window_end(reading->window);
    uint32_t overlay = 0;
    reading->batch_count = 0;
    while (reading->placed_next < reading->window_count &&
           reading->batch_count < BATCH_RESELLERS_MAX && overlay < BATCH_FRESH_MAX) {
        uint32_t at = reading->placed[reading->placed_next++].reseller;
        struct bytes reseller = reading->resellers[at];
        if (at >= end)
            continue;
        if (reading->overlay != NULL)
            overlay += dirty_overlay_owed(reading->rollup, reseller, reading->query.day_from,
                                          reading->query.day_to, BATCH_FRESH_MAX);
        reading->batch_resellers[reading->batch_count] = at;
        reading->batch[reading->batch_count++] = reseller;
    }
}

/* ---- one window after the other ---- */

static int compare_placed(const void *a, const void *b, void *context)
{
    const struct figure_reading *reading = context;
    const struct placed *left = a;
    const struct placed *right = b;
    return partition_index_order(left->token, reading->resellers[left->reseller], right->token,
                                 reading->resellers[right->reseller]);
}

static void window_begin(struct figure_reading *reading)
{
    uint32_t left = reading->reseller_count - reading->window_first;
    uint32_t count = left < reading->window_most ? left : reading->window_most;
    if (count > reading->placed_capacity) {
        memory_free(reading->placed);
        reading->placed = memory_alloc(count * sizeof(*reading->placed));
        reading->placed_capacity = count;
    }
    reading->window_count = count;
    reading->placed_next = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct bytes reseller = reading->resellers[reading->window_first + i];
        reading->placed[i] =
            (struct placed){murmur3_token(reseller.data, reseller.size), reading->window_first + i};
    }
    if (count > 1)
        qsort_r(reading->placed, count, sizeof(*reading->placed), compare_placed, reading);
    if (!reading->query.in_any_order)
        figure_window_begin(reading->window, count);
    report_memory(reading);
}

/* False: there is no further window. */
static bool window_next(struct figure_reading *reading)
{
    if (reading->query.in_any_order)
        return false;
    uint32_t end = figure_window_end(reading->window);
    reading->window_first += end;
    if (reading->window_first == reading->reseller_count)
        return false;
    if (end < reading->window_count)
        reading->window_most = end;
    else if (reading->window_most <= UINT32_MAX / WINDOW_GROWTH)
        reading->window_most *= WINDOW_GROWTH;
    window_begin(reading);
    return true;
}

enum given { GIVEN_ALL, GIVEN_SOME, GIVEN_ENOUGH };

static enum given give_window(struct figure_reading *reading)
{
    struct day_figure figure;
    uint32_t reseller;
    while (reading->time_slice_days < TURN_DAYS_MAX) {
        if (!figure_window_next(reading->window, &reseller, &figure))
            return GIVEN_ALL;
        figure.reseller = reading->resellers[reading->window_first + reseller];
        reading->time_slice_days++;
        if (!reading->each(reading->context, &figure))
            return GIVEN_ENOUGH;
    }
    return GIVEN_SOME;
}

/* 1: there is another window; 0: the reading has ended, is paused, or continues when its timer
 * fires. */
static int next_figures(struct figure_reading *reading)
{
    enum given given = reading->query.in_any_order ? GIVEN_ALL : give_window(reading);
    if (given == GIVEN_ALL && window_next(reading))
        return 1;
    if (given == GIVEN_SOME)
        rollup_fire_in(reading->rollup, &reading->time_slice, 0);
    else if (given == GIVEN_ENOUGH && reading->query.paused != NULL)
        reading->query.paused(reading->context, reading);
    else
        rollup_figures_stop(reading);
    return 0;
}

void rollup_figures_go_on(struct figure_reading *reading)
{
    while (reading->err.code == 0 && !reading->is_enough) {
        if (reading->time_slice_days >= TURN_DAYS_MAX) {
            rollup_fire_in(reading->rollup, &reading->time_slice, 0);
            return;
        }
        take_batch(reading);
        if (reading->batch_count == 0) {
            if (next_figures(reading) == 0)
                return;
            continue;
        }
        reading->is_calling = true;
        reading->is_answered = false;
        read_batch(reading);
        reading->is_calling = false;
        if (!reading->is_answered)
            return;
    }
    rollup_figures_stop(reading);
}

static void time_slice_begin(struct timer *timer)
{
    struct figure_reading *reading = timer->context;
    reading->time_slice_days = 0;
    rollup_figures_go_on(reading);
}

static void reading_begin(struct figure_reading *reading)
{
    window_begin(reading);
    rollup_figures_go_on(reading);
}

/* ---- which resellers ---- */

static int compare_resellers(const void *a, const void *b)
{
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

static void take_asked(struct figure_reading *reading, const struct figure_query *query)
{
    uint32_t count = 0;
    struct bytes *resellers = memory_alloc(query->reseller_count * sizeof(*resellers));
    for (uint32_t i = 0; i < query->reseller_count; i++)
        resellers[i] = arena_copy(reading->arena, query->resellers[i]);
    qsort(resellers, query->reseller_count, sizeof(*resellers), compare_resellers);
    for (uint32_t i = 0; i < query->reseller_count; i++)
        if (count == 0 || !bytes_equal(resellers[count - 1], resellers[i]))
            resellers[count++] = resellers[i];
    reading->resellers = resellers;
    reading->reseller_count = count;
}

/* For sums, names are not sorted, because sorting a hundred thousand names takes a while. */
static void take_known(struct figure_reading *reading)
{
    const struct key_map *known = reading->rollup->resellers.map;
    if (!reading->query.in_any_order) {
        reading->resellers = key_map_sorted(known, &reading->reseller_count);
        return;
    }
    reading->reseller_count = key_map_count(known);
    reading->resellers = memory_alloc(reading->reseller_count * sizeof(struct bytes));
    for (uint32_t i = 0; i < reading->reseller_count; i++)
        reading->resellers[i] = key_map_key(known, i);
}

static void add_reseller(void *context, struct bytes reseller)
{
    known_resellers_add(context, reseller);
}

static void resellers_known(void *context, int status, const struct error *err)
{
    struct figure_reading *reading = context;
    struct rollup *rollup = reading->rollup;
    if (error_keep(&reading->err, status, err) < 0) {
        rollup_figures_stop(reading);
        return;
    }
    if (reading->overlay != NULL)
        dirty_set_each_reseller(rollup->marks.dirty, add_reseller, &rollup->resellers);
    take_known(reading);
    reading_begin(reading);
}

static struct figure_reading *reading_new(struct rollup *rollup, const struct figure_query *query)
{
    struct figure_reading *reading = memory_zeroed(1, sizeof(*reading));
    reading->rollup = rollup;
    reading->arena = arena_new(ARENA_CHUNK);
    reading->query = *query;
    if (query->day_from < DAY_MIN)
        reading->query.day_from = DAY_MIN;
    if (query->day_to > DAY_MAX)
        reading->query.day_to = DAY_MAX;
    reading->time_slice = (struct timer){.fire = time_slice_begin, .context = reading};
    reading->window_most = UINT32_MAX;
    if (!query->in_any_order)
        reading->window = figure_window_new(rollup->figures);
    if ((query->is_current || rollup->is_read_only) && !query->is_as_of)
        reading->overlay = dirty_overlay_new(rollup);
    return reading;
}

uint32_t rollup_known_resellers(const struct rollup *rollup)
{
    return key_map_count(rollup->resellers.map);
}

void rollup_figures(struct rollup *rollup, const struct figure_query *query,
                    bool (*each)(void *context, const struct day_figure *figure), store_done done,
                    void *context)
{
    check(!query->in_any_order || query->paused == NULL);
    struct figure_reading *reading = reading_new(rollup, query);
    reading->each = each;
    reading->done = done;
    reading->context = context;
    if (reading->query.day_from > reading->query.day_to) {
        rollup_figures_stop(reading);
    } else if (query->reseller_count > 0) {
        take_asked(reading, query);
        reading_begin(reading);
    } else {
        known_resellers_read(&rollup->resellers, resellers_known, reading);
    }
}
