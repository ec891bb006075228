/* figure_row: reads and writes the cells of a figure, in rows of amount_by_day (figure.c) and of
 * the ledger (ledger.c).  The functions are inline because millions of these rows are read. */
#ifndef DAYBOOK_ROLLUP_DAYS_FIGURE_ROW_H
#define DAYBOOK_ROLLUP_DAYS_FIGURE_ROW_H

#include "base/calendar.h"
#include "rollup/days/rollup.h"
#include "rollup/tables.h"
#include "storage/cell/packed_rows.h"
#include "storage/schema/type.h"

/* ---- reading ---- */

static inline int figure_row_corrupt(const struct table *table, const struct page_row *row,
                                     const char *what, struct error *err)
{
    return error_set(err, ERROR_CORRUPT, "table %s, reseller \"%.*s\": %s", table->name,
                     (int)(row->key.size < 100 ? row->key.size : 100), (const char *)row->key.data,
                     what);
}

/* The values of a row, by column number.  The numbers of all columns are small. */
struct figure_row_cells {
    uint32_t present; /* bit c: column c has a value */
    struct bytes values[RESTATEMENT_NEW_AMOUNT + 1];
};

static inline void figure_row_values(const struct page_row *row, struct figure_row_cells *values)
{
    values->present = 0;
    for (uint32_t i = 0; i < row->row.cell_count; i++) {
        const struct cell *cell = &row->row.cells[i];
        if (cell->column_id > RESTATEMENT_NEW_AMOUNT)
            continue;
        values->present |= UINT32_C(1) << cell->column_id;
        values->values[cell->column_id] = cell->value;
    }
}

static inline bool figure_row_has(const struct figure_row_cells *values, uint32_t column_id)
{
    return (values->present & UINT32_C(1) << column_id) != 0;
}

static inline int figure_row_decimal(const struct figure_row_cells *values, uint32_t column_id,
                                     bool *is_set_out, struct decimal *value_out)
{
    *is_set_out = figure_row_has(values, column_id);
    return *is_set_out ? decimal_deserialize(values->values[column_id], value_out) : 0;
}

/* The columns of a figure: amount_by_day has one figure in a row, the ledger two. */
struct figure_row_columns {
    uint32_t clicks;
    uint32_t gross;
    uint32_t rate;
    uint32_t amount;
};

/* Returns 1; or 0 if there is no figure, because clicks is null; or a negative error code. */
static inline int figure_row_numbers(const struct table *table, const struct page_row *row,
                                     const struct figure_row_cells *values,
                                     const struct figure_row_columns *columns,
                                     struct day_figure *figure, struct error *err)
{
    bool has_gross;
    bool has_rate;
    bool has_amount;
    if (!figure_row_has(values, columns->clicks))
        return 0;
    struct bytes clicks = values->values[columns->clicks];
    if (clicks.size != 8 || type_value_bigint(clicks) < 0)
        return figure_row_corrupt(table, row, "clicks is no count", err);
    figure->clicks = (uint64_t)type_value_bigint(clicks);
    int rc = figure_row_decimal(values, columns->gross, &has_gross, &figure->gross);
    if (rc == 0)
        rc = figure_row_decimal(values, columns->rate, &has_rate, &figure->rate);
    if (rc == 0)
        rc = figure_row_decimal(values, columns->amount, &has_amount, &figure->amount);
    if (rc != 0 || !has_gross || has_rate != has_amount)
        return figure_row_corrupt(table, row, "gross, rate or amount is missing or no number", err);
    figure->is_priced = has_rate;
    return 1;
}

/* The day is the first clustering column of both tables. */
static inline int figure_row_day(const struct table *table, const struct page_row *row,
                                 int32_t *day_out, struct error *err)
{
    const struct clustering *clustering = &row->row.clustering;
    if (clustering->count == 0 || !calendar_day_parse(clustering->values[0], day_out))
        return figure_row_corrupt(table, row, "the day is none", err);
    return 0;
}

/* ---- writing ---- */

static inline void figure_row_put_count(struct packed_rows *rows, uint32_t column_id,
                                        uint64_t clicks)
{
    uint8_t value[8];
    store_u64_be(value, clicks);
    packed_rows_value(rows, column_id, bytes_of(value, sizeof(value)));
}

static inline void figure_row_put_decimal(struct packed_rows *rows, uint32_t column_id,
                                          struct decimal decimal)
{
    uint8_t value[DECIMAL_SERIALIZED_MAX];
    packed_rows_value(rows, column_id, bytes_of(value, decimal_store(decimal, value)));
}

/* ---- slices ---- */

static inline struct bound figure_row_bound(int32_t day, enum bound_side side, char text[16])
{
    calendar_day_format(day, text);
    return (struct bound){.prefix = {.count = 1, .values = {bytes_text(text)}}, .side = side};
}
#endif
