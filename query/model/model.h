/* model: commands for data models: `daybook schema` (schema_command.c), `daybook import`
 * (import_command.c) and `daybook stream` (stream_command.c).
 *
 * Its specification is tests/e2e/test_model.py. */
#ifndef DAYBOOK_QUERY_MODEL_MODEL_H
#define DAYBOOK_QUERY_MODEL_MODEL_H

#include "base/cli/command.h"
#include "query/cql/session/cql.h"
#include "rollup/streams/streams.h"
#include "storage/engine/store.h"

/* The context of the commands.  All members outlive the struct. */
struct model {
    struct store *store;
    struct cql *cql;
    struct streams *streams;
};

/* Returns the command at `index`; NULL after the last.  The context of its `run` is a struct
 * model. */
const struct command *model_commands_at(uint32_t index);

extern const struct command schema_command;
extern const struct command import_command;
extern const struct command stream_command;

/* The exit status for a CQL error: EXIT_WRONG_USAGE for an error of the request, otherwise
 * EXIT_SYSTEM_FAILED. */
int model_exit_of(enum cql_error_code code);
#endif
