/* binary_door: see binary_door.h.
 *
 * What decides correctness: a frame is looked at when all of it is there and its checksum agrees,
 * and is then taken whole.  A frame that cannot be taken ends the connection, for what comes after
 * it may mean something else than the client thinks; it sends what was not acknowledged again.
 *
 *     start                                    end
 *     |header|payload      |header|payload ... |   room    |padding|      (text_input.h)
 *
 * The chunk grows up to one frame, as its bytes come: what a header claims costs nothing. */
#include "ingest/binary_door.h"

#include "client/wire.h"
#include "ingest/binary_decoder.h"
#include "ingest/line_batch.h"
#include "ingest/text_commit.h"
#include "ingest/text_control.h"
#include "ingest/text_door.h"
#include "ingest/text_reply.h"
#include "storage/base/memory.h"

enum {
    ANSWER_PAYLOAD_MAX = 64 << 10,
    FRAME_COST = 4 /* clicks in a frame are so many times those in as many bytes of lines */
};

struct binary_door {
    struct binary_decoder *decoder;
    bool was_greeted; /* the HELLO came */
};

/* ---- life ---- */

bool binary_door_tell(struct text_connection *connection)
{
    const struct world *world = connection->ingest->options.world;
    struct bytes input = text_input_rest(&connection->input);
    uint64_t seed;

    if (memcmp(input.data, WIRE_MAGIC,
               input.size < WIRE_MAGIC_SIZE ? input.size : WIRE_MAGIC_SIZE) != 0) {
        connection->is_told = true;
        return true;
    }
    if (input.size < WIRE_MAGIC_SIZE)
        return false;
    connection->is_told = true;
    text_input_take(&connection->input, WIRE_MAGIC_SIZE);
    world->random->fill(world->random, &seed, sizeof seed);
    connection->binary = memory_zeroed(1, sizeof *connection->binary);
    connection->binary->decoder = binary_decoder_new(seed);
    (void)ingest_take_strings(connection->ingest, 0,
                              binary_decoder_strings_bytes(connection->binary->decoder));
    return true;
}

void binary_door_free(struct ingest *ingest, struct binary_door *door)
{
    if (door == NULL)
        return;
    (void)ingest_take_strings(ingest, binary_decoder_strings_bytes(door->decoder), 0);
    binary_decoder_free(door->decoder);
    memory_free(door);
}

/* ---- what a frame says ---- */

/* `sequence` 0: it is of no batch. */
static void frame_refuse(struct text_connection *connection, uint64_t sequence, const char *why)
{
    text_reply_refuse(connection, sequence, "bad_frame", why);
}

static void hello_take(struct text_connection *connection, struct bytes payload)
{
    struct reader reader = reader_of(payload);
    uint16_t oldest = reader_u16(&reader);
    uint16_t newest = reader_u16(&reader);

    if (payload.size != WIRE_HELLO_SIZE || reader_u32(&reader) != 0 ||
        connection->binary->was_greeted) {
        frame_refuse(connection, 0, "malformed");
    } else if (oldest > WIRE_VERSION || newest < WIRE_VERSION) {
        text_reply_refuse(connection, 0, "unsupported_version", NULL);
    } else {
        connection->binary->was_greeted = true;
        text_reply_say(connection, "binary %d\n", WIRE_VERSION);
    }
}

/* A batch's lines would have to follow in other frames, and rows come as columns here. */
static bool is_batch_line(struct bytes line)
{
    return line.size >= 6 && memcmp(line.data, "#batch", 6) == 0;
}

static void control_take(struct text_connection *connection, struct bytes line)
{
    struct buffer quoted = {0};

    if (!is_batch_line(line) && text_control_line(connection, line) != TEXT_CONTROL_UNKNOWN)
        return;
    reject_append_json(&quoted, line);
    buffer_put_u8(&quoted, 0);
    text_reply_refuse(connection, 0, "bad_control", (const char *)quoted.data);
    buffer_release(&quoted);
}

static void strings_take(struct text_connection *connection, struct bytes payload)
{
    struct binary_decoder *decoder = connection->binary->decoder;
    size_t before = binary_decoder_strings_bytes(decoder);
    int rc = binary_decoder_strings(decoder, payload);
    bool fits =
        ingest_take_strings(connection->ingest, before, binary_decoder_strings_bytes(decoder));

    if (rc == ERROR_LIMIT)
        text_reply_refuse(connection, 0, "too_many_strings", NULL);
    else if (rc == 0 && !fits)
        text_reply_refuse(connection, 0, "too_many_strings", "of all connections");
    else if (rc != 0)
        frame_refuse(connection, 0, "malformed");
}

/* ---- clicks ---- */

static void batch_refuse(struct text_connection *connection, uint64_t sequence, int rc)
{
    if (rc == ERROR_LIMIT)
        text_reply_refuse(connection, sequence, "batch_too_large", NULL);
    else
        frame_refuse(connection, sequence, "malformed");
}

/* Rows outside of batches join the connection's group, of which there is none other yet. */
static void group_take(struct text_connection *connection, const struct binary_batch *batch,
                       size_t size)
{
    struct text_group *group = &connection->group;
    int rc = binary_decoder_rows(connection->binary->decoder, batch, connection->rows.builder,
                                 connection->lines + 1);

    if (rc != 0) {
        batch_refuse(connection, 0, rc);
        return;
    }
    connection->lines += batch->rows;
    group->lines += batch->rows;
    group->bytes += size;
    group->is_answer_due |= batch->rows > 0;
}

/* A numbered batch of `lines` has come, in a frame of `size` bytes. */
static void numbered_open(struct text_connection *connection, uint64_t sequence, uint32_t lines,
                          size_t size, const char *form)
{
    text_commit_open(connection, sequence, lines, bytes_of(form, strlen(form) + 1));
    connection->batch.bytes = size;
    connection->lines += lines;
}

static void numbered_take(struct text_connection *connection, const struct binary_batch *batch,
                          size_t size)
{
    struct binary_decoder *decoder = connection->binary->decoder;
    int rc = 0;

    numbered_open(connection, batch->sequence, batch->rows, size, "columns");
    binary_decoder_hash(decoder, batch, connection->batch.hash);
    /* Of a copy only the hash is asked for. */
    if (connection->batch.verdict == PRODUCER_NEXT)
        rc = binary_decoder_rows(decoder, batch, connection->rows.builder, 1);
    if (rc == 0)
        text_commit_batch(connection);
    else
        batch_refuse(connection, batch->sequence, rc);
}

static void batch_take(struct text_connection *connection, struct bytes payload)
{
    struct binary_batch batch;
    int rc = binary_batch_read(payload, &batch);

    if (rc == 0)
        rc = binary_decoder_begin(connection->binary->decoder, &batch);
    if (rc != 0)
        batch_refuse(connection, batch.sequence, rc);
    else if (connection->keyed != NULL)
        text_reply_refuse(connection, batch.sequence, "no_click_ids", NULL);
    else if ((batch.sequence != 0 && !text_control_admits(connection, batch.sequence)) ||
             !text_door_prepare(connection))
        return;
    else if (batch.sequence == 0)
        group_take(connection, &batch, WIRE_HEADER_SIZE + payload.size);
    else
        numbered_take(connection, &batch, WIRE_HEADER_SIZE + payload.size);
}

/* ---- lines ---- */

/* How the lines of a LINES frame are to be read; false: it does not say so. */
static bool lines_shape(struct line_parser *parser, const struct line_columns *columns,
                        struct bytes payload)
{
    uint8_t *fields = parser->order.line_field;
    bool is_json = payload.data[12] == WIRE_LINES_NDJSON;
    uint8_t count = line_columns_count(columns);
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

/* Whether `lines` lines, and nothing else, are behind the header. */
static bool lines_are_whole(struct bytes payload, uint32_t lines)
{
    uint32_t ends = 0;

    for (size_t i = 20; i < WIRE_LINES_HEADER; i++)
        if (payload.data[i] != 0)
            return false;
    for (size_t i = WIRE_LINES_HEADER; i < payload.size; i++)
        ends += payload.data[i] == '\n';
    return ends == lines &&
           (payload.size == WIRE_LINES_HEADER || payload.data[payload.size - 1] == '\n');
}

static void lines_parse(struct text_connection *connection, struct bytes payload)
{
    struct line_parser *parser = &connection->parser;
    struct ndjson *ndjson = NULL;

    if (payload.data[12] == WIRE_LINES_NDJSON) {
        if (connection->ndjson == NULL)
            connection->ndjson = ndjson_new(&connection->columns);
        ndjson = connection->ndjson;
    }
    parser->line = 1;
    line_batch_parse(parser, ndjson, connection->rows.builder,
                     bytes_of(payload.data + WIRE_LINES_HEADER, payload.size - WIRE_LINES_HEADER));
}

static void lines_take(struct text_connection *connection, struct bytes payload)
{
    uint64_t sequence = payload.size < WIRE_LINES_HEADER ? 0 : load_u64(payload.data);
    uint32_t lines = payload.size < WIRE_LINES_HEADER ? 0 : load_u32(payload.data + 8);

    if (sequence == 0 || sequence > INT64_MAX || !lines_are_whole(payload, lines) ||
        !lines_shape(&connection->parser, &connection->columns, payload))
        frame_refuse(connection, 0, "malformed");
    else if (lines > BLOCK_ROWS_MAX)
        batch_refuse(connection, sequence, ERROR_LIMIT);
    else if (text_control_admits(connection, sequence) && text_door_prepare(connection)) {
        numbered_open(connection, sequence, lines, WIRE_HEADER_SIZE + payload.size, "lines");
        hash128_stream_add(connection->batch.hash, payload.data + 8, payload.size - 8);
        if (connection->batch.verdict == PRODUCER_NEXT)
            lines_parse(connection, payload);
        text_commit_batch(connection);
    }
}

/* ---- frames ---- */

static void frame_take(struct text_connection *connection, uint8_t kind, struct bytes payload)
{
    if (kind != WIRE_HELLO && !connection->binary->was_greeted)
        frame_refuse(connection, 0, "no_hello");
    else if (kind == WIRE_HELLO)
        hello_take(connection, payload);
    else if (kind == WIRE_CONTROL)
        control_take(connection, payload);
    else if (kind == WIRE_STRINGS)
        strings_take(connection, payload);
    else if (kind == WIRE_BATCH)
        batch_take(connection, payload);
    else if (kind == WIRE_LINES)
        lines_take(connection, payload);
    else
        frame_refuse(connection, 0, "unknown_kind");
}

static bool frame_is_sound(const uint8_t *header, struct bytes payload)
{
    uint32_t sum = crc32c(crc32c(0, header, 8), payload.data, payload.size);

    return sum == load_u32(header + 8) && header[5] == 0 && header[6] == 0 && header[7] == 0;
}

/* Take a frame; false: it is not all there, or must wait. */
static bool frame_step(struct text_connection *connection)
{
    struct bytes rest = text_input_rest(&connection->input);
    struct bytes payload;

    if (rest.size < WIRE_HEADER_SIZE)
        return false;
    payload = bytes_of(rest.data + WIRE_HEADER_SIZE, load_u32(rest.data));
    if (payload.size > WIRE_PAYLOAD_MAX) {
        frame_refuse(connection, 0, "too_long");
        return false;
    }
    if (rest.size - WIRE_HEADER_SIZE < payload.size || !text_commit_group(connection))
        return false;
    if (!frame_is_sound(rest.data, payload)) {
        frame_refuse(connection, 0, "checksum");
        return false;
    }
    text_input_take(&connection->input, WIRE_HEADER_SIZE + payload.size);
    ingest_spend(connection->ingest, FRAME_COST * (WIRE_HEADER_SIZE + payload.size));
    frame_take(connection, rest.data[4], payload);
    return true;
}

/* The peer has sent its last byte and all whole frames are taken. */
static void frames_finish(struct text_connection *connection)
{
    if (text_input_rest(&connection->input).size > 0) {
        frame_refuse(connection, 0, "cut");
        return;
    }
    if (connection->group.is_answer_due || !connection->group.was_answered)
        text_commit_answer(connection);
    connection->state = TEXT_ENDING;
}

void binary_door_run(struct text_connection *connection)
{
    struct ingest *ingest = connection->ingest;
    bool is_through = false;

    if (connection->is_running || connection->is_closing)
        return;
    connection->is_running = true;
    ingest_turn_resume(ingest);
    while (connection->state == TEXT_RECORDS && connection->reply_count < TEXT_REPLIES_MAX &&
           !is_through && !ingest_turn_is_over(ingest))
        is_through = !frame_step(connection);
    if (connection->state == TEXT_RECORDS && is_through && text_commit_group(connection) &&
        connection->has_ended)
        frames_finish(connection);
    if (ingest_turn_is_over(ingest))
        text_door_wake(connection);
    connection->is_running = false;
    text_door_update(connection);
}

/* Room for the rest of a frame that has begun, but never more than twice what is there. */
void binary_door_space(struct text_connection *connection, uint8_t **to_out, size_t *size_out)
{
    struct text_input *input = &connection->input;
    struct bytes rest;
    size_t capacity = TEXT_INPUT_BUSY;

    if (connection->state == TEXT_REFUSED)
        text_input_clear(input);
    rest = text_input_rest(input);
    if (rest.size >= WIRE_HEADER_SIZE && rest.size == input->back->capacity) {
        size_t frame = WIRE_HEADER_SIZE + (size_t)load_u32(rest.data);

        capacity = frame < 2 * rest.size ? frame : 2 * rest.size;
    } else if (rest.size > 0) {
        capacity = input->back->capacity;
    }
    text_input_fit(input, capacity < TEXT_INPUT_BUSY ? TEXT_INPUT_BUSY : capacity);
    *to_out = input->back->data + input->back->end;
    *size_out = input->back->capacity - input->back->end;
}

void binary_door_wrap(struct bytes text, struct buffer *frames)
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
