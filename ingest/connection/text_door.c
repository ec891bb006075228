/* text_door: see text_door.h; states in text_connection.h.
 *
 * What decides correctness: every byte that came is accounted for once, in order, and a line is
 * parsed where it lies (text_input.h), by this thread or ahead of it by another (parse_ahead.h).
 *
 * The input needs to hold one line of at most 1 MiB, never a batch: rows go into the connection's
 * blocks as they come, and a batch that ends early is blocks that are cleared.  A longer line is
 * dropped as it comes, but for its beginning, which goes to the rejects.
 *
 * Back-pressure: reading stops while the store has no room, while too many answers wait for the
 * disk, and while the client does not read its answers; the socket's buffers fill, and it waits. */
#include "ingest/connection/text_door.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "door/http_begin.h"
#include "ingest/connection/binary_door.h"
#include "ingest/connection/parse_ahead.h"
#include "ingest/connection/text_commit.h"
#include "ingest/connection/text_control.h"
#include "ingest/connection/text_memory.h"
#include "ingest/connection/text_reply.h"
#include "base/memory.h"
#include "ingest/parse/control_line.h"

static const char byte_order_mark[] = "\xEF\xBB\xBF";

/* ---- what comes in is accounted for ---- */

static void input_take(struct text_connection *connection, size_t size, uint64_t lines)
{
    struct text_batch *batch = &connection->batch;
    const uint8_t *data = text_input_rest(&connection->input).data;

    text_input_take(&connection->input, size);
    ingest_spend(connection->ingest, size);
    connection->lines += lines;
    if (!batch->is_open) {
        connection->group.lines += lines;
        connection->group.bytes += size;
        connection->group.is_answer_due |= lines > 0;
        return;
    }
    hash128_stream_add(batch->hash, data, size);
    batch->bytes += size;
    batch->lines_left -= lines;
    if (batch->bytes > TEXT_BATCH_BYTES_MAX)
        text_reply_refuse(connection, batch->sequence, "batch_too_large", NULL);
    else if (batch->lines_left == 0)
        text_commit_batch(connection);
}

/* The number of the next line, as replies and rejects give it. */
static uint64_t line_number(const struct text_connection *connection)
{
    const struct text_batch *batch = &connection->batch;

    return batch->is_open ? batch->lines - batch->lines_left + 1 : connection->lines + 1;
}

static void line_reject(struct text_connection *connection, enum reject_code code,
                        struct bytes text, struct bytes content)
{
    row_builder_reject(connection->rows.builder, line_number(connection), code, text, content);
}

/* ---- lines that are too long ---- */

static void skip_begin(struct text_connection *connection)
{
    struct bytes rest = text_input_rest(&connection->input);

    connection->is_skipping = true;
    buffer_clear(&connection->skipped);
    buffer_append(&connection->skipped, rest.data, REJECT_CONTENT_MAX);
}

static void skip_end(struct text_connection *connection)
{
    struct bytes begin = buffer_view(&connection->skipped);

    connection->is_skipping = false;
    line_reject(connection, REJECT_LINE_TOO_LONG, begin, begin);
}

static void skip_step(struct text_connection *connection)
{
    struct bytes rest = text_input_rest(&connection->input);
    const uint8_t *end = memchr(rest.data, '\n', rest.size);

    if (end == NULL) {
        input_take(connection, rest.size, 0);
        return;
    }
    skip_end(connection);
    input_take(connection, (size_t)(end - rest.data) + 1, 1);
}

/* There is no whole line: true when something was done about that. */
static bool partial_step(struct text_connection *connection)
{
    /* One byte more for the CR of a line end. */
    if (text_input_rest(&connection->input).size <= RECORD_LINE_MAX + 1 ||
        !text_door_prepare(connection))
        return false;
    skip_begin(connection);
    return true;
}

/* ---- records ---- */

bool text_door_prepare(struct text_connection *connection)
{
    struct error err = {0};

    if (connection->rows.builder != NULL ||
        part_pool_builder(&connection->ingest->parts, connection->stream, &connection->rows.builder,
                          &err) == 0)
        return true;
    text_reply_refuse(connection, 0, "store_failed", err.text);
    return false;
}

static bool stream_columns(const struct ingest *ingest, const struct ingest_stream *stream,
                           struct line_columns *columns)
{
    const struct table *table = schema_table(store_schema(ingest->options.store), stream->table_id);

    for (int i = 0; i < RECORD_FIELDS; i++) {
        const struct column *column =
            table == NULL ? NULL : table_column(table, stream->column_ids[i]);

        if (column == NULL)
            return false;
        columns->names[i] = bytes_text(column->name);
    }
    columns->names[FIELD_CLICK_ID] =
        stream->click_id_column_id == 0
            ? bytes_of(NULL, 0)
            : bytes_text(table_column(table, stream->click_id_column_id)->name);
    return true;
}

void text_door_choose(struct text_connection *connection, const struct ingest_stream *stream)
{
    connection->stream = stream;
    connection->format = TEXT_UNKNOWN;
    connection->is_first = true;
    connection->settings++;
    row_parts_release(&connection->rows, &connection->ingest->parts);
    ndjson_free(connection->ndjson);
    connection->ndjson = NULL;
    line_parser_release(&connection->parser);
    line_parser_init(&connection->parser);
    keyed_free(connection->keyed);
    connection->keyed = NULL;
    if (!stream_columns(connection->ingest, stream, &connection->columns)) {
        text_reply_refuse(connection, 0, "store_failed", "the stream's table is not there");
        return;
    }
    line_parser_fields(&connection->parser, line_parser_column_count(&connection->columns));
    if (stream->click_id_column_id != 0)
        connection->keyed = keyed_new(connection->ingest->options.store, stream);
}

/* A group that has reached its size goes to the store before the next line; false: it waits. */
static bool group_has_room(struct text_connection *connection)
{
    const struct text_group *group = &connection->group;

    if (connection->batch.is_open ||
        (group->lines < TEXT_GROUP_LINES_MAX && group->bytes < TEXT_GROUP_BYTES_MAX))
        return true;
    return text_commit_group(connection);
}

/* Lines of the two formats; each takes whole lines and returns their bytes. */
static size_t csv_run(struct text_connection *connection, struct bytes rest, uint64_t lines_max)
{
    return line_parser_run(&connection->parser, connection->rows.builder, rest, lines_max);
}

static size_t ndjson_run(struct text_connection *connection, struct bytes rest, uint64_t lines_max)
{
    size_t at = 0;

    while (at < rest.size && rest.data[at] != '#' && lines_max-- > 0) {
        const uint8_t *end = memchr(rest.data + at, '\n', rest.size - at);
        size_t size;

        if (end == NULL)
            break;
        size = (size_t)(end - rest.data) - at;
        ndjson_line(connection->ndjson, connection->rows.builder, bytes_of(rest.data + at, size),
                    connection->parser.line++);
        at += size + 1;
    }
    return at;
}

static bool records_step(struct text_connection *connection, struct bytes rest, uint64_t lines_most)
{
    uint64_t number = line_number(connection);
    uint64_t lines_max = connection->batch.is_open ? connection->batch.lines_left
                                                   : TEXT_GROUP_LINES_MAX - connection->group.lines;
    uint64_t lines;
    size_t taken;

    if (lines_max > lines_most)
        lines_max = lines_most;
    taken = parse_ahead_take(connection, number, lines_max, &lines);
    if (taken > 0) {
        input_take(connection, taken, lines);
        return true;
    }
    connection->parser.line = number;
    taken = connection->format == TEXT_NDJSON ? ndjson_run(connection, rest, lines_max)
                                              : csv_run(connection, rest, lines_max);
    if (taken == 0)
        return partial_step(connection);
    input_take(connection, taken, connection->parser.line - number);
    return true;
}

/* Not asked of a line that may still end: until it has, nothing of it is taken. */
static bool is_http(struct bytes rest, struct bytes line, bool is_whole)
{
    if (is_whole)
        return http_begin_is_request(line);
    return rest.size > RECORD_LINE_MAX && http_begin_is_long_request(rest);
}

/* The first record says what the format is, and may be a header when it is in no batch. */
static bool first_step(struct text_connection *connection, struct bytes rest)
{
    const uint8_t *end = memchr(rest.data, '\n', rest.size);
    struct bytes line = bytes_of(rest.data, end == NULL ? 0 : (size_t)(end - rest.data));
    struct error err = {0};

    if (connection->lines == 0 && is_http(rest, line, end != NULL)) {
        text_reply_refuse(connection, 0, "http", NULL);
        return true;
    }
    if (end == NULL)
        return partial_step(connection);
    connection->is_first = false;
    connection->format = rest.data[0] == '{' ? TEXT_NDJSON : TEXT_CSV;
    if (connection->format == TEXT_NDJSON)
        connection->ndjson = ndjson_new(&connection->columns);
    if (connection->format == TEXT_NDJSON || connection->batch.is_open ||
        !line_parser_is_header(line, &connection->columns))
        return true;
    text_input_take(&connection->input, line.size + 1);
    connection->lines++;
    connection->settings++;
    if (line_parser_header(&connection->parser, line, &connection->columns, &err) != 0)
        text_reply_refuse(connection, 0, err.text, NULL);
    return true;
}

static void batch_cut(struct text_connection *connection)
{
    const struct text_batch *batch = &connection->batch;
    char text[64];

    (void)snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " lines",
                   batch->lines - batch->lines_left, batch->lines);
    text_reply_refuse(connection, batch->sequence, "batch_cut", text);
}

static bool control_step(struct text_connection *connection, struct bytes rest)
{
    const uint8_t *end = memchr(rest.data, '\n', rest.size);
    struct bytes line = bytes_of(rest.data, end == NULL ? 0 : (size_t)(end - rest.data));

    if (end == NULL)
        return partial_step(connection);
    if (line.size > 0 && line.data[line.size - 1] == '\r')
        line.size--;
    /* What #file announced are a file's lines, whatever they say. */
    if (connection->batch.is_open && !connection->file.is_named &&
        control_line_kind(line) != CONTROL_UNKNOWN) {
        batch_cut(connection);
        return true;
    }
    if (!connection->batch.is_open) {
        enum text_control_result result = text_control_line(connection, line);

        if (result == TEXT_CONTROL_LATER)
            return false;
        if (result == TEXT_CONTROL_DONE) {
            /* Not of a batch, even if it has just opened one. */
            text_input_take(&connection->input, (size_t)(end - rest.data) + 1);
            connection->lines++;
            return true;
        }
    }
    line_reject(connection, REJECT_UNKNOWN_CONTROL, line, line);
    input_take(connection, (size_t)(end - rest.data) + 1, 1);
    return true;
}

bool text_door_take_bundle(struct text_connection *connection, const struct batch_group *bundle,
                           size_t cost)
{
    struct ingest *ingest = connection->ingest;

    if (text_commit_bundle(connection, bundle) != TEXT_GROUP_TAKEN)
        return false;
    text_input_take(&connection->input, bundle->size);
    ingest_spend(ingest, cost * bundle->size);
    ingest->metrics.ahead->value += (int64_t)bundle->size;
    connection->lines += bundle->lines;
    return true;
}

/* The bundle that begins at the front of the input; false: nothing was taken. */
static bool bundle_step(struct text_connection *connection)
{
    const struct batch_group *bundle = parse_ahead_group(connection);

    return bundle != NULL && !connection->batch.is_open && connection->group.lines == 0 &&
           text_door_take_bundle(connection, bundle, 1);
}

/* ---- the loop ---- */

/* Take one piece of the input, of records at most `lines_most`; false: it needs more, or must wait.
 */
static bool input_step(struct text_connection *connection, uint64_t lines_most)
{
    struct bytes rest;

    parse_ahead_advance(connection);
    rest = text_input_rest(&connection->input);
    if (rest.size == 0 || parse_ahead_is_under_way(connection) || !group_has_room(connection) ||
        !text_door_prepare(connection))
        return false;
    if (connection->is_skipping) {
        skip_step(connection);
        return true;
    }
    if (connection->lines == 0 && rest.data[0] == (uint8_t)byte_order_mark[0] &&
        connection->input.front->start == 0) {
        if (rest.size < 3 && !connection->has_ended)
            return false;
        if (rest.size >= 3 && memcmp(rest.data, byte_order_mark, 3) == 0) {
            text_input_take(&connection->input, 3);
            return true;
        }
    }
    if (rest.data[0] == '#')
        return bundle_step(connection) ||
               (connection->state == TEXT_RECORDS && control_step(connection, rest));
    if (connection->is_first)
        return first_step(connection, rest);
    return records_step(connection, rest, lines_most);
}

/* The peer has sent its last byte and all whole lines are taken. */
static void input_finish(struct text_connection *connection)
{
    struct bytes rest = text_input_rest(&connection->input);

    if (connection->batch.is_open) {
        batch_cut(connection);
        return;
    }
    if (!text_door_prepare(connection))
        return;
    if (connection->is_skipping) {
        skip_end(connection);
        input_take(connection, rest.size, 1);
    } else if (rest.size > 0) {
        line_reject(connection, REJECT_CUT_LINE, rest, rest);
        input_take(connection, rest.size, 1);
    }
    if (!text_commit_group(connection))
        return;
    if (connection->group.is_answer_due || !connection->group.was_answered)
        text_commit_answer(connection);
    connection->state = TEXT_ENDING;
}

void text_door_run(struct text_connection *connection)
{
    const struct text_chunk *chunk = connection->input.front;
    struct ingest *ingest = connection->ingest;
    bool is_through = false;
    bool may_take = true;
    uint64_t lines_most;

    if (connection->binary != NULL) {
        binary_door_run(connection);
        return;
    }
    if (connection->is_running || connection->is_closing)
        return;
    connection->is_running = true;
    ingest_turn_resume(ingest);
    while (connection->state == TEXT_RECORDS && connection->reply_count < TEXT_REPLIES_MAX &&
           !is_through && connection->input.front == chunk && !ingest_turn_is_over(ingest) &&
           (may_take = text_memory_may_take(connection, &lines_most)))
        is_through = !input_step(connection, lines_most);
    if (connection->state == TEXT_RECORDS && (is_through || !may_take)) {
        if (is_through && connection->has_ended && !parse_ahead_is_under_way(connection))
            input_finish(connection);
        else if (connection->group.in_flight < TEXT_GROUPS_IN_FLIGHT)
            (void)text_commit_group(connection);
    }
    if (connection->input.front != chunk || ingest_turn_is_over(ingest))
        text_door_wake(connection);
    connection->is_running = false;
    text_door_update(connection);
}

static void turn_start(struct ingest *ingest)
{
    struct executor *executor = ingest->options.world->executor;

    if (ingest->turn.handle == NULL)
        executor->timer_start(executor, &ingest->turn, 0);
}

void text_door_wake(struct text_connection *connection)
{
    struct ingest *ingest = connection->ingest;

    if (connection->is_woken || connection->is_closing)
        return;
    connection->is_woken = true;
    connection->next_woken = NULL;
    *ingest->woken_end = connection;
    ingest->woken_end = &connection->next_woken;
    turn_start(ingest);
}

/* It is about to be freed. */
static void door_unwake(struct text_connection *connection)
{
    struct ingest *ingest = connection->ingest;
    struct text_connection **link = &ingest->woken;

    if (!connection->is_woken)
        return;
    while (*link != connection)
        link = &(*link)->next_woken;
    *link = connection->next_woken;
    if (*link == NULL)
        ingest->woken_end = link;
}

static struct text_connection *woken_take(struct ingest *ingest)
{
    struct text_connection *first = ingest->woken;

    ingest->woken = first->next_woken;
    if (ingest->woken == NULL)
        ingest->woken_end = &ingest->woken;
    first->is_woken = false;
    return first;
}

/* Who is woken meanwhile, or gets no turn, comes in the next one, the latter first. */
void text_door_turn(struct timer *timer)
{
    struct ingest *ingest = timer->context;
    uint32_t count = 0;

    /* A connection is freed in a later turn of the loop, never within this one. */
    ingest_turn_begin(ingest);
    for (struct text_connection *at = ingest->woken; at != NULL; at = at->next_woken) {
        text_reply_flush(at);
        count++;
    }
    while (count-- > 0 && !ingest_turn_is_over(ingest)) {
        struct text_connection *connection = woken_take(ingest);

        if (connection->state == TEXT_BLOCKED)
            text_commit_retry(connection);
        else
            text_door_run(connection);
    }
    if (ingest->woken != NULL)
        turn_start(ingest);
}

/* ---- the connection ---- */

static bool has_space(const struct text_connection *connection)
{
    return connection->binary != NULL
               ? binary_door_has_space(connection)
               : text_input_has_space(&connection->input, text_memory_may_grow(connection));
}

/* What it would lose with its place.  Clicks that were applied and not answered yet are the
 * server's to finish; a batch that has come in part is the client's to send again. */
static enum door_claim claim_of(const struct text_connection *connection)
{
    if (connection->replies != NULL || connection->state == TEXT_BLOCKED ||
        connection->group.in_flight > 0)
        return DOOR_OWED;
    /* Anybody can name a producer; one that has given something is known by it. */
    return connection->producer != NULL && connection->producer->last > 0 ? DOOR_NAMED : DOOR_IDLE;
}

void text_door_update(struct text_connection *connection)
{
    const struct ingest_limits *limits = &connection->ingest->options.limits;
    size_t answers_max;
    size_t queued;
    bool is_quiet;
    bool is_slow;
    bool is_lingering;

    if (connection->is_closing || connection->is_running)
        return;
    if (connection->state == TEXT_REFUSED)
        parse_ahead_abandon(connection);
    queued = network_queued(connection->connection);
    is_quiet = connection->replies == NULL && queued == 0;
    if (connection->has_ended && is_quiet &&
        (connection->state == TEXT_ENDING || connection->state == TEXT_REFUSED)) {
        text_door_close(connection);
        return;
    }
    text_memory_update(connection, has_space(connection));
    answers_max = text_memory_answers_max(connection);
    if (connection->state == TEXT_REFUSED ||
        (connection->state == TEXT_RECORDS && text_memory_answers(connection) <= answers_max &&
         connection->reply_count < TEXT_REPLIES_MAX &&
         text_memory_may_read(connection, has_space(connection))))
        network_resume(connection->connection);
    else
        network_pause(connection->connection);
    is_lingering = connection->state == TEXT_REFUSED && connection->replies == NULL;
    is_slow = queued > answers_max || (connection->state == TEXT_ENDING && queued > 0);
    door_claim(&connection->slot, claim_of(connection));
    door_clock(&connection->slot, is_lingering ? limits->linger_ms
                                  : is_slow    ? limits->slow_reader_ms
                                               : 0);
}

void text_door_close(struct text_connection *connection)
{
    if (connection->is_closing)
        return;
    connection->is_closing = true;
    connection->holds_key = false;
    door_leave(&connection->slot);
    text_control_leave(connection);
    text_reply_abandon(connection);
    network_close(connection->connection);
}

static struct text_connection *connection_of(struct door_slot *slot)
{
    return (struct text_connection *)(void *)((char *)slot -
                                              offsetof(struct text_connection, slot));
}

static void door_late(struct door_slot *slot)
{
    text_door_close(connection_of(slot));
}

/* Another client needs the place more. */
static void door_evict(struct door_slot *slot)
{
    struct text_connection *connection = connection_of(slot);

    text_reply_refuse(connection, 0, "too_many_connections", NULL);
    text_reply_flush(connection);
    text_door_close(connection);
}

static void door_space(void *context, uint8_t **to_out, size_t *size_out)
{
    struct text_connection *connection = context;

    if (connection->binary != NULL) {
        binary_door_space(connection, to_out, size_out);
        return;
    }
    if (connection->state == TEXT_REFUSED)
        text_input_clear(&connection->input);
    text_input_space(&connection->input, text_memory_may_grow(connection), to_out, size_out);
}

static void door_data(void *context, size_t size)
{
    struct text_connection *connection = context;

    door_use(&connection->slot, connection->slot.claim);
    text_input_filled(&connection->input, size);
    text_memory_came(connection, size);
    if (!connection->is_told && !binary_door_tell(connection))
        return;
    if (connection->binary == NULL)
        parse_ahead_submit(connection);
    text_door_run(connection);
}

static void door_end(void *context, int status)
{
    struct text_connection *connection = context;

    if (status < 0) {
        text_door_close(connection);
        return;
    }
    connection->has_ended = true;
    text_door_run(connection);
}

/* What it has not taken because of answers unread may be taken again. */
static void door_drained(void *context)
{
    text_door_update(context);
    text_door_wake(context);
}

void text_door_release(struct text_connection *connection)
{
    struct ingest *ingest = connection->ingest;

    if (!connection->has_closed || connection->jobs > 0)
        return;
    LIST_REMOVE(connection, link);
    door_unwake(connection);
    text_memory_leave(connection);
    parse_ahead_abandon(connection);
    text_input_release(&connection->input);
    row_parts_release(&connection->rows, &ingest->parts);
    line_parser_release(&connection->parser);
    ndjson_free(connection->ndjson);
    keyed_free(connection->keyed);
    binary_door_free(connection->ingest, connection->binary);
    hash128_stream_free(connection->batch.hash);
    buffer_release(&connection->skipped);
    memory_free(connection);
    ingest_release(ingest);
}

static void door_closed(void *context)
{
    struct text_connection *connection = context;

    connection->has_closed = true;
    text_door_release(connection);
}

static const struct connection_handler door_handler = {
    .space = door_space,
    .data = door_data,
    .end = door_end,
    .drained = door_drained,
    .closed = door_closed,
};

bool text_door_is_load(const struct text_connection *connection)
{
    return connection->slot.door == &connection->ingest->loads;
}

static void door_turn_away(struct ingest *ingest, struct connection *connection)
{
    ingest->metrics.refused->value++;
    network_write(connection, bytes_text("error - too_many_connections\n"));
    network_close(connection);
}

void text_door_attach(struct ingest *ingest, struct door *door, struct connection *network)
{
    struct text_connection *connection = memory_zeroed(1, sizeof *connection);

    if (!door_enter(door, &connection->slot, network)) {
        memory_free(connection);
        door_turn_away(ingest, network);
        return;
    }
    connection->ingest = ingest;
    connection->connection = network;
    connection->input.spare = &ingest->spare;
    connection->member.number = ++ingest->connections_ever;
    connection->replies_end = &connection->replies;
    line_parser_init(&connection->parser);
    LIST_INSERT_HEAD(&ingest->connections, connection, link);
    network_start(network, &door_handler, connection);
    text_door_choose(connection, &ingest->options.streams[0]);
}

static void door_came(void *context, struct connection *connection)
{
    struct ingest *ingest = context;

    text_door_attach(ingest, &ingest->door, connection);
}

void text_door_open(struct ingest *ingest)
{
    uint32_t given = ingest->options.limits.connections_max;
    struct door_options options = {.name = "ingest",
                                   .network = ingest->options.network,
                                   .world = ingest->options.world,
                                   .slots_max = given > 0 ? given : INGEST_CONNECTIONS_MAX,
                                   .came = door_came,
                                   .context = ingest,
                                   .evict = door_evict,
                                   .late = door_late,
                                   .connections = ingest->metrics.connections,
                                   .connections_max = ingest->metrics.connections_max,
                                   .evicted = ingest->metrics.evicted};

    door_open(&ingest->door, &options);
    options.name = "load";
    options.connections_max = NULL;
    options.slots_max = given > 0 ? given : INGEST_LOADS_MAX;
    door_open(&ingest->loads, &options);
}
