/* The commit hook: what is added to every batch, whichever protocol or command it came from.
 *
 * What decides correctness: the hook is called with a batch before its frame is closed, and adds to
 * that batch.  So a click, the mark of its day and its count are durable together.  The hook must
 * not refuse, wait or read from the store.
 *
 *   block of clicks        is counted in the stream's counters; its days are marked
 *   mutation of clicks     its day is marked, with cause `expiry` if the mutation seals the day
 *   mutation of rates      is applied to the rates in memory; the days on which these rates are in
 *                          effect are marked as a range
 *   row of table `change`  the marks have its id; it gets a line for each rate that changes */
#include "base/memory.h"
#include "rollup/days/rate_value.h"
#include "rollup/days/rollup_private.h"

/* ---- clicks ---- */

enum { AHEAD = 8, HASHES = 2 * AHEAD }; /* HASHES is a power of two */

/* The slot of a partition's hash (dirty.h) is fetched into the cache 2 * AHEAD partitions before
 * the partition's turn, and the day in the slot AHEAD partitions before. */
static void mark_partitions(struct rollup *rollup, struct write_batch *batch,
                            const struct block_dictionary *partitions, const uint8_t *change,
                            int64_t now_us)
{
    uint64_t hashes[HASHES];
    for (uint32_t i = 0; i < partitions->count + HASHES; i++) {
        if (i >= HASHES) {
            uint32_t at = i - HASHES;
            day_marks_add_hashed(&rollup->marks, batch, block_dictionary_get(partitions, at),
                                 hashes[at % HASHES], CAUSE_LATE_CLICKS, change, now_us);
        }
        if (i < partitions->count) {
            hashes[i % HASHES] = dirty_hash(block_dictionary_get(partitions, i));
            dirty_set_prefetch_slot(rollup->marks.dirty, hashes[i % HASHES]);
        }
        if (i >= AHEAD && i - AHEAD < partitions->count)
            dirty_set_prefetch_day(rollup->marks.dirty, hashes[(i - AHEAD) % HASHES]);
    }
}

static void take_block(struct rollup *rollup, struct write_batch *batch, uint32_t index,
                       const uint8_t *change, int64_t now_us)
{
    const struct block_dictionary *partitions = &batch->blocks[index]->partitions;
    for (uint32_t i = 0; i < rollup->stream->counter_count; i++) {
        const struct click_stream_counter *counter = &rollup->stream->counters[i];
        const struct counting_rule rule = {
            .block = index,
            .column_id = counter->key == CLICKS_OF_AD ? rollup->stream->clicks.ad : 0,
            .component = 0,
            .counter_table_id = counter->table_id,
            .counter_column_id = counter->column_id};
        write_batch_add_rule(batch, &rule);
    }
    mark_partitions(rollup, batch, partitions, change, now_us);
}

/* New clicks of an event table are in blocks, so an INSERT that comes as a mutation changes an
 * existing click.  In a table whose clicks have ids, an INSERT counts as new clicks. */
static enum dirty_cause cause_of(const struct mutation *mutation, bool is_event_table)
{
    bool is_insert = mutation->item_count > 0;
    if (mutation->deletion.timestamp_us != TIMESTAMP_NONE)
        return CAUSE_VOID;
    for (uint32_t i = 0; i < mutation->item_count; i++) {
        const struct unfiltered *item = &mutation->items[i];
        if (item->kind == UNFILTERED_BOUND || item->row.deletion.timestamp_us != TIMESTAMP_NONE)
            return CAUSE_VOID;
        is_insert &= item->row.marker.timestamp_us != TIMESTAMP_NONE;
    }
    return is_insert && !is_event_table ? CAUSE_LATE_CLICKS : CAUSE_CORRECTION;
}

/* ---- rates ---- */

/* The rate in effect may have changed on the days from `first` up to before the first rate that
 * begins after `last`. */
struct changed_rates {
    bool any;
    int32_t first;
    int32_t last;
    struct change_lines *lines;
};

static void append_rate(struct buffer *text, const struct rate *rate)
{
    if (rate != NULL)
        rate_append_percent(text, rate->rate);
}

/* `old`, `new`: the rate that begins on the day `since`, before and after the change; NULL:
 * none. */
static void note_change(struct changed_rates *changed, struct bytes reseller, int32_t since,
                        const struct rate *old, const struct rate *new)
{
    char day[DAY_TEXT_SIZE + 1];
    struct buffer texts[3] = {0};
    if (!changed->any || since < changed->first)
        changed->first = since;
    if (!changed->any || since > changed->last)
        changed->last = since;
    changed->any = true;
    calendar_day_format(since, day);
    buffer_append_bytes(&texts[0], reseller);
    buffer_put_u8(&texts[0], ' ');
    buffer_append_text(&texts[0], day);
    append_rate(&texts[1], old);
    append_rate(&texts[2], new);
    change_lines_add(changed->lines, buffer_view(&texts[0]), buffer_view(&texts[1]),
                     buffer_view(&texts[2]));
    for (uint32_t i = 0; i < 3; i++)
        buffer_release(&texts[i]);
}

static const struct rate *rate_of_day(const struct rollup *rollup, struct bytes reseller,
                                      int32_t since)
{
    const struct rate *rate = rate_table_at(rollup->rates.table, reseller, since);
    return rate != NULL && rate->since == since ? rate : NULL;
}

static void remove_rate(struct rollup *rollup, struct bytes reseller, int32_t since,
                        struct changed_rates *changed)
{
    const struct rate *old = rate_of_day(rollup, reseller, since);
    if (old == NULL)
        return;
    note_change(changed, reseller, since, old, NULL);
    (void)rate_table_remove(rollup->rates.table, reseller, since, since + 1);
}

static void set_rate(struct rollup *rollup, struct bytes reseller, int32_t since,
                     struct decimal value, struct changed_rates *changed)
{
    const struct rate *old = rate_of_day(rollup, reseller, since);
    const struct rate before = old != NULL ? *old : (struct rate){0};
    const struct rate now = {since, value};
    if (!rate_table_set(rollup->rates.table, reseller, since, value))
        return;
    note_change(changed, reseller, since, old != NULL ? &before : NULL, &now);
}

/* If one mutation deletes the row and sets cells, their timestamps are equal, so the deletion
 * wins. */
static void take_rate_row(struct rollup *rollup, struct bytes reseller, const struct row *row,
                          struct changed_rates *changed)
{
    int32_t since;
    struct decimal rate;
    const struct click_stream_rates *rates = &rollup->stream->rates;
    const struct table *table = rollup_table(rollup, rates->table_id);
    if (row->clustering.count == 0 || !calendar_day_parse(row->clustering.values[0], &since))
        return;
    if (row->deletion.timestamp_us != TIMESTAMP_NONE) {
        remove_rate(rollup, reseller, since, changed);
        return;
    }
    for (uint32_t i = 0; i < row->cell_count; i++) {
        const struct cell *cell = &row->cells[i];
        if (cell->column_id != rates->rate)
            continue;
        if ((cell->flags & CELL_TOMBSTONE) != 0 ||
            rate_value_read(rates, table, cell->value, &rate) < 0)
            remove_rate(rollup, reseller, since, changed);
        else
            set_rate(rollup, reseller, since, rate, changed);
    }
}

/* `start` is before `end` in the order of the table. */
static void take_rate_range(struct rollup *rollup, struct bytes reseller, const struct bound *start,
                            const struct bound *end, struct changed_rates *changed)
{
    const struct table *table = rollup_table(rollup, rollup->stream->rates.table_id);
    uint32_t count;
    struct rate *rates = rate_table_rates(rollup->rates.table, reseller, &count);
    for (uint32_t i = count; i > 0; i--) {
        char text[DAY_TEXT_SIZE + 1];
        int32_t since = rates[i - 1].since;
        calendar_day_format(since, text);
        struct clustering clustering = {.count = 1, .values = {bytes_text(text)}};
        if (row_bound_compare_clustering(table, start, &clustering) < 0 &&
            row_bound_compare_clustering(table, end, &clustering) > 0)
            remove_rate(rollup, reseller, since, changed);
    }
    memory_free(rates);
}

static void take_all_rates(struct rollup *rollup, struct bytes reseller,
                           struct changed_rates *changed)
{
    uint32_t count;
    struct rate *rates = rate_table_rates(rollup->rates.table, reseller, &count);
    for (uint32_t i = 0; i < count; i++)
        note_change(changed, reseller, rates[i].since, &rates[i], NULL);
    memory_free(rates);
    rate_table_remove(rollup->rates.table, reseller, INT32_MIN, RATE_DAY_END);
}

static void take_rates(struct rollup *rollup, struct write_batch *batch,
                       const struct mutation *mutation, const uint8_t *change,
                       struct change_lines *lines, int64_t now_us)
{
    struct changed_rates changed = {.lines = lines};
    if (mutation->deletion.timestamp_us != TIMESTAMP_NONE) {
        take_all_rates(rollup, mutation->key, &changed);
    } else {
        for (uint32_t i = 0; i < mutation->item_count; i++) {
            const struct unfiltered *item = &mutation->items[i];
            if (item->kind == UNFILTERED_ROW)
                take_rate_row(rollup, mutation->key, &item->row, &changed);
            else if (item->after.timestamp_us != TIMESTAMP_NONE && i + 1 < mutation->item_count)
                take_rate_range(rollup, mutation->key, &item->bound, &mutation->items[i + 1].bound,
                                &changed);
        }
    }
    if (!changed.any)
        return;
    live_rates_note_changed(&rollup->rates);
    int32_t until = rate_table_next(rollup->rates.table, mutation->key, changed.last);
    day_marks_add_range(&rollup->marks, batch, mutation->key, changed.first, until, CAUSE_RATE,
                        change, now_us);
}

/* ---- the hook ---- */

static const struct mutation *change_row_of(const struct write_batch *batch)
{
    for (uint32_t i = 0; i < batch->mutation_count; i++) {
        const struct mutation *mutation = &batch->mutations[i];
        if (mutation->table_id != TABLE_CHANGE || mutation->item_count == 0)
            continue;
        const struct clustering *clustering = &mutation->items[0].row.clustering;
        if (clustering->count == 1 && clustering->values[0].size == UUID_SIZE)
            return mutation;
    }
    return NULL;
}

void rollup_write_lines(struct rollup *rollup, struct write_batch *batch,
                        struct change_lines *lines)
{
    struct column_value values[2 + CHANGE_LINES_VALUES];
    struct mutation mutation;
    const struct mutation *row = change_row_of(batch);
    if (row == NULL || change_lines_are_empty(lines))
        return;
    change_lines_end(lines);
    values[0] = (struct column_value){CHANGE_MONTH, false, row->key};
    values[1] = (struct column_value){CHANGE_ID, false, row->items[0].row.clustering.values[0]};
    uint32_t count = 2 + change_lines_values(lines, &values[2]);
    mutation_insert(rollup_table(rollup, TABLE_CHANGE), values, count, false, batch->arena,
                    &mutation);
    write_batch_add_mutation(batch, &mutation);
}

/* Whether the batch writes to voided_click, as restores and voids do.  Restored clicks are not new,
 * and a void adds no clicks. */
static bool is_restore(const struct write_batch *batch)
{
    for (uint32_t i = 0; i < batch->mutation_count; i++)
        if (batch->mutations[i].table_id == TABLE_VOIDED_CLICK)
            return true;
    return false;
}

void rollup_take_batch(struct rollup *rollup, struct write_batch *batch, struct change_lines *lines)
{
    const struct click_stream *stream = rollup->stream;
    const uint32_t mutation_count = batch->mutation_count;
    const struct mutation *row = change_row_of(batch);
    const uint8_t *change = row != NULL ? row->items[0].row.clustering.values[0].data : NULL;
    bool is_event_table =
        (rollup_table(rollup, stream->clicks.table_id)->flags & TABLE_OF_EVENTS) != 0;
    uint64_t order = dirty_set_order(rollup->marks.dirty);
    int64_t now_us = rollup_now_us(rollup);
    for (uint32_t i = 0; i < batch->block_count; i++)
        if (batch->blocks[i]->table_id == stream->clicks.table_id)
            take_block(rollup, batch, i, change, now_us);
    for (uint32_t i = 0; i < mutation_count; i++) {
        struct mutation mutation = batch->mutations[i];
        if (mutation.table_id == stream->clicks.table_id)
            day_marks_add(&rollup->marks, batch, mutation.key,
                          rollup->is_sealing ? CAUSE_EXPIRY : cause_of(&mutation, is_event_table),
                          change, now_us);
        if (mutation.table_id == stream->rates.table_id)
            take_rates(rollup, batch, &mutation, change, lines, now_us);
    }
    if (rollup->is_automatic && dirty_set_order(rollup->marks.dirty) != order) {
        if (rollup->progress.owed_us == 0)
            rollup->progress.owed_us = world_monotonic_us(rollup->world);
        look_timer_soon(&rollup->look);
    }
    if (rollup->watch.is_on && !is_restore(batch))
        click_watch_take(&rollup->watch, stream, batch);
    rollup_report_memory(rollup);
    rollup_press(rollup);
}
