/* command_rollup: `daybook rollup`: brings figures up to date, publishes days, and seals expired
 * ones.
 *
 * The options for days only select the figures that are summed in the answer and checked by
 * --strict.  Without a server, --dry-run opens the store read-only, and no dirty days are loaded.
 * The answer then has figures that are computed in memory, instead of rows that are out of date
 * (dirty_overlay.h). */
#include "rollup/commands/rollup_commands.h"

#include <inttypes.h>

#include "rollup/days/seal_pass.h"
#include "base/memory.h"
#include "base/cli/command_text.h"
#include "rollup/commands/command_options.h"
#include "rollup/days/rollup_private.h"
#include "rollup/streams/streams.h"

enum { SEALING_PAUSE_MS = 20 }; /* before the next try, while another seal pass is under way */

/* ---- options ---- */

struct rollup_command_options {
    struct command_options common;
    bool is_strict;
};

enum { OPTION_ALL = OPTION_OWN, OPTION_STRICT };

static const struct argp_option rollup_argp_options[] = {
    {"day", OPTION_DAY, "DAY", 0, "answer for this day", 0},
    {"from", OPTION_FROM, "DAY", 0, "answer for the days from this one on", 0},
    {"to", OPTION_TO, "DAY", 0, "answer for the days up to this one", 0},
    {"all", OPTION_ALL, NULL, 0, "answer for all days (the default)", 0},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "print what is dirty or expired, write nothing", 0},
    OPTION_STREAM_LINE,
    {"strict", OPTION_STRICT, NULL, 0, "exit 1 if a day of the answer has clicks and no rate", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static error_t rollup_parse_option(int key, char *argument, struct argp_state *state)
{
    struct rollup_command_options *options = state->input;
    switch (key) {
    case OPTION_ALL:
        return 0;
    case OPTION_STRICT:
        options->is_strict = true;
        return 0;
    default:
        return command_options_parse(&options->common, key, argument, state);
    }
}

static const struct argp rollup_argp = {
    .options = rollup_argp_options,
    .parser = rollup_parse_option,
    .doc =
        "Bring amount_by_day up to date, publish the days that have ended, seal those whose clicks "
        "have expired (daybook retention).\v"
        "For cron, where no server keeps the table by itself; with a server it does at once what "
        "the server would have done soon. Days are YYYY-MM-DD, both ends included.\n\n"
        "Examples:\n"
        "  daybook rollup\n"
        "  daybook rollup --from 2013-11-01 --to 2013-11-30 --strict",
};

static bool rollup_writes(const void *options)
{
    return !((const struct rollup_command_options *)options)->common.is_dry_run;
}

/* ---- the answer ---- */

struct rollup_call {
    struct rollup *rollup;
    const struct rollup_command_options *options;
    struct command_output *output;
    struct timer again;
    struct change_row change;
    int64_t written_before;
    int64_t published_before;
    int64_t restated_before;
    uint64_t days; /* days in the answer; the sums below are over these days */
    uint64_t clicks;
    struct decimal gross;
    struct decimal amount;
    uint64_t unpriced_days;
    struct decimal unpriced_gross;
    bool is_overflown;
    struct error err; /* the first failure; the steps after it are done all the same */
};

static void call_finish(struct rollup_call *call, int status, const struct error *err)
{
    struct command_output *output = call->output;
    status = error_keep(&call->err, status, err);
    int exit_status = command_report(output, status, &call->err);
    if (status == 0 && call->options->is_strict && call->unpriced_days > 0)
        exit_status = EXIT_DATA_SAYS_NO;
    rollup_leave(call->rollup);
    memory_free(call);
    output->finish(output, exit_status);
}

static bool count_figure(void *context, const struct day_figure *figure)
{
    struct rollup_call *call = context;
    int rc = decimal_add(call->gross, figure->gross, &call->gross);
    call->days++;
    call->clicks += figure->clicks;
    if (figure->is_priced) {
        rc = rc == 0 ? decimal_add(call->amount, figure->amount, &call->amount) : rc;
    } else if (day_figure_is_unpriced(figure)) {
        call->unpriced_days++;
        rc = rc == 0 ? decimal_add(call->unpriced_gross, figure->gross, &call->unpriced_gross) : rc;
    }
    call->is_overflown = rc < 0;
    return rc == 0;
}

static void print_totals(struct rollup_call *call)
{
    struct buffer text = {0};
    command_text_count(&text, call->days, "day");
    buffer_append_text(&text, ", ");
    command_text_count(&text, call->clicks, "click");
    buffer_append_text(&text, ", gross ");
    decimal_append(&text, call->gross);
    buffer_append_text(&text, ", amount ");
    decimal_append(&text, call->amount);
    if (call->unpriced_days > 0) {
        buffer_append_text(&text, "; without a rate: ");
        command_text_count(&text, call->unpriced_days, "day");
        buffer_append_text(&text, ", gross ");
        decimal_append(&text, call->unpriced_gross);
    }
    buffer_append_text(&text, "\n");
    command_text_flush(call->output, &text, true);
    buffer_release(&text);
}

static void totals_done(void *context, int status, const struct error *err)
{
    struct rollup_call *call = context;
    struct error own = {0};
    if (status == 0 && call->is_overflown) {
        status = error_set(&own, ERROR_LIMIT, "a total has too many digits");
        err = &own;
    }
    if (status == 0)
        print_totals(call);
    call_finish(call, status, err);
}

static void totals_start(struct rollup_call *call)
{
    const struct figure_query query = {.day_from = call->options->common.from,
                                       .day_to = call->options->common.to,
                                       .in_any_order = true};
    rollup_figures(call->rollup, &query, count_figure, totals_done, call);
}

/* ---- sealing ---- */

static void seals_refreshed(void *context, int status, const struct error *err)
{
    struct rollup_call *call = context;
    error_keep(&call->err, status, err);
    totals_start(call);
}

static void print_seals(struct rollup_call *call, const struct seal_totals *totals)
{
    struct buffer text = {0};
    buffer_append_text(&text, call->options->common.is_dry_run ? "to be sealed: " : "sealed: ");
    command_text_count(&text, totals->days, "day");
    buffer_append_text(&text, " with ");
    command_text_count(&text, totals->clicks, "expired click");
    buffer_append_text(&text, ", gross ");
    decimal_append(&text, totals->gross);
    if (totals->days_left > 0)
        buffer_printf(&text, "; left to the next time: %" PRIu64, totals->days_left);
    buffer_append_text(&text, "\n");
    command_text_flush(call->output, &text, true);
    buffer_release(&text);
    if (totals->days_too_large > 0)
        command_printf(call->output, COMMAND_ERR,
                       "%" PRIu64 " days have too many ads to be sealed in one frame and stay\n",
                       totals->days_too_large);
}

/* A seal makes its day dirty, so the figures are refreshed once more. */
static void sealed(void *context, int status, const struct error *err,
                   const struct seal_totals *totals)
{
    struct rollup_call *call = context;
    error_keep(&call->err, status, err);
    print_seals(call, totals);
    if (call->options->common.is_dry_run)
        totals_start(call);
    else
        rollup_refresh_now(call->rollup, false, seals_refreshed, call);
}

static void warn_of_doubt(const struct rollup_call *call)
{
    if (!rollup_trusts_clock(call->rollup))
        command_printf(call->output, COMMAND_ERR,
                       "daybook: the clock is in doubt, so no day is published or sealed; daybook "
                       "clock says more\n");
}

static void seal_days(struct timer *timer)
{
    struct rollup_call *call = timer->context;
    struct error err = {0};
    if (call->rollup->retention.keep_days == 0) {
        totals_start(call);
        return;
    }
    int rc = seal_pass_begin(call->rollup, &call->change, call->options->common.is_dry_run, sealed,
                             call, &err);
    if (rc == ERROR_FULL)
        rollup_fire_in(call->rollup, &call->again, SEALING_PAUSE_MS);
    else if (rc < 0)
        call_finish(call, rc, &err);
}

/* ---- the figures ---- */

static void figures_refreshed(void *context, int status, const struct error *err)
{
    struct rollup_call *call = context;
    const struct rollup *rollup = call->rollup;
    error_keep(&call->err, status, err);
    command_printf(call->output, COMMAND_OUT,
                   "figures written: %" PRId64 ", published: %" PRId64 ", restated: %" PRId64 "\n",
                   rollup->metrics.written->value - call->written_before,
                   rollup->metrics.published->value - call->published_before,
                   rollup->metrics.restated->value - call->restated_before);
    warn_of_doubt(call);
    seal_days(&call->again);
}

static void dry_run(struct rollup_call *call)
{
    uint32_t count = rollup_dirty_count(call->rollup);
    command_printf(call->output, COMMAND_OUT, "%u figure%s out of date; nothing was written\n",
                   count, count == 1 ? "" : "s");
    seal_days(&call->again);
}

static void rollup_run(void *streams, const struct command_request *request,
                       struct command_output *output)
{
    const struct rollup_command_options *options = request->options;
    struct rollup *rollup = streams_enter(streams, options->common.stream, output);
    if (rollup == NULL)
        return;
    struct rollup_call *call = memory_zeroed(1, sizeof(*call));
    *call = (struct rollup_call){.rollup = rollup,
                                 .options = options,
                                 .output = output,
                                 .change = command_options_change(&options->common, request),
                                 .written_before = rollup->metrics.written->value,
                                 .published_before = rollup->metrics.published->value,
                                 .restated_before = rollup->metrics.restated->value};
    call->again = (struct timer){.fire = seal_days, .context = call};
    if (options->common.is_dry_run)
        dry_run(call);
    else
        rollup_refresh_now(rollup, true, figures_refreshed, call);
}

const struct command command_rollup = {.name = "rollup",
                                       .summary = "bring amount_by_day up to date and publish days",
                                       .argp = &rollup_argp,
                                       .options_size = sizeof(struct rollup_command_options),
                                       .writes = rollup_writes,
                                       .run = rollup_run};
