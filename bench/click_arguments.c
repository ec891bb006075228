/* click_arguments: see click_arguments.h. */
#include "bench/click_arguments.h"

#include <string.h>

bool click_number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *number_out)
{
    uint64_t number = 0;

    if (*text == '\0' || strlen(text) > 18)
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        number = number * 10 + (uint64_t)(*text - '0');
    }
    *number_out = number;
    return number >= least && number <= most;
}

static bool order_parse(const char *text, enum click_order *order_out)
{
    static const char *const names[] = {"ordered", "late", "shuffled"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *order_out = (enum click_order)i;
            return true;
        }
    }
    return false;
}

/* Parse a number in 1..most, where `most` fits into 32 bits. */
static bool small_parse(const char *text, uint64_t most, uint32_t *number_out)
{
    uint64_t number = 0;
    bool is_good = click_number_parse(text, 1, most, &number);

    *number_out = (uint32_t)number;
    return is_good;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct click_options *clicks = state->input;
    bool is_good = true;

    switch (key) {
    case 'n':
        is_good = click_number_parse(argument, 1, UINT64_C(1000000000000), &clicks->clicks);
        break;
    case 's':
        is_good = click_number_parse(argument, 0, UINT32_MAX, &clicks->seed);
        break;
    case 'r':
        is_good = small_parse(argument, CLICK_RESELLERS_MAX, &clicks->resellers);
        break;
    case 'a':
        is_good = small_parse(argument, CLICK_ADS_MAX, &clicks->ads);
        break;
    case 'd':
        is_good = small_parse(argument, CLICK_DAYS_MAX, &clicks->days);
        break;
    case 'o':
        is_good = order_parse(argument, &clicks->order);
        break;
    case 'H':
        clicks->has_heavy = true;
        break;
    case 'u':
        clicks->has_uuid_ads = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    if (!is_good)
        argp_error(state, "no such value: %s", argument);
    return 0;
}

static const struct argp_option options[] = {
    {"clicks", 'n', "N", 0, "how many (10000000)", 0},
    {"order", 'o', "ORDER", 0, "of their times: ordered, late (5 %) or shuffled", 0},
    {"days", 'd', "N", 0, "from 2026-08-01 on (30)", 0},
    {"resellers", 'r', "N", 0, "with weights 1/1, 1/2, 1/3 ... (1000)", 0},
    {"heavy", 'H', NULL, 0, "the first reseller has half of all clicks", 0},
    {"ads", 'a', "N", 0, "of each reseller (200)", 0},
    {"uuid-ads", 'u', NULL, 0, "ads are named by UUIDs", 0},
    {"seed", 's', "N", 0, "another one gives other clicks (1)", 0},
    {0},
};

const struct argp click_argp = {.options = options, .parser = parse};
