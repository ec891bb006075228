/* text_decoder: the decoder of lines (ingest_decoder.h).
 *
 * What must hold: every byte of the input is taken exactly once, in order.
 *
 * The input needs to hold only one line of at most 1 MiB, because each line's row is added to the
 * connection's block as soon as the line is complete.  Of a longer line only the beginning is kept,
 * for its reject. */
#include "ingest/connection/ingest_decoder.h"

#include <inttypes.h>
#include <stdio.h>

#include "door/http_begin.h"
#include "ingest/connection/answer.h"
#include "ingest/connection/ingest_commit.h"
#include "ingest/connection/ingest_control.h"
#include "ingest/connection/ingest_rows.h"
#include "ingest/connection/parse_ahead.h"
#include "ingest/parse/control_line.h"
#include "ingest/parse/line_batch.h"

enum {
    AHEAD_BYTES_MIN = 64 << 10, /* with fewer, starting a job costs more than parsing */
    AHEAD_BYTES_NEXT = 16 << 10
};

static const char byte_order_mark[] = "\xEF\xBB\xBF";

/* ---- taking input ---- */

static void input_take(struct ingest_connection *connection, size_t size, uint64_t lines)
{
    struct numbered_batch *batch = &connection->batch;
    struct bytes taken = bytes_of(input_queue_rest(&connection->input).data, size);

    input_queue_take(&connection->input, size);
    ingest_budget_spend(&connection->ingest->budget, size);
    connection->lines += lines;
    if (!batch->is_open) {
        unnumbered_rows_add(&connection->unnumbered, lines, size);
        return;
    }
    numbered_batch_add(batch, taken, lines);
    if (numbered_batch_is_too_large(batch))
        answer_refuse(connection, batch->sequence, "batch_too_large", NULL);
    else if (batch->lines_left == 0)
        ingest_commit_batch(connection);
}

static uint64_t line_number(const struct ingest_connection *connection)
{
    const struct numbered_batch *batch = &connection->batch;

    return batch->is_open ? batch->lines - batch->lines_left + 1 : connection->lines + 1;
}

static void line_reject(struct ingest_connection *connection, enum reject_code code,
                        struct bytes text, struct bytes content)
{
    reject_list_add(&connection->rows.builder->rejects, line_number(connection), code, text,
                    content);
}

/* ---- lines that are too long ---- */

static void skip_begin(struct ingest_connection *connection)
{
    struct bytes rest = input_queue_rest(&connection->input);

    connection->text.is_skipping = true;
    buffer_clear(&connection->text.skipped);
    buffer_append(&connection->text.skipped, rest.data, REJECT_CONTENT_MAX);
}

static void skip_end(struct ingest_connection *connection)
{
    struct bytes begin = buffer_view(&connection->text.skipped);

    connection->text.is_skipping = false;
    line_reject(connection, REJECT_LINE_TOO_LONG, begin, begin);
}

static void skip_step(struct ingest_connection *connection)
{
    struct bytes rest = input_queue_rest(&connection->input);
    const uint8_t *end = memchr(rest.data, '\n', rest.size);

    if (end == NULL) {
        input_take(connection, rest.size, 0);
        return;
    }
    skip_end(connection);
    input_take(connection, (size_t)(end - rest.data) + 1, 1);
}

/* True: the line is too long and is skipped from now on. */
static bool partial_step(struct ingest_connection *connection)
{
    /* A CR may follow the record. */
    if (input_queue_rest(&connection->input).size <= RECORD_LINE_MAX + 1 ||
        !ingest_rows_prepare(connection))
        return false;
    skip_begin(connection);
    return true;
}

/* ---- records ---- */

static bool records_step(struct ingest_connection *connection, struct bytes rest,
                         uint64_t lines_most)
{
    struct stream_rows *rows = &connection->rows;
    uint64_t number = line_number(connection);
    uint64_t lines_max = connection->batch.is_open
                             ? connection->batch.lines_left
                             : UNNUMBERED_ROWS_LINES_MAX - connection->unnumbered.lines;
    uint64_t lines;

    if (lines_max > lines_most)
        lines_max = lines_most;
    size_t taken = parse_ahead_take(connection, number, lines_max, &lines);
    if (taken > 0) {
        input_take(connection, taken, lines);
        return true;
    }
    rows->parser.line = number;
    struct ndjson *ndjson = rows->format == RECORDS_NDJSON ? stream_rows_ndjson(rows) : NULL;
    taken = line_batch_run(&rows->parser, ndjson, rows->builder, rest, lines_max);
    if (taken == 0)
        return partial_step(connection);
    input_take(connection, taken, rows->parser.line - number);
    return true;
}

/* An incomplete line is checked only when it is too long to be a record. */
static bool is_http(struct bytes rest, struct bytes line, bool is_whole)
{
    if (is_whole)
        return http_begin_is_request(line);
    return rest.size > RECORD_LINE_MAX && http_begin_is_long_request(rest);
}

/* The first line that is no control line decides the format.  Outside of batches it may be a
 * header. */
static bool first_step(struct ingest_connection *connection, struct bytes rest)
{
    const uint8_t *end = memchr(rest.data, '\n', rest.size);
    struct bytes line = bytes_of(rest.data, end == NULL ? 0 : (size_t)(end - rest.data));
    struct error err = {0};

    if (connection->lines == 0 && is_http(rest, line, end != NULL)) {
        answer_refuse(connection, 0, "http", NULL);
        return true;
    }
    if (end == NULL)
        return partial_step(connection);
    connection->rows.is_first = false;
    connection->rows.format = rest.data[0] == '{' ? RECORDS_NDJSON : RECORDS_CSV;
    if (connection->rows.format == RECORDS_NDJSON || connection->batch.is_open ||
        !line_parser_is_header(line, &connection->rows.columns))
        return true;
    input_queue_take(&connection->input, line.size + 1);
    connection->lines++;
    connection->rows.settings++;
    if (line_parser_header(&connection->rows.parser, line, &connection->rows.columns, &err) != 0)
        answer_refuse(connection, 0, err.text, NULL);
    return true;
}

static void batch_cut(struct ingest_connection *connection)
{
    const struct numbered_batch *batch = &connection->batch;
    char text[64];

    (void)snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " lines",
                   batch->lines - batch->lines_left, batch->lines);
    answer_refuse(connection, batch->sequence, "batch_cut", text);
}

static bool control_step(struct ingest_connection *connection, struct bytes rest)
{
    const uint8_t *end = memchr(rest.data, '\n', rest.size);
    struct bytes line = bytes_of(rest.data, end == NULL ? 0 : (size_t)(end - rest.data));

    if (end == NULL)
        return partial_step(connection);
    line = row_builder_without_cr(line);
    /* In a batch of a file, a line that begins with '#' is a reject and no control line. */
    if (connection->batch.is_open && !connection->file.is_named &&
        control_line_kind(line) != CONTROL_UNKNOWN) {
        batch_cut(connection);
        return true;
    }
    if (!connection->batch.is_open) {
        enum ingest_control_result result = ingest_control_line(connection, line);

        if (result == INGEST_CONTROL_LATER)
            return false;
        if (result == INGEST_CONTROL_DONE) {
            input_queue_take(&connection->input, (size_t)(end - rest.data) + 1);
            connection->lines++;
            return true;
        }
    }
    line_reject(connection, REJECT_UNKNOWN_CONTROL, line, line);
    input_take(connection, (size_t)(end - rest.data) + 1, 1);
    return true;
}

static bool group_step(struct ingest_connection *connection)
{
    const struct batch_group *group = parse_ahead_group(connection);

    return group != NULL && !connection->batch.is_open && connection->unnumbered.lines == 0 &&
           parse_ahead_commit_group(connection, group, 1);
}

static bool text_step(struct ingest_connection *connection, uint64_t lines_most)
{
    parse_ahead_advance(connection);
    struct bytes rest = input_queue_rest(&connection->input);
    if (rest.size == 0 || parse_ahead_is_under_way(connection))
        return false;
    if (!connection->batch.is_open && unnumbered_rows_are_full(&connection->unnumbered) &&
        !ingest_commit_unnumbered(connection))
        return false;
    if (!ingest_rows_prepare(connection))
        return false;
    if (connection->text.is_skipping) {
        skip_step(connection);
        return true;
    }
    if (connection->lines == 0 && rest.data[0] == (uint8_t)byte_order_mark[0] &&
        connection->input.front->start == 0) {
        if (rest.size < 3 && !connection->has_ended)
            return false;
        if (rest.size >= 3 && memcmp(rest.data, byte_order_mark, 3) == 0) {
            input_queue_take(&connection->input, 3);
            return true;
        }
    }
    if (rest.data[0] == '#')
        return group_step(connection) ||
               (connection->state == INGEST_RECORDS && control_step(connection, rest));
    if (connection->rows.is_first)
        return first_step(connection, rest);
    return records_step(connection, rest, lines_most);
}

/* See ingest_decoder.h.  Bytes that are left are an incomplete line. */
static void text_finish(struct ingest_connection *connection)
{
    struct bytes rest = input_queue_rest(&connection->input);

    if (connection->batch.is_open) {
        batch_cut(connection);
        return;
    }
    if (!ingest_rows_prepare(connection))
        return;
    if (connection->text.is_skipping) {
        skip_end(connection);
        input_take(connection, rest.size, 1);
    } else if (rest.size > 0) {
        line_reject(connection, REJECT_CUT_LINE, rest, rest);
        input_take(connection, rest.size, 1);
    }
    ingest_commit_last(connection);
}

/* ---- input, and parsing ahead ---- */

static bool text_has_space(const struct ingest_connection *connection)
{
    return input_queue_has_space(&connection->input, ingest_account_may_grow(&connection->account));
}

static void text_space(struct ingest_connection *connection, uint8_t **to_out, size_t *size_out)
{
    input_queue_space(&connection->input, ingest_account_may_grow(&connection->account), to_out,
                      size_out);
}

static struct input_chunk *text_seal(struct ingest_connection *connection, uint32_t *frames_out)
{
    *frames_out = 0;
    if (connection->rows.format != RECORDS_CSV || connection->rows.is_first)
        return NULL;
    return input_queue_seal(&connection->input,
                            parse_ahead_least(connection, AHEAD_BYTES_MIN, AHEAD_BYTES_NEXT));
}

static void text_prepare(const struct ingest_connection *connection, struct parse_job *job)
{
    job->order = connection->rows.parser.order;
    job->columns = line_parser_column_count(&connection->rows.columns);
}

const struct ingest_decoder text_decoder = {
    .name = "text",
    .step = text_step,
    .finish = text_finish,
    .has_space = text_has_space,
    .space = text_space,
    .seal = text_seal,
    .prepare = text_prepare,
};
