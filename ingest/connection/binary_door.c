/* binary_door: see binary_door.h.
 *
 * What decides correctness: a frame is looked at when all of it is there and its checksum agrees,
 * and is then taken whole.  A frame that cannot be taken ends the connection, for what comes after
 * it may mean something else than the client thinks; it sends what was not acknowledged again.
 *
 *     start                                    end
 *     |header|payload      |header|payload ... |   room    |padding|      (text_input.h)
 *
 * The chunk grows up to one frame, as its bytes come: what a header claims costs nothing.
 *
 * STRINGS and BATCH frames that come faster than they are taken were decoded by another thread
 * (parse_ahead.h) when their turn is; `run` below is what they came to.  Batches that lie together
 * are applied together, as the text door's are.  Where something is in the way (a copy, a file's
 * name, no room for strings), each frame is taken by itself, and says what it is. */
#include "ingest/connection/binary_door.h"

#include "base/crc32c.h"
#include "client/wire.h"
#include "ingest/parse/batch_hash.h"
#include "ingest/parse/line_batch.h"
#include "ingest/connection/parse_ahead.h"
#include "ingest/connection/text_commit.h"
#include "ingest/connection/text_control.h"
#include "ingest/connection/text_door.h"
#include "ingest/connection/text_memory.h"
#include "ingest/connection/text_notes.h"
#include "ingest/connection/text_reply.h"
#include "base/memory.h"

enum {
    ANSWER_PAYLOAD_MAX = 64 << 10,
    FRAME_COST = 4 /* clicks in a frame are so many times those in as many bytes of lines */
};

struct binary_door {
    struct binary_decoder *decoder;
    bool was_greeted;     /* the HELLO came */
    size_t strings_bytes; /* of the dictionary, as the room was told */
};

/* ---- life ---- */

/* The dictionary takes `bytes` by now; false: all of them take too much. */
static bool strings_tell(struct text_connection *connection, size_t bytes)
{
    struct binary_door *door = connection->binary;
    size_t before = door->strings_bytes;

    door->strings_bytes = bytes;
    return ingest_take_strings(connection->ingest, before, bytes);
}

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
    (void)strings_tell(connection, binary_decoder_strings_bytes(connection->binary->decoder));
    return true;
}

void binary_door_free(struct ingest *ingest, struct binary_door *door)
{
    if (door == NULL)
        return;
    (void)ingest_take_strings(ingest, door->strings_bytes, 0);
    binary_decoder_free(door->decoder);
    memory_free(door);
}

struct binary_decoder *binary_door_decoder(const struct binary_door *door)
{
    return door->decoder;
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
    } else if (oldest > WIRE_VERSION || newest < WIRE_VERSION_OLDEST) {
        text_reply_refuse(connection, 0, "unsupported_version", NULL);
    } else {
        uint16_t version = newest < WIRE_VERSION ? newest : WIRE_VERSION;

        connection->binary->was_greeted = true;
        text_reply_say(connection, "binary %u\n", version);
        if (version >= WIRE_VERSION_NOTES)
            text_notes_begin(connection);
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

static void strings_take(struct text_connection *connection, const struct decoded_frame *run)
{
    bool fits = strings_tell(connection, run->strings_bytes);

    if (run->rc == ERROR_LIMIT)
        text_reply_refuse(connection, 0, "too_many_strings", NULL);
    else if (run->rc == 0 && !fits)
        text_reply_refuse(connection, 0, "too_many_strings", "of all connections");
    else if (run->rc != 0)
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

/* The rows of a batch of a group, as a part of their own: the group was not taken.  They have no
 * rejects. */
static struct row_part *grouped_rows(struct text_connection *connection,
                                     const struct decoded_frame *run)
{
    const struct batch_group *group = run->group;
    struct row_part *part = part_pool_take(&connection->ingest->parts, connection->stream);
    uint32_t first;
    uint32_t count = batch_group_rows(group, run->place, &first);

    check(part != NULL);
    block_copy_rows(group->part->block, first, first + count, part->block);
    return part;
}

/* The run's rows to the connection's, which has no others; rejects count from `first` on. */
static int rows_take(struct text_connection *connection, struct decoded_frame *run, uint64_t first)
{
    struct row_part *part = run->group != NULL ? grouped_rows(connection, run) : run->part;

    if (part == NULL && run->rows_rc != 0)
        return run->rows_rc;
    if (part == NULL)
        return binary_decoder_rows(connection->binary->decoder, &run->batch,
                                   connection->rows.builder, first);
    run->part = NULL;
    reject_list_renumber(&part->rejects, first - 1);
    row_parts_append(&connection->rows, &connection->ingest->parts, part);
    return 0;
}

/* Rows outside of batches join the connection's group. */
static void group_take(struct text_connection *connection, struct decoded_frame *run, size_t size)
{
    const struct binary_batch *batch = &run->batch;
    struct text_group *group = &connection->group;
    int rc = rows_take(connection, run, connection->lines + 1);

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
                          size_t size, struct hash128_stream *hash)
{
    text_commit_open(connection, sequence, lines, hash);
    connection->batch.bytes = size;
    connection->lines += lines;
}

static void numbered_take(struct text_connection *connection, struct decoded_frame *run,
                          size_t size)
{
    const struct binary_batch *batch = &run->batch;
    int rc = 0;

    if (run->hash == NULL)
        decoded_frame_hash(run, connection->binary->decoder, connection->stream);
    numbered_open(connection, batch->sequence, batch->rows, size, run->hash);
    run->hash = NULL;
    /* Of a copy only the hash is asked for. */
    if (connection->batch.verdict == PRODUCER_NEXT)
        rc = rows_take(connection, run, 1);
    if (rc == 0)
        text_commit_batch(connection);
    else
        batch_refuse(connection, batch->sequence, rc);
}

static void batch_take(struct text_connection *connection, struct decoded_frame *run, size_t size)
{
    uint64_t sequence = run->batch.sequence;

    if (run->rc != 0)
        batch_refuse(connection, sequence, run->rc);
    else if (connection->keyed != NULL)
        text_reply_refuse(connection, sequence, "no_click_ids", NULL);
    else if ((sequence != 0 && !text_control_admits(connection, sequence)) ||
             !text_door_prepare(connection))
        return;
    else if (sequence == 0)
        group_take(connection, run, size);
    else
        numbered_take(connection, run, size);
}

/* `run` is what the frame came to; NULL: it is decoded now. */
static void run_take(struct text_connection *connection, struct bytes frame,
                     struct decoded_frame *run)
{
    struct decoded_frame own = {0};

    if (run == NULL) {
        check(connection->input.front == connection->input.back);
        decoded_frame_begin(&own, connection->binary->decoder, frame.data[4],
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

/* How the lines of a LINES frame are to be read; false: it does not say so. */
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
    static const char form[] = "lines";

    if (sequence == 0 || sequence > INT64_MAX || !lines_are_whole(payload, lines) ||
        !lines_shape(&connection->parser, &connection->columns, payload))
        frame_refuse(connection, 0, "malformed");
    else if (lines > BLOCK_ROWS_MAX)
        batch_refuse(connection, sequence, ERROR_LIMIT);
    else if (text_control_admits(connection, sequence) && text_door_prepare(connection)) {
        numbered_open(connection, sequence, lines, WIRE_HEADER_SIZE + payload.size,
                      batch_hash_new(connection->stream, bytes_of(form, sizeof form)));
        hash128_stream_add(connection->batch.hash, payload.data + 8, payload.size - 8);
        if (connection->batch.verdict == PRODUCER_NEXT)
            lines_parse(connection, payload);
        text_commit_batch(connection);
    }
}

/* ---- frames ---- */

static void frame_take(struct text_connection *connection, struct bytes frame,
                       struct decoded_frame *run)
{
    struct bytes payload = decoded_frame_payload(frame);
    uint8_t kind = frame.data[4];

    if (kind != WIRE_HELLO && !connection->binary->was_greeted)
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

/* The bundle that begins at the front of the input; false: nothing was taken. */
static bool bundle_step(struct text_connection *connection)
{
    const struct batch_group *bundle = parse_ahead_group(connection);
    size_t strings_bytes = connection->binary->strings_bytes;

    if (bundle == NULL || !connection->binary->was_greeted || !text_door_prepare(connection))
        return false;
    if (bundle->strings_bytes > 0 && !strings_tell(connection, bundle->strings_bytes)) {
        (void)strings_tell(connection, strings_bytes);
        return false;
    }
    return text_door_take_bundle(connection, bundle, FRAME_COST);
}

/* Take a frame; false: it is not all there, or must wait. */
static bool frame_step(struct text_connection *connection)
{
    struct decoded_frame *run;
    struct bytes frame;

    parse_ahead_advance(connection);
    frame = text_input_rest(&connection->input);
    if (frame.size < WIRE_HEADER_SIZE || parse_ahead_is_under_way(connection))
        return false;
    if (load_u32(frame.data) > WIRE_PAYLOAD_MAX) {
        frame_refuse(connection, 0, "too_long");
        return false;
    }
    if (frame.size - WIRE_HEADER_SIZE < load_u32(frame.data) || !text_commit_group(connection))
        return false;
    if (bundle_step(connection))
        return true;
    if (connection->state != TEXT_RECORDS)
        return false;
    frame.size = WIRE_HEADER_SIZE + (size_t)load_u32(frame.data);
    run = parse_ahead_frame(connection);
    if (run != NULL ? !run->is_sound : !decoded_frame_is_sound(frame)) {
        frame_refuse(connection, 0, "checksum");
        return false;
    }
    text_input_take(&connection->input, frame.size);
    ingest_spend(connection->ingest, FRAME_COST * frame.size);
    frame_take(connection, frame, run);
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
    const struct text_chunk *chunk;
    bool is_through = false;
    uint64_t lines_most; /* frames are taken whole */

    if (connection->is_running || connection->is_closing)
        return;
    connection->is_running = true;
    ingest_turn_resume(ingest);
    parse_ahead_submit(connection);
    chunk = connection->input.front;
    while (connection->state == TEXT_RECORDS && connection->reply_count < TEXT_REPLIES_MAX &&
           !is_through && connection->input.front == chunk && !ingest_turn_is_over(ingest) &&
           text_memory_may_take(connection, &lines_most))
        is_through = !frame_step(connection);
    if (connection->state == TEXT_RECORDS && is_through && text_commit_group(connection) &&
        connection->has_ended && !parse_ahead_is_under_way(connection))
        frames_finish(connection);
    if (connection->input.front != chunk || ingest_turn_is_over(ingest))
        text_door_wake(connection);
    connection->is_running = false;
    text_door_update(connection);
}

/* Whether the back begins with a frame of which some is still to come. */
static bool back_is_partial(const struct text_connection *connection)
{
    struct bytes back = text_input_back(&connection->input);

    return back.size < WIRE_HEADER_SIZE || (back.size - WIRE_HEADER_SIZE < load_u32(back.data) &&
                                            load_u32(back.data) <= WIRE_PAYLOAD_MAX);
}

/* What waits for its turn fills the input, and there is room again when it is taken; a frame that
 * is not whole yet always gets what it needs. */
bool binary_door_has_space(const struct text_connection *connection)
{
    const struct text_input *input = &connection->input;

    if (input->back != NULL && !text_memory_may_grow(connection))
        return text_input_has_space(input, false);
    if (input->front == input->back)
        return !connection->is_woken;
    return input->back->end < input->back->capacity || back_is_partial(connection);
}

/* Room for the rest of a frame that has begun, but never more than twice what is there. */
void binary_door_space(struct text_connection *connection, uint8_t **to_out, size_t *size_out)
{
    struct text_input *input = &connection->input;
    struct bytes rest;
    size_t capacity = TEXT_INPUT_BUSY;

    if (connection->state == TEXT_REFUSED)
        text_input_clear(input);
    if (!text_memory_may_grow(connection)) {
        text_input_space(input, false, to_out, size_out);
        return;
    }
    rest = text_input_back(input);
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
