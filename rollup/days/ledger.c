/* ledger: see the header.
 *
 * What must hold: an entry is read exactly as it was written, scales included, because verify
 * compares digits. */
#include "rollup/days/ledger.h"

#include <string.h>

#include "base/arena.h"
#include "rollup/days/figure_row.h"
#include "storage/cell/write_batch.h"

static const char cause_published[] = "published";

static const struct figure_row_columns old_columns = {RESTATEMENT_OLD_CLICKS, RESTATEMENT_OLD_GROSS,
                                                      RESTATEMENT_OLD_RATE, RESTATEMENT_OLD_AMOUNT};
static const struct figure_row_columns new_columns = {RESTATEMENT_NEW_CLICKS, RESTATEMENT_NEW_GROSS,
                                                      RESTATEMENT_NEW_RATE, RESTATEMENT_NEW_AMOUNT};

/* ---- reading ---- */

static int read_entry(const struct table *table, const struct page_row *row,
                      struct figure_row_cells *values, struct ledger_entry *entry_out,
                      struct error *err)
{
    const struct clustering *clustering = &row->row.clustering;
    figure_row_values(row, values);
    *entry_out = (struct ledger_entry){.new.reseller = row->key, .new.state = DAY_PUBLISHED};
    int rc = figure_row_day(table, row, &entry_out->new.day, err);
    if (rc < 0)
        return rc;
    if (clustering->count != 3 || clustering->values[1].size != 8 ||
        clustering->values[2].size != 8)
        return figure_row_corrupt(table, row, "the key is cut", err);
    entry_out->at_ms = type_value_bigint(clustering->values[1]);
    entry_out->seq = type_value_bigint(clustering->values[2]);
    rc = figure_row_numbers(table, row, values, &new_columns, &entry_out->new, err);
    if (rc == 0)
        return figure_row_corrupt(table, row, "new_clicks is null", err);
    entry_out->is_publication = !figure_row_has(values, RESTATEMENT_OLD_CLICKS);
    return rc < 0 ? rc : 0;
}

int ledger_read_new(const struct table *table, const struct page_row *row,
                    struct ledger_entry *entry_out, struct error *err)
{
    struct figure_row_cells values;
    return read_entry(table, row, &values, entry_out, err);
}

int ledger_read(const struct table *table, const struct page_row *row,
                struct ledger_entry *entry_out, struct error *err)
{
    struct figure_row_cells values;
    int rc = read_entry(table, row, &values, entry_out, err);
    if (rc < 0)
        return rc;
    rc = figure_row_numbers(table, row, &values, &old_columns, &entry_out->old, err);
    entry_out->old.day = entry_out->new.day;
    entry_out->old.reseller = row->key;
    entry_out->old.state = DAY_PUBLISHED;
    return rc < 0 ? rc : 0;
}

/* ---- writing ---- */

/* The elements of a set, ascending, each of them once. */
struct set {
    uint32_t column_id;
    const struct type *type;
    struct bytes *elements;
    uint32_t count;
};

static struct set set_of(struct write_batch *batch, const struct table *table, uint32_t column_id,
                         uint32_t elements_max)
{
    return (struct set){column_id, type_path(schema_column(table, column_id)->type),
                        arena_array(batch->arena, elements_max, sizeof(struct bytes)), 0};
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

static uint32_t cells_of(const struct day_figure *figure)
{
    if (figure == NULL)
        return 0;
    return figure->is_priced ? 4 : 2;
}

/* Write the cells in the order of their column numbers.  `old` is NULL in a publication.  Null
 * values have no cells, because the row is new and there is nothing to overwrite. */
static void put_both_figures(struct packed_rows *rows, const struct day_figure *old,
                             const struct day_figure *new)
{
    bool has_old_price = old != NULL && old->is_priced;
    if (old != NULL)
        figure_row_put_count(rows, RESTATEMENT_OLD_CLICKS, old->clicks);
    figure_row_put_count(rows, RESTATEMENT_NEW_CLICKS, new->clicks);
    if (old != NULL)
        figure_row_put_decimal(rows, RESTATEMENT_OLD_GROSS, old->gross);
    figure_row_put_decimal(rows, RESTATEMENT_NEW_GROSS, new->gross);
    if (has_old_price)
        figure_row_put_decimal(rows, RESTATEMENT_OLD_RATE, old->rate);
    if (new->is_priced)
        figure_row_put_decimal(rows, RESTATEMENT_NEW_RATE, new->rate);
    if (has_old_price)
        figure_row_put_decimal(rows, RESTATEMENT_OLD_AMOUNT, old->amount);
    if (new->is_priced)
        figure_row_put_decimal(rows, RESTATEMENT_NEW_AMOUNT, new->amount);
}

void ledger_write(struct write_batch *batch, const struct table *table, int64_t token,
                  const struct ledger_entry *entry, const struct dirty_mark *marks,
                  uint32_t mark_count)
{
    const struct day_figure *old = entry->is_publication ? NULL : &entry->old;
    struct set causes = set_of(batch, table, RESTATEMENT_CAUSES, mark_count + 1);
    struct set changes = set_of(batch, table, RESTATEMENT_CHANGES, mark_count);
    char day[DAY_TEXT_SIZE + 1];
    uint8_t at[8];
    uint8_t seq[8];
    calendar_day_format(entry->new.day, day);
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
    packed_rows_begin(&batch->rows, table, token, entry->new.reseller, &clustering,
                      causes.count + changes.count + cells_of(old) + cells_of(&entry->new));
    put_set(&batch->rows, &causes);
    put_set(&batch->rows, &changes);
    put_both_figures(&batch->rows, old, &entry->new);
}

struct slice ledger_slice(int32_t from, int32_t to, struct day_slice_text *text)
{
    return (struct slice){.start = figure_row_bound(from, BOUND_BEFORE, text->from),
                          .end = figure_row_bound(to, BOUND_AFTER, text->to)};
}
