/* command_retention: `daybook retention`: sets or shows how many days clicks are kept.
 *
 * Sealed days stay sealed when the number of days is raised. */
#include "rollup/commands/rollup_commands.h"

#include <stdlib.h>

#include "rollup/days/seal_pass.h"
#include "base/memory.h"
#include "base/cli/command_text.h"
#include "rollup/commands/command_options.h"
#include "rollup/days/apply_when_room.h"
#include "rollup/days/rollup_private.h"
#include "rollup/streams/streams.h"

/* ---- options ---- */

enum retention_action { RETENTION_NONE, RETENTION_SET, RETENTION_OFF, RETENTION_SHOW };

struct retention_options {
    struct command_options common;
    enum retention_action action;
    uint32_t days; /* of set; 0 (for ever) for other actions */
};

static const struct argp_option retention_argp_options[] = {
    {"note", OPTION_NOTE, "TEXT", 0, "why; kept with the change", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static int parse_days(struct retention_options *options, const char *word, struct argp_state *state)
{
    char *end;
    errno = 0;
    unsigned long days = strtoul(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0 || days == 0 ||
        days > KEEP_DAYS_MAX)
        return command_refuse(state, "'%s' is no number of days from 1 to %d", word, KEEP_DAYS_MAX);
    options->days = (uint32_t)days;
    return 0;
}

static int parse_word(struct retention_options *options, const char *word, struct argp_state *state)
{
    static const char *const actions[] = {
        [RETENTION_SET] = "set", [RETENTION_OFF] = "off", [RETENTION_SHOW] = "show"};
    if (options->action == RETENTION_SET && options->days == 0)
        return parse_days(options, word, state);
    uint32_t action = command_word(word, actions, RETENTION_SHOW + 1);
    if (options->action == RETENTION_NONE && action <= RETENTION_SHOW) {
        options->action = (enum retention_action)action;
        return 0;
    }
    return command_refuse(state,
                          options->action == RETENTION_NONE ? "'%s' is none of set, off, show"
                                                            : "'%s' is one word too many",
                          word);
}

static error_t retention_parse_option(int key, char *argument, struct argp_state *state)
{
    struct retention_options *options = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        return parse_word(options, argument, state);
    case ARGP_KEY_END:
        if (options->action == RETENTION_NONE)
            return command_refuse(state, "set, off or show is needed");
        if (options->action == RETENTION_SET && options->days == 0)
            return command_refuse(state, "set takes a number of days");
        return 0;
    default:
        return command_options_parse(&options->common, key, argument, state);
    }
}

static const struct argp retention_argp = {
    .options = retention_argp_options,
    .parser = retention_parse_option,
    .args_doc = "set DAYS|off|show",
    .doc =
        "Set or show for how many days clicks are kept.\v"
        "A published day that ended more than DAYS days ago is sealed: its clicks leave the disk, "
        "and its figure, its counters and its clicks by ad stay.  A sealed day is still priced "
        "anew when a rate changes, and takes late clicks on top; what it had cannot be voided any "
        "more.  A server seals by itself; else `daybook rollup` does, and its --dry-run says "
        "what it would seal. There is no way back: keep a backup of clicks that may be needed.\n\n"
        "Examples:\n"
        "  daybook retention set 400 --note 'as the contract says'\n"
        "  daybook rollup --dry-run\n"
        "  daybook retention off",
};

static bool retention_writes(const void *options)
{
    return ((const struct retention_options *)options)->action != RETENTION_SHOW;
}

/* ---- the call ---- */

struct retention_call {
    struct rollup *rollup;
    const struct retention_options *options;
    struct command_output *output;
    struct write_batch *batch;
};

static void call_finish(struct retention_call *call, int exit_status)
{
    struct command_output *output = call->output;
    write_batch_free(call->batch);
    rollup_leave(call->rollup);
    memory_free(call);
    output->finish(output, exit_status);
}

static void show(struct retention_call *call)
{
    const struct rollup *rollup = call->rollup;
    struct buffer text = {0};
    int32_t horizon;
    if (rollup->retention.keep_days == 0) {
        buffer_append_text(&text, "clicks are kept for ever");
    } else {
        buffer_append_text(&text, "clicks are kept for ");
        command_text_count(&text, rollup->retention.keep_days, "day");
    }
    if (seal_pass_horizon(rollup, &horizon)) {
        buffer_append_text(&text, ": published days up to ");
        command_text_day(&text, horizon);
        buffer_append_text(&text, " are sealed");
    }
    buffer_append_text(&text, "\n");
    if (rollup->retention.sealed_to != SEALED_NONE) {
        buffer_append_text(&text, "the last sealed day is ");
        command_text_day(&text, rollup->retention.sealed_to);
        buffer_append_text(&text, "\n");
    }
    command_text_flush(call->output, &text, true);
    buffer_release(&text);
}

static void set_applied(void *context)
{
    struct retention_call *call = context;
    call->rollup->retention.keep_days = call->options->days;
    seal_pass_tick_in(call->rollup, 0);
}

static void set_done(void *context, int status, const struct error *err)
{
    struct retention_call *call = context;
    if (status == 0)
        show(call);
    call_finish(call, command_report(call->output, status, err));
}

static void retention_run(void *streams, const struct command_request *request,
                          struct command_output *output)
{
    struct rollup *rollup = streams_enter(streams, NULL, output);
    if (rollup == NULL)
        return;
    struct retention_call *call = memory_zeroed(1, sizeof(*call));
    *call = (struct retention_call){.rollup = rollup,
                                    .options = request->options,
                                    .output = output,
                                    .batch = write_batch_new()};
    if (call->options->action == RETENTION_SHOW) {
        set_done(call, 0, NULL);
        return;
    }
    struct change_row change = command_options_change(&call->options->common, request);
    rollup_add_change(rollup, call->batch, &change);
    retention_write_keep(&rollup->retention, call->batch, call->options->days);
    apply_when_room(rollup->store, rollup->world->executor, call->batch, NULL, set_applied,
                    set_done, call);
}

const struct command command_retention = {.name = "retention",
                                          .summary =
                                              "set or show for how many days clicks are kept",
                                          .argp = &retention_argp,
                                          .options_size = sizeof(struct retention_options),
                                          .writes = retention_writes,
                                          .run = retention_run};
