/* A scan reads the partitions in the order of tokens.  The partitions are those that have figures;
 * the figures are listed once for each request of a client.  A heap sorts the partitions while they
 * are read, so that no loop turn sorts all of them:
 *
 *     figures ─▶ keys from the position on ─heap─▶ times of the first (token, key) ─▶ page
 *
 * The times of a partition are kept until another partition is read, because a page may end within
 * the partition. */
#include "query/cql/read/cql_by_time.h"

#include "base/heap.h"
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
    size_t times_bytes;      /* charged by cql_guard_hold */
    struct arena *arena;     /* for the rows of a page */
    struct heap days;        /* of struct day_key: partitions that the scan has yet to read */
    uint32_t day_capacity;
    bool has_days;
    const struct day_figure *figure;
    struct buffer figure_key;
    struct day_key at;    /* the partition whose times are read */
    struct buffer at_key; /* the bytes of `at.key` */
    bool has_times;       /* `times` has the times of `at` */
    bool has_next;        /* the scan has a partition after `at` */
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
    if (by_time->status == 0)
        by_time->status = cql_guard_hold(by_time->execution, &by_time->times_bytes,
                                         day_times_bytes(by_time->times));
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
    quota_charge(&by_time->execution->quota, &by_time->times_bytes, 0);
    cql_arena_give(by_time->execution->cql, by_time->arena);
    buffer_release(&by_time->figure_key);
    buffer_release(&by_time->at_key);
    buffer_release(&by_time->made_position);
}

/* A negative status without an error means that the execution has its fault already. */
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

static struct row make_row(struct arena *arena, const struct day_time *time,
                           const struct clustering *at)
{
    struct buffer clicks = {.arena = arena};
    struct buffer gross = {.arena = arena};
    struct cell *cells = arena_array(arena, 2, sizeof(*cells));
    type_value_put_bigint(&clicks, (int64_t)time->clicks);
    decimal_serialize(&gross, time->gross);
    put_cell(&cells[0], BY_TIME_CLICKS, clicks);
    put_cell(&cells[1], BY_TIME_GROSS, gross);
    return (struct row){.marker = LIVENESS_NONE,
                        .deletion = DELETION_NONE,
                        .clustering = {1, {arena_copy(arena, at->values[0])}},
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
    uint32_t limit = by_time->request.row_limit;
    uint32_t most = times->count < limit ? times->count : limit;
    struct page_row *rows = arena_array(by_time->arena, most + 1, sizeof(*rows));
    struct page_row partition = {.token = by_time->at.token, .key = by_time->at.key};
    bool has_more = false;
    if (is_behind(by_time, &by_time->at))
        slice = read_position_rest(&by_time->position, slice);
    made->rows = rows;
    for (uint32_t i = 0; i < times->count && !has_more; i++) {
        const struct day_time *time = &times->times[slice.reversed ? i : times->count - 1 - i];
        uint8_t value[8];
        store_u64_be(value, (uint64_t)time->at_ms);
        const struct clustering at = {1, {bytes_of(value, sizeof(value))}};
        if (!stream_slice_contains(by_time->table, &slice, &at))
            continue;
        has_more = made->row_count == limit;
        if (!has_more) {
            rows[made->row_count] = partition;
            rows[made->row_count++].row = make_row(by_time->arena, time, &at);
        }
    }
    buffer_clear(&by_time->made_position);
    if (has_more)
        store_position_after(&rows[made->row_count - 1], false, &by_time->made_position);
    else if (by_time->has_next)
        store_position_after(&partition, true, &by_time->made_position);
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

/* A key that is not of a reseller and a day has no times. */
static void read_day(struct cql_by_time *by_time, struct day_key day)
{
    struct bytes reseller, text;
    int32_t number;
    bool is_same = by_time->has_times && bytes_equal(buffer_view(&by_time->at_key), day.key);
    by_time->has_times = is_same;
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

static bool is_before(const void *context, const void *a, const void *b)
{
    const struct day_key *left = a;
    const struct day_key *right = b;
    (void)context;
    return partition_index_order(left->token, left->key, right->token, right->key) < 0;
}

/* Whether the scan begins after this partition. */
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

static int add_day(void *context)
{
    struct cql_by_time *by_time = context;
    struct arena *arena = by_time->execution->arena;
    struct buffer *key = &by_time->figure_key;
    if (by_time->figure->clicks == 0)
        return 0;
    buffer_clear(key);
    dirty_put_key(key, by_time->figure->reseller, by_time->figure->day);
    struct day_key day = {murmur3_token(key->data, key->size), buffer_view(key)};
    if (is_done_with(by_time, &day) || day.token > by_time->request.token_last)
        return 0;
    if (by_time->days.count == DAYS_MAX) {
        return cql_invalid(&by_time->execution->fault,
                           "over %d days of resellers: give reseller_id and day", DAYS_MAX);
    }
    by_time->days.items = arena_make_room(arena, by_time->days.items, (uint32_t)by_time->days.count,
                                          &by_time->day_capacity, sizeof(*by_time->days.items));
    day.key = arena_copy(arena, day.key);
    heap_push(&by_time->days, is_before, NULL, arena_copy_item(arena, &day, sizeof(day)));
    return 0;
}

static bool add_figure(void *context, const struct day_figure *figure)
{
    struct cql_by_time *by_time = context;
    by_time->figure = figure;
    by_time->status = cql_guard(by_time->execution, add_day, by_time);
    return by_time->status == 0;
}

static void scan_next(struct cql_by_time *by_time)
{
    struct heap *days = &by_time->days;
    while (days->count > 0 && is_done_with(by_time, days->items[0]))
        (void)heap_pop(days, is_before, NULL);
    by_time->has_next = days->count > 1;
    if (days->count == 0)
        answer(by_time, 0, NULL);
    else
        read_day(by_time, *(const struct day_key *)days->items[0]);
}

static void figures_read(void *context, int status, const struct error *err)
{
    struct cql_by_time *by_time = context;
    if (status != 0 || by_time->status != 0) {
        answer(by_time, status != 0 ? status : by_time->status, status != 0 ? err : NULL);
        return;
    }
    by_time->has_days = true;
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
