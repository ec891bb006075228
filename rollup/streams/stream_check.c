/* A click passes only if ingest would accept its values, a rate only if `daybook rate` would. */
#include "rollup/streams/stream_check.h"

#include "rollup/days/rate_value.h"
#include "base/calendar.h"

enum { ID_MAX = 4096 };

static bool is_id(struct bytes id)
{
    bool is_plain = id.size > 0 && id.size <= ID_MAX;
    for (size_t i = 0; i < id.size && is_plain; i++)
        is_plain = id.data[i] >= 0x20 && id.data[i] != 0x7F;
    return is_plain;
}

static const char day_rule[] = "is a day, such as 2013-11-01";
static const char time_rule[] = "lies between 1970 and 9999";
static const char id_rule[] = "has 1 to 4096 bytes without control characters";
static const char amount_rule[] = "is a decimal of at most 18 digits, not negative";
_Static_assert(ID_MAX == 4096 && DECIMAL_INPUT_DIGITS_MAX == 18, "as the rules say");

static int refuse(const struct table *table, uint32_t column_id, const char *rule,
                  struct error *err)
{
    return error_set(err, ERROR_INVALID, "%s %s", schema_column(table, column_id)->name, rule);
}

static const struct cell *cell_of(const struct row *row, uint32_t column_id)
{
    for (uint32_t i = 0; i < row->cell_count; i++)
        if (row->cells[i].column_id == column_id && (row->cells[i].flags & CELL_TOMBSTONE) == 0)
            return &row->cells[i];
    return NULL;
}

static int check_rate(const struct click_stream_rates *rates, const struct table *table,
                      struct bytes key, const struct row *row, struct error *err)
{
    int32_t day;
    const struct cell *cell = cell_of(row, rates->rate);
    if (!is_id(key))
        return refuse(table, rates->reseller, id_rule, err);
    if (!calendar_day_parse(row->clustering.values[0], &day))
        return refuse(table, rates->since, day_rule, err);
    return cell == NULL ? 0 : rate_value_check(rates, table, cell->value, err);
}

static bool is_time(int64_t time_ms)
{
    return time_ms >= TIME_MS_MIN && time_ms <= TIME_MS_MAX;
}

static int check_click_key(const struct click_stream_clicks *clicks, const struct table *table,
                           struct bytes key, struct error *err)
{
    struct bytes reseller;
    struct bytes day;
    int32_t parsed;
    if (type_key_component(key, 2, 0, &reseller) < 0 || !is_id(reseller))
        return refuse(table, clicks->reseller, id_rule, err);
    if (type_key_component(key, 2, 1, &day) < 0 || !calendar_day_parse(day, &parsed))
        return refuse(table, clicks->day, day_rule, err);
    return 0;
}

static int check_amount(const struct click_stream_clicks *clicks, const struct table *table,
                        const struct row *row, struct error *err)
{
    struct decimal amount;
    const struct cell *cell = cell_of(row, clicks->amount);
    const struct column *column = schema_column(table, clicks->amount);
    if (cell == NULL ||
        (type_decimal(column->type, cell->value, &amount) == 0 && decimal_is_input(amount)))
        return 0;
    return refuse(table, clicks->amount, amount_rule, err);
}

static struct bytes given(const struct table *table, uint32_t column_id, const struct row *row)
{
    const struct column *column = schema_column(table, column_id);
    const struct cell *cell = cell_of(row, column_id);
    if (column->kind == COLUMN_CLUSTERING)
        return row->clustering.values[column->position];
    return cell != NULL ? cell->value : bytes_of(NULL, 0);
}

static int check_click(const struct click_stream_clicks *clicks, const struct table *table,
                       struct bytes key, const struct row *row, struct error *err)
{
    int rc = check_click_key(clicks, table, key, err);
    if (rc < 0)
        return rc;
    struct bytes time = given(table, clicks->time, row);
    if (time.data != NULL && (time.size != 8 || !is_time(type_value_bigint(time))))
        return refuse(table, clicks->time, time_rule, err);
    struct bytes ad = given(table, clicks->ad, row);
    if (ad.data != NULL && !is_id(ad))
        return refuse(table, clicks->ad, id_rule, err);
    return check_amount(clicks, table, row, err);
}

/* Whether the row writes a value or a row marker; else it only deletes. */
static bool has_content(const struct row *row)
{
    bool has = row->marker.timestamp_us != TIMESTAMP_NONE;
    for (uint32_t i = 0; i < row->cell_count && !has; i++)
        has = (row->cells[i].flags & CELL_TOMBSTONE) == 0;
    return has;
}

int stream_check(const struct click_stream *stream, const struct table *table,
                 const struct mutation *mutation, struct error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < mutation->item_count; i++) {
        const struct row *row = &mutation->items[i].row;
        if (mutation->items[i].kind != UNFILTERED_ROW || row->is_static || !has_content(row))
            continue;
        if (stream->rates.table_id == table->id)
            rc = check_rate(&stream->rates, table, mutation->key, row, err);
        else if (stream->clicks.table_id == table->id)
            rc = check_click(&stream->clicks, table, mutation->key, row, err);
    }
    return rc;
}

static int check_block_row(const struct click_stream_clicks *clicks, const struct table *table,
                           const struct block *block, uint32_t row, struct error *err)
{
    for (uint32_t i = 0; i < block->column_count; i++) {
        const struct block_column *column = &block->columns[i];
        if (column->absent != NULL && column->absent[row] != 0)
            continue;
        if (column->column_id == clicks->time && !is_time(column->integers[row]))
            return refuse(table, clicks->time, time_rule, err);
        if (column->column_id == clicks->ad &&
            !is_id(block_dictionary_get(&column->dictionary, column->codes[row])))
            return refuse(table, clicks->ad, id_rule, err);
        if (column->column_id == clicks->amount &&
            !decimal_is_input(decimal_from(column->integers[row], column->scales[row])))
            return refuse(table, clicks->amount, amount_rule, err);
    }
    return 0;
}

int stream_check_block(const struct click_stream *stream, const struct table *table,
                       const struct block *block, struct error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < block->partitions.count; i++)
        rc = check_click_key(&stream->clicks, table, block_dictionary_get(&block->partitions, i),
                             err);
    for (uint32_t i = 0; rc == 0 && i < block->rows; i++)
        rc = check_block_row(&stream->clicks, table, block, i, err);
    return rc;
}
