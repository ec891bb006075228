/* Figures for readers: reseller ascending by bytes, day descending.
 *
 * amount_by_day is ordered by token, so its resellers are listed first: by one scan the first time,
 * from memory afterwards, because whatever the rollup writes from then on it adds to the list.
 * Then one slice per reseller, so that a month of one reseller reads a month and memory holds a
 * page.  Where rows are behind, figures worked out in memory stand in for them: of all dirty days
 * in a read-only store, which does that when it is opened; else, if it is asked for, of the
 * reseller being read (fresh_days.h).  Both are in the same order, so this is a merge:
 *
 *     rows      11-30  11-28  11-27          pending   11-29  11-28
 *     answer    11-30  11-29* 11-28* 11-27
 *
 * Rows in memory are given without waiting for anything, so after TURN_DAYS_MAX days the engine
 * thread gets to do other things first.
 *
 * As of a time: the ledger, whose entries of a day stand in the order of their times, is read from
 * its end, and the first of a day that is not too late is the one. */
#include <stdlib.h>

#include "rollup/fresh_days.h"
#include "rollup/rollup_private.h"
#include "rollup/rows.h"
#include "storage/base/arena.h"
#include "storage/base/memory.h"

enum { ARENA_CHUNK = 16 * 1024, TURN_DAYS_MAX = 512 };

struct figures {
    struct rollup *rollup;
    struct arena *arena;
    struct bytes *resellers; /* ascending, each once */
    uint32_t reseller_count;
    uint32_t reseller_next;
    int32_t day_from;
    int32_t day_to;
    struct bytes after_reseller; /* data NULL: from the start */
    int32_t after_day;
    int32_t reseller_to;   /* of the reseller being read: the last day asked for */
    bool is_as_of;
    int64_t as_of_ms;
    struct fresh_days *fresh;         /* NULL: rows are enough, or the store is read-only */
    struct bytes reseller;            /* being read, */
    int64_t given_day;                /* as of a time: the last one given, */
    const struct day_figure *pending; /* what stands in for rows: first not yet given */
    const struct day_figure *pending_end;
    struct timer turn;
    uint32_t turn_days; /* worked on since it began */
    bool (*each)(void *context, const struct day_figure *figure);
    store_done done;
    void *context;
    bool is_calling; /* a read has been started and not returned */
    bool is_answered;
    bool is_enough; /* `each` said so */
    int status;
    struct error err;
};

static void figures_finish(struct figures *figures)
{
    store_done done = figures->done;
    void *context = figures->context;
    int status = figures->status;
    struct error err = figures->err;
    memory_free(figures->resellers);
    arena_free(figures->arena);
    fresh_days_free(figures->fresh);
    memory_free(figures);
    done(context, status, status < 0 ? &err : NULL);
}

/* ---- pending figures ---- */

/* A read-only store's. */
static void find_pending(struct figures *figures)
{
    const struct rollup *rollup = figures->rollup;
    uint32_t start = 0;
    uint32_t end = rollup->pending_count;
    while (start < end) {
        uint32_t middle = start + (end - start) / 2;
        if (bytes_compare(rollup->pending[middle].reseller, figures->reseller) < 0)
            start = middle + 1;
        else
            end = middle;
    }
    for (end = start; end < rollup->pending_count; end++) {
        if (!bytes_equal(rollup->pending[end].reseller, figures->reseller))
            break;
    }
    if (start < end) {
        figures->pending = rollup->pending + start;
        figures->pending_end = rollup->pending + end;
    }
}

static void give(struct figures *figures, const struct day_figure *figure)
{
    figures->turn_days++;
    figures->is_enough = !figures->each(figures->context, figure);
}

/* An open day whose clicks are all gone has no figure any more. */
static void give_pending(struct figures *figures, const struct day_figure *pending,
                         enum day_state state)
{
    struct day_figure figure = *pending;
    bool is_asked = figure.day >= figures->day_from && figure.day <= figures->reseller_to;
    if (figures->fresh != NULL)
        figure.state = state;
    if (is_asked && (figure.clicks > 0 || figure.state != DAY_OPEN))
        give(figures, &figure);
}

/* Those of days after `day`. */
static void give_pending_after(struct figures *figures, int64_t day)
{
    while (figures->pending < figures->pending_end && figures->pending->day > day &&
           !figures->is_enough)
        give_pending(figures, figures->pending++, DAY_OPEN);
}

/* ---- one reseller after the other ---- */

static int give_row(void *context, const struct table *table, const struct page_row *row,
                    struct error *err)
{
    struct figures *figures = context;
    struct day_figure figure;
    int rc = figure_read(table, row, &figure, err);
    if (rc < 0)
        return rc;
    give_pending_after(figures, figure.day);
    if (figures->is_enough)
        return true;
    if (figures->pending < figures->pending_end && figures->pending->day == figure.day) {
        give_pending(figures, figures->pending++, figure.state);
        return figures->is_enough;
    }
    if (figures->fresh != NULL) {
        rc = fresh_days_price(figures->fresh, &figure);
        if (rc < 0)
            return error_set(err, rc, "an amount has too many digits");
    }
    give(figures, &figure);
    return figures->is_enough;
}

static int give_entry(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    struct figures *figures = context;
    struct ledger_entry entry;
    int rc = ledger_read(table, row, &entry, err);
    if (rc < 0 || entry.at_ms > figures->as_of_ms || entry.new.day == figures->given_day)
        return rc;
    figures->given_day = entry.new.day;
    entry.new.state = DAY_PUBLISHED;
    give(figures, &entry.new);
    return figures->is_enough;
}

static void next_resellers(struct figures *figures);

static void reseller_done(void *context, int status, const struct error *err)
{
    struct figures *figures = context;
    figures->status = status;
    if (status < 0 && err != NULL)
        figures->err = *err;
    if (status == 0 && !figures->is_as_of)
        give_pending_after(figures, INT64_MIN);
    if (figures->is_calling)
        figures->is_answered = true;
    else
        next_resellers(figures);
}

/* Whether the reseller has days that are asked for, and up to which. */
static bool begin_reseller(struct figures *figures, struct bytes reseller)
{
    figures->reseller_to = figures->day_to;
    if (figures->after_reseller.data == NULL)
        return true;
    int order = bytes_compare(reseller, figures->after_reseller);
    if (order == 0 && figures->after_day <= figures->day_to)
        figures->reseller_to = figures->after_day - 1;
    return order > 0 || (order == 0 && figures->reseller_to >= figures->day_from);
}

static int read_rows(struct figures *figures, struct error *err)
{
    const struct click_stream *stream = figures->rollup->stream;
    struct day_slice_text text;
    struct read_request request =
        rows_request(figures->is_as_of ? stream->ledger_table_id : stream->figures_table_id,
                     &figures->reseller, READ_DURABLE);
    request.slice = figures->is_as_of
                        ? ledger_slice(figures->day_from, figures->reseller_to, &text)
                        : figure_slice(figures->day_from, figures->reseller_to, &text);
    request.slice.reversed = figures->is_as_of;
    figures->given_day = INT64_MIN;
    return rows_read(figures->rollup->store, &request, figures->is_as_of ? give_entry : give_row,
                     reseller_done, figures, err);
}

static void fresh_read(void *context, int status, const struct error *err)
{
    struct figures *figures = context;
    struct error own = {0};
    if (status == 0) {
        uint32_t count;
        figures->pending = fresh_days_figures(figures->fresh, &count);
        figures->pending_end = figures->pending + count;
        status = read_rows(figures, &own);
        err = &own;
    }
    if (status < 0)
        reseller_done(figures, status, err);
}

static void read_reseller(struct figures *figures)
{
    struct error err = {0};
    figures->pending = figures->pending_end = NULL;
    if (figures->fresh != NULL) {
        fresh_days_read(figures->fresh, figures->reseller, figures->day_from,
                        figures->reseller_to, fresh_read, figures);
        return;
    }
    if (!figures->is_as_of)
        find_pending(figures);
    int rc = read_rows(figures, &err);
    if (rc < 0)
        reseller_done(figures, rc, &err);
}

static void next_resellers(struct figures *figures)
{
    struct executor *executor = figures->rollup->world->executor;
    while (figures->status == 0 && !figures->is_enough &&
           figures->reseller_next < figures->reseller_count) {
        if (figures->turn_days >= TURN_DAYS_MAX) {
            executor->timer_start(executor, &figures->turn, 0);
            return;
        }
        figures->reseller = figures->resellers[figures->reseller_next++];
        figures->turn_days++;
        if (!begin_reseller(figures, figures->reseller))
            continue;
        figures->is_calling = true;
        figures->is_answered = false;
        read_reseller(figures);
        figures->is_calling = false;
        if (!figures->is_answered)
            return;
    }
    figures_finish(figures);
}

static void turn_begin(struct timer *timer)
{
    struct figures *figures = timer->context;
    figures->turn_days = 0;
    next_resellers(figures);
}

/* ---- which resellers ---- */

static int compare_resellers(const void *a, const void *b)
{
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

static void take_asked(struct figures *figures, const struct figure_query *query)
{
    uint32_t count = 0;
    figures->resellers = memory_alloc(query->reseller_count * sizeof(struct bytes));
    for (uint32_t i = 0; i < query->reseller_count; i++)
        figures->resellers[i] = arena_copy(figures->arena, query->resellers[i]);
    qsort(figures->resellers, query->reseller_count, sizeof(struct bytes), compare_resellers);
    for (uint32_t i = 0; i < query->reseller_count; i++) {
        if (count == 0 || !bytes_equal(figures->resellers[count - 1], figures->resellers[i]))
            figures->resellers[count++] = figures->resellers[i];
    }
    figures->reseller_count = count;
}

/* The scan that lists the resellers for the first time. */
struct listing {
    struct rollup *rollup;
    store_done done;
    void *context;
};

static int note_reseller(void *context, const struct table *table, const struct page_row *row,
                         struct error *err)
{
    struct listing *listing = context;
    bool is_new;
    (void)table;
    (void)err;
    key_map_add(listing->rollup->resellers, row->key, &is_new);
    return 0;
}

static void listing_done(void *context, int status, const struct error *err)
{
    struct listing *listing = context;
    struct rollup *rollup = listing->rollup;
    store_done done = listing->done;
    void *done_context = listing->context;
    bool is_new;
    memory_free(listing);
    rollup->knows_resellers = rollup->knows_resellers || status == 0;
    for (uint32_t i = 0; i < rollup->pending_count; i++)
        key_map_add(rollup->resellers, rollup->pending[i].reseller, &is_new);
    done(done_context, status, err);
}

int rollup_know_resellers(struct rollup *rollup, store_done done, void *context, struct error *err)
{
    if (rollup->knows_resellers) {
        done(context, 0, NULL);
        return 0;
    }
    struct listing *listing = memory_zeroed(1, sizeof(*listing));
    *listing = (struct listing){rollup, done, context};
    const struct read_request request =
        rows_request(rollup->stream->figures_table_id, NULL, READ_DURABLE);
    int rc = rows_read(rollup->store, &request, note_reseller, listing_done, listing, err);
    if (rc < 0)
        memory_free(listing);
    return rc;
}

static void add_reseller(void *context, struct bytes reseller)
{
    bool is_new;
    key_map_add(context, reseller, &is_new);
}

static void resellers_known(void *context, int status, const struct error *err)
{
    struct figures *figures = context;
    struct rollup *rollup = figures->rollup;
    if (figures->fresh != NULL)
        dirty_set_each_reseller(rollup->dirty, add_reseller, rollup->resellers);
    figures->status = status;
    if (status < 0 && err != NULL)
        figures->err = *err;
    figures->resellers = key_map_sorted(rollup->resellers, &figures->reseller_count);
    next_resellers(figures);
}

int rollup_figures(struct rollup *rollup, const struct figure_query *query,
                   bool (*each)(void *context, const struct day_figure *figure), store_done done,
                   void *context, struct error *err)
{
    struct figures *figures = memory_zeroed(1, sizeof(*figures));
    figures->rollup = rollup;
    figures->arena = arena_new(ARENA_CHUNK);
    figures->day_from = query->day_from < DAY_MIN ? DAY_MIN : query->day_from;
    figures->day_to = query->day_to > DAY_MAX ? DAY_MAX : query->day_to;
    if (query->after_reseller.data != NULL) {
        figures->after_reseller = arena_copy(figures->arena, query->after_reseller);
        figures->after_day = query->after_day;
    }
    figures->turn = (struct timer){.fire = turn_begin, .context = figures};
    figures->is_as_of = query->is_as_of;
    if (query->is_current && !query->is_as_of && !rollup->is_read_only)
        figures->fresh = fresh_days_new(rollup);
    figures->as_of_ms = query->as_of_ms;
    figures->each = each;
    figures->done = done;
    figures->context = context;
    if (query->reseller_count > 0 || figures->day_from > figures->day_to) {
        take_asked(figures, query);
        if (figures->day_from > figures->day_to)
            figures->reseller_count = 0;
        next_resellers(figures);
        return 0;
    }
    int rc = rollup_know_resellers(rollup, resellers_known, figures, err);
    if (rc < 0) {
        arena_free(figures->arena);
        fresh_days_free(figures->fresh);
        memory_free(figures);
    }
    return rc;
}
