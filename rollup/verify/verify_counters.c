/* verify_counters: compares the counters of a stream with its clicks.
 *
 * Counters are read, clicks and seals are counted, and counters are read again: each count must lie
 * between the two values of its counter.  If a count lies outside, the whole round is done a second
 * time, and only the second result is reported. */
#include <stdio.h>

#include "rollup/verify/verify_private.h"
#include "storage/schema/type.h"

static void counters_start(struct verify *verify, const struct click_stream_counter *counter);
static void round_start(struct verify *verify);

static const char *counter_name(const struct verify *verify)
{
    return rollup_table(verify->rollup, verify->counter->table_id)->name;
}

static bool entry_agrees(const struct counter_audit_entry *entry)
{
    int64_t least = entry->before < entry->after ? entry->before : entry->after;
    int64_t most = entry->before < entry->after ? entry->after : entry->before;
    return least <= entry->counted && entry->counted <= most;
}

static void name_counter(struct verify *verify, const struct counter_audit_entry *entry,
                         struct bytes key)
{
    /* Clicks of a damaged seal are not counted, so a higher counter may be right. */
    if (verify->repairs != NULL && !verify->has_damaged_seals && entry->before == entry->after)
        repair_list_note_counter(verify->repairs, verify->counter, key,
                                 entry->counted - entry->after);
    if (verify_may_name(verify))
        command_printf(verify->output, COMMAND_OUT,
                       "difference: %s, %.*s: it says %" PRId64 ", there are %" PRId64 " clicks\n",
                       counter_name(verify), (int)key.size, (const char *)key.data, entry->after,
                       entry->counted);
}

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
    if (counter_audit_next(verify->audit)) {
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
    uint32_t count = counter_audit_count(verify->audit);
    uint32_t differing = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct bytes key;
        const struct counter_audit_entry *entry = counter_audit_at(verify->audit, i, &key);
        total += entry->counted;
        differing += !entry_agrees(entry);
        if (verify->looks > 0 && !entry_agrees(entry))
            name_counter(verify, entry, key);
    }
    if (differing > 0 && verify->looks == 0) {
        verify->looks++;
        counter_audit_again(verify->audit);
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
    if (!store_row_value(table, row, verify->counter->column_id, &value))
        return 0;
    struct counter_audit_entry *entry = counter_audit_of(verify->audit, row->key);
    if (entry != NULL)
        *(verify->is_after ? &entry->after : &entry->before) = type_value_bigint(value);
    return 0;
}

static void counters_read(struct verify *verify);

static void counters_unread(struct verify *verify, int status, const struct error *err)
{
    char what[SCHEMA_NAME_MAX + 64];
    snprintf(what, sizeof(what), "%s could not be compared", counter_name(verify));
    if (!verify_fail_or_name(verify, status, err, what))
        next_counter(verify, verify->counter + 1);
}

static void clicks_counted(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    if (status < 0) {
        counters_unread(verify, status, err);
        return;
    }
    verify->is_after = true;
    counters_read(verify);
}

static bool takes_key(void *context, struct bytes *value)
{
    const struct verify *verify = context;
    return counter_audit_takes(verify->audit, *value);
}

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
    if (status == ERROR_LIMIT && counter_audit_make_room(verify->audit)) {
        counter_audit_again(verify->audit);
        round_start(verify);
        return;
    }
    if (status == ERROR_LIMIT && verify_fail_if(verify, status, err)) /* memory is short, but no
                                                                       * data is wrong */
        return;
    if (status < 0) {
        counters_unread(verify, status, err);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        counter_audit_add(verify->audit, figures[i].key, figures[i].stats.rows);
    verify_seals_count(verify, clicks_counted);
}

static int group_clicks(struct verify *verify, struct error *err)
{
    const struct click_stream_clicks *clicks = &verify->rollup->stream->clicks;
    const struct group_request request = {
        .table_id = clicks->table_id,
        .column_id = verify->counter->key == CLICKS_OF_AD ? clicks->ad : 0,
        .takes = verify->counter->key == CLICKS_OF_RESELLER ? takes_reseller : takes_key,
        .bytes_max = counter_audit_beside(verify->audit)};
    return store_group(verify->rollup->store, &request, take_groups, verify, err);
}

static void counters_done(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    struct error own = {0};
    if (status < 0) {
        counters_unread(verify, status, err);
        return;
    }
    if (verify->is_after) {
        compare_counters(verify);
        return;
    }
    int rc = group_clicks(verify, &own);
    if (rc < 0)
        counters_unread(verify, rc, &own);
}

static void counters_read(struct verify *verify)
{
    const struct read_request request =
        store_rows_request(verify->counter->table_id, NULL, READ_DURABLE);
    store_rows_read(verify->rollup->store, &request, take_counter, counters_done, verify);
}

static void round_start(struct verify *verify)
{
    verify->is_after = false;
    counters_read(verify);
}

static void counters_start(struct verify *verify, const struct click_stream_counter *counter)
{
    if (verify->audit == NULL)
        verify->audit = counter_audit_new(verify->output);
    verify->counter = counter;
    verify->counters_compared = 0;
    verify->clicks_counted = 0;
    counter_audit_begin(verify->audit);
    round_start(verify);
}

void verify_counters(struct verify *verify)
{
    next_counter(verify, verify->rollup->stream->counters);
}
