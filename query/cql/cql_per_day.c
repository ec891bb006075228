/* clicks_per_reseller_per_day, which nobody writes: it is what the figures count of each (reseller,
 * day), of days whose clicks have expired too, in the order of its own keys. */
#include <stdlib.h>
#include <string.h>

#include "query/cql/cql_private.h"
#include "rollup/dirty.h"
#include "rollup/streams.h"
#include "storage/base/calendar.h"
#include "storage/base/hash.h"
#include "storage/base/memory.h"
#include "storage/partition_index.h"

enum {
    ROWS_MAX = 1000000,
    HOLD_ROWS = 1024 /* after which their memory is counted anew */
};

struct per_day {
    struct cql_work *work;
    void (*ready)(void *context, int status, const struct page_row *rows, uint32_t count);
    void *context;
    struct page_row *rows;
    uint32_t count, capacity;
    int status;
};

static void add_row(struct per_day *per_day, const struct day_figure *figure)
{
    struct arena *arena = per_day->work->arena;
    if (figure->clicks == 0)
        return;
    if (per_day->count == per_day->capacity) {
        per_day->capacity = per_day->capacity == 0 ? 64 : per_day->capacity * 2;
        per_day->rows = memory_resize(per_day->rows, per_day->capacity * sizeof(struct page_row));
    }
    struct buffer clicks = {0};
    value_put_bigint(&clicks, (int64_t)figure->clicks);
    struct cell *cell = arena_alloc(arena, sizeof(*cell), 16);
    *cell = (struct cell){.column_id = COUNTER_DAY_CLICKS,
                          .expiry_s = EXPIRY_NONE,
                          .value = arena_copy(arena, buffer_view(&clicks))};
    buffer_release(&clicks);
    struct buffer key = {0};
    dirty_put_key(&key, figure->reseller, figure->day);
    struct page_row *row = &per_day->rows[per_day->count++];
    *row = (struct page_row){.token = murmur3_token(key.data, key.size),
                             .key = arena_copy(arena, buffer_view(&key))};
    buffer_release(&key);
    row->row = (struct row){
        .marker = LIVENESS_NONE, .deletion = DELETION_NONE, .cells = cell, .cell_count = 1};
}

static void per_day_end(struct per_day *per_day)
{
    struct page_row *kept =
        arena_alloc(per_day->work->arena, (per_day->count + 1) * sizeof(*kept), 16);
    if (per_day->count > 0)
        memcpy(kept, per_day->rows, per_day->count * sizeof(*kept));
    memory_free(per_day->rows);
    per_day->ready(per_day->context, per_day->status, kept, per_day->count);
}

static int compare_rows(const void *a, const void *b)
{
    const struct page_row *left = a;
    const struct page_row *right = b;
    return partition_order(left->token, left->key, right->token, right->key);
}

static bool figure_given(void *context, const struct day_figure *figure)
{
    struct per_day *per_day = context;
    add_row(per_day, figure);
    if (per_day->count % HOLD_ROWS == 0)
        per_day->status = cql_hold(per_day->work, per_day->capacity * 2 * sizeof(struct page_row));
    if (per_day->count > ROWS_MAX) {
        per_day->status = cql_invalid(&per_day->work->fault,
                                      "over %d days of resellers: use `daybook report`", ROWS_MAX);
    }
    return per_day->status == 0;
}

static void figures_given(void *context, int status, const struct error *err)
{
    struct per_day *per_day = context;
    if (status != 0)
        per_day->status = cql_fault_of(&per_day->work->fault, err);
    if (per_day->count > 1)
        qsort(per_day->rows, per_day->count, sizeof(*per_day->rows), compare_rows);
    per_day_end(per_day);
}

void cql_per_day_rows(struct cql_work *work,
                      void (*ready)(void *context, int status, const struct page_row *rows,
                                    uint32_t count),
                      void *context)
{
    const struct figure_query all = {
        .day_from = DAY_MIN, .day_to = DAY_MAX, .is_current = true, .in_any_order = true};
    struct per_day *per_day = arena_alloc(work->arena, sizeof(*per_day), 16);
    struct error err = {0};
    *per_day = (struct per_day){.work = work, .ready = ready, .context = context};
    if (work->cql->options.streams == NULL) {
        per_day_end(per_day);
        return;
    }
    int rc = rollup_figures(streams_find(work->cql->options.streams, NULL), &all, figure_given,
                            figures_given, per_day, &err);
    if (rc != 0)
        figures_given(per_day, rc, &err);
}
