/* What CQL may write into the tables that a stream uses: the same that its text door and
 * commands take, so that the rollup and the report never meet a day, rate or amount that they
 * cannot use. */
#include "query/cql/cql_write.h"
#include "rollup/streams.h"
#include "storage/base/calendar.h"

enum { ID_MAX = 4096 };

static bool is_id(struct bytes id)
{
    bool is_plain = id.size > 0 && id.size <= ID_MAX;
    for (size_t i = 0; i < id.size && is_plain; i++)
        is_plain = id.data[i] >= 0x20 && id.data[i] != 0x7F;
    return is_plain;
}

/* Not negative, and within the digits and the scale of an amount in text. */
static bool is_money(struct decimal decimal)
{
    struct decimal again;
    char text[DECIMAL_TEXT_MAX];
    if (decimal_is_negative(decimal) || decimal.scale < 0)
        return false;
    size_t size = decimal_format(decimal, text);
    return decimal_parse_input(bytes_of(text, size), &again) == 0;
}

static const struct cell *cell_of(const struct row *row, uint32_t column_id)
{
    for (uint32_t i = 0; i < row->cell_count; i++)
        if (row->cells[i].column_id == column_id && (row->cells[i].flags & CELL_TOMBSTONE) == 0)
            return &row->cells[i];
    return NULL;
}

static bool is_money_of(const struct table *table, uint32_t column_id, const struct row *row)
{
    struct decimal decimal;
    const struct cell *cell = cell_of(row, column_id);
    return cell == NULL ||
           (type_decimal(table_column(table, column_id)->type, cell->value, &decimal) == 0 &&
            is_money(decimal));
}

static int check_rate(struct cql_work *work, const struct table *table,
                      const struct click_stream_rates *rates, struct bytes key,
                      const struct row *row)
{
    int32_t day;
    if (!is_id(key)) {
        return cql_invalid(&work->fault, "%s has 1 to %d bytes without control characters",
                           table_column(table, rates->reseller)->name, ID_MAX);
    }
    if (!day_parse(row->clustering.values[0], &day)) {
        return cql_invalid(&work->fault, "%s is a day, such as 2013-11-01",
                           table_column(table, rates->since)->name);
    }
    if (!is_money_of(table, rates->rate, row)) {
        return cql_invalid(&work->fault,
                           "%s is a decimal of at most %d digits, not "
                           "negative: 0.25 is 25 percent",
                           table_column(table, rates->rate)->name, DECIMAL_INPUT_DIGITS_MAX);
    }
    return 0;
}

/* The value that the row gives a column; data NULL: none. */
static struct bytes given(const struct table *table, uint32_t column_id, const struct row *row)
{
    const struct column *column = table_column(table, column_id);
    const struct cell *cell = cell_of(row, column_id);
    if (column->kind == COLUMN_CLUSTERING)
        return row->clustering.values[column->position];
    return cell != NULL ? cell->value : CQL_NULL;
}

static int check_click(struct cql_work *work, const struct table *table,
                       const struct click_stream_clicks *clicks, struct bytes key,
                       const struct row *row)
{
    struct bytes reseller = CQL_NULL;
    struct bytes day = CQL_NULL;
    int32_t parsed;
    int rc = key_component(key, 2, 0, &reseller);
    rc = rc == 0 ? key_component(key, 2, 1, &day) : rc;
    if (rc != 0 || !is_id(reseller) || !day_parse(day, &parsed)) {
        return cql_invalid(&work->fault,
                           "%s has 1 to %d bytes without control characters, and %s is such as "
                           "2013-11-01",
                           table_column(table, clicks->reseller)->name, ID_MAX,
                           table_column(table, clicks->day)->name);
    }
    struct bytes time = given(table, clicks->time, row);
    if (time.data != NULL &&
        (time.size != 8 || value_bigint(time) < TIME_MS_MIN || value_bigint(time) > TIME_MS_MAX)) {
        return cql_invalid(&work->fault, "%s lies between 1970 and 9999",
                           table_column(table, clicks->time)->name);
    }
    struct bytes ad = given(table, clicks->ad, row);
    if (ad.data != NULL && !is_id(ad)) {
        return cql_invalid(&work->fault, "%s has 1 to %d bytes without control characters",
                           table_column(table, clicks->ad)->name, ID_MAX);
    }
    if (!is_money_of(table, clicks->amount, row)) {
        return cql_invalid(&work->fault, "%s is a decimal of at most %d digits, not negative",
                           table_column(table, clicks->amount)->name, DECIMAL_INPUT_DIGITS_MAX);
    }
    return 0;
}

static const struct click_stream *stream_of(const struct cql *cql, const struct table *table)
{
    const struct streams *streams = cql->options.streams;
    return streams == NULL || (table->flags & TABLE_STREAM) == 0 ? NULL
                                                                 : streams_user(streams, table->id);
}

bool cql_write_is_clicks(const struct cql *cql, const struct table *table)
{
    const struct click_stream *stream = stream_of(cql, table);
    return stream != NULL && stream->clicks.table_id == table->id;
}

int cql_write_check_stream(struct cql_work *work, const struct cql_write_statement *statement,
                           const struct row *row)
{
    const struct table *table = statement->plan->table;
    const struct click_stream *stream = stream_of(work->cql, table);
    if (row->is_static || stream == NULL)
        return 0;
    for (uint32_t i = 0; i < statement->bound.key_count; i++) {
        struct bytes key = statement->bound.keys[i];
        int rc = 0;
        if (stream->rates.table_id == table->id)
            rc = check_rate(work, table, &stream->rates, key, row);
        else
            rc = check_click(work, table, &stream->clicks, key, row);
        if (rc != 0)
            return rc;
    }
    return 0;
}
