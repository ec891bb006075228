/* click_arguments: the options by which every measuring program chooses its clicks.
 *
 * A child parser of argp: the program's own `input` for it is a struct click_options, which holds
 * the defaults before and the choice after.
 *
 *     static const struct argp_child children[] = {{&click_argp, 0, NULL, 0}, {0}};
 *     ... case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->clicks; */
#ifndef DAYBOOK_BENCH_CLICK_ARGUMENTS_H
#define DAYBOOK_BENCH_CLICK_ARGUMENTS_H

#include <argp.h>

#include "bench/click_generator.h"

extern const struct argp click_argp;

/* A number within [least, most], digits only. */
bool click_number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *number_out);
#endif
