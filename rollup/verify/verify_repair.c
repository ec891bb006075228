/* Repairs: counters and figures follow from the clicks, so the clicks are believed.
 *
 *   counters   moved by the difference, which commutes with clicks that come meanwhile
 *   figures    their days marked as dirty with cause `repair`; the rollup then makes row and ledger
 *              anew, as after any other change
 *
 * Both in batches that hold the command's row in `change`.  A difference is noted only where two
 * looks saw it and the counter stood still, and at the end everything is verified again: what the
 * exit status says is what that found.  Interrupted, it has repaired a part. */
#include "rollup/verify/verify_private.h"
#include "base/arena.h"
#include "base/memory.h"

enum { ARENA_CHUNK = 64 * 1024, BATCH_ITEMS = 500 };

struct repair_day {
    struct bytes reseller;
    int32_t day;
    struct dirty_mark mark;
};

struct repair_counter {
    const struct click_stream_counter *of;
    struct bytes key;
    int64_t delta;
};

struct repair {
    struct arena *arena;
    struct repair_day *days;
    uint32_t day_count, day_capacity;
    struct repair_counter *counters;
    uint32_t counter_count, counter_capacity;
    uint32_t day_next, counter_next; /* the first that are not yet written */
    uint32_t day_end;                /* of the batch under way */
    struct change_row change;
    struct write_batch *batch;
};

struct repair *repair_new(void)
{
    struct repair *repair = memory_zeroed(1, sizeof(*repair));
    repair->arena = arena_new(ARENA_CHUNK);
    repair->batch = write_batch_new();
    return repair;
}

void repair_free(struct repair *repair)
{
    if (repair == NULL)
        return;
    write_batch_free(repair->batch);
    memory_free(repair->days);
    memory_free(repair->counters);
    arena_free(repair->arena);
    memory_free(repair);
}

void repair_note_day(struct repair *repair, struct bytes reseller, int32_t day)
{
    if (repair->day_count == repair->day_capacity) {
        repair->day_capacity = repair->day_capacity * 2 + 64;
        repair->days = memory_resize(repair->days, repair->day_capacity * sizeof(*repair->days));
    }
    repair->days[repair->day_count++] =
        (struct repair_day){.reseller = arena_copy(repair->arena, reseller), .day = day};
}

void repair_note_counter(struct repair *repair, const struct click_stream_counter *counter,
                         struct bytes key, int64_t delta)
{
    if (repair->counter_count == repair->counter_capacity) {
        repair->counter_capacity = repair->counter_capacity * 2 + 64;
        repair->counters =
            memory_resize(repair->counters, repair->counter_capacity * sizeof(*repair->counters));
    }
    repair->counters[repair->counter_count++] =
        (struct repair_counter){counter, arena_copy(repair->arena, key), delta};
}

bool repair_is_empty(const struct repair *repair)
{
    return repair->day_count == 0 && repair->counter_count == 0;
}

/* ---- writing ---- */

static void batch_next(struct verify *verify);

/* The rows are applied: the days are dirty in memory too, and what is remembered of their rows is
 * not to be trusted. */
static void batch_accepted(void *context)
{
    struct verify *verify = context;
    struct repair *repair = verify->repair;
    struct dirty_set *dirty = verify->rollup->dirty;
    for (; repair->day_next < repair->day_end; repair->day_next++) {
        const struct repair_day *noted = &repair->days[repair->day_next];
        struct dirty_day *day = dirty_set_load(dirty, noted->reseller, noted->day, &noted->mark,
                                               rollup_now_us(verify->rollup));
        dirty_day_keep_row(day, NULL);
        dirty_set_queue(dirty, day);
    }
}

static void settled(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    command_printf(verify->output, COMMAND_OUT,
                   "repaired: %u days, %u counters; everything is compared again\n",
                   verify->repair->day_count, verify->repair->counter_count);
    struct rollup *rollup = verify->rollup;
    const struct command_request *request = verify->request;
    struct command_output *output = verify->output;
    verify_free(verify);
    verify_begin(rollup, request, output, false);
}

static void batch_written(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    if (status < 0)
        verify_fail(verify, status, err);
    else
        batch_next(verify);
}

static void add_days(struct verify *verify)
{
    struct repair *repair = verify->repair;
    int64_t now_us = rollup_now_us(verify->rollup);
    uint32_t left = repair->day_count - repair->day_next;
    repair->day_end = repair->day_next + (left < BATCH_ITEMS ? left : BATCH_ITEMS);
    for (uint32_t i = repair->day_next; i < repair->day_end; i++) {
        struct repair_day *day = &repair->days[i];
        day->mark = (struct dirty_mark){.cause = CAUSE_REPAIR, .has_change = true};
        memcpy(day->mark.change, repair->change.id, UUID_SIZE);
        rollup_write_mark(verify->rollup, repair->batch, day->reseller, day->day, day->day + 1,
                          &day->mark, now_us);
    }
}

static void add_counters(struct repair *repair)
{
    for (uint32_t i = 0; i < BATCH_ITEMS && repair->counter_next < repair->counter_count; i++) {
        const struct repair_counter *counter = &repair->counters[repair->counter_next++];
        const struct counter_increment increment = {.table_id = counter->of->table_id,
                                                    .column_id = counter->of->column_id,
                                                    .key = counter->key,
                                                    .change = COUNTER_ADD,
                                                    .value = counter->delta};
        write_batch_add_increment(repair->batch, &increment);
    }
}

/* A day whose ledger is gone gets its publication again, so what is due is published. */
static void batch_next(struct verify *verify)
{
    struct repair *repair = verify->repair;
    struct error err = {0};
    if (repair->day_next == repair->day_count && repair->counter_next == repair->counter_count) {
        int rc = rollup_settle(verify->rollup, true, settled, verify, &err);
        if (rc < 0)
            verify_fail(verify, rc, &err);
        return;
    }
    write_batch_clear(repair->batch);
    rollup_write_change(verify->rollup, repair->batch, &repair->change);
    add_days(verify);
    add_counters(repair);
    command_apply(verify->rollup, repair->batch, batch_accepted, batch_written, verify);
}

void verify_repair(struct verify *verify)
{
    const struct command_request *request = verify->request;
    verify->repair->change = (struct change_row){
        .door = request->door, .actor = request->actor, .command = request->text};
    rollup_begin_change(verify->rollup, &verify->repair->change);
    batch_next(verify);
}
