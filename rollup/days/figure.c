/* figure: see the header.
 *
 * What must hold: a row is read as exactly the figure that was written, scales included, because
 * verify compares digits. */
#include "rollup/days/figure.h"

#include "rollup/days/figure_row.h"
#include "storage/cell/write_batch.h"

static const char *const state_names[] = {"open", "published", "sealed"};

enum { STATE_COUNT = 3 };

const char *figure_state_name(enum day_state state)
{
    check((uint32_t)state < STATE_COUNT);
    return state_names[state];
}

void figure_append_rate(struct buffer *text, const struct day_figure *figure)
{
    if (figure->is_priced)
        rate_append_percent(text, figure->rate);
    else
        buffer_append_text(text, "unpriced");
}

int figure_price(struct day_figure *figure, const struct rate *rate)
{
    if (rate != NULL && figure->is_priced && figure_same_digits(figure->rate, rate->rate))
        return 0;
    figure->is_priced = rate != NULL;
    if (rate == NULL)
        return 0;
    figure->rate = rate->rate;
    return decimal_multiply(figure->gross, rate->rate, &figure->amount);
}

int figure_make(struct bytes reseller, int32_t day, const struct partition_stats *stats,
                const struct rate *rate, struct day_figure *figure_out)
{
    *figure_out = (struct day_figure){.reseller = reseller,
                                      .day = day,
                                      .clicks = stats->rows,
                                      .gross = stats_sum(stats),
                                      .state = DAY_OPEN};
    return figure_price(figure_out, rate);
}

bool figure_equal(const struct day_figure *a, const struct day_figure *b)
{
    return a->clicks == b->clicks && decimal_compare(a->gross, b->gross) == 0 &&
           a->is_priced == b->is_priced &&
           (!a->is_priced ||
            (decimal_compare(a->rate, b->rate) == 0 && decimal_compare(a->amount, b->amount) == 0));
}

bool figure_identical(const struct day_figure *a, const struct day_figure *b)
{
    return a->state == b->state && a->clicks == b->clicks &&
           figure_same_digits(a->gross, b->gross) && a->is_priced == b->is_priced &&
           (!a->is_priced ||
            (figure_same_digits(a->rate, b->rate) && figure_same_digits(a->amount, b->amount)));
}

/* ---- reading ---- */

static const struct figure_row_columns amount_columns = {AMOUNT_CLICKS, AMOUNT_GROSS, AMOUNT_RATE,
                                                         AMOUNT_AMOUNT};

int figure_read(const struct table *table, const struct page_row *row,
                struct day_figure *figure_out, struct error *err)
{
    struct figure_row_cells values;
    *figure_out = (struct day_figure){.reseller = row->key};
    figure_row_values(row, &values);
    int rc = figure_row_day(table, row, &figure_out->day, err);
    if (rc == 0)
        rc = figure_row_numbers(table, row, &values, &amount_columns, figure_out, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return figure_row_corrupt(table, row, "clicks is null", err);
    for (uint32_t i = 0; figure_row_has(&values, AMOUNT_STATE) && i < STATE_COUNT; i++) {
        if (bytes_equal(values.values[AMOUNT_STATE], bytes_text(state_names[i]))) {
            figure_out->state = (enum day_state)i;
            return 0;
        }
    }
    return figure_row_corrupt(table, row, "the state is unknown", err);
}

/* ---- writing ---- */

enum { AMOUNT_VALUES = 2, AMOUNT_CELLS = 5 };

/* In a CQL date, the day 1970-01-01 is 2^31. */
static void put_date(struct packed_rows *rows, int32_t day)
{
    uint8_t value[4];
    store_u32_be(value, (uint32_t)day + (UINT32_C(1) << 31));
    packed_rows_value(rows, AMOUNT_DATE, bytes_of(value, sizeof(value)));
}

void figure_write(struct write_batch *batch, const struct table *table, int64_t token,
                  const struct day_figure *figure)
{
    struct packed_rows *rows = &batch->rows;
    char day[DAY_TEXT_SIZE + 1];
    calendar_day_format(figure->day, day);
    const struct clustering clustering = {1, {bytes_of(day, DAY_TEXT_SIZE)}};
    bool has_date = schema_column(table, AMOUNT_DATE) != NULL;
    packed_rows_begin(rows, table, token, figure->reseller, &clustering, AMOUNT_CELLS + has_date);
    figure_row_put_count(rows, AMOUNT_CLICKS, figure->clicks);
    figure_row_put_decimal(rows, AMOUNT_GROSS, figure->gross);
    if (figure->is_priced) {
        figure_row_put_decimal(rows, AMOUNT_RATE, figure->rate);
        figure_row_put_decimal(rows, AMOUNT_AMOUNT, figure->amount);
    } else {
        /* Nulls are written, because an older row of the day may have values in these columns. */
        packed_rows_null(rows, AMOUNT_RATE);
        packed_rows_null(rows, AMOUNT_AMOUNT);
    }
    packed_rows_value(rows, AMOUNT_STATE, bytes_text(state_names[figure->state]));
    if (has_date)
        put_date(rows, figure->day);
}

void figure_delete(struct write_batch *batch, const struct table *table,
                   const struct day_figure *figure)
{
    const struct column_value values[AMOUNT_VALUES] = {
        {AMOUNT_RESELLER_ID, false, figure->reseller},
        {AMOUNT_DAY, false, write_batch_day(batch, figure->day)}};
    write_batch_delete(batch, table, values, AMOUNT_VALUES);
}

/* ---- slices ---- */

struct slice figure_slice(int32_t from, int32_t to, struct day_slice_text *text)
{
    return (struct slice){.start = figure_row_bound(to, BOUND_BEFORE, text->to),
                          .end = figure_row_bound(from, BOUND_AFTER, text->from)};
}
