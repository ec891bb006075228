/* day_choice: see the header. */
#include "rollup/commands/day_choice.h"

#include <errno.h>

#include "base/calendar.h"
#include "base/cli/command.h"
#include "rollup/days/rate.h"

static int parse_day(const char *argument, int32_t *day_out, struct argp_state *state)
{
    struct error err;
    if (rate_parse_day(bytes_text(argument), day_out, &err) < 0)
        return command_usage(state, &err);
    return 0;
}

int day_choice_parse(struct day_choice *choice, int key, const char *argument,
                     struct argp_state *state)
{
    if (key != OPTION_DAY && key != OPTION_FROM && key != OPTION_TO)
        return ARGP_ERR_UNKNOWN;
    if (!choice->is_limited)
        *choice = (struct day_choice){true, DAY_MIN, DAY_MAX};
    if (key == OPTION_TO)
        return parse_day(argument, &choice->to, state);
    int rc = parse_day(argument, &choice->from, state);
    if (key == OPTION_DAY)
        choice->to = choice->from;
    return rc;
}

int day_choice_finish(struct day_choice *choice, struct argp_state *state)
{
    if (!choice->is_limited)
        *choice = (struct day_choice){false, DAY_MIN, DAY_MAX};
    if (choice->from > choice->to) {
        argp_error(state, "the days end before they begin");
        return EINVAL;
    }
    return 0;
}
