/* status: `daybook status`: prints the state of the directory and of the process that holds it.
 *
 *     directory     5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11
 *     held by       process 4711, which serves it
 *
 * A finding is a reason for `--check` to exit with 1. */
#include "query/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "query/memory_parts.h"
#include "query/metrics_page.h"
#include "query/query.h"
#include "query/status_report.h"
#include "rollup/days/rollup.h"
#include "base/world/descriptors.h"
#include "base/uuid.h"
#include "storage/engine/engine.h"

enum { KEY_CHECK = 0x20001, KEY_METRICS, KEY_FORMAT, KEY_DUMP };

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
    case KEY_DUMP:
        options->is_dump = true;
        return 0;
    case KEY_FORMAT:
        if (!table_print_format_parse(argument, &options->format) ||
            (options->format != TABLE_ALIGNED && options->format != TABLE_JSON))
            return command_refuse(state, "--format takes table or json, not '%s'", argument);
        return 0;
    case ARGP_KEY_ARG:
        return command_refuse(state, "'%s' is one word too many", argument);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option status_argp_options[] = {
    {"check", KEY_CHECK, NULL, 0,
     "Ask the server, for at most 5 s: exit status 0 and nothing printed when all is well; 1 and a "
     "line when it serves, but waits or is short of something; 3 and a line when it is stuck, has "
     "failed or is not there",
     0},
    {"dump", KEY_DUMP, NULL, 0,
     "Print what engine, log, days to work off and connections are at, as text that may change "
     "with "
     "any version, for a report of a fault",
     0},
    {"format", KEY_FORMAT, "F", 0, "table (unless given) or json", 0},
    {"metrics", KEY_METRICS, NULL, 0,
     "Print the counters of the process that holds the directory, as Prometheus reads them", 0},
    {0},
};

static const struct argp status_argp = {
    .options = status_argp_options,
    .parser = status_parse,
    .doc = "Say who holds the directory, how far it is on disk, and what is owed."
           "\vExamples:\n"
           "  daybook status\n"
           "  daybook status --format json\n"
           "  daybook status --dump\n"
           "  daybook status --check; [ $? -ne 3 ] || systemctl restart daybook\n"
           "  daybook status --metrics > /var/lib/node_exporter/daybook.prom",
};

struct status_context {
    const struct query *query;
    const struct command_request *request;
    struct store_status store;
    struct engine_status engine;
};

/* ---- the parts ---- */

static void put_holder(struct status_report *report, const struct status_context *context)
{
    char id[UUID_TEXT_SIZE + 1];
    uuid_format(context->query->directory_id, id);
    id[UUID_TEXT_SIZE] = '\0';
    status_report_text(report, "directory", "directory", id);
    status_report_text(report, "version", "version", context->query->version);
    if (strcmp(context->request->door, "command") == 0) {
        status_report_line(report, "held by", "nobody; read by this command");
        return;
    }
    status_report_line(report, "held by", "process ");
    status_report_number(report, NULL, "process", (uint64_t)getpid(), ", which serves it");
}

static void find_waiting(struct status_report *report, const struct store_waiting *waiting)
{
    static const char *const shortages[STORE_SHORTAGES] = {
        [STORE_SHORT_OF_DISK] = "disk space",
        [STORE_SHORT_OF_DESCRIPTORS] = "a file descriptor",
        [STORE_SHORT_OF_MEMORY] = "memory",
    };
    char needed[48] = "";
    if (waiting->needed_bytes > 0)
        snprintf(needed, sizeof(needed), ", %s", status_report_size(waiting->needed_bytes).text);
    status_report_finding(report, store_shortage_name(waiting->shortage),
                          "%s for %s%s%s%s; the server goes on by itself when there is some",
                          waiting->stops_writes ? "writes wait" : "new files wait",
                          shortages[waiting->shortage], needed,
                          waiting->path[0] != '\0' ? " in " : "", waiting->path);
}

static void put_state(struct status_report *report, const struct status_context *context)
{
    const struct store_waiting *waiting = &context->store.waiting;
    bool is_waiting = waiting->shortage != STORE_SHORT_OF_NOTHING;
    if (context->store.failed) {
        status_report_text(report, "state", "state", context->store.failure);
        return;
    }
    status_report_text(report, "state", "state", is_waiting ? "waiting" : "good");
    if (!is_waiting)
        return;
    status_report_words(report, ": ");
    status_report_text(report, NULL, "waits_for", store_shortage_name(waiting->shortage));
    find_waiting(report, waiting);
}

static void put_clock(struct status_report *report, const struct status_context *context)
{
    const struct store_clock clock = store_clock(context->query->store);
    int64_t ahead_s = (clock.wall_us - clock.trusted_us) / 1000000;
    status_report_text(report, "clock", "clock", clock.is_in_doubt ? "in_doubt" : "trusted");
    if (!clock.is_in_doubt)
        return;
    status_report_finding(report, "clock_in_doubt",
                          "the clock is %" PRId64
                          " seconds %s trusted time, so nothing is published, "
                          "sealed or expired; set it, or if it is right: daybook clock accept",
                          ahead_s < 0 ? -ahead_s : ahead_s, ahead_s < 0 ? "behind" : "ahead of");
}

static void put_settings(struct status_report *report, const struct status_context *context)
{
    const char *currency = context->query->currency;
    status_report_text(report, "zone", "zone", context->query->zone);
    status_report_text(report, "currency", "currency",
                       currency[0] != '\0' ? currency : "not given");
}

static void put_log(struct status_report *report, const struct status_context *context)
{
    const struct store_status *store = &context->store;
    const struct engine_status *engine = &context->engine;
    status_report_number(report, "frames", "frames_applied", store->frame_applied, " applied, ");
    status_report_number(report, NULL, "frames_durable", store->frame_durable, " durable, ");
    status_report_number(report, NULL, "frames_flushed", engine->frame_flushed, " in segments");
    status_report_bytes(report, "log", "log_bytes", engine->log_bytes, ", ");
    status_report_bytes(report, NULL, "log_unflushed_bytes", engine->log_unflushed_bytes,
                        " of them not in segments");
}

static void put_memory(struct status_report *report, const struct status_context *context)
{
    struct memory_part parts[MEMORY_PARTS];
    char key[64];
    char words[96];
    memory_parts(&context->engine, parts);
    for (uint32_t i = 0; i < MEMORY_PARTS; i++) {
        (void)snprintf(key, sizeof(key), "memory_%s_bytes", parts[i].name);
        (void)snprintf(words, sizeof(words), " of %s", parts[i].what);
        status_report_bytes(report, i == 0 ? "memory" : "", key, parts[i].bytes, words);
    }
}

static void put_segments(struct status_report *report, const struct status_context *context)
{
    status_report_number(report, "segments", "segments", context->engine.segments, "");
    if (context->engine.failed_reads > 0) {
        status_report_number(report, "failed reads", "failed_reads", context->engine.failed_reads,
                             " pages could not be read or were damaged; daybook verify names them");
    }
}

/* The disk is nearly full when its free space is less than twice the bytes that the store needs
 * next. */
static void put_disk(struct status_report *report, const struct status_context *context)
{
    struct engine_examination disk;
    engine_examine(context->query->store, &disk);
    status_report_bytes(report, "disk", "disk_free_bytes", disk.disk_free_bytes, " free, ");
    status_report_bytes(report, NULL, "disk_wanted_bytes", disk.disk_wanted_bytes, " wanted next");
    if (disk.disk_free_bytes / 2 < disk.disk_wanted_bytes &&
        context->store.waiting.shortage != STORE_SHORT_OF_DISK) {
        status_report_finding(report, "disk_nearly_full", "%s free, and %s are wanted next",
                              status_report_size(disk.disk_free_bytes).text,
                              status_report_size(disk.disk_wanted_bytes).text);
    }
    if (disk.unlinked == 0)
        return;
    status_report_finding(report, "file_unlinked",
                          "%" PRIu32
                          " files of the running server were removed, %s among them; do not "
                          "stop it: /proc/%ld/fd still has them, and a backup may",
                          disk.unlinked, disk.unlinked_path, (long)getpid());
}

static void put_descriptors(struct status_report *report, const struct status_context *context)
{
    struct descriptors descriptors = descriptors_look();
    (void)context;
    status_report_number(report, "descriptors", "descriptors_taken", descriptors.taken,
                         " taken of ");
    status_report_number(report, NULL, "descriptors_limit", descriptors.limit, ", the last ");
    status_report_number(report, NULL, "descriptors_reserved", descriptors.reserved, " for files");
    if (descriptors.taken + descriptors.reserved >= descriptors.limit)
        status_report_finding(
            report, "descriptors_short",
            "connections have all %" PRIu32 " file descriptors but those that files "
            "need, so that new ones are closed; LimitNOFILE= (ulimit -n) gives more",
            descriptors.limit);
}

/* Prints facts about folders whose headers this file may not include; the values are read from
 * metrics.  Some metrics exist only in a server; elsewhere their facts are left out. */
static void put_metrics(struct status_report *report, const struct status_context *context,
                        const char *label, const char *const (*facts)[3], size_t fact_count)
{
    for (size_t i = 0; i < fact_count; i++) {
        const struct metric *metric = metrics_find(context->query->metrics, facts[i][0]);
        if (metric == NULL)
            continue;
        status_report_words(report, label == NULL ? ", " : "");
        status_report_number(report, label, facts[i][1], (uint64_t)metric->value, facts[i][2]);
        label = NULL;
    }
}

static void put_connections(struct status_report *report, const struct status_context *context)
{
    static const char *const facts[][3] = {
        {"daybook_ingest_connections", "connections_ingest", " of senders"},
        {"daybook_cql_connections", "connections_cql", " at the CQL door"},
        {"daybook_http_connections", "connections_http", " at the HTTP door"}};
    if (!context->request->is_read_only)
        put_metrics(report, context, "connections", facts, sizeof(facts) / sizeof(facts[0]));
}

static void put_merges(struct status_report *report, const struct status_context *context)
{
    static const char *const facts[][3] = {
        {"daybook_flushes_total", "flushes", " flushes"},
        {"daybook_compactions_total", "merges", " merges of segments since the start"}};
    if (!context->request->is_read_only)
        put_metrics(report, context, "written", facts, sizeof(facts) / sizeof(facts[0]));
}

/* Returns the metric NAME if `limit` is called NAME_max; otherwise NULL. */
static const struct metric *limited_by(const struct metrics *metrics, const struct metric *limit)
{
    static const char suffix[] = "_max";
    char name[96];
    size_t size = strlen(limit->name);
    if (size < sizeof(suffix) || size >= sizeof(name) ||
        strcmp(limit->name + size - (sizeof(suffix) - 1), suffix) != 0)
        return NULL;
    snprintf(name, sizeof(name), "%.*s", (int)(size - (sizeof(suffix) - 1)), limit->name);
    return metrics_find(metrics, name);
}

/* Each limit is a metric NAME_max beside the metric NAME, because this file may not include the
 * headers of doors. */
static void put_limits(struct status_report *report, const struct status_context *context)
{
    static const char prefix[] = "daybook_";
    const struct metrics *metrics = context->query->metrics;
    for (const struct metric *limit = metrics_first(metrics); limit != NULL; limit = limit->next) {
        const struct metric *gauge = limited_by(metrics, limit);
        if (gauge == NULL || limit->value <= 0 || gauge->value < limit->value)
            continue;
        char reason[96];
        bool is_ours = strncmp(gauge->name, prefix, sizeof(prefix) - 1) == 0;
        snprintf(reason, sizeof(reason), "%s_full",
                 gauge->name + (is_ours ? sizeof(prefix) - 1 : 0));
        status_report_finding(report, reason, "%lld, which is the limit: %s",
                              (long long)gauge->value, gauge->help);
    }
}

static void put_backup(struct status_report *report, const struct status_context *context)
{
    struct backup_status backup = {0};
    if (context->query->backup != NULL)
        backup_status(context->query->backup, &backup);
    if (!backup.is_following)
        return;
    status_report_text(report, "backup", "backup_path", backup.path);
    status_report_words(report, " follows: point ");
    status_report_number(report, NULL, "backup_point", backup.point, ", frame ");
    status_report_number(report, NULL, "backup_frame", backup.frame, "");
    status_report_number(report, "backup lag", "backup_lag_frames", backup.lag_frames, " frames, ");
    status_report_number(report, NULL, "backup_lag_ms", (uint64_t)(backup.lag_us / 1000), " ms");
    if (backup.failure[0] == '\0')
        return;
    status_report_text(report, "backup waits", "backup_waits", backup.failure);
    status_report_finding(report, "backup_fails", "the backup that follows waits: %s",
                          backup.failure);
}

/* A command without a server prints no days, because it does not load the dirty days. */
static void put_days(struct status_report *report, const struct status_context *context)
{
    const struct rollup *rollup = streams_find(context->query->streams, NULL);
    if (context->request->is_read_only)
        return;
    struct rollup_open_days open = rollup_open_days(rollup);
    status_report_number(report, "days to work off", "days_dirty", rollup_dirty_count(rollup), "");
    status_report_number(report, "open days", "days_open", open.in_memory, " in memory, at most ");
    status_report_number(report, NULL, "days_away", open.evicted, " others in their table alone");
}

static void (*const parts[])(struct status_report *report, const struct status_context *context) = {
    put_holder, put_state,       put_clock, put_settings,    put_log,    put_memory, put_segments,
    put_merges, put_connections, put_disk,  put_descriptors, put_limits, put_backup, put_days};

/* ---- the command ---- */

static enum command_exit put_check(const struct status_report *report,
                                   const struct store_status *store, struct buffer *text)
{
    if (store->failed) {
        buffer_printf(text, "failed: %s\n", store->failure);
        return EXIT_SYSTEM_FAILED;
    }
    if (report->finding_count == 0)
        return EXIT_DONE;
    buffer_append_bytes(text, buffer_view(&report->findings));
    buffer_put_u8(text, '\n');
    return EXIT_DATA_SAYS_NO;
}

static void status_run(void *room, const struct command_request *request,
                       struct command_output *output)
{
    const struct status_options *options = request->options;
    struct status_context context = {.query = room, .request = request};
    struct status_report report = {.is_human = request->is_terminal};
    struct buffer text = {0};
    store_status(context.query->store, &context.store);
    engine_status(context.query->store, &context.engine);
    enum command_exit status = context.store.failed ? EXIT_SYSTEM_FAILED : EXIT_DONE;
    bool is_report = options->is_check || (!options->is_metrics && !options->is_dump);
    for (size_t i = 0; is_report && i < sizeof(parts) / sizeof(parts[0]); i++)
        parts[i](&report, &context);
    if (options->is_check)
        status = put_check(&report, &context.store, &text);
    else if (options->is_metrics)
        metrics_page_write(context.query, &text);
    else if (options->is_dump)
        context.query->dump(context.query->dump_context, &text);
    else if (options->format == TABLE_JSON)
        status_report_print_json(&report, &text);
    else
        status_report_print_lines(&report, &text);
    if (text.size > 0)
        output->write(output, COMMAND_OUT, buffer_view(&text));
    status_report_release(&report);
    buffer_release(&text);
    output->finish(output, (int)status);
}

const struct command status_command = {.name = "status",
                                       .summary =
                                           "say who holds the directory, and whether all is well",
                                       .argp = &status_argp,
                                       .options_size = sizeof(struct status_options),
                                       .is_brief = true,
                                       .run = status_run};
