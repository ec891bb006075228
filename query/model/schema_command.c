/* schema: `daybook schema`: prints keyspaces and tables as CQL, or one keyspace as a Chebotko
 * diagram.
 *
 * The CQL is the answer to DESCRIBE, which the command runs in a session. */
#include <string.h>

#include "query/cql/common/cql_session.h"
#include "query/model/chebotko.h"
#include "query/model/model.h"
#include "base/arena.h"
#include "base/memory.h"

enum { KEY_KEYSPACE = 0x20001, KEY_CHEBOTKO, KEY_QUERIES, ARENA_CHUNK = 64 * 1024 };

struct schema_options {
    const char *keyspace; /* NULL: all */
    const char *chebotko; /* the keyspace to draw; NULL: CQL is printed */
    const char *queries;  /* a file of queries (query_flow.h); NULL: none */
};

static error_t schema_parse(int key, char *argument, struct argp_state *state)
{
    struct schema_options *options = state->input;

    switch (key) {
    case KEY_KEYSPACE:
        options->keyspace = argument;
        return 0;
    case KEY_CHEBOTKO:
        options->chebotko = argument;
        return 0;
    case KEY_QUERIES:
        options->queries = argument;
        return 0;
    case ARGP_KEY_ARG:
        return command_refuse(state, "'%s' is one word too many; --keyspace K chooses a keyspace",
                              argument);
    case ARGP_KEY_END:
        return options->queries == NULL || options->chebotko != NULL
                   ? 0
                   : command_refuse(state,
                                    "--queries are lines of a diagram: --chebotko K draws one");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option schema_argp_options[] = {
    {"keyspace", KEY_KEYSPACE, "K", 0, "Only this one; all but the system's unless given", 0},
    {"chebotko", KEY_CHEBOTKO, "K", 0, "Draw a keyspace as a Chebotko diagram, in SVG", 0},
    {"queries", KEY_QUERIES, "FILE", 0,
     "Draw the queries of a file as lines: NAME [TABLE] -> TABLE [what it answers]", 0},
    {0},
};

static const struct argp schema_argp = {
    .options = schema_argp_options,
    .parser = schema_parse,
    .doc = "Print the schema as CQL that makes it again, as DESCRIBE shows it, or draw it."
           "\vNames are as they are, without quotes.\n\n"
           "Examples:\n"
           "  daybook schema --keyspace ad_network > ad_network.cql\n"
           "  daybook schema --chebotko hotel --queries hotel.queries > hotel.svg",
};

/* ---- as CQL ---- */

struct listing {
    struct command_output *output;
    struct cql_session session;
    struct buffer text; /* the request's, then the answer's */
};

static void listing_answered(void *context, const struct cql_result *result)
{
    struct listing *listing = context;
    struct command_output *output = listing->output;
    struct reader cells = reader_of(result->rows.cells);
    int exit_status = EXIT_DONE;

    buffer_clear(&listing->text);
    if (result->kind == CQL_RESULT_ERROR) {
        exit_status = model_exit_of(result->error.code);
        command_printf(output, COMMAND_ERR, "daybook: %s\n", result->error.message);
    }
    for (uint32_t row = 0; exit_status == EXIT_DONE && row < result->rows.row_count; row++) {
        for (uint32_t i = 0; i < result->rows.metadata.count; i++) {
            struct bytes cell = reader_bytes(&cells, reader_u32_be(&cells));
            if (i + 1 < result->rows.metadata.count)
                continue;
            buffer_append_text(&listing->text, row > 0 ? "\n" : "");
            buffer_append_bytes(&listing->text, cell);
            buffer_append_text(&listing->text, "\n");
        }
    }
    output->write(output, COMMAND_OUT, buffer_view(&listing->text));
    buffer_release(&listing->text);
    memory_free(listing);
    output->finish(output, exit_status);
}

static void list(const struct model *model, const char *keyspace, struct command_output *output)
{
    struct listing *listing = memory_zeroed(1, sizeof(*listing));

    listing->output = output;
    cql_session_init(&listing->session, model->cql);
    buffer_append_text(&listing->text, keyspace != NULL ? "DESCRIBE KEYSPACE " : "DESCRIBE SCHEMA");
    if (keyspace != NULL)
        type_print_name(keyspace, &listing->text);
    struct cql_request request = {.kind = CQL_QUERY,
                                  .text = buffer_view(&listing->text),
                                  .consistency = CQL_ONE,
                                  .serial_consistency = CQL_SERIAL};
    cql_run(&listing->session, &request, listing_answered, listing);
}

/* ---- as a diagram ---- */

static void draw(const struct model *model, const struct schema_options *options,
                 struct bytes queries, struct command_output *output)
{
    struct arena *arena = arena_new(ARENA_CHUNK);
    struct query_flow flow = {0};
    struct buffer svg = {0};
    struct error err = {0};
    int rc = query_flow_parse(queries, arena, &flow, &err);

    if (rc == 0)
        rc = chebotko_draw(store_schema(model->store), options->chebotko, &flow, &svg, &err);
    if (rc == ERROR_INVALID) /* a line of the file is wrong */
        error_wrap(&err, "%s", options->queries);
    if (rc == 0)
        output->write(output, COMMAND_OUT, buffer_view(&svg));
    else
        command_printf(output, COMMAND_ERR, "daybook: %s\n", err.text);
    buffer_release(&svg);
    arena_free(arena);
    output->finish(output, rc == 0 ? EXIT_DONE : EXIT_WRONG_USAGE);
}

static void schema_run(void *room, const struct command_request *request,
                       struct command_output *output)
{
    const struct schema_options *options = request->options;

    if (options->chebotko != NULL)
        draw(room, options, request->input, output);
    else
        list(room, options->keyspace, output);
}

static const char *queries_file(const void *options)
{
    return ((const struct schema_options *)options)->queries;
}

const struct command schema_command = {
    .name = "schema",
    .summary = "print keyspaces and tables as CQL, or a keyspace as a diagram",
    .argp = &schema_argp,
    .options_size = sizeof(struct schema_options),
    .input_file = queries_file,
    .run = schema_run};
