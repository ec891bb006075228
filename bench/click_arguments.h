/* click_arguments: the options by which measuring programs choose their clicks.
 *
 * click_argp is a child parser of argp.  Its input is a struct click_options, which contains the
 * defaults before parsing and the chosen values afterwards:
 *
 *     static const struct argp_child children[] = {{&click_argp, 0, NULL, 0}, {0}};
 *     ... case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->clicks; */
#ifndef DAYBOOK_BENCH_CLICK_ARGUMENTS_H
#define DAYBOOK_BENCH_CLICK_ARGUMENTS_H

#include <argp.h>

#include "bench/click_generator.h"

extern const struct argp click_argp;

/* Parse a number of digits only.  False: it is not in [least, most]. */
bool click_number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *number_out);
#endif
