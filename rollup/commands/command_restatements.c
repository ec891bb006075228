/* command_restatements: `daybook restatements`: shows the changes of published figures.
 *
 * The format `table` has fewer columns than the others; some have both the old and the new value:
 *
 *     at                    reseller_id  day         clicks  rate        amount                  by
 *     2013-12-03T08:15:09Z  supaboobs    2013-11-29       2  25% -> 30%  0.00375 -> 0.00450      …
 */
#include "rollup/commands/rollup_commands.h"

#include <inttypes.h>

#include "storage/engine/store_rows.h"
#include "base/arena.h"
#include "base/memory.h"
#include "base/cli/command_text.h"
#include "rollup/commands/command_options.h"
#include "rollup/days/rollup_private.h"
#include "rollup/streams/streams.h"
#include "rollup/days/ledger.h"

enum { ARENA_CHUNK = 64 * 1024, COLUMN_COUNT = 14, TABLE_COLUMN_COUNT = 7, SECONDS_SIZE = 19 };

/* ---- options ---- */

struct restatements_options {
    struct command_options common;
    bool has_change;
    uint8_t change[UUID_SIZE];
    bool with_publications;
};

enum { OPTION_CHANGE = OPTION_OWN, OPTION_ALL };

static const struct argp_option restatements_argp_options[] = {
    {"reseller", OPTION_RESELLER, "ID", 0, "of this reseller only", 0},
    {"day", OPTION_DAY, "DAY", 0, "of this day", 0},
    {"from", OPTION_FROM, "DAY", 0, "of the days from this one on", 0},
    {"to", OPTION_TO, "DAY", 0, "of the days up to this one", 0},
    {"change", OPTION_CHANGE, "ID", 0, "that this change caused", 0},
    {"all", OPTION_ALL, NULL, 0, "publications too", 0},
    {"format", OPTION_FORMAT, "FORMAT", 0, "table (unless given), csv, csv-safe, json or md", 0},
    OPTION_STREAM_LINE,
    {NULL, 0, NULL, 0, NULL, 0},
};

static error_t restatements_parse_option(int key, char *argument, struct argp_state *state)
{
    struct restatements_options *options = state->input;
    switch (key) {
    case OPTION_CHANGE:
        options->has_change = true;
        return uuid_from_text(bytes_text(argument), options->change)
                   ? 0
                   : command_refuse(state, "'%s' is no id of a change", argument);
    case OPTION_ALL:
        options->with_publications = true;
        return 0;
    default:
        return command_options_parse(&options->common, key, argument, state);
    }
}

static const struct argp restatements_argp = {
    .options = restatements_argp_options,
    .parser = restatements_parse_option,
    .doc = "Show what changed in published figures, why, and by whom.\v"
           "Days are YYYY-MM-DD, both ends included.\n\n"
           "Examples:\n"
           "  daybook restatements --from 2013-11-01 --to 2013-11-30\n"
           "  daybook restatements --reseller supaboobs --all --format csv",
};

/* ---- the answer ---- */

struct listing {
    struct rollup *rollup;
    const struct restatements_options *options;
    struct command_output *output;
    struct arena *arena;
    struct key_map *changes; /* by id: a struct bytes, "actor: command (note)" */
    struct bytes *resellers;
    uint32_t reseller_count;
    uint32_t reseller_next;
    struct buffer position; /* where resellers[reseller_next - 1] continues; empty: it is done */
    struct buffer text;
    struct table_print *print;
    uint64_t printed;
    struct error err;
};

static void listing_finish(struct listing *listing)
{
    struct command_output *output = listing->output;
    output->drained = NULL;
    if (listing->err.code == 0)
        table_print_finish(listing->print);
    else
        table_print_abandon(listing->print);
    command_text_flush(output, &listing->text, true);
    int exit_status = command_report(output, listing->err.code, &listing->err);
    if (exit_status == EXIT_DONE && listing->printed == 0)
        command_printf(output, COMMAND_ERR, "nothing was restated\n");
    key_map_free(listing->changes);
    memory_free(listing->resellers);
    buffer_release(&listing->position);
    buffer_release(&listing->text);
    arena_free(listing->arena);
    rollup_leave(listing->rollup);
    memory_free(listing);
    output->finish(output, exit_status);
}

/* ---- changes ---- */

static size_t changes_bytes(const struct listing *listing)
{
    return key_map_bytes(listing->changes) + arena_held(listing->arena);
}

static int take_change(void *context, const struct table *table, const struct page_row *row,
                       struct error *err)
{
    struct listing *listing = context;
    struct bytes id;
    struct bytes actor = bytes_of("", 0);
    struct bytes command = bytes_of("", 0);
    struct bytes note;
    struct buffer text = {0};
    if (!store_row_value(table, row, CHANGE_ID, &id))
        return 0;
    (void)store_row_value(table, row, CHANGE_ACTOR, &actor);
    (void)store_row_value(table, row, CHANGE_COMMAND, &command);
    buffer_append_bytes(&text, actor);
    buffer_append_text(&text, ": ");
    buffer_append_bytes(&text, command);
    if (store_row_value(table, row, CHANGE_NOTE, &note)) {
        buffer_append_text(&text, " (");
        buffer_append_bytes(&text, note);
        buffer_append_text(&text, ")");
    }
    size_t before = changes_bytes(listing);
    struct bytes *known = key_map_value(listing->changes, key_map_add(listing->changes, id));
    *known = arena_copy(listing->arena, buffer_view(&text));
    buffer_release(&text);
    return command_keep(listing->output, (int64_t)(changes_bytes(listing) - before))
               ? 0
               : error_set(err, ERROR_LIMIT, COMMAND_NO_ROOM);
}

/* ---- entries ---- */

static void put_count(struct table_cells *cells, bool is_there, uint64_t count)
{
    struct buffer *text = table_print_cell(cells, !is_there);
    if (is_there)
        buffer_printf(text, "%" PRIu64, count);
}

static void put_decimal(struct table_cells *cells, bool is_there, struct decimal value)
{
    struct buffer *text = table_print_cell(cells, !is_there);
    if (is_there)
        decimal_append(text, value);
}

static void append_set(struct buffer *text, const struct row *row, uint32_t column_id)
{
    bool is_first = true;
    for (uint32_t i = 0; i < row->cell_count; i++) {
        const struct cell *cell = &row->cells[i];
        char id[UUID_TEXT_SIZE + 1];
        if (cell->column_id != column_id)
            continue;
        buffer_append_text(text, is_first ? "" : " ");
        is_first = false;
        if (column_id == RESTATEMENT_CAUSES) {
            buffer_append_bytes(text, cell->path);
        } else if (cell->path.size == UUID_SIZE) {
            uuid_format(cell->path.data, id);
            buffer_append_text(text, id);
        }
    }
}

static void put_by(struct listing *listing, struct buffer *text, const struct row *row)
{
    bool is_first = true;
    for (uint32_t i = 0; i < row->cell_count; i++) {
        uint32_t number = row->cells[i].column_id == RESTATEMENT_CHANGES
                              ? key_map_find(listing->changes, row->cells[i].path)
                              : KEY_MAP_NONE;
        if (number == KEY_MAP_NONE)
            continue;
        buffer_append_text(text, is_first ? "" : "; ");
        is_first = false;
        const struct bytes *known = key_map_value(listing->changes, number);
        buffer_append_bytes(text, *known);
    }
}

static bool is_selected(const struct restatements_options *options,
                        const struct ledger_entry *entry, const struct row *row)
{
    if (entry->is_publication && !options->with_publications)
        return false;
    if (!options->has_change)
        return true;
    for (uint32_t i = 0; i < row->cell_count; i++)
        if (row->cells[i].column_id == RESTATEMENT_CHANGES &&
            bytes_equal(row->cells[i].path, bytes_of(options->change, UUID_SIZE)))
            return true;
    return false;
}

static void append_amount(struct buffer *text, const struct day_figure *figure)
{
    if (figure->is_priced)
        decimal_append(text, figure->amount);
    else
        buffer_append_text(text, "unpriced");
}

/* Append "2 -> 3", or "3" if the number did not change or the entry is a publication. */
static void append_clicks_moved(struct buffer *text, const struct ledger_entry *entry)
{
    if (!entry->is_publication && entry->old.clicks != entry->new.clicks)
        buffer_printf(text, "%" PRIu64 " -> ", entry->old.clicks);
    buffer_printf(text, "%" PRIu64, entry->new.clicks);
}

static void append_rate_moved(struct buffer *text, const struct ledger_entry *entry)
{
    const struct day_figure *old = &entry->old;
    const struct day_figure *new = &entry->new;
    bool is_same = old->is_priced == new->is_priced &&
                   (!new->is_priced || decimal_compare(old->rate, new->rate) == 0);
    if (!entry->is_publication && !is_same) {
        figure_append_rate(text, old);
        buffer_append_text(text, " -> ");
    }
    figure_append_rate(text, new);
}

static void append_amount_moved(struct buffer *text, const struct ledger_entry *entry)
{
    if (!entry->is_publication) {
        append_amount(text, &entry->old);
        buffer_append_text(text, " -> ");
    }
    append_amount(text, &entry->new);
}

static void put_entry_moved(struct listing *listing, const struct ledger_entry *entry,
                            const struct row *row, struct table_cells *cells)
{
    struct buffer *text = table_print_cell(cells, false);
    calendar_time_format(entry->at_ms, text);
    text->size = SECONDS_SIZE;
    buffer_append_text(text, "Z");
    buffer_append_bytes(table_print_cell(cells, false), entry->new.reseller);
    command_text_day(table_print_cell(cells, false), entry->new.day);
    append_clicks_moved(table_print_cell(cells, false), entry);
    append_rate_moved(table_print_cell(cells, false), entry);
    append_amount_moved(table_print_cell(cells, false), entry);
    text = table_print_cell(cells, false);
    size_t before = text->size;
    put_by(listing, text, row);
    if (text->size == before)
        append_set(text, row, RESTATEMENT_CAUSES);
}

static void put_entry(struct listing *listing, const struct ledger_entry *entry,
                      const struct row *row, struct table_cells *cells)
{
    const struct day_figure *old = &entry->old;
    const struct day_figure *new = &entry->new;
    bool has_old = !entry->is_publication;
    calendar_time_format(entry->at_ms, table_print_cell(cells, false));
    buffer_append_bytes(table_print_cell(cells, false), new->reseller);
    command_text_day(table_print_cell(cells, false), new->day);
    append_set(table_print_cell(cells, false), row, RESTATEMENT_CAUSES);
    put_count(cells, has_old, old->clicks);
    put_count(cells, true, new->clicks);
    put_decimal(cells, has_old, old->gross);
    put_decimal(cells, true, new->gross);
    put_decimal(cells, has_old && old->is_priced, old->rate);
    put_decimal(cells, new->is_priced, new->rate);
    put_decimal(cells, has_old && old->is_priced, old->amount);
    put_decimal(cells, new->is_priced, new->amount);
    append_set(table_print_cell(cells, false), row, RESTATEMENT_CHANGES);
    put_by(listing, table_print_cell(cells, false), row);
}

static int take_entry(struct listing *listing, const struct table *table,
                      const struct page_row *row, struct error *err)
{
    struct ledger_entry entry;
    struct table_cells cells = {.count = 0};
    int rc = ledger_read(table, row, &entry, err);
    if (rc == 0 && is_selected(listing->options, &entry, &row->row)) {
        if (listing->options->common.format == TABLE_ALIGNED)
            put_entry_moved(listing, &entry, &row->row, &cells);
        else
            put_entry(listing, &entry, &row->row, &cells);
        table_print_cells(listing->print, &cells);
        listing->printed++;
    }
    return rc;
}

static int take_page(void *context, const struct read_page *page, struct error *err)
{
    struct listing *listing = context;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < page->row_count; i++)
        rc = take_entry(listing, page->table, &page->rows[i], err);
    buffer_set(&listing->position, page->position);
    command_text_flush(listing->output, &listing->text, false);
    return rc < 0 ? rc : 1;
}

/* ---- one reseller after the other ---- */

static void next_page(struct listing *listing);

static void page_done(void *context, int status, const struct error *err)
{
    struct listing *listing = context;
    error_keep(&listing->err, status, err);
    next_page(listing);
}

static void drained(void *context)
{
    struct listing *listing = context;
    listing->output->drained = NULL;
    next_page(listing);
}

static void read_page(struct listing *listing, struct bytes reseller)
{
    struct day_slice_text text;
    const struct click_stream *stream = listing->rollup->stream;
    const struct command_options *options = &listing->options->common;
    struct read_request request =
        store_rows_request(stream->ledger_table_id, &reseller, READ_DURABLE);
    request.slice = ledger_slice(options->from, options->to, &text);
    request.position = buffer_view(&listing->position);
    store_rows_read_pages(listing->rollup->store, &request, take_page, page_done, listing);
}

static void next_page(struct listing *listing)
{
    bool is_last = listing->position.size == 0;
    if (listing->err.code != 0 || (is_last && listing->reseller_next == listing->reseller_count)) {
        listing_finish(listing);
        return;
    }
    if (command_must_wait(listing->output, drained, listing))
        return;
    listing->reseller_next += is_last;
    read_page(listing, listing->resellers[listing->reseller_next - 1]);
}

static void resellers_known(void *context, int status, const struct error *err)
{
    struct listing *listing = context;
    if (error_keep(&listing->err, status, err) < 0) {
        listing_finish(listing);
        return;
    }
    listing->resellers = key_map_sorted(listing->rollup->resellers.map, &listing->reseller_count);
    next_page(listing);
}

static void changes_read(void *context, int status, const struct error *err)
{
    struct listing *listing = context;
    if (error_keep(&listing->err, status, err) < 0) {
        listing_finish(listing);
        return;
    }
    if (listing->options->common.reseller != NULL) {
        listing->resellers = memory_alloc(sizeof(struct bytes));
        listing->resellers[0] = bytes_text(listing->options->common.reseller);
        listing->reseller_count = 1;
        next_page(listing);
        return;
    }
    known_resellers_read(&listing->rollup->resellers, resellers_known, listing);
}

static void restatements_run(void *streams, const struct command_request *request,
                             struct command_output *output)
{
    static const struct table_column columns[COLUMN_COUNT] = {{"at", TABLE_TEXT},
                                                              {"reseller_id", TABLE_TEXT},
                                                              {"day", TABLE_TEXT},
                                                              {"causes", TABLE_LIST},
                                                              {"old_clicks", TABLE_NUMBER},
                                                              {"new_clicks", TABLE_NUMBER},
                                                              {"old_gross", TABLE_DECIMAL},
                                                              {"new_gross", TABLE_DECIMAL},
                                                              {"old_rate", TABLE_DECIMAL},
                                                              {"new_rate", TABLE_DECIMAL},
                                                              {"old_amount", TABLE_DECIMAL},
                                                              {"new_amount", TABLE_DECIMAL},
                                                              {"changes", TABLE_LIST},
                                                              {"by", TABLE_TEXT}};
    static const struct table_column moved_columns[TABLE_COLUMN_COUNT] = {
        {"at", TABLE_TEXT},       {"reseller_id", TABLE_TEXT}, {"day", TABLE_TEXT},
        {"clicks", TABLE_NUMBER}, {"rate", TABLE_TEXT},        {"amount", TABLE_TEXT},
        {"by", TABLE_TEXT}};
    const struct restatements_options *options = request->options;
    struct rollup *rollup = streams_enter(streams, options->common.stream, output);
    if (rollup == NULL)
        return;
    struct listing *listing = memory_zeroed(1, sizeof(*listing));
    listing->rollup = rollup;
    listing->options = options;
    listing->output = output;
    listing->arena = arena_new(ARENA_CHUNK);
    listing->changes = key_map_new_of(sizeof(struct bytes));
    listing->print =
        options->common.format == TABLE_ALIGNED
            ? table_print_new(TABLE_ALIGNED, moved_columns, TABLE_COLUMN_COUNT, &listing->text)
            : table_print_new(options->common.format, columns, COLUMN_COUNT, &listing->text);
    const struct read_request read = store_rows_request(TABLE_CHANGE, NULL, READ_DURABLE);
    store_rows_read(listing->rollup->store, &read, take_change, changes_read, listing);
}

const struct command command_restatements = {
    .name = "restatements",
    .summary = "show what changed in published figures, why, and by whom",
    .argp = &restatements_argp,
    .options_size = sizeof(struct restatements_options),
    .run = restatements_run};
