/* cql_by_time: see the header.
 *
 * A scan needs the partitions in the order of tokens.  They are those of the figures, listed once
 * for each request of a client:
 *
 *     figures ─▶ keys by (token, key) ─▶ times of the first key from the position on ─▶ page
 *
 * The times of a partition are kept until another one is read, since a page may end within it. */
#include "query/cql/read/cql_by_time.h"

#include <stdlib.h>

#include "base/murmur3.h"
#include "query/cql/common/cql_arena.h"
#include "query/cql/common/cql_guard.h"
#include "rollup/days/day_times.h"
#include "rollup/days/dirty.h"
#include "rollup/streams/streams.h"
#include "rollup/tables.h"
#include "storage/cell/partition_index.h"
#include "storage/engine/read_position.h"
#include "storage/schema/type.h"

enum { DAYS_MAX = 1000000, KEY_PARTS = 2 };

struct day_key {
    int64_t token;
    struct bytes key;
};

struct cql_by_time {
    struct cql_execution *execution;
    const struct table *table;
    struct day_times *times; /* NULL: there is no stream */
    struct arena *arena;     /* of a page */
    struct day_key *days;    /* of a scan */
    uint32_t day_count, day_capacity;
    bool has_days;
    const struct day_figure *figure;
    struct day_key at;    /* whose times are read */
    struct buffer at_key; /* its bytes */
    bool has_times;
    bool has_next; /* a scan has a partition behind it */
    int status;

    struct read_request request;
    struct read_position position;
    struct read_page made;
    struct buffer made_position;
    store_page page;
    void *context;
};

static int look(void *context, struct error *err)
{
    struct cql_by_time *by_time = context;
    (void)err;
    by_time->status = cql_guard_look(by_time->execution);
    return by_time->status;
}

struct cql_by_time *cql_by_time_new(struct cql_execution *execution, const struct table *table)
{
    struct cql_by_time *by_time = arena_alloc(execution->arena, sizeof(*by_time), 16);
    *by_time = (struct cql_by_time){.execution = execution, .table = table};
    by_time->arena = cql_guard_arena(execution);
    if (execution->cql->options.streams != NULL) {
        by_time->times = day_times_new(execution->cql->options.store,
                                       streams_find(execution->cql->options.streams, NULL),
                                       table->id == TABLE_CLICKS_BY_HOUR ? HOUR_MS : MINUTE_MS);
        by_time->times->look = look;
    }
    return by_time;
}

void cql_by_time_free(struct cql_by_time *by_time)
{
    if (by_time == NULL)
        return;
    day_times_free(by_time->times);
    cql_arena_give(by_time->execution->cql, by_time->arena);
    buffer_release(&by_time->at_key);
    buffer_release(&by_time->made_position);
}

/* With a status and no error, the execution has its fault already. */
static void answer(struct cql_by_time *by_time, int status, const struct error *err)
{
    by_time->page(by_time->context, status, err, status == 0 ? &by_time->made : NULL);
}

/* ---- rows ---- */

static void put_cell(struct cell *cell, uint32_t column_id, struct buffer value)
{
    *cell = (struct cell){
        .column_id = column_id, .expiry_s = EXPIRY_NONE, .value = buffer_view(&value)};
}

static struct row make_row(struct arena *arena, const struct day_time *time)
{
    struct buffer at = {.arena = arena};
    struct buffer clicks = {.arena = arena};
    struct buffer gross = {.arena = arena};
    struct cell *cells = arena_array(arena, 2, sizeof(*cells));
    type_value_put_bigint(&at, time->at_ms);
    type_value_put_bigint(&clicks, (int64_t)time->clicks);
    decimal_serialize(&gross, time->gross);
    put_cell(&cells[0], BY_TIME_CLICKS, clicks);
    put_cell(&cells[1], BY_TIME_GROSS, gross);
    return (struct row){.marker = LIVENESS_NONE,
                        .deletion = DELETION_NONE,
                        .clustering = {1, {buffer_view(&at)}},
                        .cells = cells,
                        .cell_count = 2};
}

static bool is_behind(const struct cql_by_time *by_time, const struct day_key *day)
{
    return by_time->position.is_set && by_time->position.token == day->token &&
           bytes_equal(by_time->position.key, day->key);
}

/* The times descend; the table's rows ascend. */
static int make_page(void *context)
{
    struct cql_by_time *by_time = context;
    const struct day_times *times = by_time->times;
    struct read_page *made = &by_time->made;
    struct slice slice = by_time->request.slice;
    struct page_row *rows = arena_array(by_time->arena, times->count + 1, sizeof(*rows));
    bool has_more = false;
    if (is_behind(by_time, &by_time->at))
        slice = read_position_rest(&by_time->position, slice);
    made->rows = rows;
    for (uint32_t i = 0; i < times->count && !has_more; i++) {
        uint32_t at = slice.reversed ? i : times->count - 1 - i;
        struct row row = make_row(by_time->arena, &times->times[at]);
        if (!stream_slice_contains(by_time->table, &slice, &row.clustering))
            continue;
        has_more = made->row_count == by_time->request.row_limit;
        if (!has_more)
            rows[made->row_count++] =
                (struct page_row){.token = by_time->at.token, .key = by_time->at.key, .row = row};
    }
    buffer_clear(&by_time->made_position);
    if (has_more) {
        store_position_after(&rows[made->row_count - 1], false, &by_time->made_position);
    } else if (by_time->has_next) {
        rows[times->count] = (struct page_row){.token = by_time->at.token, .key = by_time->at.key};
        store_position_after(&rows[times->count], true, &by_time->made_position);
    }
    made->position = buffer_view(&by_time->made_position);
    return 0;
}

static void times_read(void *context, int status, const struct error *err)
{
    struct cql_by_time *by_time = context;
    by_time->has_times = status == 0;
    if (status == 0)
        status = by_time->status = cql_guard(by_time->execution, make_page, by_time);
    answer(by_time, status, by_time->status == 0 ? err : NULL);
}

/* A key that no click can have has no times. */
static void read_day(struct cql_by_time *by_time, struct day_key day)
{
    struct bytes reseller, text;
    int32_t number;
    bool is_same = by_time->has_times && bytes_equal(buffer_view(&by_time->at_key), day.key);
    if (!is_same)
        buffer_set(&by_time->at_key, day.key);
    by_time->at = (struct day_key){day.token, buffer_view(&by_time->at_key)};
    if (is_same) {
        times_read(by_time, 0, NULL);
    } else if (type_key_component(day.key, KEY_PARTS, 0, &reseller) == 0 &&
               type_key_component(day.key, KEY_PARTS, 1, &text) == 0 &&
               calendar_day_parse(text, &number)) {
        day_times_read(by_time->times, reseller, number, times_read, by_time);
    } else {
        answer(by_time, 0, NULL);
    }
}

/* ---- scans ---- */

static int add_day(void *context)
{
    struct cql_by_time *by_time = context;
    struct arena *arena = by_time->execution->arena;
    struct buffer key = {.arena = arena};
    if (by_time->figure->clicks == 0)
        return 0;
    if (by_time->day_count == DAYS_MAX) {
        return cql_invalid(&by_time->execution->fault,
                           "over %d days of resellers: give reseller_id and day", DAYS_MAX);
    }
    by_time->days = arena_make_room(arena, by_time->days, by_time->day_count,
                                    &by_time->day_capacity, sizeof(*by_time->days));
    dirty_put_key(&key, by_time->figure->reseller, by_time->figure->day);
    by_time->days[by_time->day_count++] =
        (struct day_key){murmur3_token(key.data, key.size), buffer_view(&key)};
    return 0;
}

static bool add_figure(void *context, const struct day_figure *figure)
{
    struct cql_by_time *by_time = context;
    by_time->figure = figure;
    by_time->status = cql_guard(by_time->execution, add_day, by_time);
    return by_time->status == 0;
}

static int compare_days(const void *a, const void *b)
{
    const struct day_key *left = a;
    const struct day_key *right = b;
    return partition_index_order(left->token, left->key, right->token, right->key);
}

/* Whether the scan begins behind this partition. */
static bool is_done_with(const struct cql_by_time *by_time, const struct day_key *day)
{
    const struct read_position *position = &by_time->position;
    if (day->token < by_time->request.token_first)
        return true;
    if (!position->is_set)
        return false;
    int order = partition_index_order(day->token, day->key, position->token, position->key);
    return order < 0 || (order == 0 && position->kind == AFTER_PARTITION);
}

static void scan_next(struct cql_by_time *by_time)
{
    uint32_t low = 0;
    uint32_t high = by_time->day_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_done_with(by_time, &by_time->days[middle]))
            low = middle + 1;
        else
            high = middle;
    }
    int64_t last = by_time->request.token_last;
    if (low == by_time->day_count || by_time->days[low].token > last) {
        answer(by_time, 0, NULL);
        return;
    }
    by_time->has_next = low + 1 < by_time->day_count && by_time->days[low + 1].token <= last;
    read_day(by_time, by_time->days[low]);
}

static void figures_read(void *context, int status, const struct error *err)
{
    struct cql_by_time *by_time = context;
    if (status != 0 || by_time->status != 0) {
        answer(by_time, status != 0 ? status : by_time->status, status != 0 ? err : NULL);
        return;
    }
    by_time->has_days = true;
    if (by_time->day_count > 1)
        qsort(by_time->days, by_time->day_count, sizeof(*by_time->days), compare_days);
    scan_next(by_time);
}

static void scan(struct cql_by_time *by_time)
{
    const struct figure_query all = {
        .day_from = DAY_MIN, .day_to = DAY_MAX, .is_current = true, .in_any_order = true};
    if (by_time->has_days)
        scan_next(by_time);
    else
        rollup_figures(streams_find(by_time->execution->cql->options.streams, NULL), &all,
                       add_figure, figures_read, by_time);
}

void cql_by_time_read(struct cql_by_time *by_time, const struct read_request *request,
                      store_page page, void *context)
{
    struct error err = {0};
    by_time->page = page;
    by_time->context = context;
    by_time->request = *request;
    by_time->made = (struct read_page){.table = by_time->table};
    by_time->has_next = false;
    arena_reset(by_time->arena);
    int rc = read_position_parse(request->position, &by_time->position, &err);
    if (rc == 0)
        rc = read_position_check(&by_time->position, by_time->table, &err);
    bool is_over =
        !request->is_scan && by_time->position.is_set && by_time->position.kind == AFTER_PARTITION;
    if (rc != 0)
        answer(by_time, rc, &err);
    else if (by_time->times == NULL || is_over)
        answer(by_time, 0, NULL);
    else if (request->is_scan)
        scan(by_time);
    else
        read_day(by_time, (struct day_key){murmur3_token(request->key.data, request->key.size),
                                           request->key});
}
