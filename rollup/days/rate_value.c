/* rate_value: see the header.
 *
 * What decides correctness: a value is written only if reading it gives the same rate, so no column
 * type can round or cut a rate. */
#include "rollup/days/rate_value.h"

#include "rollup/days/rate.h"
#include "storage/schema/type.h"

int rate_value_read(const struct click_stream_rates *rates, const struct table *table,
                    struct bytes value, struct decimal *rate_out)
{
    int rc = type_decimal(schema_column(table, rates->rate)->type, value, rate_out);
    if (rc == 0 && rates->is_percent)
        rate_out->scale += 2;
    return rc == 0 && rate_out->scale <= DECIMAL_SCALE_MAX ? 0 : ERROR_INVALID;
}

int rate_value_check(const struct click_stream_rates *rates, const struct table *table,
                     struct bytes value, struct error *err)
{
    const struct column *column = schema_column(table, rates->rate);
    struct decimal number;
    struct decimal whole = decimal_from(rates->is_percent ? 100 : 1, 0);
    if (type_decimal(column->type, value, &number) == 0 && decimal_is_input(number) &&
        decimal_compare(number, whole) <= 0)
        return 0;
    if (rates->is_percent)
        return error_set(err, ERROR_INVALID,
                         "%s is a rate in percent, from 0 to 100, of at most %d digits: 25 is 25 "
                         "percent",
                         column->name, DECIMAL_INPUT_DIGITS_MAX);
    return error_set(err, ERROR_INVALID,
                     "%s is a rate from 0 to 1, of at most %d digits: 0.25 is 25 percent",
                     column->name, DECIMAL_INPUT_DIGITS_MAX);
}

static int refuse(const struct click_stream_rates *rates, const struct table *table,
                  struct decimal number, struct error *err)
{
    const struct column *column = schema_column(table, rates->rate);
    struct buffer text = {0};
    decimal_append(&text, number);
    buffer_put_u8(&text, ' ');
    size_t size = text.size - 1;
    type_print(column->type, &text);
    error_set(err, ERROR_INVALID,
              "%s of %s.%s is of type %.*s, which has no value that is exactly %.*s; a rate of "
              "fewer digits, or a column of type decimal%s would do; nothing was changed",
              column->name, table->keyspace, table->name, (int)(text.size - size - 1),
              (const char *)text.data + size + 1, (int)size, (const char *)text.data,
              rates->is_percent ? "" : ", or a stream whose rates are percent (--rates-unit)");
    buffer_release(&text);
    return ERROR_INVALID;
}

int rate_value_make(const struct click_stream_rates *rates, const struct table *table,
                    struct decimal rate, struct buffer *value, struct error *err)
{
    struct decimal number = rate;
    size_t start = value->size;
    struct decimal back;
    int rc = rates->is_percent ? rate_percent(rate, &number) : 0;
    if (rc == 0)
        rc = type_number(schema_column(table, rates->rate)->type, number, value);
    if (rc == 0)
        rc = rate_value_read(rates, table, bytes_of(value->data + start, value->size - start),
                             &back);
    return rc == 0 && decimal_compare(back, rate) == 0 ? 0 : refuse(rates, table, number, err);
}
