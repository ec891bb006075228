/* command_clicks: `daybook clicks`: list clicks, void them, restore what was voided. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_CLICKS_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_CLICKS_H

#include "base/cli/command.h"
#include "rollup/commands/day_choice.h"

enum clicks_action { CLICKS_NONE, CLICKS_LIST, CLICKS_VOID, CLICKS_RESTORE };
enum { CLICKS_WHERE_MAX = 8 };

struct command_clicks_options {
    enum clicks_action action;
    struct day_choice days;
    const char *reseller;
    const char *where[CLICKS_WHERE_MAX];       /* COLUMN=VALUE */
    uint32_t where_count;
    const char *ad;
    bool is_dry_run;
    const char *note;
    enum table_format format;
};

extern const struct argp command_clicks_argp;
bool command_clicks_writes(const void *options);
/* `room` is the struct streams. */
void command_clicks_run(void *room, const struct command_request *request,
                        struct command_output *output);
#endif
