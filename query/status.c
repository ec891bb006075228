/* status: `daybook status`: how the directory and whoever holds it are, one line a fact.
 *
 *     directory     5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11
 *     held by       process 4711, which serves it                                          */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "query/query_commands.h"
#include "storage/base/uuid.h"

enum { KEY_CHECK = 0x20001, KEY_METRICS };

static error_t status_parse(int key, char *argument, struct argp_state *state)
{
    struct status_options *options = state->input;
    switch (key) {
    case KEY_CHECK:
        options->is_check = true;
        return 0;
    case KEY_METRICS:
        options->is_metrics = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is one word too many", argument);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option status_argp_options[] = {
    {"check", KEY_CHECK, NULL, 0, "Print nothing when all is well; exit status 3 when it is not",
     0},
    {"metrics", KEY_METRICS, NULL, 0,
     "Print the counters of the process that holds the directory, as Prometheus reads them", 0},
    {0},
};

const struct argp status_argp = {
    .options = status_argp_options,
    .parser = status_parse,
    .doc = "Say who holds the directory, how far it is on disk, and what is owed."
           "\vExamples:\n"
           "  daybook status\n"
           "  daybook status --check || systemctl restart daybook\n"
           "  daybook status --metrics > /var/lib/node_exporter/daybook.prom",
};

static void put_fact(struct buffer *text, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void put_fact(struct buffer *text, const char *name, const char *format, ...)
{
    char value[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof(value), format, arguments);
    va_end(arguments);
    buffer_printf(text, "%-18s %s\n", name, value);
}

static void put_holder(struct buffer *text, const struct command_request *request)
{
    bool is_served = strcmp(request->door, "socket") == 0;
    if (is_served)
        put_fact(text, "held by", "process %ld, which serves it", (long)getpid());
    else
        put_fact(text, "held by", "nobody; read by this command");
}

/* A following backup is behind by what has not left this machine yet. */
static void put_backup(struct buffer *text, const struct query *query)
{
    struct backup_status backup = {0};
    if (query->backup != NULL)
        backup_status(query->backup, &backup);
    if (!backup.is_following)
        return;
    put_fact(text, "backup", "%s follows: point %" PRIu64 ", frame %" PRIu64, backup.path,
             backup.point, backup.frame);
    put_fact(text, "backup lag", "%" PRIu64 " frames, %" PRId64 " ms", backup.lag_frames,
             backup.lag_us / 1000);
    if (backup.failure[0] != '\0')
        put_fact(text, "backup waits", "%s", backup.failure);
}

/* The account that --memory limits, part by part. */
static void put_memory(struct buffer *text, const struct store_status *status)
{
    static const char *const holders[STORE_HOLDERS] = {
        [STORE_HELD_DAYS] = "days to work off",
        [STORE_HELD_PRODUCERS] = "producers",
        [STORE_HELD_STRINGS] = "connections' strings",
        [STORE_HELD_INPUT] = "batches and lines that have come in part",
        [STORE_HELD_INGEST_ANSWERS] = "answers to senders",
        [STORE_HELD_STATEMENTS] = "prepared statements",
        [STORE_HELD_REQUESTS] = "CQL requests",
        [STORE_HELD_ANSWERS] = "CQL answers",
        [STORE_HELD_FIGURES] = "reports' figures",
        [STORE_HELD_COMMANDS] = "commands, with answers that wait to be read"};
    put_fact(text, "memory", "%" PRIu64 " bytes of clicks and rows that are not in segments",
             status->memory_bytes);
    put_fact(text, "", "%" PRIu64 " ready for the next of them", status->memory_ready_bytes);
    put_fact(text, "", "%" PRIu64 " of segments' directories", status->memory_segments_bytes);
    put_fact(text, "", "%" PRIu64 " of days' sums", status->memory_sums_bytes);
    put_fact(text, "", "%" PRIu64 " of what readers of segments left for the next",
             status->memory_readers_bytes);
    for (uint32_t i = 0; i < STORE_HOLDERS; i++)
        put_fact(text, "", "%" PRIu64 " of %s", status->memory_held_bytes[i], holders[i]);
}

/* A reader without a server has loaded none. */
static void put_days(struct buffer *text, const struct rollup *rollup)
{
    struct rollup_open_days open = rollup_open_days(rollup);
    put_fact(text, "days to work off", "%" PRIu32, rollup_dirty_count(rollup));
    put_fact(text, "open days",
             "%" PRIu32 " in memory, at most %" PRIu32 " others in their table alone",
             open.in_memory, open.away);
}

static void put_all(struct buffer *text, const struct query *query,
                    const struct command_request *request, const struct store_status *status)
{
    char id[UUID_TEXT_SIZE + 1];
    uuid_format(query->directory_id, id);
    put_fact(text, "directory", "%.*s", UUID_TEXT_SIZE, id);
    put_fact(text, "version", "%s", query->version);
    put_holder(text, request);
    put_fact(text, "state", "%s", status->failed ? status->failure : "good");
    put_fact(text, "zone", "%s", query->zone);
    put_fact(text, "currency", "%s", query->currency[0] != '\0' ? query->currency : "not given");
    put_fact(text, "frames", "%" PRIu64 " applied, %" PRIu64 " durable, %" PRIu64 " in segments",
             status->frame_applied, status->frame_durable, status->frame_flushed);
    put_fact(text, "log", "%" PRIu64 " bytes, %" PRIu64 " of them not in segments",
             status->log_bytes, status->log_unflushed_bytes);
    put_memory(text, status);
    put_fact(text, "segments", "%" PRIu32, status->segments);
    if (status->failed_reads > 0)
        put_fact(text, "failed reads",
                 "%" PRIu64 " pages could not be read or were damaged; daybook verify names them",
                 status->failed_reads);
    put_backup(text, query);
    if (!request->is_read_only)
        put_days(text, streams_find(query->streams, NULL));
}

void status_run(void *room, const struct command_request *request, struct command_output *output)
{
    const struct query *query = room;
    const struct status_options *options = request->options;
    struct store_status status;
    struct buffer text = {0};
    store_status(query->store, &status);
    if (options->is_check && status.failed) {
        command_fail(output, EXIT_SYSTEM_FAILED, "%s", status.failure);
        return;
    }
    if (options->is_metrics)
        metrics_write(query->metrics, &text);
    else if (!options->is_check)
        put_all(&text, query, request, &status);
    if (text.size > 0)
        output->write(output, COMMAND_OUT, buffer_view(&text));
    buffer_release(&text);
    output->finish(output, status.failed ? EXIT_SYSTEM_FAILED : EXIT_DONE);
}
