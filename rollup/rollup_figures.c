/* Figures for readers: reseller ascending by bytes, day descending.
 *
 * amount_by_day is ordered by token, so its resellers are listed first: by one scan the first time,
 * from memory afterwards, because whatever the rollup writes from then on it adds to the list.
 * Then one slice per reseller, so that a month of one reseller reads a month and memory holds a
 * page.  In a read-only store the figures worked out in memory stand in for the rows they replace;
 * both are in the same order, so this is a merge:
 *
 *     rows      11-30  11-28  11-27          pending   11-29  11-28
 *     answer    11-30  11-29* 11-28* 11-27
 *
 * As of a time: the ledger, whose entries of a day stand in the order of their times, is read from
 * its end, and the first of a day that is not too late is the one. */
#include <stdlib.h>

#include "rollup/rollup_private.h"
#include "rollup/rows.h"
#include "storage/base/arena.h"
#include "storage/base/memory.h"

enum { ARENA_CHUNK = 16 * 1024 };

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
    int64_t given_day;     /* of the reseller being read, as of a time: the last one given */
    uint32_t pending_next; /* of the reseller being read: first not yet given */
    uint32_t pending_end;
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
    memory_free(figures);
    done(context, status, status < 0 ? &err : NULL);
}

/* ---- pending figures ---- */

static void find_pending(struct figures *figures, struct bytes reseller)
{
    const struct rollup *rollup = figures->rollup;
    uint32_t start = 0;
    uint32_t end = rollup->pending_count;
    while (start < end) {
        uint32_t middle = start + (end - start) / 2;
        if (bytes_compare(rollup->pending[middle].reseller, reseller) < 0)
            start = middle + 1;
        else
            end = middle;
    }
    figures->pending_next = figures->pending_end = start;
    while (figures->pending_end < rollup->pending_count &&
           bytes_equal(rollup->pending[figures->pending_end].reseller, reseller))
        figures->pending_end++;
}

/* An open day whose clicks are all gone has no figure any more. */
static bool is_gone(const struct day_figure *figure)
{
    return figure->clicks == 0 && figure->state == DAY_OPEN;
}

/* Give those of days after `day`; true when one of `day` itself stands in for its row. */
static bool give_pending(struct figures *figures, int64_t day)
{
    while (figures->pending_next < figures->pending_end && !figures->is_enough) {
        const struct day_figure *pending = &figures->rollup->pending[figures->pending_next];
        if (pending->day < day)
            return false;
        figures->pending_next++;
        bool is_asked = pending->day >= figures->day_from && pending->day <= figures->reseller_to;
        if (is_asked && !is_gone(pending))
            figures->is_enough = !figures->each(figures->context, pending);
        if (pending->day == day)
            return true;
    }
    return false;
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
    bool is_replaced = give_pending(figures, figure.day);
    if (!is_replaced && !figures->is_enough)
        figures->is_enough = !figures->each(figures->context, &figure);
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
    figures->is_enough = !figures->each(figures->context, &entry.new);
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
        give_pending(figures, INT64_MIN);
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

static int read_reseller(struct figures *figures, struct bytes reseller)
{
    struct day_slice_text text;
    struct read_request request =
        rows_request(figures->is_as_of ? TABLE_RESTATEMENT : TABLE_AMOUNT_BY_DAY, &reseller,
                     READ_DURABLE);
    request.slice = figures->is_as_of
                        ? ledger_slice(figures->day_from, figures->reseller_to, &text)
                        : figure_slice(figures->day_from, figures->reseller_to, &text);
    request.slice.reversed = figures->is_as_of;
    figures->given_day = INT64_MIN;
    find_pending(figures, reseller);
    return rows_read(figures->rollup->store, &request, figures->is_as_of ? give_entry : give_row,
                     reseller_done, figures, &figures->err);
}

static void next_resellers(struct figures *figures)
{
    while (figures->status == 0 && !figures->is_enough &&
           figures->reseller_next < figures->reseller_count) {
        struct bytes reseller = figures->resellers[figures->reseller_next++];
        if (!begin_reseller(figures, reseller))
            continue;
        figures->is_calling = true;
        figures->is_answered = false;
        int rc = read_reseller(figures, reseller);
        figures->is_calling = false;
        if (rc < 0)
            figures->status = rc;
        else if (!figures->is_answered)
            return;
    }
    figures_finish(figures);
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
    const struct read_request request = rows_request(TABLE_AMOUNT_BY_DAY, NULL, READ_DURABLE);
    int rc = rows_read(rollup->store, &request, note_reseller, listing_done, listing, err);
    if (rc < 0)
        memory_free(listing);
    return rc;
}

static void resellers_known(void *context, int status, const struct error *err)
{
    struct figures *figures = context;
    figures->status = status;
    if (status < 0 && err != NULL)
        figures->err = *err;
    figures->resellers = key_map_sorted(figures->rollup->resellers, &figures->reseller_count);
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
    figures->is_as_of = query->is_as_of;
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
        memory_free(figures);
    }
    return rc;
}
