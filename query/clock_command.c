/* clock_command: see the header.  program/mending.c runs `daybook clock mend`, which needs a
 * directory that no server has open. */
#include "query/clock_command.h"

#include <inttypes.h>
#include <string.h>

#include "query/query.h"
#include "base/calendar.h"
#include "base/memory.h"

enum { KEY_DRY_RUN = 0x20001 };

static error_t take_word(struct clock_command_options *options, const char *word,
                         struct argp_state *state)
{
    options->accepts |= strcmp(word, "accept") == 0;
    options->mends |= strcmp(word, "mend") == 0;
    if (state->arg_num > 0 || options->accepts == options->mends)
        return command_refuse(
            state, "'%s' is neither accept nor mend, and one of them is all there is", word);
    return 0;
}

static error_t clock_parse(int key, char *argument, struct argp_state *state)
{
    struct clock_command_options *options = state->input;
    switch (key) {
    case KEY_DRY_RUN:
        options->is_dry_run = true;
        return 0;
    case ARGP_KEY_ARG:
        return take_word(options, argument, state);
    case ARGP_KEY_END:
        return options->is_dry_run && !options->mends
                   ? command_refuse(state, "--dry-run belongs to mend")
                   : 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option clock_argp_options[] = {
    {"dry-run", KEY_DRY_RUN, NULL, 0, "With mend: only say what would change", 0},
    {0},
};

static const struct argp clock_command_argp = {
    .options = clock_argp_options,
    .parser = clock_parse,
    .args_doc = "[accept | mend]",
    .doc =
        "Say whether the machine's clock is believed, or that it is right; or mend a directory "
        "whose timestamps are ahead of it."
        "\vTrusted time goes on with the machine, whatever its clock is set to. While the clock is "
        "more than a day from it, nothing is published, sealed or expired, and no producer is "
        "forgotten; a server says so every hour. That ends when the clock is set right; by itself "
        "some hours after a machine was off for up to 14 days; or by accept, once you know that "
        "the clock is right. Exit status 1: the clock is in doubt.\n\n"
        "mend is for a directory whose last write is ahead of the clock, so that what drivers "
        "write with times of their own is lost: it gives all that lies between now and the last "
        "write times up to now, in the same order. No server may hold the directory. Make a "
        "backup point after it.\n\n"
        "Examples:\n"
        "  daybook clock\n"
        "  daybook clock accept\n"
        "  daybook clock mend --dry-run",
};

static bool clock_writes(const void *options)
{
    const struct clock_command_options *clock = options;
    return clock->accepts || clock->mends;
}

static void put_time(struct buffer *text, const char *name, int64_t time_us)
{
    int64_t time_ms = time_us / 1000;
    buffer_printf(text, "%-18s ", name);
    if (time_ms < TIME_MS_MIN || time_ms > TIME_MS_MAX)
        buffer_printf(text, "%" PRId64 " microseconds, which is no time", time_us);
    else
        calendar_time_format(time_ms, text);
    buffer_append_text(text, "\n");
}

static int print_clock(const struct query *query, struct command_output *output)
{
    const struct store_clock clock = store_clock(query->store);
    struct buffer text = {0};
    put_time(&text, "clock", clock.wall_us);
    put_time(&text, "trusted", clock.trusted_us);
    buffer_printf(&text, "%-18s %" PRId64 " seconds\n", "ahead",
                  (clock.wall_us - clock.trusted_us) / 1000000);
    if (clock.last_us > 0)
        put_time(&text, "last write", clock.last_us);
    buffer_printf(&text, "%-18s %s\n", "in doubt",
                  clock.is_in_doubt ? "yes: nothing is published, sealed or expired" : "no");
    output->write(output, COMMAND_OUT, buffer_view(&text));
    buffer_release(&text);
    return clock.is_in_doubt ? EXIT_DATA_SAYS_NO : EXIT_DONE;
}

struct accepting {
    const struct query *query;
    struct command_output *output;
};

static void accepted(void *context, int status, const struct error *err)
{
    struct accepting accepting = *(struct accepting *)context;
    memory_free(context);
    if (status < 0) {
        command_fail(accepting.output, command_exit_of(status), "clock: %s",
                     err != NULL ? err->text : error_text(status));
        return;
    }
    int exit_status = print_clock(accepting.query, accepting.output);
    accepting.output->finish(accepting.output, exit_status);
}

static void clock_command_run(void *room, const struct command_request *request,
                              struct command_output *output)
{
    const struct query *query = room;
    const struct clock_command_options *options = request->options;
    struct error err = {0};
    if (options->mends) {
        command_fail(output, EXIT_SYSTEM_FAILED,
                     "clock: a server holds the directory; stop it, mend, and start it again");
        return;
    }
    if (!options->accepts) {
        int exit_status = print_clock(query, output);
        output->finish(output, exit_status);
        return;
    }
    struct accepting *accepting = memory_zeroed(1, sizeof(*accepting));
    *accepting = (struct accepting){query, output};
    int rc = store_accept_clock(query->store, accepted, accepting, &err);
    if (rc < 0)
        accepted(accepting, rc, &err);
}

const struct command clock_command = {
    .name = "clock",
    .summary = "say whether the machine's clock is believed, or that it is right",
    .argp = &clock_command_argp,
    .options_size = sizeof(struct clock_command_options),
    .writes = clock_writes,
    .run = clock_command_run};
