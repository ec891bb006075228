/* A row has the clicks of one (reseller, day), also of days whose clicks have expired. */
#include "query/cql/read/cql_per_day.h"

#include <stdlib.h>
#include <string.h>

#include "base/murmur3.h"
#include "query/cql/common/cql_guard.h"
#include "rollup/days/dirty.h"
#include "rollup/streams/streams.h"
#include "storage/cell/partition_index.h"
#include "storage/schema/type.h"
#include "base/calendar.h"

enum { ROWS_MAX = 1000000 };

struct per_day {
    struct cql_execution *execution;
    void (*ready)(void *context, int status, const struct page_row *rows, uint32_t count);
    void *context;
    struct page_row *rows;
    uint32_t count, capacity;
    const struct day_figure *figure;
    int status;
};

static int add_row(void *context)
{
    struct per_day *per_day = context;
    const struct day_figure *figure = per_day->figure;
    struct arena *arena = per_day->execution->arena;
    if (figure->clicks == 0)
        return 0;
    per_day->rows = arena_make_room(arena, per_day->rows, per_day->count, &per_day->capacity,
                                    sizeof(*per_day->rows));
    struct buffer clicks = {.arena = arena};
    type_value_put_bigint(&clicks, (int64_t)figure->clicks);
    struct cell *cell = arena_alloc(arena, sizeof(*cell), 16);
    *cell = (struct cell){
        .column_id = COUNTER_DAY_CLICKS, .expiry_s = EXPIRY_NONE, .value = buffer_view(&clicks)};
    struct buffer key = {.arena = arena};
    dirty_put_key(&key, figure->reseller, figure->day);
    struct page_row *row = &per_day->rows[per_day->count++];
    *row = (struct page_row){.token = murmur3_token(key.data, key.size), .key = buffer_view(&key)};
    row->row = (struct row){
        .marker = LIVENESS_NONE, .deletion = DELETION_NONE, .cells = cell, .cell_count = 1};
    if (per_day->count > ROWS_MAX) {
        return cql_invalid(&per_day->execution->fault,
                           "over %d days of resellers: use `daybook report`", ROWS_MAX);
    }
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    const struct page_row *left = a;
    const struct page_row *right = b;
    return partition_index_order(left->token, left->key, right->token, right->key);
}

static bool figure_given(void *context, const struct day_figure *figure)
{
    struct per_day *per_day = context;
    per_day->figure = figure;
    per_day->status = cql_guard(per_day->execution, add_row, per_day);
    return per_day->status == 0;
}

static void figures_given(void *context, int status, const struct error *err)
{
    struct per_day *per_day = context;
    if (status != 0)
        per_day->status = cql_fault_of(&per_day->execution->fault, err);
    if (per_day->count > 1)
        qsort(per_day->rows, per_day->count, sizeof(*per_day->rows), compare_rows);
    per_day->ready(per_day->context, per_day->status, per_day->rows, per_day->count);
}

void cql_per_day_rows(struct cql_execution *execution,
                      void (*ready)(void *context, int status, const struct page_row *rows,
                                    uint32_t count),
                      void *context)
{
    const struct figure_query all = {
        .day_from = DAY_MIN, .day_to = DAY_MAX, .is_current = true, .in_any_order = true};
    struct per_day *per_day = arena_alloc(execution->arena, sizeof(*per_day), 16);
    if (execution->cql->options.streams == NULL) {
        ready(context, 0, NULL, 0);
        return;
    }
    *per_day = (struct per_day){.execution = execution, .ready = ready, .context = context};
    rollup_figures(streams_find(execution->cql->options.streams, NULL), &all, figure_given,
                   figures_given, per_day);
}
