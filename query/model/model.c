/* model: see the header. */
#include "query/model/model.h"

int model_exit_of(enum cql_error_code code)
{
    return code >= CQL_SYNTAX_ERROR ? EXIT_WRONG_USAGE : EXIT_SYSTEM_FAILED;
}

const struct command *model_commands_at(uint32_t index)
{
    static const struct command *const commands[] = {&schema_command, &import_command,
                                                     &stream_command, NULL};
    return commands[index];
}
