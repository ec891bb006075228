/* parse_ahead: see the header.
 *
 * What decides correctness: between submit and done the lane alone touches its parser, its builders
 * and the job's parts, and only reads the chunk; the connection outlives its jobs (struct
 * text_connection, jobs), and a chunk outlives the job on it, because it cannot be taken before. */
#include "ingest/connection/parse_ahead.h"

#include "ingest/connection/binary_door.h"
#include "ingest/connection/text_control.h"
#include "ingest/connection/text_door.h"
#include "base/memory.h"
#include "base/world/thread.h"

struct parse_ahead {
    struct job job;
    struct parse_ahead *next; /* spare ones */
    struct text_connection *connection;
    uint64_t settings; /* the connection's when it was submitted */
    bool is_under_way;
    struct parse_job parse;
};

/* ---- what is kept ---- */

/* The lane's builder; NULL when the stream's table is gone, which the connection will find out by
 * itself. */
static struct row_builder *lane_builder(struct ingest *ingest, const struct ingest_stream *stream)
{
    struct parse_ahead_pool *pool = &ingest->aheads;

    if (pool->lane == NULL)
        pool->lane =
            parse_lane_new(ingest->options.streams, ingest->options.stream_count, thread_give_way);
    return parse_lane_builder(pool->lane, &ingest->parts, stream);
}

static struct parse_ahead *ahead_take(struct parse_ahead_pool *pool)
{
    struct parse_ahead *ahead = pool->spare;

    pool->in_use++;
    if (ahead == NULL)
        return memory_zeroed(1, sizeof *ahead);
    pool->spare = ahead->next;
    ahead->next = NULL;
    return ahead;
}

static void ahead_give(struct ingest *ingest, struct parse_ahead *ahead)
{
    parse_job_clear(&ahead->parse, &ingest->parts);
    ahead->next = ingest->aheads.spare;
    ingest->aheads.spare = ahead;
    ingest->aheads.in_use--;
}

void parse_ahead_pool_close(struct parse_ahead_pool *pool)
{
    check(pool->in_use == 0);
    while (pool->spare != NULL) {
        struct parse_ahead *next = pool->spare->next;

        memory_free(pool->spare);
        pool->spare = next;
    }
    parse_lane_free(pool->lane);
    pool->lane = NULL;
}

/* ---- on the lane ---- */

static void ahead_run(struct job *job)
{
    struct parse_ahead *ahead = (struct parse_ahead *)(void *)job;

    if (ahead->parse.decoder != NULL)
        parse_job_frames(&ahead->parse);
    else
        parse_job_lines(&ahead->parse);
}

/* ---- on the engine thread ---- */

static void ahead_done(struct job *job)
{
    struct parse_ahead *ahead = (struct parse_ahead *)(void *)job;
    struct text_connection *connection = ahead->connection;

    ahead->is_under_way = false;
    connection->jobs--;
    if (connection->is_closing)
        text_door_release(connection);
    else
        text_door_run(connection);
}

static struct row_part *ahead_part(struct text_connection *connection)
{
    struct row_part *part = part_pool_take(&connection->ingest->parts, connection->stream);

    check(part != NULL); /* its builder was made, and a stream's table stays */
    return part;
}

/* `frames`: how many are to be decoded; none of lines. */
static void ahead_fill(struct parse_ahead *ahead, struct text_connection *connection,
                       const struct text_chunk *chunk, uint32_t frames)
{
    struct ingest *ingest = connection->ingest;
    struct parse_job *parse = &ahead->parse;

    ahead->job = (struct job){.run = ahead_run, .done = ahead_done};
    ahead->connection = connection;
    ahead->settings = connection->settings;
    ahead->is_under_way = true;
    parse->lane = ingest->aheads.lane;
    parse->order = connection->parser.order;
    parse->group_rows_max =
        ingest_was_asked(ingest) ? BATCH_GROUP_ROWS_ASKED : BATCH_GROUP_ROWS_MAX;
    parse->columns = line_parser_column_count(&connection->columns);
    parse->data = chunk->data;
    parse->start = chunk->start;
    parse->end = chunk->end;
    if (connection->binary != NULL)
        parse->decoder = binary_door_decoder(connection->binary);
    parse->frame_count = frames;
    for (uint32_t i = 0; i < PARSE_JOB_SPANS_MAX; i++)
        parse->spans[i].group.part = ahead_part(connection);
}

/* What is worth handing over: less when it would have to wait anyway. */
static size_t ahead_min(const struct text_connection *connection, size_t first, size_t next)
{
    const struct text_input *input = &connection->input;
    size_t limit = connection->ingest->options.limits.ahead_min;

    return limit > 0 ? limit : input->front == input->back ? first : next;
}

/* Seal what is to be handed over; NULL: it is not worth it.  Small frames are not: of those that
 * come at once only a few would be sealed, and the others copied. */
static struct text_chunk *ahead_seal(struct text_connection *connection, uint32_t *frames_out)
{
    struct text_input *input = &connection->input;
    size_t least = ahead_min(connection, PARSE_AHEAD_FRAME_BYTES_MIN, PARSE_AHEAD_FRAME_BYTES_NEXT);
    struct bytes back = text_input_back(input);
    size_t size;

    *frames_out = 0;
    if (connection->binary == NULL)
        return text_input_seal(
            input, ahead_min(connection, PARSE_AHEAD_BYTES_MIN, PARSE_AHEAD_BYTES_NEXT));
    if (back.size < least)
        return NULL;
    size = decoded_frame_plan(back, frames_out);
    if (*frames_out == 0 || size < least || size < back.size / 4)
        return NULL;
    return text_input_split(input, size);
}

/* Of frames every connection knows what they are; of lines, what the first record says. */
static bool ahead_is_possible(const struct text_connection *connection)
{
    /* What comes with ids is read before it is written: parsing is the least of it. */
    return connection->state != TEXT_REFUSED && connection->keyed == NULL &&
           (connection->binary != NULL ||
            (connection->format == TEXT_CSV && !connection->is_first)) &&
           connection->ingest->aheads.in_use < PARSE_AHEADS_MAX;
}

void parse_ahead_submit(struct text_connection *connection)
{
    struct ingest *ingest = connection->ingest;
    struct executor *executor = ingest->options.world->executor;
    struct row_builder *builder;
    struct text_chunk *chunk;
    uint32_t frames;

    if (!ahead_is_possible(connection))
        return;
    builder = lane_builder(ingest, connection->stream);
    chunk = builder == NULL ? NULL : ahead_seal(connection, &frames);
    if (chunk == NULL)
        return;
    chunk->ahead = ahead_take(&ingest->aheads);
    ahead_fill(chunk->ahead, connection, chunk, frames);
    chunk->ahead->parse.builder = builder;
    connection->jobs++;
    executor->submit(executor, LANE_COMPUTE, &chunk->ahead->job);
}

bool parse_ahead_is_under_way(const struct text_connection *connection)
{
    const struct text_chunk *front = connection->input.front;

    return front != NULL && front->ahead != NULL && front->ahead->is_under_way;
}

/* The span that starts at the front of the input, if what it was parsed under still holds; or NULL.
 */
static struct record_span *span_at_front(const struct text_connection *connection)
{
    const struct text_chunk *front = connection->input.front;
    struct parse_ahead *ahead = front->ahead;

    if (ahead == NULL || ahead->settings != connection->settings)
        return NULL;
    return parse_job_span_at(&ahead->parse, front->start);
}

size_t parse_ahead_take(struct text_connection *connection, uint64_t number, uint64_t lines_max,
                        uint64_t *lines_out)
{
    struct record_span *span = span_at_front(connection);

    if (span == NULL || span->group.count > 0 || span->group.lines > lines_max)
        return 0;
    reject_list_renumber(&span->group.part->rejects, number - 1);
    row_parts_append(&connection->rows, &connection->ingest->parts, span->group.part);
    span->group.part = NULL;
    connection->ingest->metrics.ahead->value += (int64_t)span->group.size;
    *lines_out = span->group.lines;
    return span->group.size;
}

const struct batch_group *parse_ahead_group(const struct text_connection *connection)
{
    struct record_span *span = span_at_front(connection);

    return span == NULL || span->group.count == 0 ? NULL : &span->group;
}

struct decoded_frame *parse_ahead_frame(const struct text_connection *connection)
{
    const struct text_chunk *front = connection->input.front;
    struct parse_ahead *ahead = front->ahead;

    if (ahead == NULL)
        return NULL;
    check(ahead->settings == connection->settings);
    return parse_job_frame_at(&ahead->parse, front->start);
}

static void chunk_drop(struct text_connection *connection, struct text_chunk *chunk)
{
    if (chunk->ahead == NULL || chunk->ahead->is_under_way)
        return;
    ahead_give(connection->ingest, chunk->ahead);
    chunk->ahead = NULL;
}

void parse_ahead_advance(struct text_connection *connection)
{
    struct text_input *input = &connection->input;
    bool has_advanced = false;

    while (input->front != input->back && input->front->start == input->front->end) {
        chunk_drop(connection, input->front);
        text_input_advance(input);
        has_advanced = true;
    }
    /* The back may be full, and have waited for a chunk's place to be handed over. */
    if (has_advanced)
        parse_ahead_submit(connection);
}

void parse_ahead_abandon(struct text_connection *connection)
{
    struct text_chunk *chunk = connection->input.front;

    for (; chunk != NULL; chunk = chunk->next)
        chunk_drop(connection, chunk);
}
