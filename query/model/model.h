/* model: commands for data models: `daybook schema` prints the schema of a directory as CQL or as a
 * diagram (schema_command.c), `daybook import` adds schemas of older Cassandras (import_command.c),
 * and `daybook stream` defines streams over tables (stream_command.c).
 *
 * Its specification is tests/e2e/test_model.py. */
#ifndef DAYBOOK_QUERY_MODEL_MODEL_H
#define DAYBOOK_QUERY_MODEL_MODEL_H

#include "base/cli/command.h"
#include "query/cql/session/cql.h"
#include "query/model/definitions.h"
#include "rollup/streams/streams.h"
#include "storage/engine/store.h"

/* What the commands work on; all of it outlives the struct. */
struct model {
    struct store *store;
    struct cql *cql;
    struct streams *streams;
};

/* Returns the subcommands schema, import and stream, whose context is a struct model; NULL after
 * the last. */
const struct command *model_commands_at(uint32_t index);

/* ---- the commands, for the table in model.c ---- */

struct schema_options {
    const char *keyspace;              /* NULL: all */
    const char *chebotko;              /* the keyspace to draw; NULL: CQL is printed */
    const char *queries;               /* a file of queries (query_flow.h); NULL: none */
};
extern const struct argp schema_command_argp;
void schema_command_run(void *room, const struct command_request *request,
                        struct command_output *output);

struct import_kind;
struct import_options {
    const struct import_kind *kind;
    const char *file;
    struct definitions_options definitions;
    bool is_dry_run;
};
extern const struct argp import_command_argp;
bool import_command_writes(const void *options);
const char *import_command_file(const void *options);
void import_command_run(void *room, const struct command_request *request,
                        struct command_output *output);

enum stream_action { STREAM_NONE, STREAM_CREATE, STREAM_LIST, STREAM_SHOW, STREAM_DROP };
enum { STREAM_PART_MAX = 2 * SCHEMA_NAME_MAX + 2 };
struct stream_options {
    enum stream_action action;
    struct stream_definition definition;       /* points to the words, or to `rates` */
    char rates[4][STREAM_PART_MAX];
};
extern const struct argp stream_command_argp;
bool stream_command_writes(const void *options);
void stream_command_run(void *room, const struct command_request *request,
                        struct command_output *output);

/* The exit status for a CQL error: EXIT_WRONG_USAGE for an error of the request, otherwise
 * EXIT_SYSTEM_FAILED. */
int model_exit_of(enum cql_error_code code);
#endif
