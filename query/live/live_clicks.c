/* live_clicks: see the header. */
#include "query/live/live_clicks.h"

#include <stdlib.h>

#include "base/murmur3.h"
#include "storage/cell/partition_index.h"
#include "storage/cell/write_batch.h"
#include "storage/engine/store_rows.h"

_Static_assert(LIVE_CLICKS_KEYS <= (int)READ_KEYS_MAX, "the counters are one read");

/* ---- life ---- */

static struct click_stream_counter counter_of(const struct click_stream *stream,
                                              enum click_stream_key key)
{
    for (uint32_t i = 0; i < stream->counter_count; i++)
        if (stream->counters[i].key == key)
            return stream->counters[i];
    check(false); /* the built-in stream has both counters */
    return (struct click_stream_counter){0};
}

void live_clicks_begin(struct live_clicks *clicks, struct store *store, struct world *world,
                       struct rollup *rollup)
{
    const struct click_stream *stream = rollup_stream(rollup);

    *clicks = (struct live_clicks){.store = store, .world = world, .watch = rollup_watch(rollup)};
    clicks->resellers.counter = counter_of(stream, CLICKS_OF_RESELLER);
    clicks->ads.counter = counter_of(stream, CLICKS_OF_AD);
    click_watch_begin(clicks->watch);
}

static void release_list(struct live_clicks_list *list)
{
    for (uint32_t i = 0; i < LIVE_CLICKS_KEYS; i++)
        buffer_release(&list->keys[i].key);
}

void live_clicks_end(struct live_clicks *clicks)
{
    click_watch_end(clicks->watch);
    release_list(&clicks->resellers);
    release_list(&clicks->ads);
    *clicks = (struct live_clicks){0};
}

/* ---- which keys ---- */

static bool take_known(struct live_clicks_list *from, struct bytes key, struct live_clicks_key *to)
{
    for (uint32_t i = 0; i < from->count; i++) {
        if (!bytes_equal(buffer_view(&from->keys[i].key), key))
            continue;
        *to = from->keys[i];
        from->keys[i].key = (struct buffer){0};
        return true;
    }
    return false;
}

/* Replace the list by the keys that are now most frequent.  A key of the old list keeps its
 * readings. */
static void choose_keys(struct live_clicks_list *list, const struct frequent *frequent,
                        bool has_missed)
{
    const struct frequent_key *top[LIVE_CLICKS_KEYS];
    struct live_clicks_list before = *list;

    *list = (struct live_clicks_list){.counter = before.counter};
    list->count = frequent_top(frequent, LIVE_CLICKS_KEYS, top);
    for (uint32_t i = 0; i < list->count; i++) {
        struct live_clicks_key *key = &list->keys[i];

        if (take_known(&before, buffer_view(&top[i]->key), key)) {
            key->has_first = false; /* its readings began in an earlier turn */
            continue;
        }
        buffer_set(&key->key, buffer_view(&top[i]->key));
        key->has_first = !has_missed && top[i]->error == 0;
        key->first = top[i]->times;
    }
    release_list(&before);
}

/* ---- counters ---- */

static int take_counter(void *context, const struct table *table, const struct page_row *row,
                        struct error *err)
{
    struct live_clicks *clicks = context;
    struct live_clicks_list *list = clicks->reading;
    struct bytes value;

    (void)err;
    if (!store_row_value(table, row, list->counter.column_id, &value) ||
        value.size != sizeof(uint64_t))
        return 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (bytes_equal(buffer_view(&list->keys[i].key), row->key))
            list->keys[i].clicks = load_u64_be(value.data);
    return 0;
}

static int compare_places(const void *a, const void *b)
{
    const struct bytes *left = a;
    const struct bytes *right = b;

    return partition_index_order(murmur3_token(left->data, left->size), *left,
                                 murmur3_token(right->data, right->size), *right);
}

/* Whether the counter's value at the turn before is `key->clicks - key->first`.  For that, the
 * watch must have seen all clicks since then, and none may be applied after this turn began. */
static bool knows_before(const struct live_clicks *clicks, const struct live_clicks_key *key)
{
    return key->rate.readings == 0 && key->has_first && clicks->before_us != 0 &&
           clicks->watch->clicks == clicks->applied && key->clicks >= key->first;
}

static void note_list(struct live_clicks *clicks, struct live_clicks_list *list)
{
    int64_t now_us = world_monotonic_us(clicks->world);

    for (uint32_t i = 0; i < list->count; i++) {
        struct live_clicks_key *key = &list->keys[i];

        if (knows_before(clicks, key))
            live_rate_read(&key->rate, key->clicks - key->first, clicks->before_us);
        live_rate_read(&key->rate, key->clicks, now_us);
    }
}

/* A new key has no reading that could be repeated. */
static void note_list_waiting(struct live_clicks *clicks, struct live_clicks_list *list)
{
    int64_t now_us = world_monotonic_us(clicks->world);

    for (uint32_t i = 0; i < list->count; i++)
        if (list->keys[i].rate.readings > 0)
            live_rate_read(&list->keys[i].rate, list->keys[i].clicks, now_us);
}

static void counters_read(void *context, int status, const struct error *err);

static void read_counters(struct live_clicks *clicks, struct live_clicks_list *list)
{
    struct bytes keys[LIVE_CLICKS_KEYS];

    clicks->reading = list;
    if (list->count == 0) {
        counters_read(clicks, 0, NULL);
        return;
    }
    for (uint32_t i = 0; i < list->count; i++)
        keys[i] = buffer_view(&list->keys[i].key);
    qsort(keys, list->count, sizeof keys[0], compare_places);
    struct read_request request =
        store_rows_request(list->counter.table_id, &keys[0], READ_DURABLE);
    request.keys = keys;
    request.key_count = list->count;
    store_rows_read(clicks->store, &request, take_counter, counters_read, clicks);
}

/* Viewers would take old rates for present ones. */
static void forget_rates(struct live_clicks_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        list->keys[i].rate = (struct live_rate){0};
}

static void counters_read(void *context, int status, const struct error *err)
{
    struct live_clicks *clicks = context;
    struct live_clicks_list *list = clicks->reading;

    if (status == 0)
        note_list(clicks, list);
    else
        forget_rates(list);
    if (list == &clicks->resellers) {
        read_counters(clicks, &clicks->ads);
        return;
    }
    clicks->reading = NULL;
    clicks->done(clicks->context, status, err);
}

/* ---- a turn ---- */

static void synced(void *context, int status, const struct error *err)
{
    struct live_clicks *clicks = context;

    clicks->is_syncing = false;
    if (status != 0) {
        clicks->done(clicks->context, status, err);
        return;
    }
    if (clicks->applied > clicks->durable)
        clicks->newest_ms = world_wall_us(clicks->world) / 1000;
    clicks->durable = clicks->applied;
    live_rate_read(&clicks->rate, clicks->durable, world_monotonic_us(clicks->world));
    read_counters(clicks, &clicks->resellers);
}

void live_clicks_turn(struct live_clicks *clicks, store_done done, void *context)
{
    struct write_batch *empty = write_batch_new();
    struct error err = {0};

    check(!clicks->is_syncing && clicks->reading == NULL);
    clicks->done = done;
    clicks->context = context;
    clicks->before_us = clicks->turn_us;
    clicks->turn_us = world_monotonic_us(clicks->world);
    clicks->applied = clicks->watch->clicks;
    choose_keys(&clicks->resellers, &clicks->watch->resellers, clicks->watch->has_missed);
    choose_keys(&clicks->ads, &clicks->watch->ads, clicks->watch->has_missed);
    click_watch_turn(clicks->watch);
    clicks->is_syncing = true;
    int rc = store_apply(clicks->store, empty, synced, clicks, &err);
    write_batch_free(empty);
    if (rc != 0)
        synced(clicks, rc, &err);
}

void live_clicks_note_waiting(struct live_clicks *clicks)
{
    if (!clicks->is_syncing)
        return;
    live_rate_read(&clicks->rate, clicks->durable, world_monotonic_us(clicks->world));
    note_list_waiting(clicks, &clicks->resellers);
    note_list_waiting(clicks, &clicks->ads);
}
