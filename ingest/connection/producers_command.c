/* producers_command: see the header.
 *
 * The rows of a producer follow one another, so `list` needs memory for one producer only. */
#include "ingest/connection/producers_command.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ingest/connection/producer_rows.h"
#include "ingest/connection/row_listing.h"
#include "storage/engine/store_rows.h"
#include "base/memory.h"
#include "base/cli/table_print.h"

/* ---- the command's words ---- */

enum producers_action { PRODUCERS_NONE, PRODUCERS_LIST, PRODUCERS_DROP };

struct producers_options {
    enum producers_action action;
    bool has_id;
    uint8_t id[UUID_SIZE];
    enum table_format format;
};

enum { OPTION_FORMAT = 1 };

static const struct argp_option producers_argp_options[] = {
    {"format", OPTION_FORMAT, "FORMAT", 0,
     "of list: table (unless given), csv, csv-safe, json or md", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static error_t option_word(struct argp_state *state, const char *text,
                           struct producers_options *options)
{
    static const char *const actions[] = {[PRODUCERS_LIST] = "list", [PRODUCERS_DROP] = "drop"};

    if (options->action == PRODUCERS_DROP && !options->has_id) {
        options->has_id = uuid_from_text(bytes_text(text), options->id);
        if (options->has_id)
            return 0;
        return command_refuse(state, "'%s' is no UUID", text);
    }
    if (options->action != PRODUCERS_NONE)
        return command_refuse(state, "'%s' is one word too many", text);
    uint32_t action = command_word(text, actions, PRODUCERS_DROP + 1);
    if (action > PRODUCERS_DROP)
        return command_refuse(state, "'%s' is neither list nor drop", text);
    options->action = (enum producers_action)action;
    return 0;
}

static error_t producers_parse(int key, char *argument, struct argp_state *state)
{
    struct producers_options *options = state->input;

    switch (key) {
    case OPTION_FORMAT:
        return command_format(state, argument, &options->format);
    case ARGP_KEY_ARG:
        return option_word(state, argument, options);
    case ARGP_KEY_END:
        if (options->action == PRODUCERS_NONE)
            return command_refuse(state, "list or drop is needed");
        if (options->action == PRODUCERS_DROP && !options->has_id)
            return command_refuse(state, "drop needs the producer's UUID");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp producers_argp = {
    .options = producers_argp_options,
    .parser = producers_parse,
    .args_doc = "list|drop UUID",
    .doc = "Show who numbers its batches, or forget one of them.\v"
           "list prints each producer that is known, with its last batch.  drop forgets one that "
           "has no connection: its clicks stay, and its place is free.  When it comes back it is "
           "unknown, so that none of its batches is counted twice.\n\n"
           "Examples:\n"
           "  daybook producers list --format csv\n"
           "  daybook producers drop 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11",
};

/* ---- list ---- */

struct producers_entry {
    bool is_there;
    uint8_t id[UUID_SIZE];
    uint64_t epoch;
    uint64_t last;
    int64_t last_us;
};

struct producers_job {
    struct row_listing listing; /* must be first: freeing it frees the job */
    struct ingest *ingest;
    struct producers_entry entry;
};

static const struct table_column list_columns[] = {
    {"producer", TABLE_TEXT},        {"epoch", TABLE_NUMBER}, {"last_batch", TABLE_NUMBER},
    {"last_batch_time", TABLE_TEXT}, {"state", TABLE_TEXT},
};

enum { LIST_COLUMNS = sizeof list_columns / sizeof list_columns[0] };

static void list_entry(struct row_listing *listing)
{
    struct producers_job *job = (struct producers_job *)listing;
    struct producers_entry *entry = &job->entry;
    const struct producer *known = producer_find(job->ingest->producers, entry->id);
    struct table_cells cells = {.count = 0};
    char id[UUID_TEXT_SIZE + 1];

    if (!entry->is_there)
        return;
    uuid_format(entry->id, id);
    buffer_append_text(table_print_cell(&cells, false), id);
    buffer_printf(table_print_cell(&cells, false), "%" PRIu64, entry->epoch);
    buffer_printf(table_print_cell(&cells, false), "%" PRIu64, entry->last);
    calendar_time_format(entry->last_us / 1000, table_print_cell(&cells, false));
    buffer_append_text(table_print_cell(&cells, false),
                       known != NULL && known->owner != NULL ? "connected" : "idle");
    table_print_cells(listing->print, &cells);
    entry->is_there = false;
}

static int list_row(struct row_listing *listing, const struct table *table,
                    const struct page_row *row)
{
    struct producers_entry *entry = &((struct producers_job *)listing)->entry;
    uint8_t id[UUID_SIZE];
    struct producer_batch batch;
    uint64_t epoch = 0;
    int rc = producer_rows_read(table, row, id, &epoch, &batch, &listing->err);

    if (rc != 0)
        return rc;
    if (!entry->is_there || memcmp(entry->id, id, UUID_SIZE) != 0) {
        list_entry(listing);
        *entry = (struct producers_entry){.is_there = true};
        memcpy(entry->id, id, UUID_SIZE);
    }
    entry->epoch = epoch > entry->epoch ? epoch : entry->epoch;
    if (batch.sequence > entry->last) {
        entry->last = batch.sequence;
        entry->last_us = batch.applied_us;
    }
    return 0;
}

static void list_run(struct ingest *ingest, const struct producers_options *options,
                     struct command_output *output)
{
    struct producers_job *job = memory_zeroed(1, sizeof *job);

    job->ingest = ingest;
    job->listing = (struct row_listing){
        .store = ingest->options.store,
        .output = output,
        .plural = "producers",
        .none = "no producer is known",
        .request = store_rows_request(TABLE_PRODUCER, NULL, READ_DURABLE),
        .has_request = true,
        .row = list_row,
        .end = list_entry,
    };
    job->listing.print =
        table_print_new(options->format, list_columns, LIST_COLUMNS, &job->listing.text);
    row_listing_run(&job->listing);
}

/* ---- drop ---- */

struct drop_job {
    struct ingest *ingest;
    struct command_output *output;
    char id[UUID_TEXT_SIZE + 1];
};

static void drop_done(void *context, int status, const struct error *err)
{
    struct drop_job *job = context;
    struct ingest *ingest = job->ingest;

    if (status == 0)
        command_printf(job->output, COMMAND_OUT, "producer %s is forgotten; its clicks stay\n",
                       job->id);
    job->output->finish(job->output, command_report(job->output, status, err));
    memory_free(job);
    ingest_called_back(ingest);
}

static void drop_run(struct ingest *ingest, const struct producers_options *options,
                     struct command_output *output)
{
    struct producer *producer = producer_find(ingest->producers, options->id);
    struct error err = {0};
    char id[UUID_TEXT_SIZE + 1];

    uuid_format(options->id, id);
    if (producer == NULL) {
        command_fail(output, EXIT_DATA_SAYS_NO, "no producer %s is known", id);
        return;
    }
    if (!producer_may_go(producer)) {
        command_fail(output, EXIT_SYSTEM_FAILED,
                     "producer %s is connected, or a batch of it is not on disk yet; stop it first",
                     id);
        return;
    }
    struct drop_job *job = memory_zeroed(1, sizeof *job);
    *job = (struct drop_job){.ingest = ingest, .output = output};
    memcpy(job->id, id, sizeof id);
    ingest->calls++;
    if (producer_rows_drop(ingest, &producer, 1, drop_done, job, &err) == 0)
        return;
    ingest->calls--;
    memory_free(job);
    command_fail(output, EXIT_SYSTEM_FAILED, "%s", err.text);
}

static void producers_run(void *room, const struct command_request *request,
                          struct command_output *output)
{
    const struct producers_options *options = request->options;

    if (options->action == PRODUCERS_LIST)
        list_run(room, options, output);
    else
        drop_run(room, options, output);
}

static bool producers_writes(const void *options)
{
    return ((const struct producers_options *)options)->action == PRODUCERS_DROP;
}

const struct command producers_command = {
    .name = "producers",
    .summary = "show who numbers its batches, or forget one",
    .argp = &producers_argp,
    .options_size = sizeof(struct producers_options),
    .writes = producers_writes,
    .run = producers_run,
};
