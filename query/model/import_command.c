/* import: `daybook import`: makes tables from the definitions of older Cassandras.
 *
 * If the file has an error, or defines a keyspace or table that exists, nothing is changed.  The
 * statements are executed in turn, and each is printed when it is durable.  A statement that fails
 * ends the command; the printed ones have been executed. */
#include <string.h>

#include "query/cql/common/cql_session.h"
#include "query/model/cassandra_cli.h"
#include "query/model/definitions.h"
#include "query/model/model.h"
#include "query/model/storage_conf.h"
#include "base/memory.h"

enum { KEY_KEYSPACE = 0x20001, KEY_KEY, KEY_TEXT, KEY_DRY_RUN };

struct import_kind {
    const char *name;
    int (*read)(struct bytes text, struct definitions *definitions, struct error *err);
};

static const struct import_kind kinds[] = {
    {"cassandra-cli", cassandra_cli_read},
    {"storage-conf", storage_conf_read},
};

struct import_options {
    const struct import_kind *kind;
    const char *file;
    struct definitions_options definitions;
    bool is_dry_run;
};

/* ---- options ---- */

static error_t take_word(struct import_options *options, const char *word, struct argp_state *state)
{
    if (options->kind != NULL && options->file != NULL)
        return command_refuse(state, "'%s' is one word too many", word);
    if (options->kind != NULL) {
        options->file = word;
        return 0;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(word, kinds[i].name) == 0)
            options->kind = &kinds[i];
    return options->kind != NULL
               ? 0
               : command_refuse(state, "cassandra-cli and storage-conf can be imported, not '%s'",
                                word);
}

static error_t add_choice(const char **choices, uint32_t *count, const char *choice,
                          struct argp_state *state)
{
    if (*count == DEFINITIONS_CHOICES_MAX)
        return command_refuse(state, "an option is given more than %d times",
                              DEFINITIONS_CHOICES_MAX);
    choices[(*count)++] = choice;
    return 0;
}

static error_t import_parse(int key, char *argument, struct argp_state *state)
{
    struct import_options *options = state->input;
    struct definitions_options *choices = &options->definitions;

    switch (key) {
    case KEY_KEYSPACE:
        choices->keyspace = argument;
        return 0;
    case KEY_KEY:
        if (strchr(argument, '=') == NULL)
            return command_refuse(state, "--key takes FAMILY=TYPE, such as users=uuid, not '%s'",
                                  argument);
        return add_choice(choices->keys, &choices->key_count, argument, state);
    case KEY_TEXT:
        return add_choice(choices->texts, &choices->text_count, argument, state);
    case KEY_DRY_RUN:
        options->is_dry_run = true;
        return 0;
    case ARGP_KEY_ARG:
        return take_word(options, argument, state);
    case ARGP_KEY_END:
        return options->file != NULL
                   ? 0
                   : command_refuse(state, "what is imported, and from which file: KIND FILE");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option import_argp_options[] = {
    {"keyspace", KEY_KEYSPACE, "K", 0,
     "The keyspace of column families that the file puts in none; made where it is missing", 0},
    {"key", KEY_KEY, "FAMILY=TYPE", 0,
     "The CQL type of a column family's keys, whatever the file says; may be repeated", 0},
    {"text", KEY_TEXT, "FAMILY", 0,
     "Its BytesType is text: names and values that people can read; may be repeated", 0},
    {"dry-run", KEY_DRY_RUN, NULL, 0, "Only print the statements", 0},
    {0},
};

static const struct argp import_argp = {
    .options = import_argp_options,
    .parser = import_parse,
    .args_doc = "KIND FILE",
    .doc = "Make tables from a file that defined column families for an older Cassandra, and print "
           "the CQL that makes them."
           "\vKIND is cassandra-cli (statements of 0.7 to 2.1) or storage-conf (XML of 0.3 to 0.6, "
           "or a piece of it); FILE may be - for standard input.  Super columns become rows of "
           "tables with one more clustering column.  What CQL has no equal for is refused, with "
           "its line, before anything is made.\n\n"
           "Examples:\n"
           "  daybook import cassandra-cli music.txt --keyspace music --key users=uuid\n"
           "  daybook import storage-conf storage-conf.xml --text Authors --dry-run",
};

static bool import_writes(const void *options)
{
    return !((const struct import_options *)options)->is_dry_run;
}

static const char *import_file(const void *options)
{
    return ((const struct import_options *)options)->file;
}

/* ---- running ---- */

struct import {
    struct command_output *output;
    struct model *model;
    struct definitions *definitions;
    const struct definition *statements;
    uint32_t count;
    uint32_t done;
    struct cql_session session;
    bool is_asking;  /* cql_run has not returned */
    bool has_answer; /* the last statement was answered */
    int exit_status; /* EXIT_DONE until a statement is refused */
};

static void import_finish(struct import *import, int exit_status)
{
    struct command_output *output = import->output;

    definitions_free(import->definitions);
    memory_free(import);
    output->finish(output, exit_status);
}

static void run_statements(struct import *import);

/* cql_run may call this function before it returns; in this case run_statements continues, so that
 * calls do not nest. */
static void statement_answered(void *context, const struct cql_result *result)
{
    struct import *import = context;
    const struct definition *statement = &import->statements[import->done];

    import->has_answer = true;
    if (result->kind == CQL_RESULT_ERROR) {
        import->exit_status = model_exit_of(result->error.code);
        command_printf(import->output, COMMAND_ERR,
                       "daybook: %s\ndaybook: line %u: refused: %s; %u of %u statements are done\n",
                       statement->cql, statement->line, result->error.message, import->done,
                       import->count);
    } else {
        command_printf(import->output, COMMAND_OUT, "%s;\n", statement->cql);
        import->done++;
    }
    if (!import->is_asking)
        run_statements(import);
}

static void run_statements(struct import *import)
{
    while (import->exit_status == EXIT_DONE && import->done < import->count) {
        struct cql_request request = {.kind = CQL_QUERY,
                                      .text = bytes_text(import->statements[import->done].cql),
                                      .consistency = CQL_ONE,
                                      .serial_consistency = CQL_SERIAL};
        import->is_asking = true;
        import->has_answer = false;
        cql_run(&import->session, &request, statement_answered, import);
        import->is_asking = false;
        if (!import->has_answer)
            return;
    }
    import_finish(import, import->exit_status);
}

static bool has_keyspace(void *context, const char *keyspace)
{
    struct import *import = context;

    return schema_keyspace(store_schema(import->model->store), keyspace) != NULL;
}

static int check_free(const struct import *import, struct error *err)
{
    const struct schema *schema = store_schema(import->model->store);

    for (uint32_t i = 0; i < import->count; i++) {
        const struct definition *statement = &import->statements[i];
        if (statement->kind == DEFINITION_KEYSPACE &&
            schema_keyspace(schema, statement->keyspace) != NULL)
            return definitions_refuse(err, statement->line, "keyspace %s exists already",
                                      statement->keyspace);
        if (statement->kind == DEFINITION_TABLE &&
            schema_table_named(schema, statement->keyspace, statement->table) != NULL)
            return definitions_refuse(err, statement->line, "table %s.%s exists already",
                                      statement->keyspace, statement->table);
    }
    return 0;
}

static int import_read(struct import *import, const struct import_options *options,
                       struct bytes text, struct error *err)
{
    int rc = options->kind->read(text, import->definitions, err);

    rc = rc == 0 ? definitions_write(import->definitions, has_keyspace, import, &import->statements,
                                     &import->count, err)
                 : rc;
    return rc == 0 ? check_free(import, err) : rc;
}

static void import_run(void *room, const struct command_request *request,
                       struct command_output *output)
{
    const struct import_options *options = request->options;
    struct import *import = memory_zeroed(1, sizeof(*import));
    struct error err = {0};

    import->output = output;
    import->model = room;
    import->definitions = definitions_new(&options->definitions);
    cql_session_init(&import->session, import->model->cql);
    int rc = import_read(import, options, request->input, &err);
    output->write(output, COMMAND_ERR, definitions_notes(import->definitions));
    if (rc < 0) {
        command_printf(output, COMMAND_ERR, "daybook: %s: %s; nothing was made\n", options->file,
                       err.text);
        import_finish(import, command_exit_of(rc));
    } else if (options->is_dry_run) {
        for (uint32_t i = 0; i < import->count; i++)
            command_printf(output, COMMAND_OUT, "%s;\n", import->statements[i].cql);
        import_finish(import, EXIT_DONE);
    } else {
        run_statements(import);
    }
}

const struct command import_command = {
    .name = "import",
    .summary = "make tables from an older Cassandra's definitions",
    .argp = &import_argp,
    .options_size = sizeof(struct import_options),
    .writes = import_writes,
    .input_file = import_file,
    .run = import_run,
};
