/* command_clicks: `daybook clicks`: lists clicks, voids clicks, and restores voided ones.
 *
 * A void deletes rows from ad_click and adds them to voided_click; a restore does the opposite.
 * Both happen in one batch per page, so a click is always in exactly one of the two tables.  A page
 * whose partition has changed since it was read is read again.
 *
 * A range with a sealed day is refused before anything is changed (seal.h).  From this check until
 * the command ends no day is sealed, because otherwise only a part of the range might be voided.
 *
 * A restored click gets a random negative click_id, because another click may have its old one.
 * Only a keyed click keeps its id.  A keyed click is not restored if ad_click has its id again
 * (voided_page.h). */
#include "rollup/commands/rollup_commands.h"

#include <inttypes.h>

#include "storage/engine/store_rows.h"
#include "rollup/streams/streams.h"
#include "rollup/streams/voided_page.h"
#include "base/memory.h"
#include "base/cli/command_text.h"
#include "rollup/commands/command_options.h"
#include "rollup/days/rollup_private.h"
#include "storage/schema/type.h"
#include "storage/cell/write_batch.h"

enum {
    PAGE_ROWS_MAX = 2000,
    PAGE_BYTES_MAX = 4 << 20, /* estimated size of a batch */
    ROW_BYTES = 600,          /* estimated size of a row's changes, without its ids */
    CLICK_VALUES = 7,
    LIST_COLUMNS = 6
};

/* ---- options ---- */

enum clicks_action { CLICKS_NONE, CLICKS_LIST, CLICKS_VOID, CLICKS_RESTORE };
enum { CLICKS_WHERE_MAX = 8 };

struct clicks_options {
    struct command_options common;
    enum clicks_action action;
    const char *where[CLICKS_WHERE_MAX]; /* COLUMN=VALUE */
    uint32_t where_count;
    const char *ad;
};

enum { OPTION_AD = OPTION_OWN, OPTION_WHERE };

static const struct argp_option clicks_argp_options[] = {
    {"reseller", OPTION_RESELLER, "ID", 0, "of this reseller", 0},
    {"day", OPTION_DAY, "DAY", 0, "of this day", 0},
    {"from", OPTION_FROM, "DAY", 0, "of the days from this one on", 0},
    {"to", OPTION_TO, "DAY", 0, "of the days up to this one", 0},
    {"ad", OPTION_AD, "ID", 0, "of this ad only", 0},
    {"where", OPTION_WHERE, "COLUMN=VALUE", 0, "only those whose column has this value", 0},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "print what would change, change nothing", 0},
    {"note", OPTION_NOTE, "TEXT", 0, "why; kept with the change", 0},
    {"format", OPTION_FORMAT, "FORMAT", 0,
     "of list: table (unless given), csv, csv-safe, json or md", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static int parse_action(struct clicks_options *options, const char *word, struct argp_state *state)
{
    static const char *const actions[] = {
        [CLICKS_LIST] = "list", [CLICKS_VOID] = "void", [CLICKS_RESTORE] = "restore"};
    uint32_t action = command_word(word, actions, CLICKS_RESTORE + 1);
    if (options->action == CLICKS_NONE && action <= CLICKS_RESTORE) {
        options->action = (enum clicks_action)action;
        return 0;
    }
    return command_refuse(state,
                          options->action == CLICKS_NONE ? "'%s' is none of list, void, restore"
                                                         : "'%s' is one word too many",
                          word);
}

static int add_where(struct clicks_options *options, const char *argument, struct argp_state *state)
{
    if (strchr(argument, '=') == NULL)
        return command_refuse(state, "'%s' is not COLUMN=VALUE", argument);
    if (options->where_count == CLICKS_WHERE_MAX)
        return command_refuse(state, "'%s' is one --where too many", argument);
    options->where[options->where_count++] = argument;
    return 0;
}

static int check_options(struct clicks_options *options, struct argp_state *state)
{
    struct command_options *common = &options->common;
    int rc = command_options_parse(common, ARGP_KEY_END, NULL, state);
    if (rc != 0)
        return rc;
    if (options->action == CLICKS_NONE)
        return command_refuse(state, "list, void or restore is needed");
    if (common->reseller == NULL)
        return command_refuse(state, "--reseller is needed");
    if (common->from == DAY_MIN || common->to == DAY_MAX)
        return command_refuse(state, "--from and --to, or --day, are needed");
    return 0;
}

static error_t clicks_parse_option(int key, char *argument, struct argp_state *state)
{
    struct clicks_options *options = state->input;
    switch (key) {
    case OPTION_AD:
        options->ad = argument;
        return 0;
    case OPTION_WHERE:
        return add_where(options, argument, state);
    case ARGP_KEY_ARG:
        return parse_action(options, argument, state);
    case ARGP_KEY_END:
        return check_options(options, state);
    default:
        return command_options_parse(&options->common, key, argument, state);
    }
}

static const struct argp clicks_argp = {
    .options = clicks_argp_options,
    .parser = clicks_parse_option,
    .args_doc = "list|void|restore",
    .doc = "List clicks, void them, restore what was voided.\v"
           "A voided click is taken off every counter and figure; days that were published are "
           "restated, with cause `void` and your note. A restored one comes back with a click_id "
           "of its own; one that brought its id along is left where a click has this id again. "
           "Days are YYYY-MM-DD, both ends included; --where may be given several "
           "times. Days whose clicks have expired (daybook retention) can be neither voided nor "
           "restored.\n\n"
           "Examples:\n"
           "  daybook clicks list --reseller supaboobs --day 2013-11-28 --ad ad42\n"
           "  daybook clicks void --reseller supaboobs --from 2013-11-28 --to 2013-11-29 \\\n"
           "      --where amount=0.005 --note 'robots' --dry-run\n"
           "  daybook clicks restore --reseller supaboobs --day 2013-11-28",
};

static bool clicks_write(const void *options)
{
    const struct clicks_options *clicks = options;
    return clicks->action != CLICKS_LIST && !clicks->common.is_dry_run;
}

/* ---- the call ---- */

struct filter {
    uint32_t column_id;
    struct buffer value;
};

struct clicks_call {
    struct streams *streams;
    struct rollup *rollup;
    const struct clicks_options *options;
    struct command_output *output;
    struct filter filters[CLICKS_WHERE_MAX + 1];
    uint32_t filter_count;
    struct change_row change;
    struct change_lines lines; /* of the days that are done, for the row of `change` */
    struct seal_pin pin;       /* held to the end; not used to list clicks */
    struct timer time_slice;
    int32_t day;
    struct buffer key;
    struct buffer position;      /* of the page that is processed */
    struct buffer position_next; /* of the next page; empty: the day has no other */
    struct write_batch *batch;
    struct store_version version;
    struct voided_page *voided;
    uint64_t page_clicks;
    struct decimal page_gross;
    uint64_t page_left; /* voided clicks of the page that stay voided, because their ids are
                         * taken */
    uint64_t day_clicks;
    struct decimal day_gross;
    uint64_t days;
    uint64_t clicks;
    struct decimal gross;
    uint64_t left;
    struct buffer text;
    struct table_column columns[LIST_COLUMNS];
    struct table_print *print;
};

static bool is_listing(const struct clicks_call *call)
{
    return call->options->action == CLICKS_LIST;
}

static bool is_restoring(const struct clicks_call *call)
{
    return call->options->action == CLICKS_RESTORE;
}

static uint32_t table_of(const struct clicks_call *call)
{
    return is_restoring(call) ? TABLE_VOIDED_CLICK : TABLE_AD_CLICK;
}

static bool are_of_event_table(const struct clicks_call *call)
{
    return (rollup_table(call->rollup, TABLE_AD_CLICK)->flags & TABLE_OF_EVENTS) != 0;
}

static enum read_view view_of(const struct clicks_call *call)
{
    return clicks_write(call->options) ? READ_APPLIED : READ_DURABLE;
}

static void call_finish(struct clicks_call *call, int exit_status)
{
    struct command_output *output = call->output;
    output->drained = NULL;
    if (call->print != NULL)
        table_print_abandon(call->print);
    command_text_flush(output, &call->text, true);
    for (uint32_t i = 0; i < call->filter_count; i++)
        buffer_release(&call->filters[i].value);
    if (call->pin.is_granted)
        rollup_unpin_seals(call->rollup, &call->pin);
    voided_page_free(call->voided);
    write_batch_free(call->batch);
    change_lines_release(&call->lines);
    buffer_release(&call->key);
    buffer_release(&call->position);
    buffer_release(&call->position_next);
    buffer_release(&call->text);
    memory_free(call);
    output->finish(output, exit_status);
}

static void append_left(struct clicks_call *call)
{
    if (call->left == 0)
        return;
    command_text_count(&call->text, call->left, "voided click");
    buffer_append_text(&call->text, " left: clicks with the same time, ad and id are there\n");
}

static void append_summary(struct clicks_call *call, const char *what)
{
    command_text_count(&call->text, call->clicks, "click");
    buffer_append_text(&call->text, " of ");
    command_text_count(&call->text, call->days + (call->day_clicks > 0), "day");
    buffer_append_text(&call->text, ", gross ");
    decimal_append(&call->text, call->gross);
    buffer_printf(&call->text, ": %s\n", what);
    append_left(call);
}

static const char *what_is_done(const struct clicks_call *call)
{
    return is_restoring(call) ? "restored" : "voided";
}

/* If clicks were changed before the failure, say so. */
static void call_fail(struct clicks_call *call, int status, const struct error *err)
{
    const char *what = what_is_done(call);
    if (call->clicks == 0 || !clicks_write(call->options)) {
        call_finish(call, command_report(call->output, status, err));
        return;
    }
    append_summary(call, what);
    command_text_flush(call->output, &call->text, true);
    command_printf(call->output, COMMAND_ERR, "daybook: the clicks were %s, but %s\n", what,
                   err != NULL ? err->text : error_text(status));
    call_finish(call, command_exit_of(status));
}

/* ---- which rows ---- */

static int filter_add(struct clicks_call *call, struct bytes name, const char *text,
                      struct error *err)
{
    const struct table *table = rollup_table(call->rollup, table_of(call));
    const struct column *column = schema_column_named(table, name);
    if (column == NULL)
        return error_set(err, ERROR_USAGE, "clicks have no column '%.*s'", (int)name.size,
                         (const char *)name.data);
    struct filter *filter = &call->filters[call->filter_count++];
    filter->column_id = column->id;
    int rc = type_parse_text(column->type, bytes_text(text), &filter->value, err);
    if (rc < 0)
        error_wrap(err, "%s", column->name);
    return rc < 0 ? ERROR_USAGE : 0;
}

static int filters_make(struct clicks_call *call, struct error *err)
{
    const struct clicks_options *options = call->options;
    int rc = options->ad != NULL ? filter_add(call, bytes_text("ad_id"), options->ad, err) : 0;
    for (uint32_t i = 0; rc == 0 && i < options->where_count; i++) {
        const char *where = options->where[i];
        size_t size = strcspn(where, "=");
        rc = filter_add(call, bytes_of(where, size), where + size + 1, err);
    }
    return rc;
}

static bool is_selected(const struct clicks_call *call, const struct table *table,
                        const struct page_row *row)
{
    for (uint32_t i = 0; i < call->filter_count; i++) {
        const struct column *column = schema_column(table, call->filters[i].column_id);
        struct bytes value;
        if (!store_row_value(table, row, column->id, &value) ||
            type_compare(column->type, value, buffer_view(&call->filters[i].value)) != 0)
            return false;
    }
    return true;
}

/* ---- one row ---- */

static void list_row(struct clicks_call *call, const struct table *table,
                     const struct page_row *row)
{
    static const uint32_t ids[] = {AD_CLICK_RESELLER_ID, AD_CLICK_DAY,      AD_CLICK_TIME,
                                   AD_CLICK_AD_ID,       AD_CLICK_CLICK_ID, AD_CLICK_AMOUNT};
    struct table_cells cells = {.count = 0};
    for (uint32_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct bytes value;
        bool is_there = store_row_value(table, row, ids[i], &value);
        struct buffer *text = table_print_cell(&cells, !is_there);
        if (is_there)
            type_format(schema_column(table, ids[i])->type, value, text);
    }
    table_print_cells(call->print, &cells);
}

/* Take the row's columns `from` as values of the columns `to` of another table.  Returns the number
 * of values, which is less than `count` if the row lacks columns. */
static uint32_t row_values(const struct table *table, const struct page_row *row,
                           const uint32_t *from, const uint32_t *to, uint32_t count,
                           struct column_value *values)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct bytes value;
        if (store_row_value(table, row, from[i], &value))
            values[used++] = (struct column_value){to[i], false, value};
    }
    return used;
}

static const uint32_t click_columns[CLICK_VALUES] = {
    AD_CLICK_RESELLER_ID, AD_CLICK_DAY,    AD_CLICK_TIME,       AD_CLICK_AD_ID,
    AD_CLICK_CLICK_ID,    AD_CLICK_AMOUNT, AD_CLICK_DAY_DERIVED};
static const uint32_t voided_columns[CLICK_VALUES] = {
    VOIDED_RESELLER_ID, VOIDED_DAY,    VOIDED_TIME,       VOIDED_AD_ID,
    VOIDED_CLICK_ID,    VOIDED_AMOUNT, VOIDED_DAY_DERIVED};

static void void_row(struct clicks_call *call, const struct table *table,
                     const struct page_row *row)
{
    struct write_batch *batch = call->batch;
    struct column_value values[CLICK_VALUES + 1];
    uint32_t count = row_values(table, row, click_columns, voided_columns, CLICK_VALUES, values);
    values[count++] =
        (struct column_value){VOIDED_CHANGE_ID, false, bytes_of(call->change.id, UUID_SIZE)};
    write_batch_insert(batch, rollup_table(call->rollup, TABLE_VOIDED_CLICK), values, count);
    count = row_values(table, row, click_columns, click_columns, 5, values);
    write_batch_delete(batch, table, values, count);
}

static void restore_row(struct clicks_call *call, const struct table *table,
                        const struct page_row *row)
{
    struct random *random = call->rollup->world->random;
    struct write_batch *batch = call->batch;
    struct column_value values[CLICK_VALUES + 1];
    uint64_t drawn;
    uint32_t count = row_values(table, row, voided_columns, click_columns, CLICK_VALUES, values);
    random->fill(random, &drawn, sizeof(drawn));
    for (uint32_t i = 0; i < count; i++)
        if (values[i].column_id == AD_CLICK_CLICK_ID && are_of_event_table(call))
            values[i].value = write_batch_bigint(batch, -(int64_t)(drawn >> 2) - 1);
    write_batch_insert(batch, rollup_table(call->rollup, TABLE_AD_CLICK), values, count);
    count = row_values(table, row, voided_columns, voided_columns, 5, values);
    count += row_values(table, row, (const uint32_t[]){VOIDED_CHANGE_ID},
                        (const uint32_t[]){VOIDED_CHANGE_ID}, 1, &values[count]);
    write_batch_delete(batch, table, values, count);
}

/* ---- one page ---- */

static int count_row(struct clicks_call *call, const struct table *table,
                     const struct page_row *row, struct error *err)
{
    uint32_t column = is_restoring(call) ? VOIDED_AMOUNT : AD_CLICK_AMOUNT;
    struct decimal amount;
    struct bytes value;
    int rc = 0;
    call->page_clicks++;
    if (store_row_value(table, row, column, &value))
        rc = decimal_deserialize(value, &amount);
    else
        amount = decimal_from(0, 0);
    if (rc == 0)
        rc = decimal_add(call->page_gross, amount, &call->page_gross);
    return rc < 0 ? error_set(err, rc, "an amount has too many digits") : 0;
}

/* A restore only gathers rows here; page_looked restores them. */
static int take_row(struct clicks_call *call, const struct table *table, const struct page_row *row,
                    struct error *err)
{
    if (is_restoring(call)) {
        voided_page_add(call->voided, row);
        return 0;
    }
    if (is_listing(call))
        list_row(call, table, row);
    else
        void_row(call, table, row);
    return count_row(call, table, row, err);
}

static int take_page(void *context, const struct read_page *page, struct error *err)
{
    struct clicks_call *call = context;
    size_t bytes = 0;
    int rc = 0;
    call->version = page->version;
    for (uint32_t i = 0; rc == 0 && i < page->row_count; i++) {
        const struct page_row *row = &page->rows[i];
        if (!is_selected(call, page->table, row))
            continue;
        rc = take_row(call, page->table, row, err);
        bytes += ROW_BYTES + 8 * (row->key.size + row->row.clustering.values[1].size);
        if (!is_listing(call) && bytes > PAGE_BYTES_MAX && i + 1 < page->row_count) {
            store_position_after(row, false, &call->position_next);
            return rc < 0 ? rc : 1;
        }
    }
    buffer_append_bytes(&call->position_next, page->position);
    return rc < 0 ? rc : 1;
}

static void call_time_slice(struct clicks_call *call)
{
    rollup_fire_in(call->rollup, &call->time_slice, 0);
}

static void add_day_line(const struct clicks_call *call, struct change_lines *lines,
                         uint64_t clicks, struct decimal gross)
{
    struct buffer key = {0};
    struct buffer there = {0};
    const struct bytes gone = bytes_text("voided");
    buffer_printf(&key, "%s ", call->options->common.reseller);
    command_text_day(&key, call->day);
    command_text_count(&there, clicks, "click");
    buffer_append_text(&there, ", gross ");
    decimal_append(&there, gross);
    change_lines_add(lines, buffer_view(&key), is_restoring(call) ? gone : buffer_view(&there),
                     is_restoring(call) ? buffer_view(&there) : gone);
    buffer_release(&key);
    buffer_release(&there);
}

static void day_end(struct clicks_call *call)
{
    struct table_cells cells = {.count = 0};
    if (call->day_clicks > 0 && !is_listing(call)) {
        command_text_day(table_print_cell(&cells, false), call->day);
        buffer_printf(table_print_cell(&cells, false), "%" PRIu64, call->day_clicks);
        decimal_append(table_print_cell(&cells, false), call->day_gross);
        table_print_cells(call->print, &cells);
        add_day_line(call, &call->lines, call->day_clicks, call->day_gross);
    }
    call->days += call->day_clicks > 0;
    call->day_clicks = 0;
    call->day_gross = decimal_from(0, 0);
    call->day++;
    buffer_clear(&call->position);
}

static void page_end(struct clicks_call *call)
{
    int rc = decimal_add(call->day_gross, call->page_gross, &call->day_gross);
    if (rc == 0)
        rc = decimal_add(call->gross, call->page_gross, &call->gross);
    if (rc < 0) {
        call_fail(call, rc, NULL);
        return;
    }
    call->day_clicks += call->page_clicks;
    call->clicks += call->page_clicks;
    call->left += call->page_left;
    buffer_set(&call->position, buffer_view(&call->position_next));
    voided_page_end(call->voided, call->position.size > 0);
    if (call->position.size == 0)
        day_end(call);
    command_text_flush(call->output, &call->text, false);
    call_time_slice(call);
}

static void page_applied(void *context, int status, const struct error *err)
{
    struct clicks_call *call = context;
    if (status == ERROR_CONFLICT)
        call_time_slice(call);
    else if (status < 0)
        call_fail(call, status, err);
    else
        page_end(call);
}

static void write_change(struct clicks_call *call)
{
    struct change_lines lines;
    struct decimal gross = call->day_gross;
    if (decimal_add(call->day_gross, call->page_gross, &gross) < 0)
        gross = call->day_gross;
    change_lines_copy(&call->lines, &lines);
    add_day_line(call, &lines, call->day_clicks + call->page_clicks, gross);
    change_lines_end(&lines);
    call->change.lines = &lines;
    rollup_write_change(call->rollup, call->batch, &call->change);
    call->change.lines = NULL;
    change_lines_release(&lines);
}

static void page_write(struct clicks_call *call)
{
    const bool has_looked = is_restoring(call) && !are_of_event_table(call);
    struct store_expectation unchanged[] = {{.table_id = table_of(call),
                                             .key = buffer_view(&call->key),
                                             .version = call->version,
                                             .allows_appended = true},
                                            {.table_id = TABLE_AD_CLICK,
                                             .key = buffer_view(&call->key),
                                             .version = voided_page_version(call->voided)}};
    if (call->page_clicks == 0 || !clicks_write(call->options)) {
        page_end(call);
        return;
    }
    write_change(call);
    streams_apply(call->streams, call->batch, unchanged, has_looked ? 2 : 1, page_applied, call);
}

static void page_looked(void *context, int status, const struct error *err)
{
    struct clicks_call *call = context;
    const struct table *table = rollup_table(call->rollup, TABLE_VOIDED_CLICK);
    struct error own = {0};
    for (uint32_t i = 0; status == 0 && i < voided_page_count(call->voided); i++) {
        const struct page_row *row = voided_page_row(call->voided, i);
        err = &own;
        if (voided_page_is_taken(call->voided, i)) {
            call->page_left++;
            continue;
        }
        restore_row(call, table, row);
        status = count_row(call, table, row, &own);
    }
    if (status < 0)
        call_fail(call, status, err);
    else
        page_write(call);
}

static void page_read(void *context, int status, const struct error *err)
{
    struct clicks_call *call = context;
    if (status < 0)
        call_fail(call, status, err);
    else if (!is_restoring(call))
        page_write(call);
    else if (are_of_event_table(call) || voided_page_count(call->voided) == 0)
        page_looked(call, 0, NULL);
    else
        voided_page_look(call->voided, view_of(call), page_looked, call);
}

/* A restore reads backwards, so that of several voided clicks with one id the one that was voided
 * last is restored. */
static void page_begin(struct clicks_call *call)
{
    buffer_clear(&call->key);
    dirty_put_key(&call->key, bytes_text(call->options->common.reseller), call->day);
    struct bytes key = buffer_view(&call->key);
    struct read_request request = store_rows_request(table_of(call), &key, view_of(call));
    request.row_limit = PAGE_ROWS_MAX;
    request.position = buffer_view(&call->position);
    request.slice.reversed = is_restoring(call);
    buffer_clear(&call->position_next);
    write_batch_clear(call->batch);
    voided_page_clear(call->voided);
    call->page_clicks = call->page_left = 0;
    call->page_gross = decimal_from(0, 0);
    store_rows_read_pages(call->rollup->store, &request, take_page, page_read, call);
}

/* ---- the end ---- */

static void figures_refreshed(void *context, int status, const struct error *err)
{
    struct clicks_call *call = context;
    if (status < 0) {
        call_fail(call, status, err);
        return;
    }
    append_summary(call, what_is_done(call));
    call_finish(call, EXIT_DONE);
}

static void days_end(struct clicks_call *call)
{
    if (call->clicks == 0 && !is_listing(call)) {
        append_left(call);
        command_text_flush(call->output, &call->text, true);
        command_printf(call->output, COMMAND_ERR, "%s; nothing was changed\n",
                       call->left > 0 ? "no click was restored" : "no such clicks");
        call_finish(call, EXIT_DATA_SAYS_NO);
        return;
    }
    table_print_finish(call->print);
    call->print = NULL;
    if (is_listing(call)) {
        call_finish(call, EXIT_DONE);
        return;
    }
    const struct command_options *options = &call->options->common;
    if (options->is_dry_run) {
        append_summary(call, "found");
        command_text_flush(call->output, &call->text, true);
        command_printf(call->output, COMMAND_ERR, "dry run: nothing was changed\n");
        call_finish(call, EXIT_DONE);
        return;
    }
    rollup_refresh_days_now(call->rollup, bytes_text(options->reseller), options->from, options->to,
                            figures_refreshed, call);
}

static void drained(void *context)
{
    struct clicks_call *call = context;
    call->output->drained = NULL;
    call_time_slice(call);
}

static void next_page(struct timer *timer)
{
    struct clicks_call *call = timer->context;
    if (command_must_wait(call->output, drained, call))
        return;
    bool is_enough = is_listing(call) && command_has_enough(call->output);
    if (is_enough || call->day > call->options->common.to)
        days_end(call);
    else
        page_begin(call);
}

/* ---- sealed days ---- */

static int sealed_row(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    const struct clicks_call *call = context;
    struct day_figure figure;
    char day[DAY_TEXT_SIZE + 1];
    int rc = figure_read(table, row, &figure, err);
    if (rc < 0 || figure.state != DAY_SEALED)
        return rc;
    calendar_day_format(figure.day, day);
    return error_set(err, ERROR_INVALID,
                     "%s of %s is sealed: its clicks have expired, and what is not known can be "
                     "neither voided nor restored; nothing was changed",
                     day, call->options->common.reseller);
}

static void none_is_sealed(void *context, int status, const struct error *err)
{
    struct clicks_call *call = context;
    if (status < 0)
        call_fail(call, status, err);
    else
        call_time_slice(call);
}

static void refuse_sealed(void *context)
{
    struct clicks_call *call = context;
    struct day_slice_text text;
    const struct command_options *options = &call->options->common;
    struct bytes reseller = bytes_text(options->reseller);
    struct read_request request =
        store_rows_request(call->rollup->stream->figures_table_id, &reseller, READ_APPLIED);
    request.slice = figure_slice(options->from, options->to, &text);
    store_rows_read(call->rollup->store, &request, sealed_row, none_is_sealed, call);
}

static struct table_print *list_print_new(struct clicks_call *call)
{
    static const struct table_column columns[LIST_COLUMNS] = {
        {"reseller_id", TABLE_TEXT}, {"day", TABLE_TEXT},        {"time", TABLE_TEXT},
        {"ad_id", TABLE_TEXT},       {"click_id", TABLE_NUMBER}, {"amount", TABLE_DECIMAL}};
    const struct table *table = rollup_table(call->rollup, TABLE_AD_CLICK);
    memcpy(call->columns, columns, sizeof(columns));
    /* Ids that clients give may be texts or UUIDs. */
    if (!type_is_number(schema_column(table, AD_CLICK_CLICK_ID)->type))
        call->columns[4].kind = TABLE_TEXT;
    return table_print_new(call->options->common.format, call->columns, LIST_COLUMNS, &call->text);
}

static void clicks_run(void *streams, const struct command_request *request,
                       struct command_output *output)
{
    static const struct table_column day_columns[] = {
        {"day", TABLE_TEXT}, {"clicks", TABLE_NUMBER}, {"gross", TABLE_DECIMAL}};
    struct clicks_call *call = memory_zeroed(1, sizeof(*call));
    struct error err = {0};
    call->streams = streams;
    call->rollup = streams_find(streams, NULL);
    call->options = request->options;
    call->output = output;
    call->day = call->options->common.from;
    call->gross = call->day_gross = decimal_from(0, 0);
    call->batch = write_batch_new();
    call->voided = voided_page_new(call->rollup->store);
    call->pin = (struct seal_pin){.granted = refuse_sealed, .context = call};
    call->time_slice = (struct timer){.fire = next_page, .context = call};
    call->change = command_options_change(&call->options->common, request);
    rollup_begin_change(call->rollup, &call->change);
    call->print = is_listing(call) ? list_print_new(call)
                                   : table_print_new(TABLE_ALIGNED, day_columns, 3, &call->text);
    int rc = filters_make(call, &err);
    if (rc < 0)
        call_fail(call, rc, &err);
    else if (is_listing(call))
        call_time_slice(call);
    else
        rollup_pin_seals(call->rollup, &call->pin);
}

const struct command command_clicks = {.name = "clicks",
                                       .summary = "list clicks, void them, restore what was voided",
                                       .argp = &clicks_argp,
                                       .options_size = sizeof(struct clicks_options),
                                       .writes = clicks_write,
                                       .run = clicks_run};
