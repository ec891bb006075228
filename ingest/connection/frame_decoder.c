/* frame_decoder: see the header, and ingest_decoder.h.
 *
 * What must hold: a frame is taken as a whole, after its checksum was verified.  A frame that
 * cannot be taken ends the connection, because later frames may depend on it.
 *
 *     start                                    end
 *     |header|payload      |header|payload ... |   room    |padding|      (input_queue.h)
 *
 * The chunk of input grows only as bytes arrive.  So a client cannot make the server reserve memory
 * by sending only a frame's header.
 *
 * When STRINGS and BATCH frames arrive faster than they are taken, another thread decodes them
 * ahead (parse_ahead.h). */
#include "ingest/connection/frame_decoder.h"

#include "base/crc32c.h"
#include "base/memory.h"
#include "client/wire.h"
#include "ingest/connection/answer.h"
#include "ingest/connection/ingest_commit.h"
#include "ingest/connection/ingest_control.h"
#include "ingest/connection/ingest_decoder.h"
#include "ingest/connection/ingest_rows.h"
#include "ingest/connection/notes.h"
#include "ingest/connection/parse_ahead.h"
#include "ingest/parse/batch_hash.h"
#include "ingest/parse/line_batch.h"

enum {
    ANSWER_PAYLOAD_MAX = 64 << 10,
    FRAME_COST = 4,             /* in the budget: a byte of a frame holds 4 times the clicks of a
                                 * byte of lines */
    AHEAD_BYTES_MIN = 32 << 10, /* with fewer, starting a job costs more than decoding */
    AHEAD_BYTES_NEXT = 8 << 10
};

struct frame_decoder {
    struct binary_decoder *decoder;
    bool was_greeted;
    size_t strings_bytes;
};

/* Charge `bytes` for the dictionary.  False: it has grown, and all connections' dictionaries
 * together exceed the limit. */
static bool strings_charge(struct ingest_connection *connection, size_t bytes)
{
    return ingest_memory_count_strings(&connection->ingest->memory,
                                       &connection->frames->strings_bytes, bytes);
}

/* ---- HELLO, CONTROL, STRINGS ---- */

static void frame_refuse(struct ingest_connection *connection, uint64_t sequence, const char *why)
{
    answer_refuse(connection, sequence, "bad_frame", why);
}

static void hello_take(struct ingest_connection *connection, struct bytes payload)
{
    struct reader reader = reader_of(payload);
    uint16_t oldest = reader_u16(&reader);
    uint16_t newest = reader_u16(&reader);

    if (payload.size != WIRE_HELLO_SIZE || reader_u32(&reader) != 0 ||
        connection->frames->was_greeted) {
        frame_refuse(connection, 0, "malformed");
    } else if (oldest > WIRE_VERSION || newest < WIRE_VERSION_OLDEST) {
        answer_refuse(connection, 0, "unsupported_version", NULL);
    } else {
        uint16_t version = newest < WIRE_VERSION ? newest : WIRE_VERSION;

        connection->frames->was_greeted = true;
        answer_say(connection, "binary %u\n", version);
        if (version >= WIRE_VERSION_NOTES)
            notes_begin(connection);
    }
}

static void control_take(struct ingest_connection *connection, struct bytes line)
{
    /* #batch is refused, because in frames each batch is one frame. */
    bool is_batch = line.size >= 6 && memcmp(line.data, "#batch", 6) == 0;

    if (is_batch || ingest_control_line(connection, line) == INGEST_CONTROL_UNKNOWN)
        answer_refuse_quoting(connection, "bad_control", line);
}

static void strings_take(struct ingest_connection *connection, const struct decoded_frame *run)
{
    bool fits = strings_charge(connection, run->strings_bytes);

    if (run->rc == ERROR_LIMIT)
        answer_refuse(connection, 0, "too_many_strings", NULL);
    else if (run->rc == 0 && !fits)
        answer_refuse(connection, 0, "too_many_strings", "of all connections");
    else if (run->rc != 0)
        frame_refuse(connection, 0, "malformed");
}

/* ---- clicks ---- */

static void batch_refuse(struct ingest_connection *connection, uint64_t sequence, int rc)
{
    if (rc == ERROR_LIMIT)
        answer_refuse(connection, sequence, "batch_too_large", NULL);
    else
        frame_refuse(connection, sequence, "malformed");
}

/* Copy the frame's rows from its group.  A group of frames has no rejects. */
static struct row_part *grouped_rows(struct ingest_connection *connection,
                                     const struct decoded_frame *run)
{
    const struct batch_group *group = run->group;
    struct row_part *part = stream_rows_part(&connection->rows);
    uint32_t first;
    uint32_t count = batch_group_rows(group, run->place, &first);

    block_copy_rows(group->part->block, first, first + count, part->block);
    return part;
}

/* Add the frame's rows to the connection, which must have no other rows.  `first` is the number of
 * the first row, for rejects. */
static int rows_take(struct ingest_connection *connection, struct decoded_frame *run,
                     uint64_t first)
{
    struct row_part *part = run->group != NULL ? grouped_rows(connection, run) : run->part;

    if (part == NULL && run->rows_rc != 0)
        return run->rows_rc;
    if (part == NULL)
        return binary_decoder_rows(connection->frames->decoder, &run->batch,
                                   connection->rows.builder, first);
    run->part = NULL;
    reject_list_renumber(&part->rejects, first - 1);
    stream_rows_append(&connection->rows, part);
    return 0;
}

static void unnumbered_take(struct ingest_connection *connection, struct decoded_frame *run,
                            size_t size)
{
    const struct binary_batch *batch = &run->batch;
    int rc = rows_take(connection, run, connection->lines + 1);

    if (rc != 0) {
        batch_refuse(connection, 0, rc);
        return;
    }
    connection->lines += batch->rows;
    unnumbered_rows_add(&connection->unnumbered, batch->rows, size);
}

static void numbered_open(struct ingest_connection *connection, uint64_t sequence, uint32_t lines,
                          size_t size, struct hash128_stream *hash)
{
    ingest_commit_open(connection, sequence, lines, hash);
    connection->batch.bytes = size;
    connection->lines += lines;
}

static void numbered_take(struct ingest_connection *connection, struct decoded_frame *run,
                          size_t size)
{
    const struct binary_batch *batch = &run->batch;
    int rc = 0;

    if (run->hash == NULL)
        decoded_frame_hash(run, connection->frames->decoder, connection->rows.stream);
    numbered_open(connection, batch->sequence, batch->rows, size, run->hash);
    run->hash = NULL;
    if (connection->batch.verdict == PRODUCER_NEXT)
        rc = rows_take(connection, run, 1);
    if (rc == 0)
        ingest_commit_batch(connection);
    else
        batch_refuse(connection, batch->sequence, rc);
}

static void batch_take(struct ingest_connection *connection, struct decoded_frame *run, size_t size)
{
    uint64_t sequence = run->batch.sequence;

    if (run->rc != 0)
        batch_refuse(connection, sequence, run->rc);
    else if (connection->rows.dedup != NULL)
        answer_refuse(connection, sequence, "no_click_ids", NULL);
    else if ((sequence != 0 && !ingest_control_admits(connection, sequence)) ||
             !ingest_rows_prepare(connection))
        return;
    else if (sequence == 0)
        unnumbered_take(connection, run, size);
    else
        numbered_take(connection, run, size);
}

/* `run` is the frame as it was decoded ahead, or NULL. */
static void run_take(struct ingest_connection *connection, struct bytes frame,
                     struct decoded_frame *run)
{
    struct decoded_frame own = {0};

    if (run == NULL) {
        check(connection->input.front == connection->input.back);
        decoded_frame_begin(&own, connection->frames->decoder, frame.data[4],
                            decoded_frame_payload(frame));
        run = &own;
    } else {
        connection->ingest->metrics.ahead->value += (int64_t)frame.size;
    }
    if (frame.data[4] == WIRE_STRINGS)
        strings_take(connection, run);
    else
        batch_take(connection, run, frame.size);
}

/* ---- lines ---- */

/* Set the parser's order of fields from the payload.  False: the payload is malformed. */
static bool lines_shape(struct line_parser *parser, const struct line_columns *columns,
                        struct bytes payload)
{
    uint8_t *fields = parser->order.line_field;
    bool is_json = payload.data[12] == WIRE_LINES_NDJSON;
    uint8_t count = line_parser_column_count(columns);
    uint32_t seen = 0;

    if (payload.data[12] > WIRE_LINES_NDJSON || payload.data[13] > count ||
        is_json != (payload.data[13] == 0) || (payload.data[19] != 0 && count == RECORD_FIELDS))
        return false;
    parser->order.field_count = payload.data[13];
    memcpy(fields, payload.data + 14, RECORD_FIELDS);
    fields[FIELD_CLICK_ID] =
        payload.data[19] == 0 ? WIRE_FIELD_NONE : (uint8_t)(payload.data[19] - 1);
    for (int i = 0; i < count; i++) {
        bool is_none = fields[i] == WIRE_FIELD_NONE;

        if (is_none ? !is_json && i != FIELD_DAY
                    : fields[i] >= parser->order.field_count || (seen & 1U << fields[i]) != 0)
            return false;
        seen |= is_none ? 0 : 1U << fields[i];
    }
    return true;
}

static bool lines_are_whole(struct bytes payload, uint32_t lines)
{
    uint32_t ends = 0;

    for (size_t i = WIRE_LINES_HEADER; i < payload.size; i++)
        ends += payload.data[i] == '\n';
    return ends == lines && load_u32(payload.data + 20) == 0 &&
           (payload.size == WIRE_LINES_HEADER || payload.data[payload.size - 1] == '\n');
}

static void lines_parse(struct ingest_connection *connection, struct bytes payload)
{
    struct line_parser *parser = &connection->rows.parser;
    struct ndjson *ndjson =
        payload.data[12] == WIRE_LINES_NDJSON ? stream_rows_ndjson(&connection->rows) : NULL;

    parser->line = 1;
    line_batch_parse(parser, ndjson, connection->rows.builder,
                     bytes_of(payload.data + WIRE_LINES_HEADER, payload.size - WIRE_LINES_HEADER));
}

static void lines_take(struct ingest_connection *connection, struct bytes payload)
{
    uint64_t sequence = payload.size < WIRE_LINES_HEADER ? 0 : load_u64(payload.data);
    uint32_t lines = payload.size < WIRE_LINES_HEADER ? 0 : load_u32(payload.data + 8);
    static const char form[] = "lines";

    if (sequence == 0 || sequence > INT64_MAX || !lines_are_whole(payload, lines) ||
        !lines_shape(&connection->rows.parser, &connection->rows.columns, payload))
        frame_refuse(connection, 0, "malformed");
    else if (lines > BLOCK_ROWS_MAX)
        batch_refuse(connection, sequence, ERROR_LIMIT);
    else if (ingest_control_admits(connection, sequence) && ingest_rows_prepare(connection)) {
        numbered_open(connection, sequence, lines, WIRE_HEADER_SIZE + payload.size,
                      batch_hash_new(connection->rows.stream, bytes_of(form, sizeof form)));
        hash128_stream_add(connection->batch.hash, payload.data + 8, payload.size - 8);
        if (connection->batch.verdict == PRODUCER_NEXT)
            lines_parse(connection, payload);
        ingest_commit_batch(connection);
    }
}

/* ---- frames ---- */

static void frame_take(struct ingest_connection *connection, struct bytes frame,
                       struct decoded_frame *run)
{
    struct bytes payload = decoded_frame_payload(frame);
    uint8_t kind = frame.data[4];

    if (kind != WIRE_HELLO && !connection->frames->was_greeted)
        frame_refuse(connection, 0, "no_hello");
    else if (kind == WIRE_HELLO)
        hello_take(connection, payload);
    else if (kind == WIRE_CONTROL)
        control_take(connection, payload);
    else if (decoded_frame_has_kind(kind))
        run_take(connection, frame, run);
    else if (kind == WIRE_LINES)
        lines_take(connection, payload);
    else
        frame_refuse(connection, 0, "unknown_kind");
}

static bool group_step(struct ingest_connection *connection)
{
    const struct batch_group *group = parse_ahead_group(connection);
    size_t strings_bytes = connection->frames->strings_bytes;

    if (group == NULL || !connection->frames->was_greeted || !ingest_rows_prepare(connection))
        return false;
    if (group->strings_bytes > 0 && !strings_charge(connection, group->strings_bytes)) {
        (void)strings_charge(connection, strings_bytes);
        return false;
    }
    return parse_ahead_commit_group(connection, group, FRAME_COST);
}

/* See ingest_decoder.h. */
static bool frame_step(struct ingest_connection *connection, uint64_t lines_max)
{
    (void)lines_max;
    parse_ahead_advance(connection);
    struct bytes frame = input_queue_rest(&connection->input);
    if (frame.size < WIRE_HEADER_SIZE || parse_ahead_is_under_way(connection))
        return false;
    if (load_u32(frame.data) > WIRE_PAYLOAD_MAX) {
        frame_refuse(connection, 0, "too_long");
        return false;
    }
    if (frame.size - WIRE_HEADER_SIZE < load_u32(frame.data) ||
        !ingest_commit_unnumbered(connection))
        return false;
    if (group_step(connection))
        return true;
    if (connection->state != INGEST_RECORDS)
        return false;
    frame.size = WIRE_HEADER_SIZE + (size_t)load_u32(frame.data);
    struct decoded_frame *run = parse_ahead_frame(connection);
    if (run != NULL ? !run->is_sound : !decoded_frame_is_sound(frame)) {
        frame_refuse(connection, 0, "checksum");
        return false;
    }
    input_queue_take(&connection->input, frame.size);
    ingest_budget_spend(&connection->ingest->budget, FRAME_COST * frame.size);
    frame_take(connection, frame, run);
    return true;
}

/* See ingest_decoder.h.  Bytes that are left are an incomplete frame. */
static void frames_finish(struct ingest_connection *connection)
{
    if (input_queue_rest(&connection->input).size == 0)
        ingest_commit_last(connection);
    else if (ingest_commit_unnumbered(connection))
        frame_refuse(connection, 0, "cut");
}

/* ---- input, and parsing ahead ---- */

static bool back_is_partial(const struct ingest_connection *connection)
{
    struct bytes back = input_queue_back(&connection->input);

    return back.size < WIRE_HEADER_SIZE || (back.size - WIRE_HEADER_SIZE < load_u32(back.data) &&
                                            load_u32(back.data) <= WIRE_PAYLOAD_MAX);
}

/* When whole frames fill the input, nothing more is read until some of them are taken.  If the
 * account may not grow, only existing space is used. */
static bool frames_have_space(const struct ingest_connection *connection)
{
    const struct input_queue *input = &connection->input;

    if (input->back != NULL && !ingest_account_may_grow(&connection->account))
        return input_queue_has_space(input, false);
    if (input->front == input->back)
        return !connection->wake.is_woken;
    return input->back->end < input->back->capacity || back_is_partial(connection);
}

/* Make space for the rest of an incomplete frame.  The chunk's new capacity is at most twice the
 * bytes that have come, but at least INPUT_QUEUE_BUSY. */
static void frames_space(struct ingest_connection *connection, uint8_t **to_out, size_t *size_out)
{
    struct input_queue *input = &connection->input;
    size_t capacity = INPUT_QUEUE_BUSY;

    if (!ingest_account_may_grow(&connection->account)) {
        input_queue_space(input, false, to_out, size_out);
        return;
    }
    struct bytes rest = input_queue_back(input);
    if (rest.size >= WIRE_HEADER_SIZE && rest.size == input->back->capacity) {
        size_t frame = WIRE_HEADER_SIZE + (size_t)load_u32(rest.data);

        capacity = frame < 2 * rest.size ? frame : 2 * rest.size;
    } else if (rest.size > 0) {
        capacity = input->back->capacity;
    }
    input_queue_fit(input, capacity < INPUT_QUEUE_BUSY ? INPUT_QUEUE_BUSY : capacity);
    *to_out = input->back->data + input->back->end;
    *size_out = input->back->capacity - input->back->end;
}

static void frames_wrap(struct bytes text, struct buffer *frames)
{
    while (text.size > 0) {
        size_t size = text.size < ANSWER_PAYLOAD_MAX ? text.size : ANSWER_PAYLOAD_MAX;
        uint8_t header[8] = {[4] = WIRE_ANSWER};

        store_u32(header, (uint32_t)size);
        buffer_append(frames, header, sizeof header);
        buffer_put_u32(frames, crc32c(crc32c(0, header, sizeof header), text.data, size));
        buffer_append(frames, text.data, size);
        text = bytes_of(text.data + size, text.size - size);
    }
}

/* Small frames are not decoded ahead, because a job decodes at most DECODED_FRAMES_MAX frames, and
 * sealing would copy all bytes behind them. */
static struct input_chunk *frames_seal(struct ingest_connection *connection, uint32_t *frames_out)
{
    struct bytes back = input_queue_back(&connection->input);
    size_t least = parse_ahead_least(connection, AHEAD_BYTES_MIN, AHEAD_BYTES_NEXT);

    if (back.size < least)
        return NULL;
    size_t size = decoded_frame_plan(back, frames_out);
    if (*frames_out == 0 || size < least || size < back.size / 4)
        return NULL;
    return input_queue_split(&connection->input, size);
}

static void frames_prepare(const struct ingest_connection *connection, struct parse_job *job)
{
    job->decoder = connection->frames->decoder;
}

static const struct ingest_decoder frames_decoder = {
    .name = "binary",
    .step = frame_step,
    .finish = frames_finish,
    .wrap = frames_wrap,
    .has_space = frames_have_space,
    .space = frames_space,
    .seal = frames_seal,
    .prepare = frames_prepare,
};

/* ---- life ---- */

static void frames_open(struct ingest_connection *connection)
{
    const struct world *world = connection->ingest->options.world;
    uint64_t seed;

    input_queue_take(&connection->input, WIRE_MAGIC_SIZE);
    world->random->fill(world->random, &seed, sizeof seed);
    connection->decoder = &frames_decoder;
    connection->frames = memory_zeroed(1, sizeof *connection->frames);
    connection->frames->decoder = binary_decoder_new(seed);
    (void)strings_charge(connection, binary_decoder_strings_bytes(connection->frames->decoder));
}

bool frame_decoder_choose(struct ingest_connection *connection)
{
    struct bytes input = input_queue_rest(&connection->input);
    size_t size = input.size < WIRE_MAGIC_SIZE ? input.size : WIRE_MAGIC_SIZE;
    bool is_magic = memcmp(input.data, WIRE_MAGIC, size) == 0;

    connection->is_decoder_known = !is_magic || size == WIRE_MAGIC_SIZE;
    if (is_magic && connection->is_decoder_known)
        frames_open(connection);
    return connection->is_decoder_known;
}

void frame_decoder_close(struct ingest_connection *connection)
{
    if (connection->frames == NULL)
        return;
    (void)strings_charge(connection, 0);
    binary_decoder_free(connection->frames->decoder);
    memory_free(connection->frames);
    connection->frames = NULL;
}
