/* command_rate: `daybook rate`: set, delete, list or load the rates of resellers. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_RATE_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_RATE_H

#include "base/cli/command.h"

enum rate_action { RATE_NONE, RATE_SET, RATE_DELETE, RATE_LIST, RATE_LOAD };

/* Texts are the command line's own words. */
struct command_rate_options {
    enum rate_action action;
    uint32_t word_count;               /* after the action */
    const char *words[3];
    bool is_dry_run;
    const char *expect;                /* a rate, or "none" */
    const char *note;
    const char *stream;                /* NULL: clicks; so in all of them */
    enum table_format format;
};

extern const struct argp command_rate_argp;
bool command_rate_writes(const void *options);
const char *command_rate_input_file(const void *options);
/* `room` is the struct streams. */
void command_rate_run(void *room, const struct command_request *request,
                      struct command_output *output);
#endif
