/* rejects: see rejects.h.
 *
 * Each day is a partition.  The ids of the rows are timeuuids, a microsecond apart within a batch.
 * So the rows of a day are nearly in the order in which the lines came. */
#include "ingest/connection/rejects.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/timeuuid.h"
#include "ingest/connection/ingest_private.h"
#include "ingest/connection/row_listing.h"
#include "storage/engine/store_rows.h"
#include "base/memory.h"
#include "base/cli/table_print.h"
#include "storage/schema/type.h"

enum { REJECTS_DAYS = 31, LAST_MAX = 1000000 };

/* ---- writing ---- */

struct reject_writer {
    struct write_batch *batch;
    const struct table *table;
    const struct reject_origin *origin;
    struct random *random;
    struct bytes day;
    uint32_t rows;
};

static void writer_row(struct reject_writer *writer, uint64_t line, enum reject_code code,
                       struct bytes reason, struct bytes content)
{
    struct write_batch *batch = writer->batch;
    const struct reject_origin *origin = writer->origin;
    uint8_t id[UUID_SIZE];

    timeuuid_make(origin->now_us + writer->rows++, writer->random, id);
    const struct column_value values[] = {
        {REJECT_DAY, false, writer->day},
        {REJECT_ID, false, bytes_of(id, sizeof id)},
        {REJECT_DOOR, false, bytes_text(origin->door)},
        {REJECT_LINE, false, write_batch_bigint(batch, (int64_t)line)},
        {REJECT_CODE, false, bytes_text(reject_name(code))},
        {REJECT_REASON, false, reason},
        {REJECT_CONTENT, false, content},
        {REJECT_PRODUCER, false, bytes_of(origin->producer, UUID_SIZE)},
        {REJECT_BATCH, false, write_batch_bigint(batch, (int64_t)origin->batch)},
    };
    write_batch_insert(batch, writer->table, values, origin->producer != NULL ? 9 : 7);
}

/* Write the rejects from index `start` on that have this code, many lines in one row. */
static void writer_gather(struct reject_writer *writer, const struct reject_list *list,
                          uint32_t start, enum reject_code code)
{
    struct buffer content = {0};
    uint64_t first_line = 0;
    uint64_t lines = 0;

    for (uint32_t i = start; i <= list->count; i++) {
        bool is_end = i == list->count;

        if (!is_end && list->items[i].code != code)
            continue;
        if (lines > 0 && (is_end || content.size >= REJECTS_GATHERED_MAX)) {
            char reason[64];
            int size = snprintf(reason, sizeof reason, "%" PRIu64 " lines, gathered", lines);

            writer_row(writer, first_line, code, bytes_of(reason, (size_t)size),
                       buffer_view(&content));
            buffer_clear(&content);
            lines = 0;
        }
        if (is_end)
            break;
        if (lines++ == 0)
            first_line = list->items[i].line;
        else
            buffer_put_u8(&content, '\n');
        buffer_append_bytes(&content, reject_content(list, &list->items[i]));
    }
    buffer_release(&content);
}

void rejects_add(struct write_batch *batch, const struct table *table,
                 const struct reject_list *list, const struct reject_origin *origin,
                 struct random *random)
{
    struct reject_writer writer = {batch, table, origin, random, {0}, 0};
    uint32_t single = list->count < REJECTS_ROWS_MAX ? list->count : REJECTS_ROWS_MAX;
    char day[DAY_TEXT_SIZE + 1];

    if (list->count == 0)
        return;
    calendar_day_format(calendar_day_of_time(origin->now_us / 1000), day);
    writer.day = bytes_of(day, DAY_TEXT_SIZE);
    for (uint32_t i = 0; i < single; i++) {
        const struct reject *reject = &list->items[i];

        writer_row(&writer, reject->line, reject->code, bytes_text(reject_reason(reject->code)),
                   reject_content(list, reject));
    }
    for (uint32_t code = 0; single < list->count && code < REJECT_CODE_COUNT; code++)
        writer_gather(&writer, list, single, (enum reject_code)code);
}

/* ---- the command's words ---- */

enum rejects_action { REJECTS_NONE, REJECTS_LIST, REJECTS_EXPORT };

struct rejects_options {
    enum rejects_action action;
    bool has_from, has_to;
    int32_t from, to;
    uint32_t last; /* 0: all */
    enum table_format format;
};

enum { OPTION_FROM = 1, OPTION_TO, OPTION_LAST, OPTION_FORMAT };

static const struct argp_option rejects_argp_options[] = {
    {"from", OPTION_FROM, "DAY", 0, "the first day of arrival (UTC); 30 days before the last", 0},
    {"to", OPTION_TO, "DAY", 0, "the last day of arrival; today", 0},
    {"last", OPTION_LAST, "N", 0, "only the N lines that came last, newest first", 0},
    {"format", OPTION_FORMAT, "FORMAT", 0,
     "of list: table (unless given), csv, csv-safe, json or md", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static error_t option_day(struct argp_state *state, const char *text, int32_t *day, bool *has_day)
{
    if (!calendar_day_parse(bytes_text(text), day))
        return command_refuse(state, "'%s' is no day: YYYY-MM-DD is needed", text);
    *has_day = true;
    return 0;
}

static error_t option_action(struct argp_state *state, const char *text,
                             struct rejects_options *options)
{
    static const char *const actions[] = {[REJECTS_LIST] = "list", [REJECTS_EXPORT] = "export"};

    if (options->action != REJECTS_NONE)
        return command_refuse(state, "'%s' is one word too many", text);
    uint32_t action = command_word(text, actions, REJECTS_EXPORT + 1);

    if (action > REJECTS_EXPORT)
        return command_refuse(state, "'%s' is neither list nor export", text);
    options->action = (enum rejects_action)action;
    return 0;
}

static error_t rejects_parse(int key, char *argument, struct argp_state *state)
{
    struct rejects_options *options = state->input;

    switch (key) {
    case OPTION_FROM:
        return option_day(state, argument, &options->from, &options->has_from);
    case OPTION_TO:
        return option_day(state, argument, &options->to, &options->has_to);
    case OPTION_LAST:
        return command_number(argument, 1, LAST_MAX, &options->last)
                   ? 0
                   : command_refuse(state, "--last takes a number from 1 to %d, not '%s'", LAST_MAX,
                                    argument);
    case OPTION_FORMAT:
        return command_format(state, argument, &options->format);
    case ARGP_KEY_ARG:
        return option_action(state, argument, options);
    case ARGP_KEY_END:
        if (options->action != REJECTS_NONE)
            return 0;
        return command_refuse(state, "list or export is needed");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp rejects_argp = {
    .options = rejects_argp_options,
    .parser = rejects_parse,
    .args_doc = "list|export",
    .doc = "Show the lines that were refused.\v"
           "list prints when, where and why; export prints the lines as they came, to be corrected "
           "and loaded again.\n\n"
           "Examples:\n"
           "  daybook rejects list --from 2013-11-01 --format csv\n"
           "  daybook rejects list --last 20\n"
           "  daybook rejects export > again.csv",
};

/* ---- reading ---- */

struct rejects_job {
    struct row_listing listing; /* must be first: freeing it frees the job */
    int32_t day, day_end;       /* the next day to read, and the one behind the last */
    int32_t step;               /* 1; -1: the newest comes first */
    uint64_t rows_max;
    char day_text[DAY_TEXT_SIZE + 1];
};

static const struct table_column list_columns[] = {
    {"time", TABLE_TEXT},   {"door", TABLE_TEXT}, {"producer", TABLE_TEXT}, {"batch", TABLE_NUMBER},
    {"line", TABLE_NUMBER}, {"code", TABLE_TEXT}, {"reason", TABLE_TEXT},   {"content", TABLE_TEXT},
};

/* Append a line; unless it is valid UTF-8, escape all bytes but printable ASCII. */
static void list_content(struct buffer *text, struct bytes value)
{
    if (bytes_valid_utf8(value)) {
        buffer_append_bytes(text, value);
        return;
    }
    for (size_t i = 0; i < value.size; i++)
        if (value.data[i] >= 0x20 && value.data[i] < 0x7F)
            buffer_put_u8(text, value.data[i]);
        else
            buffer_printf(text, "\\x%02x", value.data[i]);
}

/* To be called after a row was printed, before the listing counts it. */
static void count_row(struct row_listing *listing)
{
    listing->has_enough = listing->rows + 1 >= ((const struct rejects_job *)listing)->rows_max;
}

static int list_row(struct row_listing *listing, const struct table *table,
                    const struct page_row *row)
{
    static const uint32_t ids[8] = {REJECT_ID,   REJECT_DOOR, REJECT_PRODUCER, REJECT_BATCH,
                                    REJECT_LINE, REJECT_CODE, REJECT_REASON,   REJECT_CONTENT};
    struct table_cells cells = {.count = 0};
    for (int i = 0; i < 8; i++) {
        struct bytes value;
        char id[UUID_TEXT_SIZE + 1];
        bool is_there = store_row_value(table, row, ids[i], &value);
        struct buffer *text = table_print_cell(&cells, !is_there);
        if (!is_there)
            continue;
        if (ids[i] == REJECT_ID) {
            calendar_time_format(timeuuid_us(value.data) / 1000, text);
        } else if (ids[i] == REJECT_PRODUCER) {
            uuid_format(value.data, id);
            buffer_append_text(text, id);
        } else if (ids[i] == REJECT_BATCH || ids[i] == REJECT_LINE) {
            buffer_printf(text, "%" PRId64, type_value_bigint(value));
        } else {
            list_content(text, value);
        }
    }
    table_print_cells(listing->print, &cells);
    count_row(listing);
    return 0;
}

static int export_row(struct row_listing *listing, const struct table *table,
                      const struct page_row *row)
{
    struct bytes content;

    if (store_row_value(table, row, REJECT_CONTENT, &content)) {
        buffer_append_bytes(&listing->text, content);
        buffer_put_u8(&listing->text, '\n');
    }
    count_row(listing);
    return 0;
}

static bool rejects_next(struct row_listing *listing, struct read_request *request)
{
    struct rejects_job *job = (struct rejects_job *)listing;

    if (job->day == job->day_end)
        return false;
    calendar_day_format(job->day, job->day_text);
    job->day += job->step;
    struct bytes key = bytes_of(job->day_text, DAY_TEXT_SIZE);
    *request = store_rows_request(TABLE_REJECT, &key, READ_DURABLE);
    request->slice.reversed = job->step < 0;
    return true;
}

static void choose_days(struct rejects_job *job, const struct rejects_options *options,
                        int32_t today)
{
    bool is_reversed = options->last > 0;
    int32_t last = options->has_to ? options->to : today;
    int32_t first = options->has_from ? options->from : last - (REJECTS_DAYS - 1);

    job->rows_max = is_reversed ? options->last : UINT64_MAX;
    job->step = is_reversed ? -1 : 1;
    job->day = is_reversed ? last : first;
    job->day_end = first > last ? job->day : is_reversed ? first - 1 : last + 1;
}

static void rejects_run(void *room, const struct command_request *request,
                        struct command_output *output)
{
    const struct rejects_options *options = request->options;
    bool is_list = options->action == REJECTS_LIST;
    struct ingest *ingest = room;
    struct rejects_job *job = memory_zeroed(1, sizeof *job);

    job->listing = (struct row_listing){
        .store = ingest->options.store,
        .output = output,
        .plural = "rejects",
        .none = "no line was refused in these days",
        .next = rejects_next,
        .row = is_list ? list_row : export_row,
    };
    if (is_list)
        job->listing.print = table_print_new(options->format, list_columns, 8, &job->listing.text);
    choose_days(job, options, calendar_day_of_time(store_now_us(ingest->options.store) / 1000));
    row_listing_run(&job->listing);
}

const struct command rejects_command = {
    .name = "rejects",
    .summary = "show the lines that were refused",
    .argp = &rejects_argp,
    .options_size = sizeof(struct rejects_options),
    .run = rejects_run,
};
