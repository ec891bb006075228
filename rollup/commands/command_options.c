/* command_options: see the header. */
#include "rollup/commands/command_options.h"

#include "rollup/days/rate.h"

static int parse_day(const char *argument, int32_t *day_out, struct argp_state *state)
{
    struct error err;
    if (rate_parse_day(bytes_text(argument), day_out, &err) < 0)
        return command_refuse(state, "%s", err.text);
    return 0;
}

int command_options_parse(struct command_options *options, int key, const char *argument,
                          struct argp_state *state)
{
    int rc;
    switch (key) {
    case ARGP_KEY_INIT:
        options->from = DAY_MIN;
        options->to = DAY_MAX;
        return 0;
    case OPTION_DAY:
        rc = parse_day(argument, &options->from, state);
        options->to = options->from;
        return rc;
    case OPTION_FROM:
        return parse_day(argument, &options->from, state);
    case OPTION_TO:
        return parse_day(argument, &options->to, state);
    case OPTION_RESELLER:
        options->reseller = argument;
        return 0;
    case OPTION_STREAM:
        options->stream = argument;
        return 0;
    case OPTION_FORMAT:
        return command_format(state, argument, &options->format);
    case OPTION_NOTE:
        options->note = argument;
        return 0;
    case OPTION_DRY_RUN:
        options->is_dry_run = true;
        return 0;
    case ARGP_KEY_ARG:
        return command_refuse(state, "'%s' is one word too many", argument);
    case ARGP_KEY_END:
        return options->from > options->to ? command_refuse(state, "the days end before they begin")
                                           : 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

struct change_row command_options_change(const struct command_options *options,
                                         const struct command_request *request)
{
    return (struct change_row){.door = request->door,
                               .actor = request->actor,
                               .command = request->text,
                               .note = options->note};
}
