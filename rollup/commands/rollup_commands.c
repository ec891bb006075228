/* rollup_commands: see the header. */
#include "rollup/commands/rollup_commands.h"

const struct command *rollup_commands_at(uint32_t number)
{
    static const struct command *const commands[] = {&command_rate,
                                                     &command_rollup,
                                                     &command_clicks,
                                                     &command_retention,
                                                     &command_restatements,
                                                     &command_verify,
                                                     NULL};
    check(number < sizeof(commands) / sizeof(commands[0]));
    return commands[number];
}
