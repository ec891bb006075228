/* clicks_per_reseller_per_day, which nobody writes: the store's stats of ad_click count the rows of
 * each (reseller, day), and this table is those counts, under the same keys, so in their order. */
#include <string.h>

#include "query/cql/cql_private.h"
#include "rollup/tables.h"
#include "storage/base/hash.h"
#include "storage/base/memory.h"

enum { FIGURES = 5000, ROWS_MAX = 1000000 };

struct per_day {
    struct cql_work *work;
    void (*ready)(void *context, int status, const struct page_row *rows, uint32_t count);
    void *context;
    struct page_row *rows;
    uint32_t count, capacity;
    struct buffer position;
    bool is_going, goes_again, is_done;
    int status;
};

static void add_row(struct per_day *per_day, const struct partition_figure *figure)
{
    struct arena *arena = per_day->work->arena;
    if (figure->stats.rows == 0) {
        return;
    }
    if (per_day->count == per_day->capacity) {
        per_day->capacity = per_day->capacity == 0 ? 64 : per_day->capacity * 2;
        per_day->rows = memory_resize(per_day->rows, per_day->capacity * sizeof(struct page_row));
    }
    struct buffer clicks = {0};
    value_put_bigint(&clicks, (int64_t)figure->stats.rows);
    struct cell *cell = arena_alloc(arena, sizeof(*cell), 16);
    *cell = (struct cell){.column_id = COUNTER_DAY_CLICKS,
                          .expiry_s = EXPIRY_NONE,
                          .value = arena_copy(arena, buffer_view(&clicks))};
    buffer_release(&clicks);
    struct page_row *row = &per_day->rows[per_day->count++];
    *row = (struct page_row){.token = murmur3_token(figure->key.data, figure->key.size),
                             .key = arena_copy(arena, figure->key)};
    row->row = (struct row){
        .marker = LIVENESS_NONE, .deletion = DELETION_NONE, .cells = cell, .cell_count = 1};
}

static void per_day_end(struct per_day *per_day)
{
    struct page_row *kept =
        arena_alloc(per_day->work->arena, (per_day->count + 1) * sizeof(*kept), 16);
    if (per_day->count > 0) {
        memcpy(kept, per_day->rows, per_day->count * sizeof(*kept));
    }
    memory_free(per_day->rows);
    buffer_release(&per_day->position);
    per_day->ready(per_day->context, per_day->status, kept, per_day->count);
}

static void per_day_go(struct per_day *per_day);

static void figures_arrived(void *context, int status, const struct error *err,
                            const struct partition_figure *figures, uint32_t count,
                            struct bytes position)
{
    struct per_day *per_day = context;
    if (status != 0) {
        per_day->status = cql_fault_of(&per_day->work->fault, err);
    }
    for (uint32_t i = 0; status == 0 && i < count; i++) {
        add_row(per_day, &figures[i]);
    }
    if (per_day->count > ROWS_MAX) {
        per_day->status = cql_invalid(&per_day->work->fault,
                                      "over %d days of resellers: use `daybook report`", ROWS_MAX);
    }
    buffer_clear(&per_day->position);
    buffer_append_bytes(&per_day->position, position);
    per_day->is_done = per_day->status != 0 || position.size == 0;
    per_day_go(per_day);
}

/* A loop, because stats may be answered at once. */
static void per_day_go(struct per_day *per_day)
{
    if (per_day->is_going) {
        per_day->goes_again = true;
        return;
    }
    per_day->is_going = true;
    do {
        per_day->goes_again = false;
        struct error err = {0};
        if (!per_day->is_done &&
            store_stats_scan(per_day->work->cql->options.store, TABLE_AD_CLICK,
                             buffer_view(&per_day->position), FIGURES, READ_DURABLE,
                             figures_arrived, per_day, &err) != 0) {
            per_day->status = cql_fault_of(&per_day->work->fault, &err);
            per_day->is_done = true;
        }
    } while (per_day->goes_again && !per_day->is_done);
    per_day->is_going = false;
    if (per_day->is_done) {
        per_day_end(per_day);
    }
}

void cql_per_day_rows(struct cql_work *work,
                      void (*ready)(void *context, int status, const struct page_row *rows,
                                    uint32_t count),
                      void *context)
{
    struct per_day *per_day = arena_alloc(work->arena, sizeof(*per_day), 16);
    *per_day = (struct per_day){.work = work, .ready = ready, .context = context};
    per_day_go(per_day);
}
