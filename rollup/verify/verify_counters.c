/* Counters: read, clicks and seals counted, read again: the count must lie between the two.  Clicks
 * may come and be voided meanwhile, so where one does not, all of it is done a second time before
 * anything is called a difference.  As many keys at a time as there is memory for (tallies.h). */
#include "rollup/verify/verify_private.h"
#include "storage/schema/type.h"

static void counters_start(struct verify *verify, const struct click_stream_counter *counter);
static void round_start(struct verify *verify);

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
    if (verify->repairs != NULL && tally->before == tally->after)
        repair_list_note_counter(verify->repairs, verify->counter, key,
                                 tally->counted - tally->after);
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
        verify_next(verify);
}

static void round_end(struct verify *verify)
{
    verify->looks = 0;
    if (tallies_next(verify->tallies)) {
        round_start(verify);
        return;
    }
    command_printf(verify->output, COMMAND_OUT,
                   "%s: %" PRIu64 " counters compared with %" PRId64 " clicks\n",
                   counter_name(verify), verify->counters_compared, verify->clicks_counted);
    next_counter(verify, verify->counter + 1);
}

static void compare_counters(struct verify *verify)
{
    int64_t total = 0;
    uint32_t count = tallies_count(verify->tallies);
    uint32_t differing = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct bytes key;
        const struct tally *tally = tallies_at(verify->tallies, i, &key);
        total += tally->counted;
        differing += !tally_agrees(tally);
        if (verify->looks > 0 && !tally_agrees(tally))
            name_counter(verify, tally, key);
    }
    if (differing > 0 && verify->looks == 0) {
        verify->looks++;
        tallies_again(verify->tallies);
        round_start(verify);
        return;
    }
    verify->counters_compared += count;
    verify->clicks_counted += total;
    round_end(verify);
}

static int take_counter(void *context, const struct table *table, const struct page_row *row,
                        struct error *err)
{
    struct verify *verify = context;
    struct bytes value;
    (void)err;
    if (!page_row_value(table, row, verify->counter->column_id, &value))
        return 0;
    struct tally *tally = tallies_of(verify->tallies, row->key);
    if (tally != NULL)
        *(verify->is_after ? &tally->after : &tally->before) = type_value_bigint(value);
    return 0;
}

static void counters_read(struct verify *verify);

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

static bool takes_key(void *context, struct bytes *value)
{
    const struct verify *verify = context;
    return tallies_takes(verify->tallies, *value);
}

/* Of a partition, whose key has the reseller first. */
static bool takes_reseller(void *context, struct bytes *value)
{
    return type_key_component(*value, 2, 0, value) == 0 && takes_key(context, value);
}

static void take_groups(void *context, int status, const struct error *err,
                        const struct partition_figure *figures, uint32_t count,
                        struct bytes position)
{
    struct verify *verify = context;
    (void)position;
    if (status == ERROR_LIMIT && tallies_narrow(verify->tallies)) {
        tallies_again(verify->tallies);
        round_start(verify);
        return;
    }
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        tallies_add(verify->tallies, figures[i].key, figures[i].stats.rows);
    verify_seals_count(verify, clicks_counted);
}

/* Clicks by the same keys; the last of them has no limit, or it would never be had. */
static int group_clicks(struct verify *verify, struct error *err)
{
    const struct click_stream_clicks *clicks = &verify->rollup->stream->clicks;
    bool may_narrow = tallies_count(verify->tallies) > 1;
    const struct group_request request = {
        .table_id = clicks->table_id,
        .column_id = verify->counter->key == CLICKS_OF_AD ? clicks->ad : 0,
        .takes = verify->counter->key == CLICKS_OF_RESELLER ? takes_reseller : takes_key,
        .bytes_max = may_narrow ? tallies_beside(verify->tallies) : 0};
    return store_group(verify->rollup->store, &request, take_groups, verify, err);
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
    int rc = group_clicks(verify, &own);
    if (rc < 0)
        verify_fail(verify, rc, &own);
}

static void counters_read(struct verify *verify)
{
    struct error err = {0};
    const struct read_request request =
        store_rows_request(verify->counter->table_id, NULL, READ_DURABLE);
    int rc =
        store_rows_read(verify->rollup->store, &request, take_counter, counters_done, verify, &err);
    if (rc < 0)
        verify_fail(verify, rc, &err);
}

static void round_start(struct verify *verify)
{
    verify->is_after = false;
    counters_read(verify);
}

static void counters_start(struct verify *verify, const struct click_stream_counter *counter)
{
    if (verify->tallies == NULL)
        verify->tallies = tallies_new(verify->output);
    verify->counter = counter;
    verify->counters_compared = 0;
    verify->clicks_counted = 0;
    tallies_begin(verify->tallies);
    round_start(verify);
}

void verify_counters(struct verify *verify)
{
    next_counter(verify, verify->rollup->stream->counters);
}
