/* day_marks: see the header. */
#include "rollup/days/day_marks.h"

#include "base/calendar.h"
#include "rollup/days/rate.h"
#include "storage/schema/schema.h"

void day_marks_init(struct day_marks *marks, struct store *store, const struct click_stream *stream,
                    struct random *random)
{
    *marks = (struct day_marks){.store = store, .stream = stream, .dirty = dirty_set_new()};
    random->fill(random, marks->maker, TIMEUUID_MAKER_SIZE);
}

void day_marks_release(struct day_marks *marks)
{
    dirty_set_free(marks->dirty);
}

/* ---- writing ---- */

void day_marks_write(struct day_marks *marks, struct write_batch *batch, struct bytes reseller,
                     int32_t day, int32_t until, struct dirty_mark *mark, int64_t now_us)
{
    const struct table *table =
        schema_table(store_schema(marks->store), marks->stream->dirty_table_id);
    struct column_value values[6];
    uint32_t count = 0;
    check(table != NULL && day < until);
    marks->last_us = now_us > marks->last_us ? now_us : marks->last_us + 1;
    timeuuid_make_as(marks->last_us, marks->maker, mark->id);
    values[count++] = (struct column_value){DIRTY_RESELLER_ID, false, reseller};
    values[count++] = (struct column_value){DIRTY_DAY, false, write_batch_day(batch, day)};
    values[count++] = (struct column_value){DIRTY_ID, false, bytes_of(mark->id, UUID_SIZE)};
    values[count++] =
        (struct column_value){DIRTY_CAUSE, false, bytes_text(dirty_cause_name(mark->cause))};
    if (mark->has_change)
        values[count++] =
            (struct column_value){DIRTY_CHANGE_ID, false, bytes_of(mark->change, UUID_SIZE)};
    if (until > day + 1)
        values[count++] = (struct column_value){
            DIRTY_UNTIL, false,
            until != RATE_DAY_END ? write_batch_day(batch, until) : bytes_text("")};
    write_batch_insert(batch, table, values, count);
}

void day_marks_add(struct day_marks *marks, struct write_batch *batch, struct bytes key,
                   enum dirty_cause cause, const uint8_t *change, int64_t now_us)
{
    day_marks_add_hashed(marks, batch, key, dirty_hash(key), cause, change, now_us);
}

void day_marks_add_range(struct day_marks *marks, struct write_batch *batch, struct bytes reseller,
                         int32_t from, int32_t until, enum dirty_cause cause, const uint8_t *change,
                         int64_t now_us)
{
    struct dirty_mark mark = {.cause = (uint8_t)cause, .has_change = change != NULL};
    if (change != NULL)
        memcpy(mark.change, change, UUID_SIZE);
    day_marks_write(marks, batch, reseller, from, until, &mark, now_us);
    dirty_set_add_range(marks->dirty, reseller, from, until, &mark);
}

/* ---- reading ---- */

static int corrupt_mark(struct error *err)
{
    return error_set(err, ERROR_CORRUPT, "a row of the dirty days is no mark");
}

static int read_until(const struct table *table, const struct page_row *row, int32_t day,
                      int32_t *until_out)
{
    struct bytes until;
    *until_out = day + 1;
    if (!store_row_value(table, row, DIRTY_UNTIL, &until))
        return 0;
    *until_out = RATE_DAY_END;
    return until.size == 0 || calendar_day_parse(until, until_out) ? 0 : ERROR_CORRUPT;
}

int day_marks_read(const struct table *table, const struct page_row *row, struct mark_row *mark_out,
                   struct error *err)
{
    struct dirty_mark *mark = &mark_out->mark;
    struct bytes day_text;
    struct bytes id;
    struct bytes cause;
    struct bytes change;
    enum dirty_cause why;
    *mark_out = (struct mark_row){.day = 0};
    if (!store_row_value(table, row, DIRTY_DAY, &day_text) ||
        !calendar_day_parse(day_text, &mark_out->day) ||
        !store_row_value(table, row, DIRTY_ID, &id) || id.size != UUID_SIZE ||
        !store_row_value(table, row, DIRTY_CAUSE, &cause) || !dirty_cause_parse(cause, &why) ||
        read_until(table, row, mark_out->day, &mark_out->until) < 0)
        return corrupt_mark(err);
    mark->cause = (uint8_t)why;
    memcpy(mark->id, id.data, UUID_SIZE);
    mark->has_change = store_row_value(table, row, DIRTY_CHANGE_ID, &change);
    if (mark->has_change && change.size != UUID_SIZE)
        return corrupt_mark(err);
    if (mark->has_change)
        memcpy(mark->change, change.data, UUID_SIZE);
    return 0;
}

int day_marks_load(struct dirty_set *set, struct bytes reseller, const struct mark_row *row,
                   struct error *err)
{
    const struct dirty_day *day =
        dirty_set_load(set, reseller, row->day, &row->mark, timeuuid_us(row->mark.id));
    return day != NULL ? 0 : corrupt_mark(err);
}
