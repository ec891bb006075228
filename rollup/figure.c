/* Figures to rows and back.
 *
 * What must hold: a row reads back as the figure it was written from, digit for digit, scale
 * included, because verify compares digits.  A ledger row carries the old figure as well, so an
 * entry explains itself and a broken chain (old is not the previous new) can be found. */
#include "rollup/figure.h"

#include <stdlib.h>

#include "storage/base/memory.h"
#include "storage/type.h"

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

/* A decimal that may be null; *is_set_out says whether it is there. */
static int read_decimal(const struct table *table, const struct page_row *row, uint32_t column_id,
                        bool *is_set_out, struct decimal *value_out)
{
    struct bytes value;
    *is_set_out = page_row_value(table, row, column_id, &value);
    return *is_set_out ? decimal_deserialize(value, value_out) : 0;
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
                        const struct figure_columns *columns, struct day_figure *figure,
                        struct error *err)
{
    struct bytes clicks;
    bool has_gross;
    bool has_rate;
    bool has_amount;
    if (!page_row_value(table, row, columns->clicks, &clicks))
        return 0;
    if (clicks.size != 8 || value_bigint(clicks) < 0)
        return corrupt(table, row, "clicks is no count", err);
    figure->clicks = (uint64_t)value_bigint(clicks);
    int rc = read_decimal(table, row, columns->gross, &has_gross, &figure->gross);
    if (rc == 0)
        rc = read_decimal(table, row, columns->rate, &has_rate, &figure->rate);
    if (rc == 0)
        rc = read_decimal(table, row, columns->amount, &has_amount, &figure->amount);
    if (rc != 0 || !has_gross || has_rate != has_amount)
        return corrupt(table, row, "gross, rate or amount is missing or no number", err);
    figure->is_priced = has_rate;
    return 1;
}

static int read_day(const struct table *table, const struct page_row *row, uint32_t column_id,
                    int32_t *day_out, struct error *err)
{
    struct bytes day;
    if (!page_row_value(table, row, column_id, &day) || !day_parse(day, day_out))
        return corrupt(table, row, "the day is none", err);
    return 0;
}

int figure_read(const struct table *table, const struct page_row *row,
                struct day_figure *figure_out, struct error *err)
{
    struct bytes state = {0};
    *figure_out = (struct day_figure){.reseller = row->key};
    int rc = read_day(table, row, AMOUNT_DAY, &figure_out->day, err);
    if (rc == 0)
        rc = read_numbers(table, row, &amount_columns, figure_out, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return corrupt(table, row, "clicks is null", err);
    (void)page_row_value(table, row, AMOUNT_STATE, &state);
    for (uint32_t i = 0; i < STATE_COUNT; i++) {
        if (bytes_equal(state, bytes_text(state_names[i]))) {
            figure_out->state = (enum day_state)i;
            return 0;
        }
    }
    return corrupt(table, row, "the state is unknown", err);
}

int ledger_read(const struct table *table, const struct page_row *row,
                struct ledger_entry *entry_out, struct error *err)
{
    struct bytes at;
    struct bytes seq;
    *entry_out = (struct ledger_entry){0};
    int rc = read_day(table, row, RESTATEMENT_DAY, &entry_out->new.day, err);
    if (rc < 0)
        return rc;
    if (!page_row_value(table, row, RESTATEMENT_AT, &at) || at.size != 8 ||
        !page_row_value(table, row, RESTATEMENT_SEQ, &seq) || seq.size != 8)
        return corrupt(table, row, "the key is cut", err);
    entry_out->at_ms = value_bigint(at);
    entry_out->seq = value_bigint(seq);
    rc = read_numbers(table, row, &new_columns, &entry_out->new, err);
    if (rc == 0)
        rc = corrupt(table, row, "new_clicks is null", err);
    if (rc < 0)
        return rc;
    rc = read_numbers(table, row, &old_columns, &entry_out->old, err);
    if (rc < 0)
        return rc;
    entry_out->is_publication = rc == 0;
    entry_out->old.day = entry_out->new.day;
    entry_out->old.reseller = entry_out->new.reseller = row->key;
    entry_out->old.state = entry_out->new.state = DAY_PUBLISHED;
    return 0;
}

/* ---- writing ---- */

enum { AMOUNT_VALUES = 2, AMOUNT_CELLS = 5, LEDGER_CELLS = 8 };

/* A row as mutation_insert makes one, but in its place at once: there are two for each of very many
 * figures.  Cells come in the order of their columns. */
struct figure_row {
    struct write_batch *batch;
    struct cell *cells;
    uint32_t count;
};

static struct figure_row figure_row_of(struct write_batch *batch, uint32_t cells_max)
{
    return (struct figure_row){
        batch, arena_alloc(batch->arena, cells_max * sizeof(struct cell), _Alignof(struct cell)),
        0};
}

static void put_value(struct figure_row *row, uint32_t column_id, struct bytes value)
{
    check(row->count == 0 || row->cells[row->count - 1].column_id < column_id);
    row->cells[row->count++] = (struct cell){.column_id = column_id,
                                             .timestamp_us = TIMESTAMP_SERVER,
                                             .expiry_s = EXPIRY_NONE,
                                             .value = value};
}

/* Null: the row that it overwrites may have a value. */
static void put_null(struct figure_row *row, uint32_t column_id)
{
    put_value(row, column_id, bytes_of(NULL, 0));
    row->cells[row->count - 1].flags = CELL_TOMBSTONE;
}

static void put_count(struct figure_row *row, uint32_t column_id, uint64_t clicks)
{
    put_value(row, column_id, write_batch_bigint(row->batch, (int64_t)clicks));
}

static void put_decimal(struct figure_row *row, uint32_t column_id, struct decimal value)
{
    put_value(row, column_id, write_batch_decimal(row->batch, value));
}

static struct bytes day_value(struct write_batch *batch, int32_t day)
{
    char text[DAY_TEXT_SIZE + 1];
    day_format(day, text);
    return write_batch_copy(batch, bytes_of(text, DAY_TEXT_SIZE));
}

static void put_row(struct figure_row *row, const struct table *table,
                    const struct figure_place *place, const struct clustering *clustering)
{
    struct unfiltered *item =
        arena_alloc(row->batch->arena, sizeof(*item), _Alignof(struct unfiltered));
    *item = (struct unfiltered){.kind = UNFILTERED_ROW,
                                .before = DELETION_NONE,
                                .after = DELETION_NONE,
                                .row = {.clustering = *clustering,
                                        .marker = {TIMESTAMP_SERVER, 0, EXPIRY_NONE},
                                        .deletion = DELETION_NONE,
                                        .cells = row->cells,
                                        .cell_count = row->count}};
    const struct mutation mutation = {.table_id = table->id,
                                      .token = place->token,
                                      .key = place->reseller,
                                      .deletion = DELETION_NONE,
                                      .items = item,
                                      .item_count = 1};
    write_batch_add_rows(row->batch, table, &mutation);
}

void figure_write(struct write_batch *batch, const struct table *table,
                  const struct figure_place *place, const struct day_figure *figure)
{
    struct figure_row row = figure_row_of(batch, AMOUNT_CELLS);
    const struct clustering clustering = {1, {day_value(batch, figure->day)}};
    put_count(&row, AMOUNT_CLICKS, figure->clicks);
    put_decimal(&row, AMOUNT_GROSS, figure->gross);
    if (figure->is_priced) {
        put_decimal(&row, AMOUNT_RATE, figure->rate);
        put_decimal(&row, AMOUNT_AMOUNT, figure->amount);
    } else {
        put_null(&row, AMOUNT_RATE);
        put_null(&row, AMOUNT_AMOUNT);
    }
    put_value(&row, AMOUNT_STATE, bytes_text(state_names[figure->state]));
    put_row(&row, table, place, &clustering);
}

void figure_delete(struct write_batch *batch, const struct table *table,
                   const struct day_figure *figure)
{
    const struct column_value values[AMOUNT_VALUES] = {
        {AMOUNT_RESELLER_ID, false, figure->reseller},
        {AMOUNT_DAY, false, day_value(batch, figure->day)}};
    write_batch_delete(batch, table, values, AMOUNT_VALUES);
}

/* A set's cells: one per element, which is its path, in the elements' order and each once. */
struct set_builder {
    const struct type *element;
    struct cell *cells;
    uint32_t count;
};

static void set_add(struct set_builder *set, uint32_t column_id, struct bytes element)
{
    uint32_t at = set->count;
    while (at > 0 && type_compare(set->element, set->cells[at - 1].path, element) > 0)
        at--;
    if (at > 0 && bytes_equal(set->cells[at - 1].path, element))
        return;
    memmove(&set->cells[at + 1], &set->cells[at], (set->count - at) * sizeof(struct cell));
    set->cells[at] = (struct cell){.column_id = column_id,
                                   .timestamp_us = TIMESTAMP_SERVER,
                                   .expiry_s = EXPIRY_NONE,
                                   .path = element,
                                   .value = bytes_of("", 0)};
    set->count++;
}

static struct set_builder set_of(const struct table *table, uint32_t column_id, struct cell *cells)
{
    return (struct set_builder){type_path(table_column(table, column_id)->type), cells, 0};
}

/* Causes and changes: the columns with the lowest numbers. */
static void put_sets(struct figure_row *row, const struct table *table, bool is_publication,
                     const struct dirty_mark *marks, uint32_t mark_count)
{
    struct set_builder causes = set_of(table, RESTATEMENT_CAUSES, row->cells);
    if (is_publication)
        set_add(&causes, RESTATEMENT_CAUSES, bytes_text(cause_published));
    for (uint32_t i = 0; i < mark_count; i++)
        set_add(&causes, RESTATEMENT_CAUSES, bytes_text(dirty_cause_name(marks[i].cause)));
    struct set_builder changes = set_of(table, RESTATEMENT_CHANGES, row->cells + causes.count);
    for (uint32_t i = 0; i < mark_count; i++)
        if (marks[i].has_change)
            set_add(&changes, RESTATEMENT_CHANGES, bytes_of(marks[i].change, UUID_SIZE));
    row->count = causes.count + changes.count;
}

/* What is null in a new row is left out: there is nothing to overwrite. */
static void put_both_decimals(struct figure_row *row, uint32_t old_id, const struct decimal *old,
                              uint32_t new_id, const struct decimal *new)
{
    if (old != NULL)
        put_decimal(row, old_id, *old);
    if (new != NULL)
        put_decimal(row, new_id, *new);
}

void ledger_write(struct write_batch *batch, const struct table *table,
                  const struct figure_place *place, const struct ledger_entry *entry,
                  const struct dirty_mark *marks, uint32_t mark_count)
{
    struct figure_row row = figure_row_of(batch, LEDGER_CELLS + 2 * mark_count + 1);
    const struct day_figure *new = &entry->new;
    const struct day_figure *old = entry->is_publication ? NULL : &entry->old;
    const struct day_figure *new_priced = new->is_priced ? new : NULL;
    const struct day_figure *old_priced = old != NULL && old->is_priced ? old : NULL;
    const struct clustering clustering = {3,
                                          {day_value(batch, new->day),
                                           write_batch_bigint(batch, entry->at_ms),
                                           write_batch_bigint(batch, entry->seq)}};
    put_sets(&row, table, entry->is_publication, marks, mark_count);
    if (old != NULL)
        put_count(&row, RESTATEMENT_OLD_CLICKS, old->clicks);
    put_count(&row, RESTATEMENT_NEW_CLICKS, new->clicks);
    put_both_decimals(&row, RESTATEMENT_OLD_GROSS, old != NULL ? &old->gross : NULL,
                      RESTATEMENT_NEW_GROSS, &new->gross);
    put_both_decimals(&row, RESTATEMENT_OLD_RATE, old_priced != NULL ? &old->rate : NULL,
                      RESTATEMENT_NEW_RATE, new_priced != NULL ? &new->rate : NULL);
    put_both_decimals(&row, RESTATEMENT_OLD_AMOUNT, old_priced != NULL ? &old->amount : NULL,
                      RESTATEMENT_NEW_AMOUNT, new_priced != NULL ? &new->amount : NULL);
    put_row(&row, table, place, &clustering);
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
