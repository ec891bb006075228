/* When a rollup is opened, this file reads retention, rates and marks from their tables.
 *
 * A mark in the table means that the day was dirty, was open or was owed a restatement when the
 * process ended.  In a read-only store no marks are loaded (dirty_overlay.h).
 *
 * If there are more marked days than may be in memory, some are processed and evicted
 * (dirty_evicted.h) before the next are loaded. */
#include "rollup/days/rate_value.h"
#include "rollup/days/dirty_evicted_return.h"
#include "rollup/days/rollup_private.h"
#include "storage/engine/store_rows.h"
#include "rollup/days/seal_pass.h"

enum { SEAL_MS = 1000 }; /* from a server's start to its first check for expired days */

static void loaded(void *context, int status, const struct error *err)
{
    struct rollup *rollup = context;
    store_done opened = rollup->opened;
    rollup->opened = NULL;
    if (status == 0 && rollup->is_automatic && dirty_set_is_behind(rollup->marks.dirty))
        look_timer_soon(&rollup->look);
    if (status == 0)
        seal_pass_tick_in(rollup, SEAL_MS);
    opened(rollup->opened_context, status, err);
}

/* ---- marks ---- */

/* All ranges are loaded, because they are processed before any day, and as many days as may be in
 * memory. */
static int take_mark(void *context, const struct table *table, const struct page_row *row,
                     struct error *err)
{
    struct rollup *rollup = context;
    struct mark_row read;
    int rc = day_marks_read(table, row, &read, err);
    if (rc < 0)
        return rc;
    if (read.until != read.day + 1) {
        dirty_set_add_range(rollup->marks.dirty, row->key, read.day, read.until, &read.mark);
        return 0;
    }
    if (!rollup->evicted.has_left && dirty_evicted_is_full(&rollup->evicted, rollup->marks.dirty)) {
        rollup->evicted.has_left = true;
        rollup->evicted.left_token = row->token;
    }
    return rollup->evicted.has_left ? 0 : day_marks_load(rollup->marks.dirty, row->key, &read, err);
}

static void marks_loaded(void *context, int status, const struct error *err)
{
    struct rollup *rollup = context;
    rollup->is_loaded = status == 0;
    if (status == 0 && rollup->evicted.has_left)
        dirty_evicted_return(rollup, DIRTY_EVICTED_ALL, rollup->evicted.left_token, loaded, rollup);
    else
        loaded(rollup, status, err);
}

/* ---- rates ---- */

/* A row without a rate, or whose day is no valid day, is ignored. */
static int take_rate(void *context, const struct table *table, const struct page_row *row,
                     struct error *err)
{
    struct rollup *rollup = context;
    struct bytes since_text;
    struct bytes value;
    struct decimal rate;
    int32_t since;
    if (!store_row_value(table, row, rollup->stream->rates.since, &since_text) ||
        !calendar_day_parse(since_text, &since) ||
        !store_row_value(table, row, rollup->stream->rates.rate, &value))
        return 0;
    int rc = rate_value_read(&rollup->stream->rates, table, value, &rate);
    /* A user's table may have wrong rates from the time before the stream was defined over it. */
    if (rc < 0 && rollup->is_defined)
        return 0;
    if (rc < 0)
        return error_set(err, ERROR_CORRUPT, "table %s has a rate that is no number", table->name);
    rate_table_set(rollup->rates.table, row->key, since, rate);
    return 0;
}

static void rates_loaded(void *context, int status, const struct error *err)
{
    struct rollup *rollup = context;
    const struct read_request request =
        store_rows_request(rollup->stream->dirty_table_id, NULL, READ_APPLIED);
    if (status == 0 && !rollup->is_read_only) {
        store_rows_read(rollup->store, &request, take_mark, marks_loaded, rollup);
        return;
    }
    rollup->is_loaded = status == 0;
    loaded(rollup, status, err);
}

static void retention_loaded(void *context, int status, const struct error *err)
{
    struct rollup *rollup = context;
    const struct read_request request =
        store_rows_request(rollup->stream->rates.table_id, NULL, READ_APPLIED);
    if (status < 0)
        loaded(rollup, status, err);
    else
        store_rows_read(rollup->store, &request, take_rate, rates_loaded, rollup);
}

void rollup_load(struct rollup *rollup)
{
    retention_load(&rollup->retention, retention_loaded, rollup);
}
