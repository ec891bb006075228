/* parse_ahead: see the header.
 *
 * What must hold: while a job runs, only the lane's thread uses the lane's parser and builders, the
 * connection's binary decoder and the job's parts.  The lane's thread only reads the chunk.  The
 * connection and the chunk outlive the job. */
#include "ingest/connection/parse_ahead.h"

#include "base/memory.h"
#include "base/world/thread.h"
#include "ingest/connection/ingest_commit.h"
#include "ingest/connection/ingest_decoder.h"

struct parse_ahead {
    struct job job;
    struct ingest_connection *connection;
    uint64_t settings;
    bool is_under_way;
    struct parse_job parse;
};

/* ---- jobs and their lane ---- */

static struct row_builder *lane_builder(struct ingest *ingest, const struct ingest_stream *stream)
{
    struct parse_ahead_pool *pool = &ingest->aheads;

    if (pool->lane == NULL)
        pool->lane =
            parse_lane_new(ingest->options.streams, ingest->options.stream_count, thread_yield);
    return parse_lane_builder(pool->lane, &ingest->parts, stream);
}

void parse_ahead_pool_close(struct parse_ahead_pool *pool)
{
    check(pool->in_use == 0);
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
    struct ingest_connection *connection = ahead->connection;

    ahead->is_under_way = false;
    connection->jobs--;
    connection->ingest->aheads.done(connection);
}

static struct parse_ahead *ahead_new(struct ingest_connection *connection,
                                     const struct input_chunk *chunk, struct row_builder *builder,
                                     uint32_t frames)
{
    struct ingest *ingest = connection->ingest;
    struct parse_ahead *ahead = memory_zeroed(1, sizeof *ahead);
    struct parse_job *parse = &ahead->parse;

    ingest->aheads.in_use++;
    ahead->connection = connection;
    ahead->settings = connection->rows.settings;
    ahead->is_under_way = true;
    parse->lane = ingest->aheads.lane;
    parse->builder = builder;
    parse->data = chunk->data;
    parse->start = chunk->start;
    parse->end = chunk->end;
    parse->frame_count = frames;
    connection->decoder->prepare(connection, parse);
    for (uint32_t i = 0; i < PARSE_JOB_SPANS_MAX; i++)
        parse->spans[i].group.part = stream_rows_part(&connection->rows);
    return ahead;
}

size_t parse_ahead_least(const struct ingest_connection *connection, size_t first, size_t next)
{
    const struct input_queue *input = &connection->input;
    size_t limit = connection->ingest->options.limits.ahead_min;

    return limit > 0 ? limit : input->front == input->back ? first : next;
}

static bool ahead_is_possible(const struct ingest_connection *connection)
{
    /* For clicks with ids, parsing ahead saves little: the lookup of ids costs far more than
     * parsing. */
    return connection->state != INGEST_REFUSED && connection->rows.dedup == NULL &&
           connection->ingest->aheads.in_use < PARSE_AHEADS_MAX;
}

void parse_ahead_submit(struct ingest_connection *connection)
{
    struct ingest *ingest = connection->ingest;
    uint32_t frames;

    if (!ahead_is_possible(connection))
        return;
    struct row_builder *builder = lane_builder(ingest, connection->rows.stream);
    struct input_chunk *chunk =
        builder == NULL ? NULL : connection->decoder->seal(connection, &frames);
    if (chunk == NULL)
        return;
    chunk->ahead = ahead_new(connection, chunk, builder, frames);
    connection->jobs++;
    world_submit(ingest->options.world, LANE_COMPUTE, &chunk->ahead->job, ahead_run, ahead_done);
}

bool parse_ahead_is_under_way(const struct ingest_connection *connection)
{
    const struct input_chunk *front = connection->input.front;

    return front != NULL && front->ahead != NULL && front->ahead->is_under_way;
}

/* The span at the front of the input; NULL: there is none, or the settings have changed. */
static struct record_span *span_at_front(const struct ingest_connection *connection)
{
    const struct input_chunk *front = connection->input.front;
    struct parse_ahead *ahead = front->ahead;

    if (ahead == NULL || ahead->settings != connection->rows.settings)
        return NULL;
    return parse_job_span_at(&ahead->parse, front->start);
}

size_t parse_ahead_take(struct ingest_connection *connection, uint64_t number, uint64_t lines_max,
                        uint64_t *lines_out)
{
    struct record_span *span = span_at_front(connection);

    if (span == NULL || span->group.count > 0 || span->group.lines > lines_max)
        return 0;
    reject_list_renumber(&span->group.part->rejects, number - 1);
    stream_rows_append(&connection->rows, span->group.part);
    span->group.part = NULL;
    connection->ingest->metrics.ahead->value += (int64_t)span->group.size;
    *lines_out = span->group.lines;
    return span->group.size;
}

const struct batch_group *parse_ahead_group(const struct ingest_connection *connection)
{
    struct record_span *span = span_at_front(connection);

    return span == NULL || span->group.count == 0 ? NULL : &span->group;
}

struct decoded_frame *parse_ahead_frame(const struct ingest_connection *connection)
{
    const struct input_chunk *front = connection->input.front;
    struct parse_ahead *ahead = front->ahead;

    if (ahead == NULL)
        return NULL;
    check(ahead->settings == connection->rows.settings);
    return parse_job_frame_at(&ahead->parse, front->start);
}

bool parse_ahead_commit_group(struct ingest_connection *connection, const struct batch_group *group,
                              size_t cost)
{
    struct ingest *ingest = connection->ingest;

    if (!ingest_commit_batch_group(connection, group))
        return false;
    input_queue_take(&connection->input, group->size);
    ingest_budget_spend(&ingest->budget, cost * group->size);
    ingest->metrics.ahead->value += (int64_t)group->size;
    connection->lines += group->lines;
    return true;
}

static void chunk_drop(struct ingest_connection *connection, struct input_chunk *chunk)
{
    if (chunk->ahead == NULL || chunk->ahead->is_under_way)
        return;
    parse_job_release(&chunk->ahead->parse, &connection->ingest->parts);
    memory_free(chunk->ahead);
    chunk->ahead = NULL;
    connection->ingest->aheads.in_use--;
}

void parse_ahead_advance(struct ingest_connection *connection)
{
    struct input_queue *input = &connection->input;
    bool has_advanced = false;

    while (input->front != input->back && input->front->start == input->front->end) {
        chunk_drop(connection, input->front);
        input_queue_advance(input);
        has_advanced = true;
    }
    /* While there were INPUT_QUEUE_CHUNKS_MAX chunks, the back chunk could not be sealed even if it
     * was full; now it can. */
    if (has_advanced)
        parse_ahead_submit(connection);
}

void parse_ahead_abandon(struct ingest_connection *connection)
{
    struct input_chunk *chunk = connection->input.front;

    for (; chunk != NULL; chunk = chunk->next)
        chunk_drop(connection, chunk);
}
