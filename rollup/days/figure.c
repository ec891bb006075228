/* Figures to rows and back.
 *
 * What must hold: a row reads back as the figure it was written from, digit for digit, scale
 * included, because verify compares digits.  A ledger row carries the old figure as well, so an
 * entry explains itself and a broken chain (old is not the previous new) can be found. */
#include "rollup/days/figure.h"

#include <stdlib.h>

#include "base/memory.h"
#include "storage/schema/type.h"

static const char *const state_names[] = {"open", "published", "sealed"};
static const char cause_published[] = "published";

enum { STATE_COUNT = 3 };

const char *figure_state_name(enum day_state state)
{
    return state_names[state];
}

static bool same_digits(struct decimal a, struct decimal b)
{
    return a.scale == b.scale && decimal_compare(a, b) == 0;
}

int figure_price(struct day_figure *figure, const struct rate *rate)
{
    if (rate != NULL && figure->is_priced && same_digits(figure->rate, rate->rate))
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
    return a->state == b->state && a->clicks == b->clicks && same_digits(a->gross, b->gross) &&
           a->is_priced == b->is_priced &&
           (!a->is_priced || (same_digits(a->rate, b->rate) && same_digits(a->amount, b->amount)));
}

/* ---- reading ---- */

static int corrupt(const struct table *table, const struct page_row *row, const char *what,
                   struct error *err)
{
    return error_set(err, ERROR_CORRUPT, "table %s, reseller \"%.*s\": %s", table->name,
                     (int)(row->key.size < 100 ? row->key.size : 100), (const char *)row->key.data,
                     what);
}

/* The values of a row by the numbers of their columns, which are few. */
struct row_values {
    uint32_t present; /* as bits */
    struct bytes values[RESTATEMENT_NEW_AMOUNT + 1];
};

static void take_values(const struct page_row *row, struct row_values *values)
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

static bool has_value(const struct row_values *values, uint32_t column_id)
{
    return (values->present & UINT32_C(1) << column_id) != 0;
}

/* A decimal that may be null; *is_set_out says whether it is there. */
static int read_decimal(const struct row_values *values, uint32_t column_id, bool *is_set_out,
                        struct decimal *value_out)
{
    *is_set_out = has_value(values, column_id);
    return *is_set_out ? decimal_deserialize(values->values[column_id], value_out) : 0;
}

/* Columns of one figure in either table. */
struct figure_columns {
    uint32_t clicks;
    uint32_t gross;
    uint32_t rate;
    uint32_t amount;
};

static const struct figure_columns amount_columns = {AMOUNT_CLICKS, AMOUNT_GROSS, AMOUNT_RATE,
                                                     AMOUNT_AMOUNT};
static const struct figure_columns old_columns = {RESTATEMENT_OLD_CLICKS, RESTATEMENT_OLD_GROSS,
                                                  RESTATEMENT_OLD_RATE, RESTATEMENT_OLD_AMOUNT};
static const struct figure_columns new_columns = {RESTATEMENT_NEW_CLICKS, RESTATEMENT_NEW_GROSS,
                                                  RESTATEMENT_NEW_RATE, RESTATEMENT_NEW_AMOUNT};

/* 1: it is there; 0: clicks is null, and so it is not. */
static int read_numbers(const struct table *table, const struct page_row *row,
                        const struct row_values *values, const struct figure_columns *columns,
                        struct day_figure *figure, struct error *err)
{
    bool has_gross;
    bool has_rate;
    bool has_amount;
    if (!has_value(values, columns->clicks))
        return 0;
    struct bytes clicks = values->values[columns->clicks];
    if (clicks.size != 8 || value_bigint(clicks) < 0)
        return corrupt(table, row, "clicks is no count", err);
    figure->clicks = (uint64_t)value_bigint(clicks);
    int rc = read_decimal(values, columns->gross, &has_gross, &figure->gross);
    if (rc == 0)
        rc = read_decimal(values, columns->rate, &has_rate, &figure->rate);
    if (rc == 0)
        rc = read_decimal(values, columns->amount, &has_amount, &figure->amount);
    if (rc != 0 || !has_gross || has_rate != has_amount)
        return corrupt(table, row, "gross, rate or amount is missing or no number", err);
    figure->is_priced = has_rate;
    return 1;
}

/* The day is the first clustering column of either table. */
static int read_day(const struct table *table, const struct page_row *row, int32_t *day_out,
                    struct error *err)
{
    const struct clustering *clustering = &row->row.clustering;
    if (clustering->count == 0 || !day_parse(clustering->values[0], day_out))
        return corrupt(table, row, "the day is none", err);
    return 0;
}

int figure_read(const struct table *table, const struct page_row *row,
                struct day_figure *figure_out, struct error *err)
{
    struct row_values values;
    *figure_out = (struct day_figure){.reseller = row->key};
    take_values(row, &values);
    int rc = read_day(table, row, &figure_out->day, err);
    if (rc == 0)
        rc = read_numbers(table, row, &values, &amount_columns, figure_out, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return corrupt(table, row, "clicks is null", err);
    for (uint32_t i = 0; has_value(&values, AMOUNT_STATE) && i < STATE_COUNT; i++) {
        if (bytes_equal(values.values[AMOUNT_STATE], bytes_text(state_names[i]))) {
            figure_out->state = (enum day_state)i;
            return 0;
        }
    }
    return corrupt(table, row, "the state is unknown", err);
}

/* All but the old figure. */
static int read_entry(const struct table *table, const struct page_row *row,
                      const struct row_values *values, struct ledger_entry *entry_out,
                      struct error *err)
{
    const struct clustering *clustering = &row->row.clustering;
    *entry_out = (struct ledger_entry){.new.reseller = row->key, .new.state = DAY_PUBLISHED};
    int rc = read_day(table, row, &entry_out->new.day, err);
    if (rc < 0)
        return rc;
    if (clustering->count != 3 || clustering->values[1].size != 8 ||
        clustering->values[2].size != 8)
        return corrupt(table, row, "the key is cut", err);
    entry_out->at_ms = value_bigint(clustering->values[1]);
    entry_out->seq = value_bigint(clustering->values[2]);
    rc = read_numbers(table, row, values, &new_columns, &entry_out->new, err);
    if (rc == 0)
        return corrupt(table, row, "new_clicks is null", err);
    entry_out->is_publication = !has_value(values, RESTATEMENT_OLD_CLICKS);
    return rc < 0 ? rc : 0;
}

int ledger_read_new(const struct table *table, const struct page_row *row,
                    struct ledger_entry *entry_out, struct error *err)
{
    struct row_values values;
    take_values(row, &values);
    return read_entry(table, row, &values, entry_out, err);
}

int ledger_read(const struct table *table, const struct page_row *row,
                struct ledger_entry *entry_out, struct error *err)
{
    struct row_values values;
    take_values(row, &values);
    int rc = read_entry(table, row, &values, entry_out, err);
    if (rc < 0)
        return rc;
    rc = read_numbers(table, row, &values, &old_columns, &entry_out->old, err);
    entry_out->old.day = entry_out->new.day;
    entry_out->old.reseller = row->key;
    entry_out->old.state = DAY_PUBLISHED;
    return rc < 0 ? rc : 0;
}

/* ---- writing ---- */

enum { AMOUNT_VALUES = 2, AMOUNT_CELLS = 5 };

static void put_count(struct packed_rows *rows, uint32_t column_id, uint64_t clicks)
{
    uint8_t value[8];
    store_u64_be(value, clicks);
    packed_rows_value(rows, column_id, bytes_of(value, sizeof(value)));
}

static void put_decimal(struct packed_rows *rows, uint32_t column_id, struct decimal decimal)
{
    uint8_t value[DECIMAL_SERIALIZED_MAX];
    packed_rows_value(rows, column_id, bytes_of(value, decimal_store(decimal, value)));
}

void figure_write(struct write_batch *batch, const struct table *table,
                  const struct figure_place *place, const struct day_figure *figure)
{
    struct packed_rows *rows = &batch->rows;
    char day[DAY_TEXT_SIZE + 1];
    day_format(figure->day, day);
    const struct clustering clustering = {1, {bytes_of(day, DAY_TEXT_SIZE)}};
    packed_rows_begin(rows, table, place->token, place->reseller, &clustering, AMOUNT_CELLS);
    put_count(rows, AMOUNT_CLICKS, figure->clicks);
    put_decimal(rows, AMOUNT_GROSS, figure->gross);
    if (figure->is_priced) {
        put_decimal(rows, AMOUNT_RATE, figure->rate);
        put_decimal(rows, AMOUNT_AMOUNT, figure->amount);
    } else {
        /* The row that it overwrites may have values. */
        packed_rows_null(rows, AMOUNT_RATE);
        packed_rows_null(rows, AMOUNT_AMOUNT);
    }
    packed_rows_value(rows, AMOUNT_STATE, bytes_text(state_names[figure->state]));
}

void figure_delete(struct write_batch *batch, const struct table *table,
                   const struct day_figure *figure)
{
    char day[DAY_TEXT_SIZE + 1];
    day_format(figure->day, day);
    const struct column_value values[AMOUNT_VALUES] = {
        {AMOUNT_RESELLER_ID, false, figure->reseller},
        {AMOUNT_DAY, false, bytes_of(day, DAY_TEXT_SIZE)}};
    write_batch_delete(batch, table, values, AMOUNT_VALUES);
}

/* A set's elements, in their order and each once. */
struct set {
    uint32_t column_id;
    const struct type *type; /* of an element */
    struct bytes *elements;
    uint32_t count;
};

static struct set set_of(struct write_batch *batch, const struct table *table, uint32_t column_id,
                         uint32_t elements_max)
{
    return (struct set){
        column_id, type_path(table_column(table, column_id)->type),
        arena_alloc(batch->arena, elements_max * sizeof(struct bytes), _Alignof(struct bytes)), 0};
}

static void set_add(struct set *set, struct bytes element)
{
    uint32_t at = set->count;
    while (at > 0 && type_compare(set->type, set->elements[at - 1], element) > 0)
        at--;
    if (at > 0 && bytes_equal(set->elements[at - 1], element))
        return;
    memmove(&set->elements[at + 1], &set->elements[at],
            (set->count - at) * sizeof(set->elements[0]));
    set->elements[at] = element;
    set->count++;
}

static void put_set(struct packed_rows *rows, const struct set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        packed_rows_element(rows, set->column_id, set->elements[i]);
}

/* What is null in a new row is left out: there is nothing to overwrite. */
static void put_both_decimals(struct packed_rows *rows, uint32_t old_id, const struct decimal *old,
                              uint32_t new_id, const struct decimal *new)
{
    if (old != NULL)
        put_decimal(rows, old_id, *old);
    if (new != NULL)
        put_decimal(rows, new_id, *new);
}

/* How many cells a figure has in the ledger; NULL: none. */
static uint32_t cells_of(const struct day_figure *figure)
{
    if (figure == NULL)
        return 0;
    return figure->is_priced ? 4 : 2;
}

/* `old` is NULL in a publication. */
static void put_both_figures(struct packed_rows *rows, const struct day_figure *old,
                             const struct day_figure *new)
{
    const struct day_figure *new_priced = new->is_priced ? new : NULL;
    const struct day_figure *old_priced = old != NULL && old->is_priced ? old : NULL;
    if (old != NULL)
        put_count(rows, RESTATEMENT_OLD_CLICKS, old->clicks);
    put_count(rows, RESTATEMENT_NEW_CLICKS, new->clicks);
    put_both_decimals(rows, RESTATEMENT_OLD_GROSS, old != NULL ? &old->gross : NULL,
                      RESTATEMENT_NEW_GROSS, &new->gross);
    put_both_decimals(rows, RESTATEMENT_OLD_RATE, old_priced != NULL ? &old->rate : NULL,
                      RESTATEMENT_NEW_RATE, new_priced != NULL ? &new->rate : NULL);
    put_both_decimals(rows, RESTATEMENT_OLD_AMOUNT, old_priced != NULL ? &old->amount : NULL,
                      RESTATEMENT_NEW_AMOUNT, new_priced != NULL ? &new->amount : NULL);
}

void ledger_write(struct write_batch *batch, const struct table *table,
                  const struct figure_place *place, const struct ledger_entry *entry,
                  const struct dirty_mark *marks, uint32_t mark_count)
{
    const struct day_figure *old = entry->is_publication ? NULL : &entry->old;
    struct set causes = set_of(batch, table, RESTATEMENT_CAUSES, mark_count + 1);
    struct set changes = set_of(batch, table, RESTATEMENT_CHANGES, mark_count);
    char day[DAY_TEXT_SIZE + 1];
    uint8_t at[8];
    uint8_t seq[8];
    day_format(entry->new.day, day);
    store_u64_be(at, (uint64_t)entry->at_ms);
    store_u64_be(seq, (uint64_t)entry->seq);
    const struct clustering clustering = {
        3, {bytes_of(day, DAY_TEXT_SIZE), bytes_of(at, sizeof(at)), bytes_of(seq, sizeof(seq))}};
    if (entry->is_publication)
        set_add(&causes, bytes_text(cause_published));
    for (uint32_t i = 0; i < mark_count; i++) {
        set_add(&causes, bytes_text(dirty_cause_name(marks[i].cause)));
        if (marks[i].has_change)
            set_add(&changes, bytes_of(marks[i].change, UUID_SIZE));
    }
    packed_rows_begin(&batch->rows, table, place->token, place->reseller, &clustering,
                      causes.count + changes.count + cells_of(old) + cells_of(&entry->new));
    put_set(&batch->rows, &causes);
    put_set(&batch->rows, &changes);
    put_both_figures(&batch->rows, old, &entry->new);
}

/* ---- slices ---- */

static struct bound day_bound(int32_t day, enum bound_side side, char text[16])
{
    day_format(day, text);
    return (struct bound){.prefix = {.count = 1, .values = {bytes_text(text)}}, .side = side};
}

struct slice figure_slice(int32_t from, int32_t to, struct day_slice_text *text)
{
    return (struct slice){.start = day_bound(to, BOUND_BEFORE, text->to),
                          .end = day_bound(from, BOUND_AFTER, text->from)};
}

struct slice ledger_slice(int32_t from, int32_t to, struct day_slice_text *text)
{
    return (struct slice){.start = day_bound(from, BOUND_BEFORE, text->from),
                          .end = day_bound(to, BOUND_AFTER, text->to)};
}
