/* model: see the header. */
#include "query/model/model.h"

static const char *queries_file(const void *options)
{
    return ((const struct schema_options *)options)->queries;
}

static const struct command commands[] = {
    {.name = "schema",
     .summary = "print keyspaces and tables as CQL, or a keyspace as a diagram",
     .argp = &schema_command_argp,
     .options_size = sizeof(struct schema_options),
     .input_file = queries_file,
     .run = schema_command_run},
    {.name = "import",
     .summary = "make tables from an older Cassandra's definitions",
     .argp = &import_command_argp,
     .options_size = sizeof(struct import_options),
     .writes = import_command_writes,
     .input_file = import_command_file,
     .run = import_command_run},
    {.name = "stream",
     .summary = "roll up tables of your own as clicks are: define, list, show and drop streams",
     .argp = &stream_command_argp,
     .options_size = sizeof(struct stream_options),
     .writes = stream_command_writes,
     .run = stream_command_run},
};

int model_exit_of(enum cql_error_code code)
{
    return code >= CQL_SYNTAX_ERROR ? EXIT_WRONG_USAGE : EXIT_SYSTEM_FAILED;
}

const struct command *model_commands_at(uint32_t index)
{
    return index < sizeof(commands) / sizeof(commands[0]) ? &commands[index] : NULL;
}
