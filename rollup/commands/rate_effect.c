/* rate_effect: see the header.
 *
 * A day counts if its old and new rate differ in value or in digits.  Only the first
 * EFFECT_DAYS_PRINTED_MAX days are kept, so that memory does not grow with their number. */
#include "rollup/commands/rate_effect.h"

#include <inttypes.h>

#include "rollup/days/figure.h"
#include "base/key_map.h"
#include "base/memory.h"
#include "base/cli/command_text.h"

struct changed_day {
    struct day_figure before; /* before.reseller is a view of effect->resellers */
    struct day_figure after;
};

struct rate_effect {
    struct rate_table *before;
    struct rate_table *after;
    struct key_map *resellers; /* resellers with changed days */
    uint64_t days;
    uint64_t clicks;
    struct decimal amount_before;
    struct decimal amount_after;
    struct changed_day *printed[EFFECT_DAYS_PRINTED_MAX]; /* by reseller, day descending */
    uint32_t printed_count;
    struct buffer last; /* reseller of the last rate_effect_add; data NULL: there was none */
    struct rate *last_before;
    struct rate *last_after;
    uint32_t last_before_count;
    uint32_t last_after_count;
    uint32_t last_number; /* of `last` in `resellers`; KEY_MAP_NONE: not in it */
};

/* ---- rates ---- */

static void copy_rates(const struct rate_table *from, struct bytes reseller, struct rate_table *to)
{
    uint32_t count;
    struct rate *rates = rate_table_rates(from, reseller, &count);
    for (uint32_t i = 0; i < count; i++)
        rate_table_set(to, reseller, rates[i].since, rates[i].rate);
    memory_free(rates);
}

/* Edits are sorted by reseller. */
static void apply_edits(struct rate_effect *effect, const struct rate_table *rates,
                        const struct rate_edit *edits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct rate_edit *edit = &edits[i];
        if (i == 0 || !bytes_equal(edits[i - 1].reseller, edit->reseller)) {
            copy_rates(rates, edit->reseller, effect->before);
            copy_rates(rates, edit->reseller, effect->after);
        }
        if (edit->is_delete)
            rate_table_remove(effect->after, edit->reseller, edit->since, edit->since + 1);
        else
            rate_table_set(effect->after, edit->reseller, edit->since, edit->rate);
    }
}

struct rate_effect *rate_effect_new(const struct rate_table *rates, const struct rate_edit *edits,
                                    uint32_t count)
{
    struct rate_effect *effect = memory_zeroed(1, sizeof(*effect));
    effect->before = rate_table_new();
    effect->after = rate_table_new();
    effect->resellers = key_map_new();
    effect->amount_before = effect->amount_after = decimal_from(0, 0);
    apply_edits(effect, rates, edits, count);
    return effect;
}

void rate_effect_free(struct rate_effect *effect)
{
    if (effect == NULL)
        return;
    for (uint32_t i = 0; i < effect->printed_count; i++)
        memory_free(effect->printed[i]);
    rate_table_free(effect->before);
    rate_table_free(effect->after);
    key_map_free(effect->resellers);
    buffer_release(&effect->last);
    memory_free(effect->last_before);
    memory_free(effect->last_after);
    memory_free(effect);
}

/* ---- days ---- */

static void take_reseller(struct rate_effect *effect, struct bytes reseller)
{
    if (effect->last.data != NULL && bytes_equal(buffer_view(&effect->last), reseller))
        return;
    buffer_set(&effect->last, reseller);
    memory_free(effect->last_before);
    memory_free(effect->last_after);
    effect->last_before = rate_table_rates(effect->before, reseller, &effect->last_before_count);
    effect->last_after = rate_table_rates(effect->after, reseller, &effect->last_after_count);
    effect->last_number = key_map_find(effect->resellers, reseller);
}

static bool is_same(const struct rate *a, const struct rate *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return figure_same_digits(a->rate, b->rate);
}

static int add_amount(struct decimal *sum, const struct day_figure *figure)
{
    return figure->is_priced ? decimal_add(*sum, figure->amount, sum) : 0;
}

static bool is_before(const struct day_figure *a, const struct day_figure *b)
{
    int order = bytes_compare(a->reseller, b->reseller);
    return order != 0 ? order < 0 : a->day > b->day;
}

static void keep_day(struct rate_effect *effect, const struct changed_day *day)
{
    struct changed_day **printed = effect->printed;
    uint32_t at = effect->printed_count;
    struct changed_day *kept;
    if (at < EFFECT_DAYS_PRINTED_MAX) {
        kept = memory_alloc(sizeof(*kept));
        effect->printed_count++;
    } else if (is_before(&day->before, &printed[at - 1]->before)) {
        kept = printed[--at];
    } else {
        return;
    }
    for (; at > 0 && is_before(&day->before, &printed[at - 1]->before); at--)
        printed[at] = printed[at - 1];
    *kept = *day;
    printed[at] = kept;
}

int rate_effect_add(struct rate_effect *effect, const struct day_figure *figure)
{
    struct changed_day day = {.before = *figure, .after = *figure};
    take_reseller(effect, figure->reseller);
    const struct rate *before =
        rate_at(effect->last_before, effect->last_before_count, figure->day);
    const struct rate *after = rate_at(effect->last_after, effect->last_after_count, figure->day);
    if (is_same(before, after))
        return 0;
    int rc = figure_price(&day.before, before);
    if (rc == 0)
        rc = figure_price(&day.after, after);
    if (rc == 0)
        rc = add_amount(&effect->amount_before, &day.before);
    if (rc == 0)
        rc = add_amount(&effect->amount_after, &day.after);
    if (rc < 0)
        return rc;
    if (effect->last_number == KEY_MAP_NONE)
        effect->last_number = key_map_add(effect->resellers, figure->reseller);
    day.before.reseller = key_map_key(effect->resellers, effect->last_number);
    effect->days++;
    effect->clicks += figure->clicks;
    keep_day(effect, &day);
    return 0;
}

/* ---- printing ---- */

static void print_day(struct table_print *print, const struct changed_day *day)
{
    struct table_cells cells = {.count = 0};
    buffer_append_bytes(table_print_cell(&cells, false), day->before.reseller);
    command_text_day(table_print_cell(&cells, false), day->before.day);
    buffer_printf(table_print_cell(&cells, false), "%" PRIu64, day->before.clicks);
    struct buffer *text = table_print_cell(&cells, false);
    figure_append_rate(text, &day->before);
    buffer_append_text(text, " -> ");
    figure_append_rate(text, &day->after);
    text = table_print_cell(&cells, false);
    if (day->before.is_priced) {
        decimal_append(text, day->before.amount);
        buffer_put_u8(text, ' ');
    }
    buffer_append_text(text, "-> ");
    if (day->after.is_priced)
        decimal_append(text, day->after.amount);
    table_print_cells(print, &cells);
}

static void print_days(const struct rate_effect *effect, struct buffer *text)
{
    static const struct table_column columns[] = {{"reseller_id", TABLE_TEXT},
                                                  {"day", TABLE_TEXT},
                                                  {"clicks", TABLE_NUMBER},
                                                  {"rate", TABLE_TEXT},
                                                  {"amount", TABLE_TEXT}};
    struct table_print *print = table_print_new(TABLE_ALIGNED, columns, 5, text);
    for (uint32_t i = 0; i < effect->printed_count; i++)
        print_day(print, effect->printed[i]);
    table_print_finish(print);
    if (effect->days > effect->printed_count)
        buffer_printf(text, "… and %" PRIu64 " more\n", effect->days - effect->printed_count);
}

void rate_effect_print(const struct rate_effect *effect, struct buffer *text)
{
    if (effect->days == 0) {
        buffer_append_text(text, "no day with clicks changes\n");
        return;
    }
    print_days(effect, text);
    command_text_count(text, effect->days, "day");
    buffer_append_text(text, " of ");
    command_text_count(text, key_map_count(effect->resellers), "reseller");
    buffer_append_text(text, ", ");
    command_text_count(text, effect->clicks, "click");
    buffer_append_text(text, ": amount ");
    decimal_append(text, effect->amount_before);
    buffer_append_text(text, " -> ");
    decimal_append(text, effect->amount_after);
    buffer_append_text(text, "\n");
}

static void put_decimal(struct table_cells *cells, bool is_there, struct decimal value)
{
    struct buffer *text = table_print_cell(cells, !is_there);
    if (is_there)
        decimal_append(text, value);
}

static void print_row(struct table_print *print, const struct changed_day *day)
{
    const struct day_figure *before = &day->before;
    const struct day_figure *after = &day->after;
    struct table_cells cells = {.count = 0};
    buffer_append_bytes(table_print_cell(&cells, false), before->reseller);
    command_text_day(table_print_cell(&cells, false), before->day);
    buffer_printf(table_print_cell(&cells, false), "%" PRIu64, before->clicks);
    put_decimal(&cells, before->is_priced, before->rate);
    put_decimal(&cells, after->is_priced, after->rate);
    put_decimal(&cells, before->is_priced, before->amount);
    put_decimal(&cells, after->is_priced, after->amount);
    table_print_cells(print, &cells);
}

void rate_effect_print_json(const struct rate_effect *effect, bool is_applied, struct buffer *text)
{
    static const struct table_column columns[] = {
        {"reseller_id", TABLE_TEXT},  {"day", TABLE_TEXT},         {"clicks", TABLE_NUMBER},
        {"old_rate", TABLE_DECIMAL},  {"new_rate", TABLE_DECIMAL}, {"old_amount", TABLE_DECIMAL},
        {"new_amount", TABLE_DECIMAL}};
    struct table_print *print;
    buffer_printf(text,
                  "{\"applied\": %s, \"days\": %" PRIu64 ", \"resellers\": %" PRIu32
                  ", \"clicks\": %" PRIu64 ", \"old_amount\": \"",
                  is_applied ? "true" : "false", effect->days, key_map_count(effect->resellers),
                  effect->clicks);
    decimal_append(text, effect->amount_before);
    buffer_append_text(text, "\", \"new_amount\": \"");
    decimal_append(text, effect->amount_after);
    buffer_append_text(text, "\", \"rows\": ");
    print = table_print_new(TABLE_JSON, columns, 7, text);
    for (uint32_t i = 0; i < effect->printed_count; i++)
        print_row(print, effect->printed[i]);
    table_print_finish(print);
    text->size--; /* the LF that ends a table */
    buffer_append_text(text, "}\n");
}
