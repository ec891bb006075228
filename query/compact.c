/* compact: see the header. */
#include "query/compact.h"

#include <inttypes.h>

#include "query/query.h"
#include "base/memory.h"
#include "storage/engine/engine.h"

struct compact {
    const struct query *query;
    struct command_output *output;
    struct engine_status before;
};

static error_t compact_parse(int key, char *argument, struct argp_state *state)
{
    if (key == ARGP_KEY_ARG)
        return command_refuse(state, "'%s' is one word too many", argument);
    return ARGP_ERR_UNKNOWN;
}

static const struct argp compact_argp = {
    .parser = compact_parse,
    .doc = "Write clicks that are only in memory and log to segments, and merge segments."
           "\vThe store does this by itself; by hand it is of use before a backup, or to see how "
           "small the data gets.  Returns when it is done.\n\n"
           "Example:\n"
           "  daybook compact -d /var/lib/daybook",
};

static uint64_t segment_bytes(const struct query *query)
{
    uint32_t count;
    struct engine_table_status *tables = engine_table_status(query->store, &count);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += tables[i].segment_bytes;
    memory_free(tables);
    return bytes;
}

static void compact_fail(struct compact *compact, int status, const struct error *err)
{
    struct command_output *output = compact->output;
    memory_free(compact);
    command_fail(output, command_exit_of(status), "compact: %s",
                 err != NULL ? err->text : error_text(status));
}

static void compact_done(void *context, int status, const struct error *err)
{
    struct compact *compact = context;
    struct command_output *output = compact->output;
    struct engine_status after;
    if (status != 0) {
        compact_fail(compact, status, err);
        return;
    }
    engine_status(compact->query->store, &after);
    command_printf(output, COMMAND_OUT,
                   "%" PRIu32 " segments before, %" PRIu32 " now, %" PRIu64 " bytes\n",
                   compact->before.segments, after.segments, segment_bytes(compact->query));
    memory_free(compact);
    output->finish(output, EXIT_DONE);
}

static bool compact_writes(const void *options)
{
    (void)options;
    return true;
}

static void compact_run(void *room, const struct command_request *request,
                        struct command_output *output)
{
    struct compact *compact = memory_zeroed(1, sizeof(*compact));
    struct error err = {0};
    (void)request;
    compact->query = room;
    compact->output = output;
    engine_status(compact->query->store, &compact->before);
    int rc = engine_compact(compact->query->store, compact_done, compact, &err);
    if (rc != 0)
        compact_fail(compact, rc, &err);
}

const struct command compact_command = {.name = "compact",
                                        .summary = "merge segments now, until done",
                                        .argp = &compact_argp,
                                        .writes = compact_writes,
                                        .run = compact_run};
