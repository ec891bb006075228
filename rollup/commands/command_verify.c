/* command_verify: `daybook verify`: checks everything that follows from clicks and rates.
 * rollup/verify/ does the work. */
#include "rollup/commands/rollup_commands.h"

#include "rollup/commands/command_options.h"
#include "rollup/streams/streams.h"
#include "rollup/verify/verify.h"

/* ---- options ---- */

struct verify_options {
    struct command_options common;
    bool is_quiet; /* no progress is printed */
    bool repairs;
};

enum { OPTION_QUIET = 'q', OPTION_REPAIR = OPTION_OWN };

static const struct argp_option verify_argp_options[] = {
    OPTION_STREAM_LINE,
    {"quiet", OPTION_QUIET, NULL, 0, "no progress on standard error", 0},
    {"repair", OPTION_REPAIR, NULL, 0, "put counters, figures and ledger right, by the clicks", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static error_t verify_parse_option(int key, char *argument, struct argp_state *state)
{
    struct verify_options *options = state->input;
    switch (key) {
    case OPTION_QUIET:
        options->is_quiet = true;
        return 0;
    case OPTION_REPAIR:
        options->repairs = true;
        return 0;
    default:
        return command_options_parse(&options->common, key, argument, state);
    }
}

static const struct argp verify_argp = {
    .options = verify_argp_options,
    .parser = verify_parse_option,
    .doc = "Prove that checksums, stats, counters, figures and ledger agree with the clicks.\v"
           "A line per check says what was compared; each difference is named, and the exit status "
           "is 1 if there is one; a last line says what cannot be compared.  --repair believes the "
           "clicks: counters are moved to what was "
           "counted, figures made anew, and published ones restated, with cause `repair`; then "
           "everything is compared again.  A damaged file it cannot repair.\n\n"
           "Examples:\n"
           "  daybook verify\n"
           "  daybook verify --repair\n"
           "  daybook verify -q > /dev/null || page-somebody",
};

/* ---- the call ---- */

static bool verify_writes(const void *options)
{
    return ((const struct verify_options *)options)->repairs;
}

static void verify_run(void *streams, const struct command_request *request,
                       struct command_output *output)
{
    const struct verify_options *options = request->options;
    struct rollup *rollup = streams_enter(streams, options->common.stream, output);
    if (rollup == NULL)
        return;
    const struct verify_order order = {.rollup = rollup,
                                       .output = output,
                                       .is_quiet = options->is_quiet,
                                       .is_read_only = request->is_read_only,
                                       .repairs = options->repairs,
                                       .change = command_options_change(&options->common, request)};
    verify_start(&order);
}

const struct command command_verify = {
    .name = "verify",
    .summary = "prove that files, stats, counters, figures and ledger agree",
    .argp = &verify_argp,
    .options_size = sizeof(struct verify_options),
    .writes = verify_writes,
    .run = verify_run};
