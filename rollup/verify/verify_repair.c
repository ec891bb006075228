/* verify_repair: repairs counters and figures, which follow from the clicks:
 *
 *   counters   the difference is added, so that clicks that come meanwhile still count
 *   figures    their days are marked as dirty with cause `repair`; the rollup then writes row and
 *              ledger, as after any other change
 *
 * Every batch has the command's row of `change`. */
#include "base/memory.h"
#include "rollup/days/apply_when_room.h"
#include "rollup/verify/verify_private.h"
#include "storage/cell/write_batch.h"

enum { BATCH_ITEMS = 500 };

struct repair {
    struct verify *verify;
    struct repair_list *list;
    verify_step repaired;
    uint32_t day_next, counter_next;
    uint32_t day_end;
    struct change_row change;
    struct write_batch *batch;
};

static void repair_free(struct repair *repair)
{
    write_batch_free(repair->batch);
    memory_free(repair);
}

static void repair_fail(struct repair *repair, int status, const struct error *err)
{
    struct verify *verify = repair->verify;
    repair_free(repair);
    verify_fail_if(verify, status, err);
}

static void batch_next(struct repair *repair);

/* Queue the days, and drop the copies of their rows in memory, which may be wrong. */
static void batch_accepted(void *context)
{
    struct repair *repair = context;
    const struct rollup *rollup = repair->verify->rollup;
    struct dirty_set *dirty = rollup->marks.dirty;
    for (; repair->day_next < repair->day_end; repair->day_next++) {
        const struct repair_day *noted = &repair->list->days[repair->day_next];
        struct dirty_day *day =
            dirty_set_load(dirty, noted->reseller, noted->day, &noted->mark, rollup_now_us(rollup));
        dirty_day_keep_row(day, NULL);
        dirty_set_queue(dirty, day);
    }
}

static void refreshed(void *context, int status, const struct error *err)
{
    struct repair *repair = context;
    struct verify *verify = repair->verify;
    verify_step repaired = repair->repaired;
    if (status < 0 && verify_has_ended(verify, status)) {
        repair_fail(repair, status, err);
        return;
    }
    command_printf(verify->output, COMMAND_OUT,
                   "repaired: %u days, %u counters; everything is compared again\n",
                   repair->list->day_count, repair->list->counter_count);
    repair_free(repair);
    repaired(verify);
}

static void batch_written(void *context, int status, const struct error *err)
{
    if (status < 0)
        repair_fail(context, status, err);
    else
        batch_next(context);
}

static void add_days(struct repair *repair)
{
    struct rollup *rollup = repair->verify->rollup;
    int64_t now_us = rollup_now_us(rollup);
    uint32_t left = repair->list->day_count - repair->day_next;
    repair->day_end = repair->day_next + (left < BATCH_ITEMS ? left : BATCH_ITEMS);
    for (uint32_t i = repair->day_next; i < repair->day_end; i++) {
        struct repair_day *day = &repair->list->days[i];
        day->mark = (struct dirty_mark){.cause = CAUSE_REPAIR, .has_change = true};
        memcpy(day->mark.change, repair->change.id, UUID_SIZE);
        day_marks_write(&rollup->marks, repair->batch, day->reseller, day->day, day->day + 1,
                        &day->mark, now_us);
    }
}

static void add_counters(struct repair *repair)
{
    const struct repair_list *list = repair->list;
    for (uint32_t i = 0; i < BATCH_ITEMS && repair->counter_next < list->counter_count; i++) {
        const struct repair_counter *counter = &list->counters[repair->counter_next++];
        const struct counter_increment increment = {.table_id = counter->of->table_id,
                                                    .column_id = counter->of->column_id,
                                                    .key = counter->key,
                                                    .change = COUNTER_ADD,
                                                    .value = counter->delta};
        write_batch_add_increment(repair->batch, &increment);
    }
}

static void batch_next(struct repair *repair)
{
    struct rollup *rollup = repair->verify->rollup;
    if (repair->day_next == repair->list->day_count &&
        repair->counter_next == repair->list->counter_count) {
        /* `true`: days whose ledger entries are missing are published again. */
        rollup_refresh_now(rollup, true, refreshed, repair);
        return;
    }
    write_batch_clear(repair->batch);
    rollup_write_change(rollup, repair->batch, &repair->change);
    add_days(repair);
    add_counters(repair);
    apply_when_room(rollup->store, rollup->world->executor, repair->batch, NULL, batch_accepted,
                    batch_written, repair);
}

void verify_repair(struct verify *verify, verify_step repaired)
{
    struct repair *repair = memory_zeroed(1, sizeof(*repair));
    check(verify->repairs != NULL);
    *repair = (struct repair){.verify = verify,
                              .list = verify->repairs,
                              .repaired = repaired,
                              .batch = write_batch_new(),
                              .change = verify->order.change};
    rollup_begin_change(verify->rollup, &repair->change);
    batch_next(repair);
}
