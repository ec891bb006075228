/* retention: see the header. */
#include "rollup/days/retention.h"

#include "base/calendar.h"
#include "storage/engine/store_rows.h"
#include "storage/schema/schema.h"
#include "storage/schema/type.h"

void retention_init(struct retention *retention, struct store *store,
                    const struct click_stream *stream, uint32_t keep_days)
{
    *retention = (struct retention){.store = store,
                                    .stream = stream,
                                    .keep_days = keep_days,
                                    .sealed_to = SEALED_NONE,
                                    .seal_from = DAY_MIN};
}

void retention_expect(struct retention *retention, int32_t day)
{
    if (day < retention->seal_from)
        retention->seal_from = day;
}

static int take_retention(void *context, const struct table *table, const struct page_row *row,
                          struct error *err)
{
    struct retention *retention = context;
    struct bytes value;
    if (store_row_value(table, row, RETENTION_KEEP_DAYS, &value)) {
        if (value.size != 8 || type_value_bigint(value) < 0 ||
            type_value_bigint(value) > KEEP_DAYS_MAX)
            return error_set(err, ERROR_CORRUPT, "table retention keeps no number of days");
        retention->keep_days = (uint32_t)type_value_bigint(value);
    }
    if (store_row_value(table, row, RETENTION_SEALED_TO, &value) &&
        !calendar_day_parse(value, &retention->sealed_to))
        return error_set(err, ERROR_CORRUPT, "table retention was sealed to no day");
    return 0;
}

static void loaded(void *context, int status, const struct error *err)
{
    const struct retention *retention = context;
    retention->loaded(retention->context, status, err);
}

void retention_load(struct retention *retention, store_done done, void *context)
{
    struct bytes key = bytes_text(retention->stream->name);
    struct read_request request = store_rows_request(TABLE_RETENTION, &key, READ_APPLIED);
    check(done != NULL);
    retention->loaded = done;
    retention->context = context;
    store_rows_read(retention->store, &request, take_retention, loaded, retention);
}

/* ---- its row ---- */

static void write_value(const struct retention *retention, struct write_batch *batch,
                        uint32_t column_id, struct bytes value)
{
    const struct table *table = schema_table(store_schema(retention->store), TABLE_RETENTION);
    const struct column_value values[] = {
        {RETENTION_STREAM, false, bytes_text(retention->stream->name)}, {column_id, false, value}};
    check(table != NULL);
    write_batch_insert(batch, table, values, 2);
}

void retention_write_keep(const struct retention *retention, struct write_batch *batch,
                          uint32_t keep_days)
{
    write_value(retention, batch, RETENTION_KEEP_DAYS, write_batch_bigint(batch, keep_days));
}

void retention_write_sealed_to(const struct retention *retention, struct write_batch *batch,
                               int32_t day)
{
    write_value(retention, batch, RETENTION_SEALED_TO, write_batch_day(batch, day));
}
