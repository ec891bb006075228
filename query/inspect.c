/* inspect: see the header. */
#include "query/inspect.h"

#include <inttypes.h>
#include <stdlib.h>

#include "query/query.h"
#include "query/query_answer.h"
#include "storage/engine/engine.h"
#include "storage/schema/schema.h"
#include "base/memory.h"

enum { KEY_FORMAT = 0x20001 };

struct inspect_options {
    enum table_format format;
};

static error_t inspect_parse(int key, char *argument, struct argp_state *state)
{
    struct inspect_options *options = state->input;
    switch (key) {
    case KEY_FORMAT:
        return query_answer_format(argument, &options->format, state);
    case ARGP_KEY_ARG:
        return command_refuse(state, "'%s' is one word too many", argument);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option inspect_argp_options[] = {
    {"format", KEY_FORMAT, "F", 0, "table (unless given), csv, csv-safe, json or md", 0},
    {0},
};

static const struct argp inspect_argp = {
    .options = inspect_argp_options,
    .parser = inspect_parse,
    .doc = "Print the tables of the directory with their segments, bytes and rows."
           "\vRows in segments are as stored, before newer ones replace or hide them; rows in "
           "memory are told of the clicks' table only.\n\n"
           "Examples:\n"
           "  daybook inspect\n"
           "  daybook inspect --format csv",
};

static int compare_tables(const void *a, const void *b)
{
    uint32_t left = ((const struct engine_table_status *)a)->table_id;
    uint32_t right = ((const struct engine_table_status *)b)->table_id;
    return left < right ? -1 : left > right;
}

static void put_number(struct table_cells *cells, uint64_t number)
{
    buffer_printf(table_print_cell(cells, false), "%" PRIu64, number);
}

static void put_table(struct table_print *print, const struct schema *schema,
                      const struct engine_table_status *status)
{
    const struct table *table = schema_table(schema, status->table_id);
    bool has_rows = status->segment_rows > 0;
    struct table_cells cells = {0};
    struct buffer *name = table_print_cell(&cells, false);
    if (table == NULL)
        buffer_printf(name, "dropped table %" PRIu32, status->table_id);
    else
        buffer_printf(name, "%s.%s", table->keyspace, table->name);
    put_number(&cells, status->segments);
    put_number(&cells, status->segment_bytes);
    put_number(&cells, status->segment_rows);
    struct buffer *ratio = table_print_cell(&cells, !has_rows);
    if (has_rows) {
        uint64_t hundredths = status->segment_bytes * 100 / status->segment_rows;
        buffer_printf(ratio, "%" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100);
    }
    put_number(&cells, status->memory_rows);
    table_print_cells(print, &cells);
}

static void put_rest(struct command_output *output, const struct query *query)
{
    struct engine_status status;
    engine_status(query->store, &status);
    command_printf(output, COMMAND_OUT,
                   "\nlog %" PRIu64 " bytes, %" PRIu64 " of them not in segments; memory %" PRIu64
                   " bytes\n",
                   status.log_bytes, status.log_unflushed_bytes, status.memory_bytes);
}

static void inspect_run(void *room, const struct command_request *request,
                        struct command_output *output)
{
    static const struct table_column columns[] = {
        {"table", TABLE_TEXT},  {"segments", TABLE_NUMBER},      {"bytes", TABLE_NUMBER},
        {"rows", TABLE_NUMBER}, {"bytes_per_row", TABLE_NUMBER}, {"rows_in_memory", TABLE_NUMBER},
    };
    const struct query *query = room;
    const struct inspect_options *options = request->options;
    struct buffer text = {0};
    struct table_print *print =
        table_print_new(options->format, columns, sizeof(columns) / sizeof(columns[0]), &text);
    uint32_t count;
    struct engine_table_status *tables = engine_table_status(query->store, &count);
    if (count > 0)
        qsort(tables, count, sizeof(*tables), compare_tables);
    for (uint32_t i = 0; i < count; i++)
        put_table(print, store_schema(query->store), &tables[i]);
    table_print_finish(print);
    output->write(output, COMMAND_OUT, buffer_view(&text));
    buffer_release(&text);
    memory_free(tables);
    if (options->format == TABLE_ALIGNED)
        put_rest(output, query);
    output->finish(output, EXIT_DONE);
}

const struct command inspect_command = {.name = "inspect",
                                        .summary = "print tables, segments and their sizes",
                                        .argp = &inspect_argp,
                                        .options_size = sizeof(struct inspect_options),
                                        .run = inspect_run};
