/* This file has the functions that all jobs of a rollup use. */
#include "rollup/days/rollup_private.h"

#include "base/calendar.h"
#include "base/memory.h"
#include "base/timeuuid.h"

/* The longest pause before the next search for due days; it is limited because the clock may be set
 * forward. */
#define IDLE_US  INT64_C(3600000000)
#define DOUBT_US INT64_C(60000000) /* the shortest pause while the clock is in doubt */

const struct table *rollup_table(const struct rollup *rollup, uint32_t table_id)
{
    const struct table *table = schema_table(store_schema(rollup->store), table_id);
    check(table != NULL);
    return table;
}

void rollup_report_memory(struct rollup *rollup)
{
    size_t held = dirty_set_bytes(rollup->marks.dirty) + key_map_bytes(rollup->resellers.map);
    memory_held_change(rollup->store->held, MEMORY_HELD_DAYS,
                       (int64_t)held - (int64_t)rollup->memory_reported);
    rollup->memory_reported = held;
}

/* ---- evicted days ---- */

void rollup_make_room(struct rollup *rollup)
{
    dirty_evicted_make_room(&rollup->evicted, rollup->marks.dirty, &rollup->due.rules,
                            rollup->progress.applies_durable, rollup_now_us(rollup));
    rollup->metrics.evicted->value = rollup->evicted.count;
}

void rollup_press(struct rollup *rollup)
{
    dirty_evicted_press(&rollup->evicted, rollup->marks.dirty,
                        rollup->is_loaded && !rollup->is_closing && !rollup->is_failed);
}

void rollup_queue_ended(struct rollup *rollup)
{
    publication_queue_ended(&rollup->due, rollup->marks.dirty, rollup_trusts_clock(rollup),
                            rollup_now_us(rollup));
}

void rollup_look_again(struct rollup *rollup)
{
    int64_t now_us = rollup_now_us(rollup);
    int64_t at_us = now_us + IDLE_US;
    if (rollup->due.next_us < at_us)
        at_us = rollup->due.next_us;
    if (rollup->evicted.returns == 0 && rollup->evicted.due_us < at_us)
        at_us = rollup->evicted.due_us;
    if (!rollup_trusts_clock(rollup) && at_us < now_us + DOUBT_US)
        at_us = now_us + DOUBT_US;
    if (dirty_set_is_behind(rollup->marks.dirty))
        look_timer_soon(&rollup->look);
    else
        look_timer_at(&rollup->look, at_us);
}

/* ---- callers that wait ---- */

void rollup_refreshed(struct rollup *rollup)
{
    if (rollup->is_failed)
        refresh_list_fail(&rollup->waiters, &rollup->failure);
    else
        refresh_list_call(&rollup->waiters, rollup->progress.applies_durable);
}

/* ---- the end ---- */

static void rollup_free(struct rollup *rollup)
{
    look_timer_stop(&rollup->look);
    world_timer_stop(rollup->world, &rollup->progress.time_slice);
    world_timer_stop(rollup->world, &rollup->seal_timer);
    calendar_zone_close(rollup->zone);
    live_rates_release(&rollup->rates);
    dirty_evicted_release(&rollup->evicted);
    day_marks_release(&rollup->marks);
    known_resellers_release(&rollup->resellers);
    memory_free(rollup);
}

static bool is_idle(const struct rollup *rollup)
{
    const struct refresh_progress *progress = &rollup->progress;
    return rollup->pins == 0 && rollup->refresh == NULL && refresh_list_is_idle(&rollup->waiters) &&
           rollup->sealing == NULL && rollup->evicted.returns == 0 &&
           progress->applies_durable == progress->applies_sent;
}

void rollup_close_if_idle(struct rollup *rollup)
{
    if (rollup->closed == NULL || !is_idle(rollup))
        return;
    store_done closed = rollup->closed;
    void *context = rollup->closed_context;
    const struct error failure = rollup->failure;
    rollup_free(rollup);
    closed(context, failure.code, &failure);
}

void rollup_pin(struct rollup *rollup)
{
    rollup->pins++;
}

void rollup_unpin(struct rollup *rollup)
{
    check(rollup->pins > 0);
    rollup->pins--;
    rollup_close_if_idle(rollup);
}

void rollup_enter(struct rollup *rollup)
{
    rollup->users++;
}

void rollup_leave(struct rollup *rollup)
{
    check(rollup->users > 0);
    rollup->users--;
}

/* ---- small answers ---- */

uint32_t rollup_dirty_count(const struct rollup *rollup)
{
    return dirty_set_queued(rollup->marks.dirty);
}

struct rollup_open_days rollup_open_days(const struct rollup *rollup)
{
    return (struct rollup_open_days){dirty_set_count(rollup->marks.dirty), rollup->evicted.count};
}

const struct click_stream *rollup_stream(const struct rollup *rollup)
{
    return rollup->stream;
}

struct click_watch *rollup_watch(struct rollup *rollup)
{
    return &rollup->watch;
}

int64_t rollup_behind_us(const struct rollup *rollup)
{
    const struct refresh_progress *progress = &rollup->progress;
    int64_t since_us = progress->works_us != 0 ? progress->works_us : progress->owed_us;
    return since_us != 0 ? world_monotonic_us(rollup->world) - since_us : 0;
}

const struct zone *rollup_zone(const struct rollup *rollup)
{
    return rollup->zone;
}

int64_t rollup_now_us(const struct rollup *rollup)
{
    return world_wall_us(rollup->world);
}

bool rollup_trusts_clock(const struct rollup *rollup)
{
    return !store_clock(rollup->store).is_in_doubt;
}

void rollup_yield(const struct rollup *rollup, struct timer *timer)
{
    rollup_fire_in(rollup, timer, 0);
}

int32_t rollup_sealed_to(const struct rollup *rollup)
{
    return rollup->retention.sealed_to;
}

void rollup_pin_seals(struct rollup *rollup, struct seal_pin *pin)
{
    seal_gate_pin(&rollup->gate, pin);
}

void rollup_unpin_seals(struct rollup *rollup, struct seal_pin *pin)
{
    seal_gate_unpin(&rollup->gate, pin);
}

/* ---- rows of `change` ---- */

void rollup_begin_change(struct rollup *rollup, struct change_row *change)
{
    change->at_ms = store_now_us(rollup->store) / 1000;
    timeuuid_make(store_now_us(rollup->store), rollup->world->random, change->id);
}

/* A text that is NULL gets no cell. */
void rollup_write_change(struct rollup *rollup, struct write_batch *batch,
                         const struct change_row *change)
{
    struct column_value values[CHANGE_COLUMNS];
    char month[DAY_TEXT_SIZE + 1];
    uint32_t count = 0;
    calendar_day_format(calendar_day_of_time(change->at_ms), month);
    month[MONTH_TEXT_SIZE] = '\0';
    const struct {
        uint32_t column_id;
        const char *text;
    } texts[] = {{CHANGE_MONTH, month},       {CHANGE_DOOR, change->door},
                 {CHANGE_PEER, change->peer}, {CHANGE_ACTOR, change->actor},
                 {CHANGE_NOTE, change->note}, {CHANGE_COMMAND, change->command}};
    values[count++] = (struct column_value){CHANGE_ID, false, bytes_of(change->id, UUID_SIZE)};
    values[count++] =
        (struct column_value){CHANGE_AT, false, write_batch_bigint(batch, change->at_ms)};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].text != NULL)
            values[count++] =
                (struct column_value){texts[i].column_id, false, bytes_text(texts[i].text)};
    if (change->lines != NULL)
        count += change_lines_values(change->lines, &values[count]);
    write_batch_insert(batch, rollup_table(rollup, TABLE_CHANGE), values, count);
}

void rollup_add_change(struct rollup *rollup, struct write_batch *batch, struct change_row *change)
{
    rollup_begin_change(rollup, change);
    rollup_write_change(rollup, batch, change);
}

void rollup_dump(const struct rollup *rollup, struct buffer *text)
{
    buffer_printf(text, "stream %s\n", rollup->stream->name);
    if (rollup->refresh != NULL)
        buffer_append_text(text, "  days are being worked off\n");
    if (rollup->sealing != NULL)
        buffer_append_text(text, "  days are being sealed\n");
    if (rollup->is_failed)
        buffer_printf(text, "  has failed: %s\n", rollup->failure.text);
    dirty_set_dump(rollup->marks.dirty, text);
}
