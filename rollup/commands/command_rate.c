/* command_rate: `daybook rate`: sets, deletes, lists or loads the rates of resellers.
 *
 * With --dry-run, or if rows of the edited resellers may be out of date, figures are read before
 * the change.  Otherwise the effect is summed up from the figures that the rollup writes.
 *
 * --expect is checked by change_refuses, directly before each attempt to apply the batch.  So if
 * two commands with --expect change a rate at the same time, the second is refused. */
#include "rollup/commands/rollup_commands.h"

#include "rollup/commands/rate_effect.h"
#include "rollup/commands/rate_file.h"
#include "rollup/commands/rate_history.h"
#include "rollup/days/rate_value.h"
#include "base/arena.h"
#include "base/memory.h"
#include "base/cli/command_text.h"
#include "rollup/commands/command_options.h"
#include "rollup/days/apply_when_room.h"
#include "rollup/days/rollup_private.h"
#include "rollup/streams/streams.h"

/* ---- options ---- */

enum rate_action { RATE_NONE, RATE_SET, RATE_DELETE, RATE_LIST, RATE_LOAD };

struct rate_options {
    struct command_options common;
    enum rate_action action;
    uint32_t word_count; /* words after the action */
    const char *words[3];
    const char *expect; /* a rate, or "none"; NULL: not given */
    bool is_history;
};

enum { OPTION_EXPECT = OPTION_OWN, OPTION_HISTORY };

static const struct argp_option rate_argp_options[] = {
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "print what would change, change nothing", 0},
    {"expect", OPTION_EXPECT, "OLD", 0,
     "only if this rate is in effect on DAY now; \"none\" for none", 0},
    {"note", OPTION_NOTE, "TEXT", 0, "why; kept with the change", 0},
    {"day", OPTION_DAY, "DAY", 0, "with list: only the rate in effect on this day", 0},
    {"history", OPTION_HISTORY, NULL, 0, "with list: who changed which rate, when and why", 0},
    {"format", OPTION_FORMAT, "FORMAT", 0,
     "of list: table (unless given), csv, csv-safe, json or md; else table or json", 0},
    OPTION_STREAM_LINE,
    {NULL, 0, NULL, 0, NULL, 0},
};

static int parse_word(struct rate_options *options, const char *word, struct argp_state *state)
{
    static const char *const actions[] = {
        [RATE_SET] = "set", [RATE_DELETE] = "delete", [RATE_LIST] = "list", [RATE_LOAD] = "load"};
    if (options->action != RATE_NONE) {
        if (options->word_count == sizeof(options->words) / sizeof(options->words[0]))
            return command_refuse(state, "'%s' is one word too many", word);
        options->words[options->word_count++] = word;
        return 0;
    }
    uint32_t action = command_word(word, actions, RATE_LOAD + 1);
    if (action <= RATE_LOAD) {
        options->action = (enum rate_action)action;
        return 0;
    }
    return command_refuse(state, "'%s' is none of set, delete, list, load", word);
}

static int check_words(const struct rate_options *options, struct argp_state *state)
{
    static const struct {
        uint32_t least;
        uint32_t most;
        const char *usage;
    } forms[] = {[RATE_NONE] = {0, 0, "set, delete, list or load is needed"},
                 [RATE_SET] = {3, 3, "rate set RESELLER DAY RATE"},
                 [RATE_DELETE] = {2, 2, "rate delete RESELLER DAY"},
                 [RATE_LIST] = {0, 1, "rate list [RESELLER]"},
                 [RATE_LOAD] = {1, 1, "rate load FILE"}};
    struct error err;
    struct decimal rate;
    int32_t day;
    if (options->action == RATE_NONE || options->word_count < forms[options->action].least ||
        options->word_count > forms[options->action].most)
        return command_refuse(state, "%s", forms[options->action].usage);
    if (options->action == RATE_LOAD || options->word_count == 0)
        return 0;
    int rc = rate_check_reseller(bytes_text(options->words[0]), &err);
    if (rc == 0 && options->word_count >= 2)
        rc = rate_parse_day(bytes_text(options->words[1]), &day, &err);
    if (rc == 0 && options->word_count == 3)
        rc = rate_parse(bytes_text(options->words[2]), &rate, &err);
    return rc < 0 ? command_refuse(state, "%s", err.text) : 0;
}

static int check_expect(const struct rate_options *options, struct argp_state *state)
{
    struct error err;
    struct decimal rate;
    if (options->expect == NULL)
        return 0;
    if (options->action != RATE_SET && options->action != RATE_DELETE)
        return command_refuse(state, "--expect goes with set and delete");
    if (strcmp(options->expect, "none") != 0 &&
        rate_parse(bytes_text(options->expect), &rate, &err) < 0)
        return command_refuse(state, "%s", err.text);
    return 0;
}

static int check_history(const struct rate_options *options, struct argp_state *state)
{
    if (!options->is_history || options->action == RATE_LIST)
        return 0;
    return command_refuse(state, "--history goes with list");
}

static int check_day(const struct rate_options *options, struct argp_state *state)
{
    if (options->common.from == DAY_MIN || (options->action == RATE_LIST && !options->is_history))
        return 0;
    return command_refuse(state, "--day goes with list, and not with --history");
}

static int check_format(const struct rate_options *options, struct argp_state *state)
{
    enum table_format format = options->common.format;
    if (options->action == RATE_LIST || format == TABLE_ALIGNED || format == TABLE_JSON)
        return 0;
    return command_refuse(state, "--format is table or json, except of list");
}

static error_t rate_parse_option(int key, char *argument, struct argp_state *state)
{
    struct rate_options *options = state->input;
    int rc;
    switch (key) {
    case OPTION_EXPECT:
        options->expect = argument;
        return 0;
    case OPTION_HISTORY:
        options->is_history = true;
        return 0;
    case ARGP_KEY_ARG:
        return parse_word(options, argument, state);
    case ARGP_KEY_END:
        rc = check_words(options, state);
        rc = rc != 0 ? rc : check_expect(options, state);
        rc = rc != 0 ? rc : check_history(options, state);
        rc = rc != 0 ? rc : check_day(options, state);
        return rc != 0 ? rc : check_format(options, state);
    default:
        return command_options_parse(&options->common, key, argument, state);
    }
}

static const struct argp rate_argp = {
    .options = rate_argp_options,
    .parser = rate_parse_option,
    .args_doc = "set RESELLER DAY RATE\ndelete RESELLER DAY\nlist [RESELLER]\nload FILE",
    .doc = "Rates: the share of a click's amount that a reseller earns, each from a day on.\v"
           "RATE is a fraction or carries its sign: 0.25 or 25%. It is in effect from DAY "
           "(YYYY-MM-DD) until the reseller's next rate. Figures that follow are right when the "
           "command returns; what it changes is printed.\n\n"
           "Examples:\n"
           "  daybook rate set supaboobs 2013-11-01 25% --note 'contract of March'\n"
           "  daybook rate set supaboobs 2013-11-01 0.3 --expect 25% --dry-run\n"
           "  daybook rate load rates.csv   # reseller_id,effective_since,reward_percent\n"
           "  daybook rate list --format csv > rates.csv\n"
           "  daybook rate list supaboobs --day 2013-11-28\n"
           "  daybook rate list supaboobs --history",
};

static bool rate_writes(const void *options)
{
    const struct rate_options *rate = options;
    return rate->action != RATE_LIST && !rate->common.is_dry_run;
}

static const char *rate_input_file(const void *options)
{
    const struct rate_options *rate = options;
    return rate->action == RATE_LOAD ? rate->words[0] : NULL;
}

/* ---- list ---- */

static void list_rate(struct table_print *print, struct bytes reseller, const struct rate *rate,
                      enum table_format format)
{
    struct table_cells cells = {.count = 0};
    buffer_append_bytes(table_print_cell(&cells, false), reseller);
    command_text_day(table_print_cell(&cells, false), rate->since);
    struct buffer *text = table_print_cell(&cells, false);
    if (format == TABLE_CSV || format == TABLE_CSV_SAFE)
        rate_append_text(text, rate->rate);
    else if (format == TABLE_JSON)
        decimal_append(text, rate->rate);
    else
        rate_append_percent(text, rate->rate);
    table_print_cells(print, &cells);
}

/* A loop turn prints whole resellers until it has printed at least this many rates. */
enum { LISTED_MAX = 1000 };

struct rate_listing {
    struct rollup *rollup;
    const struct rate_options *options;
    struct command_output *output;
    struct bytes *resellers;
    uint32_t reseller_count;
    uint32_t reseller_next;
    uint64_t printed;
    struct buffer text;
    struct table_print *print;
    struct timer time_slice;
};

static void list_finish(struct rate_listing *listing)
{
    struct command_output *output = listing->output;
    table_print_finish(listing->print);
    command_text_flush(output, &listing->text, true);
    if (listing->printed == 0)
        command_printf(output, COMMAND_ERR, "no rates\n");
    memory_free(listing->resellers);
    buffer_release(&listing->text);
    rollup_leave(listing->rollup);
    memory_free(listing);
    output->finish(output, EXIT_DONE);
}

static uint32_t list_reseller(struct rate_listing *listing, struct bytes reseller)
{
    const struct command_options *options = &listing->options->common;
    uint32_t count;
    struct rate *rates = rate_table_rates(listing->rollup->rates.table, reseller, &count);
    const struct rate *only =
        options->from != DAY_MIN ? rate_at(rates, count, options->from) : NULL;
    for (uint32_t i = 0; i < count; i++)
        if (options->from == DAY_MIN || &rates[i] == only)
            list_rate(listing->print, reseller, &rates[i], options->format);
    memory_free(rates);
    command_text_flush(listing->output, &listing->text, false);
    listing->printed += count;
    return count;
}

static void list_drained(void *context)
{
    struct rate_listing *listing = context;
    listing->output->drained = NULL;
    rollup_fire_in(listing->rollup, &listing->time_slice, 0);
}

static void list_some(struct timer *timer)
{
    struct rate_listing *listing = timer->context;
    if (command_must_wait(listing->output, list_drained, listing))
        return;
    for (uint32_t listed = 0; listed < LISTED_MAX;) {
        if (listing->reseller_next == listing->reseller_count) {
            list_finish(listing);
            return;
        }
        listed += list_reseller(listing, listing->resellers[listing->reseller_next++]);
    }
    rollup_fire_in(listing->rollup, &listing->time_slice, 0);
}

static void list_run(struct rollup *rollup, const struct rate_options *options,
                     struct command_output *output)
{
    static const struct table_column columns[] = {{"reseller_id", TABLE_TEXT},
                                                  {"effective_since", TABLE_TEXT},
                                                  {"reward_percent", TABLE_DECIMAL}};
    struct rate_listing *listing = memory_zeroed(1, sizeof(*listing));
    listing->rollup = rollup;
    listing->options = options;
    listing->output = output;
    listing->print = table_print_new(options->common.format, columns, 3, &listing->text);
    listing->time_slice = (struct timer){.fire = list_some, .context = listing};
    if (options->word_count > 0) {
        listing->resellers = memory_alloc(sizeof(*listing->resellers));
        listing->resellers[0] = bytes_text(options->words[0]);
        listing->reseller_count = 1;
    } else {
        listing->resellers = rate_table_resellers(rollup->rates.table, &listing->reseller_count);
    }
    rollup_fire_in(rollup, &listing->time_slice, 0);
}

/* ---- changes ---- */

struct rate_change {
    struct rollup *rollup;
    const struct command_request *request;
    const struct rate_options *options;
    struct command_output *output;
    struct rate_file *file; /* of `rate load`; owns the edits */
    struct rate_edit own;
    const struct rate_edit *edits;
    uint32_t edit_count;
    struct bytes *resellers;
    uint32_t reseller_count;
    int32_t since; /* the first day that may change */
    struct rate_effect *effect;
    bool is_printed;
    bool has_figures;
    uint8_t id[UUID_SIZE];
    struct buffer text;
    struct write_batch *batch;
    uint32_t waits;         /* expected callbacks, of the batch and of the figures */
    struct error err;       /* the first failure of the change itself; code 0: none */
    struct error err_after; /* the first failure of the figures that follow from the change */
};

static void change_finish(struct rate_change *change, int exit_status)
{
    struct command_output *output = change->output;
    command_text_flush(output, &change->text, true);
    rate_file_free(change->file);
    rate_effect_free(change->effect);
    write_batch_free(change->batch);
    memory_free(change->resellers);
    buffer_release(&change->text);
    rollup_leave(change->rollup);
    memory_free(change);
    output->finish(output, exit_status);
}

static void change_fail(struct rate_change *change, int exit_status, const char *text)
{
    command_printf(change->output, COMMAND_ERR, "daybook: %s\n", text);
    change_finish(change, exit_status);
}

static void change_end_refused(struct rate_change *change)
{
    int code = change->err.code;
    change_fail(change, code == ERROR_CONFLICT ? EXIT_DATA_SAYS_NO : command_exit_of(code),
                change->err.text);
}

static void print_effect(struct rate_change *change)
{
    const struct command_options *options = &change->options->common;
    if (options->format == TABLE_JSON)
        rate_effect_print_json(change->effect, !options->is_dry_run, &change->text);
    else
        rate_effect_print(change->effect, &change->text);
    change->is_printed = true;
}

/* Set the resellers and the first day of the edits, which are sorted by reseller. */
static void take_edits(struct rate_change *change)
{
    change->resellers = memory_alloc(change->edit_count * sizeof(struct bytes));
    change->since = INT32_MAX;
    for (uint32_t i = 0; i < change->edit_count; i++) {
        const struct rate_edit *edit = &change->edits[i];
        if (i == 0 || !bytes_equal(edit[-1].reseller, edit->reseller))
            change->resellers[change->reseller_count++] = edit->reseller;
        if (edit->since < change->since)
            change->since = edit->since;
    }
    change->effect =
        rate_effect_new(change->rollup->rates.table, change->edits, change->edit_count);
}

/* ---- before writing ---- */

static int check_expected(const struct rate_change *change, struct error *err)
{
    const char *expect = change->options->expect;
    const struct rate_edit *edit = &change->edits[0];
    const struct rate *now =
        rate_table_at(change->rollup->rates.table, edit->reseller, edit->since);
    struct decimal expected = decimal_from(0, 0);
    if (expect == NULL)
        return 0;
    bool is_none = strcmp(expect, "none") == 0;
    int rc = is_none ? 0 : rate_parse(bytes_text(expect), &expected, err);
    if (rc < 0)
        return rc;
    if (is_none ? now == NULL : now != NULL && decimal_compare(now->rate, expected) == 0)
        return 0;
    struct buffer text = {0};
    buffer_append_text(&text, "the rate in effect on ");
    command_text_day(&text, edit->since);
    buffer_append_text(&text, " is ");
    if (now != NULL)
        rate_append_percent(&text, now->rate);
    else
        buffer_append_text(&text, "unpriced");
    buffer_printf(&text, ", not %s; nothing was changed", expect);
    buffer_put_u8(&text, 0);
    rc = error_set(err, ERROR_CONFLICT, "%s", (const char *)text.data);
    buffer_release(&text);
    return rc;
}

static int check_deleted(const struct rate_change *change, struct error *err)
{
    const struct rate_edit *edit = &change->edits[0];
    const struct rate *now =
        rate_table_at(change->rollup->rates.table, edit->reseller, edit->since);
    if (change->options->action != RATE_DELETE || (now != NULL && now->since == edit->since))
        return 0;
    return error_set(err, ERROR_CONFLICT, "no rate of this reseller begins on that day");
}

/* ERROR_CONFLICT: the present rates do not allow the change. */
static int change_refuses(void *context, struct error *err)
{
    const struct rate_change *change = context;
    int rc = check_deleted(change, err);
    return rc == 0 ? check_expected(change, err) : rc;
}

/* ---- writing ---- */

static struct mutation edit_mutation(struct rate_change *change, const struct rate_edit *edit)
{
    struct write_batch *batch = change->batch;
    const struct click_stream_rates *rates = &change->rollup->stream->rates;
    const struct table *table = rollup_table(change->rollup, rates->table_id);
    struct mutation mutation;
    char day[DAY_TEXT_SIZE + 1];
    calendar_day_format(edit->since, day);
    struct column_value values[] = {
        {rates->reseller, false, edit->reseller},
        {rates->since, false, bytes_text(day)},
        {rates->rate, false, bytes_of(NULL, 0)},
    };
    if (edit->is_delete) {
        mutation_delete(table, values, 2, batch->arena, &mutation);
        return mutation;
    }
    struct buffer value = {0};
    int rc = rate_value_make(rates, table, edit->rate, &value, NULL);
    check(rc == 0); /* check_values has done the same */
    values[2].value = buffer_view(&value);
    mutation_insert(table, values, 3, true, batch->arena, &mutation);
    buffer_release(&value);
    return mutation;
}

/* Add one mutation for each reseller, with its items in the order of the table's rows.  Edits are
 * sorted by reseller, and the edits of a reseller by day descending. */
static void add_edits(struct rate_change *change)
{
    const struct click_stream_rates *rates = &change->rollup->stream->rates;
    const struct table *table = rollup_table(change->rollup, rates->table_id);
    bool is_descending = schema_column(table, rates->since)->descending;
    uint32_t start = 0;
    while (start < change->edit_count) {
        struct bytes reseller = change->edits[start].reseller;
        uint32_t end = start + 1;
        while (end < change->edit_count && bytes_equal(change->edits[end].reseller, reseller))
            end++;
        struct unfiltered *items = arena_array(change->batch->arena, end - start, sizeof(*items));
        struct mutation mutation = {0};
        for (uint32_t i = start; i < end; i++) {
            mutation = edit_mutation(change, &change->edits[i]);
            items[is_descending ? i - start : end - 1 - i] = mutation.items[0];
        }
        mutation.items = items;
        mutation.item_count = end - start;
        write_batch_add_mutation(change->batch, &mutation);
        start = end;
    }
}

static void change_written(void *context, int status, const struct error *err)
{
    struct rate_change *change = context;
    error_keep(&change->err, status, err);
    if (--change->waits > 0)
        return;
    int code = change->err_after.code;
    if (change->err.code < 0) {
        change_end_refused(change);
        return;
    }
    /* If the figures failed, print the effect on the days that were written, if there are any.
     * After ERROR_LIMIT print nothing, because the sums are incomplete. */
    if (!change->is_printed && (code == 0 || (change->has_figures && code != ERROR_LIMIT)))
        print_effect(change);
    command_text_flush(change->output, &change->text, true);
    if (code < 0)
        command_printf(change->output, COMMAND_ERR, "daybook: the rates were changed, but %s\n",
                       change->err_after.text);
    change_finish(change, code < 0 ? command_exit_of(code) : EXIT_DONE);
}

static void figures_refreshed(void *context, int status, const struct error *err)
{
    struct rate_change *change = context;
    error_keep(&change->err_after, status, err);
    change_written(change, 0, NULL);
}

static void figure_written(void *context, const struct day_figure *figure)
{
    struct rate_change *change = context;
    int rc = rate_effect_add(change->effect, figure);
    change->has_figures = true;
    if (rc < 0 && change->err_after.code == 0)
        error_set(&change->err_after, rc, "an amount has too many digits");
}

static void change_accepted(void *context)
{
    struct rate_change *change = context;
    struct figure_watch watch = {.each = figure_written, .context = change};
    memcpy(watch.change, change->id, UUID_SIZE);
    change->waits++;
    rollup_refresh_rates_now(change->rollup, change->is_printed ? NULL : &watch, figures_refreshed,
                             change);
}

static void change_write(struct rate_change *change)
{
    change->batch = write_batch_new();
    struct change_row row = command_options_change(&change->options->common, change->request);
    rollup_add_change(change->rollup, change->batch, &row);
    memcpy(change->id, row.id, UUID_SIZE);
    add_edits(change);
    change->batch->is_followed = true;
    change->waits = 1;
    apply_when_room(change->rollup->store, change->rollup->world->executor, change->batch,
                    change_refuses, change_accepted, change_written, change);
}

/* ---- the preview: effects that are printed before the change ---- */

static void preview_done(void *context, int status, const struct error *err)
{
    struct rate_change *change = context;
    if (error_keep(&change->err, status, err) < 0) {
        change_fail(change, command_exit_of(change->err.code), change->err.text);
        return;
    }
    if (change_refuses(change, &change->err) < 0) {
        change_end_refused(change);
        return;
    }
    print_effect(change);
    if (change->options->common.is_dry_run) {
        command_text_flush(change->output, &change->text, true);
        command_printf(change->output, COMMAND_ERR, "dry run: nothing was changed\n");
        change_finish(change, EXIT_DONE);
        return;
    }
    change_write(change);
}

static bool preview_figure(void *context, const struct day_figure *figure)
{
    struct rate_change *change = context;
    int rc = rate_effect_add(change->effect, figure);
    if (rc < 0)
        error_set(&change->err, rc, "an amount has too many digits");
    return rc == 0;
}

static void preview_start(struct rate_change *change)
{
    const struct figure_query query = {.resellers = change->resellers,
                                       .reseller_count = change->reseller_count,
                                       .day_from = change->since,
                                       .day_to = INT32_MAX,
                                       .is_current = true,
                                       .in_any_order = true};
    rollup_figures(change->rollup, &query, preview_figure, preview_done, change);
}

/* A preview is needed for a dry run, and where rows may be out of date.  Otherwise the refresh
 * after the change reads the same rows, and reports the figures. */
static bool needs_preview(const struct rate_change *change)
{
    if (change->options->common.is_dry_run)
        return true;
    for (uint32_t i = 0; i < change->reseller_count; i++)
        if (!rollup_rows_are_current(change->rollup, change->resellers[i], change->since))
            return true;
    return false;
}

static void change_start(struct rate_change *change)
{
    if (check_deleted(change, &change->err) < 0)
        change_end_refused(change);
    else if (needs_preview(change))
        preview_start(change);
    else
        change_write(change);
}

static bool make_edits(struct rate_change *change)
{
    const struct rate_options *options = change->options;
    if (options->action == RATE_LOAD) {
        struct buffer errors = {0};
        change->file = rate_file_parse(change->request->input, &errors);
        if (change->file == NULL) {
            change->output->write(change->output, COMMAND_ERR, buffer_view(&errors));
            buffer_release(&errors);
            change_fail(change, EXIT_WRONG_USAGE, "the file was refused; nothing was changed");
            return false;
        }
        change->edits = rate_file_edits(change->file, &change->edit_count);
        return true;
    }
    change->own.reseller = bytes_text(options->words[0]);
    change->own.is_delete = options->action == RATE_DELETE;
    int rc = rate_parse_day(bytes_text(options->words[1]), &change->own.since, NULL);
    if (rc == 0 && !change->own.is_delete)
        rc = rate_parse(bytes_text(options->words[2]), &change->own.rate, NULL);
    check(rc == 0);
    change->edits = &change->own;
    change->edit_count = 1;
    return true;
}

/* False: the column of rates cannot hold a rate, and the command has ended. */
static bool check_values(struct rate_change *change)
{
    const struct click_stream_rates *rates = &change->rollup->stream->rates;
    const struct table *table = rollup_table(change->rollup, rates->table_id);
    struct buffer value = {0};
    struct error err = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < change->edit_count; i++) {
        buffer_clear(&value);
        if (!change->edits[i].is_delete)
            rc = rate_value_make(rates, table, change->edits[i].rate, &value, &err);
    }
    buffer_release(&value);
    if (rc < 0)
        change_fail(change, EXIT_WRONG_USAGE, err.text);
    return rc == 0;
}

static void change_run(struct rollup *rollup, const struct command_request *request,
                       struct command_output *output)
{
    struct rate_change *change = memory_zeroed(1, sizeof(*change));
    change->rollup = rollup;
    change->request = request;
    change->options = request->options;
    change->output = output;
    if (!make_edits(change))
        return;
    if (change->edit_count == 0) {
        change_fail(change, EXIT_DONE, "the file has no rates; nothing was changed");
        return;
    }
    take_edits(change);
    if (check_values(change))
        change_start(change);
}

static void rate_run(void *streams, const struct command_request *request,
                     struct command_output *output)
{
    const struct rate_options *options = request->options;
    struct rollup *rollup = streams_enter(streams, options->common.stream, output);
    if (rollup == NULL)
        return;
    if (options->is_history)
        rate_history_run(rollup, options->word_count > 0 ? options->words[0] : NULL,
                         options->common.format, output);
    else if (options->action == RATE_LIST)
        list_run(rollup, options, output);
    else
        change_run(rollup, request, output);
}

const struct command command_rate = {.name = "rate",
                                     .summary = "set, delete, list or load the rates of resellers",
                                     .argp = &rate_argp,
                                     .options_size = sizeof(struct rate_options),
                                     .writes = rate_writes,
                                     .input_file = rate_input_file,
                                     .run = rate_run};
