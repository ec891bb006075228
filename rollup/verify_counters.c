/* Counters: read, clicks and seals counted, read again: the count must lie between the two.  Clicks
 * may come and be voided meanwhile, so where one does not, all of it is done a second time before
 * anything is called a difference. */
#include "rollup/verify_private.h"
#include "storage/base/memory.h"

static void counters_start(struct verify *verify, const struct click_stream_counter *counter);

static struct tally *tally_of(struct verify *verify, struct bytes key)
{
    bool is_new;
    uint32_t number = key_map_add(verify->keys, key, &is_new);
    if (number >= verify->tally_capacity) {
        verify->tally_capacity = verify->tally_capacity * 2 + 256;
        verify->tallies =
            memory_resize(verify->tallies, verify->tally_capacity * sizeof(*verify->tallies));
    }
    if (is_new)
        verify->tallies[number] = (struct tally){0, 0, 0};
    return &verify->tallies[number];
}

static const char *counter_name(const struct verify *verify)
{
    return rollup_table(verify->rollup, verify->counter->table_id)->name;
}

static bool tally_agrees(const struct tally *tally)
{
    int64_t least = tally->before < tally->after ? tally->before : tally->after;
    int64_t most = tally->before < tally->after ? tally->after : tally->before;
    return least <= tally->counted && tally->counted <= most;
}

static void name_counter(struct verify *verify, const struct tally *tally, struct bytes key)
{
    if (verify->repair != NULL && tally->before == tally->after)
        repair_note_counter(verify->repair, verify->counter, key, tally->counted - tally->after);
    if (verify_may_name(verify))
        command_printf(verify->output, COMMAND_OUT,
                       "difference: %s, %.*s: it says %" PRId64 ", there are %" PRId64 " clicks\n",
                       counter_name(verify), (int)key.size, (const char *)key.data, tally->after,
                       tally->counted);
}

/* From this one of the stream's counters on. */
static void next_counter(struct verify *verify, const struct click_stream_counter *counter)
{
    const struct click_stream *stream = verify->rollup->stream;
    if (counter < stream->counters + stream->counter_count)
        counters_start(verify, counter);
    else
        verify_end(verify);
}

static void compare_counters(struct verify *verify)
{
    int64_t total = 0;
    uint32_t count = key_map_count(verify->keys);
    uint32_t differing = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct tally *tally = &verify->tallies[i];
        total += tally->counted;
        differing += !tally_agrees(tally);
        if (verify->looks > 0 && !tally_agrees(tally))
            name_counter(verify, tally, key_map_key(verify->keys, i));
    }
    if (differing > 0 && verify->looks == 0) {
        verify->looks++;
        counters_start(verify, verify->counter);
        return;
    }
    verify->looks = 0;
    command_printf(verify->output, COMMAND_OUT,
                   "%s: %u counters compared with %" PRId64 " clicks\n", counter_name(verify),
                   count, total);
    next_counter(verify, verify->counter + 1);
}

static int take_counter(void *context, const struct table *table, const struct page_row *row,
                        struct error *err)
{
    struct verify *verify = context;
    struct bytes value;
    (void)err;
    if (!page_row_value(table, row, verify->counter->column_id, &value))
        return 0;
    struct tally *tally = tally_of(verify, row->key);
    *(verify->is_after ? &tally->after : &tally->before) = value_bigint(value);
    return 0;
}

static void counters_read(struct verify *verify);

void verify_count(struct verify *verify, struct bytes key, uint64_t clicks)
{
    tally_of(verify, key)->counted += (int64_t)clicks;
}

static void clicks_counted(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    verify->is_after = true;
    counters_read(verify);
}

static void take_groups(void *context, int status, const struct error *err,
                        const struct partition_figure *figures, uint32_t count,
                        struct bytes position)
{
    struct verify *verify = context;
    (void)position;
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        verify_count(verify, figures[i].key, figures[i].stats.rows);
    verify_count_seals(verify, clicks_counted);
}

static void take_partitions(void *context, int status, const struct error *err,
                            const struct partition_figure *figures, uint32_t count,
                            struct bytes position)
{
    struct verify *verify = context;
    struct bytes reseller;
    (void)position;
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (verify->counter->key == CLICKS_OF_DAY)
            verify_count(verify, figures[i].key, figures[i].stats.rows);
        else if (key_component(figures[i].key, 2, 0, &reseller) == 0)
            verify_count(verify, reseller, figures[i].stats.rows);
    verify_count_seals(verify, clicks_counted);
}

static void counters_done(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    struct error own = {0};
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    if (verify->is_after) {
        compare_counters(verify);
        return;
    }
    const struct click_stream_clicks *clicks = &verify->rollup->stream->clicks;
    bool is_by_ad = verify->counter->key == CLICKS_OF_AD;
    int rc = store_group(verify->rollup->store, clicks->table_id, is_by_ad ? clicks->ad : 0,
                         is_by_ad ? take_groups : take_partitions, verify, &own);
    if (rc < 0)
        verify_fail(verify, rc, &own);
}

static void counters_read(struct verify *verify)
{
    struct error err = {0};
    const struct read_request request = rows_request(verify->counter->table_id, NULL, READ_DURABLE);
    int rc = rows_read(verify->rollup->store, &request, take_counter, counters_done, verify, &err);
    if (rc < 0)
        verify_fail(verify, rc, &err);
}

static void counters_start(struct verify *verify, const struct click_stream_counter *counter)
{
    key_map_free(verify->keys);
    verify->keys = key_map_new();
    verify->counter = counter;
    verify->is_after = false;
    counters_read(verify);
}

void verify_counters(struct verify *verify)
{
    next_counter(verify, verify->rollup->stream->counters);
}
