/* text_ahead: see text_ahead.h.
 *
 * What decides correctness: between submit and done the lane alone touches its parser, its builders
 * and the job's parts, and only reads the chunk; the connection outlives its jobs (struct
 * text_connection, jobs), and a chunk outlives the job on it, because it cannot be taken before. */
#include "ingest/connection/text_ahead.h"

#include "ingest/connection/binary_door.h"
#include "ingest/connection/text_control.h"
#include "ingest/connection/text_door.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/world/thread.h"

enum { PIECE_ROWS = 1000 }; /* between which the lane gives way: some 0.1 ms */

struct text_run {
    struct text_bundle bundle; /* its part is the run's; of no batches: a stretch of records */
    size_t start;              /* of its input, within the chunk's data */
};

struct text_ahead {
    struct job job;
    struct text_ahead *next; /* spare ones */
    struct text_connection *connection;
    uint64_t settings;              /* the connection's when it was submitted */
    struct binary_decoder *decoder; /* of a connection that speaks in frames; else NULL */
    bool is_under_way;
    /* for the lane */
    uint32_t bundle_rows; /* that a bundle of more than one batch may have */
    struct ahead_lane *lane;
    struct row_builder *builder; /* the lane's for the stream */
    struct line_order order;
    uint8_t columns;     /* what the hash of a batch says of the order */
    const uint8_t *data; /* of the chunk, */
    size_t start, end;   /* whole lines */
    struct text_run runs[TEXT_RUNS_MAX];
    uint32_t run_count;
    struct frame_run frames[FRAME_RUNS_MAX]; /* whose rows are in runs, or in parts of theirs */
    uint32_t frame_count;
    uint32_t run_next, frame_next; /* the first that may still be taken */
};

/* A lane runs one job after the other, so that one parser and a builder for each stream do. */
struct ahead_lane {
    struct line_parser parser;
    struct row_builder **builders; /* by the stream's place in ingest_options.streams */
    uint64_t rows;                 /* since it gave way */
};

/* ---- what is kept ---- */

static struct ahead_lane *lane_new(const struct ingest *ingest)
{
    struct ahead_lane *lane = memory_zeroed(1, sizeof *lane);

    line_parser_init(&lane->parser);
    lane->builders = memory_zeroed(ingest->options.stream_count, sizeof(struct row_builder *));
    return lane;
}

/* The lane's builder; NULL when the stream's table is gone, which the connection will find out by
 * itself.  A builder that is there may be in use. */
static struct row_builder *lane_builder(struct ingest *ingest, const struct ingest_stream *stream)
{
    struct row_builder **builder;
    struct error err = {0};

    if (ingest->aheads.lane == NULL)
        ingest->aheads.lane = lane_new(ingest);
    builder = &ingest->aheads.lane->builders[stream - ingest->options.streams];
    if (*builder == NULL && ingest_new_builder(ingest, stream, builder, &err) != 0)
        return NULL;
    return *builder;
}

static struct text_ahead *ahead_take(struct ahead_pool *pool)
{
    struct text_ahead *ahead = pool->spare;

    pool->in_use++;
    if (ahead == NULL)
        return memory_zeroed(1, sizeof *ahead);
    pool->spare = ahead->next;
    return ahead;
}

static void ahead_give(struct ingest *ingest, struct text_ahead *ahead)
{
    /* The first run's is taken first again: what many rows have passed through is warm. */
    for (uint32_t i = TEXT_RUNS_MAX; i > 0; i--)
        part_pool_give(&ingest->parts, ahead->runs[i - 1].bundle.part);
    for (uint32_t i = 0; i < ahead->frame_count; i++) {
        part_pool_give(&ingest->parts, ahead->frames[i].part);
        hash128_stream_free(ahead->frames[i].hash);
    }
    *ahead = (struct text_ahead){.next = ingest->aheads.spare};
    ingest->aheads.spare = ahead;
    ingest->aheads.in_use--;
}

void ahead_pool_release(struct ingest *ingest)
{
    struct ahead_pool *pool = &ingest->aheads;

    check(pool->in_use == 0);
    while (pool->spare != NULL) {
        struct text_ahead *next = pool->spare->next;

        memory_free(pool->spare);
        pool->spare = next;
    }
    if (pool->lane == NULL)
        return;
    for (uint32_t i = 0; i < ingest->options.stream_count; i++)
        row_builder_free(pool->lane->builders[i]);
    memory_free(pool->lane->builders);
    line_parser_release(&pool->lane->parser);
    memory_free(pool->lane);
}

/* ---- on the lane ---- */

/* So many more rows are done; small batches give way together, as that is two system calls. */
static void lane_did(struct ahead_lane *lane, uint64_t rows)
{
    lane->rows += rows;
    if (lane->rows < PIECE_ROWS)
        return;
    lane->rows = 0;
    thread_give_way();
}

/* The records from `at` on, at most `lines_max`, into the builder; returns their bytes. */
static size_t records_parse(struct text_ahead *ahead, size_t at, uint64_t lines_max,
                            uint64_t *lines_out)
{
    struct line_parser *parser = &ahead->lane->parser;
    size_t size = 0;
    uint64_t piece_end;

    parser->line = 1;
    do {
        uint64_t lines = parser->line - 1;

        piece_end = lines_max - lines < PIECE_ROWS ? lines_max : lines + PIECE_ROWS;
        size += line_parser_run(parser, ahead->builder,
                                bytes_of(ahead->data + at + size, ahead->end - at - size),
                                piece_end - lines);
        lane_did(ahead->lane, parser->line - 1 - lines);
    } while (parser->line - 1 == piece_end && piece_end < lines_max);
    *lines_out = parser->line - 1;
    return size;
}

/* The run of records from `at` on; returns where it ends. */
static size_t run_parse(struct text_ahead *ahead, struct text_run *run, size_t at)
{
    run->start = at;
    run->bundle.size = records_parse(ahead, at, UINT64_MAX - 1, &run->bundle.lines);
    row_builder_emit(ahead->builder, run->bundle.part);
    return at + run->bundle.size;
}

/* The line at `at`, which is whole, with its end. */
static struct bytes line_at(const struct text_ahead *ahead, size_t at)
{
    const uint8_t *data = ahead->data + at;
    const uint8_t *end = memchr(data, '\n', ahead->end - at);

    return bytes_of(data, (size_t)(end - data) + 1);
}

/* Whether a batch may be the next of `bundle`, whose rows are in the builder. */
static bool bundle_admits(const struct text_ahead *ahead, const struct text_bundle *bundle,
                          uint64_t sequence, uint64_t lines)
{
    uint32_t rows = ahead->builder->block->rows;
    uint32_t rows_max = bundle->count == 0 ? TEXT_BUNDLE_ROWS_MAX : ahead->bundle_rows;

    return rows <= rows_max && lines <= rows_max - rows &&
           (bundle->count == 0 || (bundle->count < TEXT_BUNDLE_MAX &&
                                   sequence == bundle->batches[bundle->count - 1].sequence + 1));
}

/* The batch's rows are in the builder; `hash` is of its content, `bytes` as it was sent. */
static void bundle_add(const struct text_ahead *ahead, struct text_bundle *bundle,
                       const struct hash128_stream *hash, size_t bytes)
{
    struct text_bundle_batch *batch = &bundle->batches[bundle->count++];

    batch->hash = hash128_stream_digest(hash);
    batch->bytes = bytes;
    batch->rows_end = ahead->builder->block->rows;
    batch->rejects_end = ahead->builder->rejects.count;
}

/* The bytes of the control line at `at`, if it opens a batch that can be the bundle's next; or 0.
 */
static size_t bundle_next(const struct text_ahead *ahead, const struct text_bundle *bundle,
                          size_t at, struct text_bundle_batch *batch)
{
    struct bytes line;
    size_t size;

    if (at == ahead->end || ahead->data[at] != '#')
        return 0;
    line = line_at(ahead, at);
    size = line.size--;
    if (line.size > 0 && line.data[line.size - 1] == '\r')
        line.size--;
    if (!text_control_opens_batch(line, &batch->sequence, &batch->lines) ||
        !bundle_admits(ahead, bundle, batch->sequence, batch->lines))
        return 0;
    return size;
}

/* The batch's lines, `size` bytes from `at` on, are in the builder. */
static void bundle_add_lines(const struct text_ahead *ahead, struct text_bundle *bundle, size_t at,
                             size_t size)
{
    struct hash128_stream *hash =
        text_commit_hash(ahead->builder->stream, bytes_of(ahead->order.line_field, ahead->columns));

    hash128_stream_add(hash, ahead->data + at, size);
    bundle_add(ahead, bundle, hash, size);
    hash128_stream_free(hash);
    row_builder_part_ads(ahead->builder);
}

/* Parse batches from the control line at `at` on, at most `count_max`, until one is not the next.
 * False: one is not whole, and some of its lines are in the builder with those before it; if it is
 * the first, the run is what there is of them. */
static bool bundle_fill(struct text_ahead *ahead, struct text_run *run, size_t at,
                        uint32_t count_max)
{
    struct text_bundle *bundle = &run->bundle;

    bundle->count = 0;
    bundle->size = 0;
    bundle->lines = 0;
    run->start = at;
    while (bundle->count < count_max) {
        struct text_bundle_batch *batch = &bundle->batches[bundle->count];
        size_t control = bundle_next(ahead, bundle, at, batch);
        uint64_t lines;
        size_t size;

        if (control == 0)
            break;
        at += control;
        size = records_parse(ahead, at, batch->lines, &lines);
        if (lines < batch->lines) {
            if (bundle->count == 0) {
                run->start = at;
                bundle->size = size;
                bundle->lines = lines;
            }
            return false;
        }
        bundle_add_lines(ahead, bundle, at, size);
        at += size;
        bundle->size += control + size;
        bundle->lines += 1 + lines;
    }
    return true;
}

/* The run from the control line at `at` on: a bundle, or the lines of a batch that is not whole.
 * Returns where it ends; 0: it is none.  A batch that is cut off makes those before it be parsed
 * once more, which is rare as chunks end. */
static size_t bundle_parse(struct text_ahead *ahead, struct text_run *run, size_t at)
{
    uint32_t count_max = TEXT_BUNDLE_MAX;

    while (!bundle_fill(ahead, run, at, count_max) && run->bundle.count > 0) {
        count_max = run->bundle.count;
        row_builder_clear(ahead->builder);
    }
    if (run->bundle.size == 0)
        return 0;
    row_builder_emit(ahead->builder, run->bundle.part);
    return run->start + run->bundle.size;
}

static void lines_parse(struct text_ahead *ahead)
{
    size_t at = ahead->start;

    ahead->lane->parser.order = ahead->order;
    while (at < ahead->end && ahead->run_count < TEXT_RUNS_MAX) {
        struct text_run *run = &ahead->runs[ahead->run_count];
        size_t end =
            ahead->data[at] == '#' ? bundle_parse(ahead, run, at) : run_parse(ahead, run, at);

        ahead->run_count += end > 0;
        at = end > 0 ? end : at + line_at(ahead, at).size;
    }
}

/* The bundle that BATCH frames are joined to, its rows in the builder; NULL: there are too many. */
static struct text_run *bundle_open(struct text_ahead *ahead)
{
    return ahead->run_count < TEXT_RUNS_MAX ? &ahead->runs[ahead->run_count] : NULL;
}

/* No more is joined to it. */
static void bundle_end(struct text_ahead *ahead)
{
    struct text_run *run = bundle_open(ahead);

    if (run == NULL || run->bundle.count == 0)
        return;
    row_builder_emit(ahead->builder, run->bundle.part);
    ahead->run_count++;
}

/* A part for the rows of a frame that is in no bundle: one that no bundle needs, or a new one. */
static struct row_part *frame_part(struct text_ahead *ahead)
{
    struct text_run *run = bundle_open(ahead);
    struct row_part *part;

    if (run != NULL) {
        part = run->bundle.part;
        run->bundle.part = NULL;
        ahead->run_count++;
        return part;
    }
    part = memory_zeroed(1, sizeof *part);
    part->block = block_new_like(ahead->builder->block);
    return part;
}

/* The bundle that the batch may be joined to, or begin; NULL: none. */
static struct text_run *frame_bundle(struct text_ahead *ahead, const struct binary_batch *batch)
{
    struct text_run *run = bundle_open(ahead);

    if (run != NULL && !bundle_admits(ahead, &run->bundle, batch->sequence, batch->rows)) {
        bundle_end(ahead);
        run = bundle_open(ahead);
    }
    return batch->sequence == 0 || batch->rows > TEXT_BUNDLE_ROWS_MAX ? NULL : run;
}

/* The frame's rows are in the builder, behind those of the bundle's others. */
static void frame_bundled(struct text_ahead *ahead, struct text_run *to, struct frame_run *run,
                          size_t size)
{
    struct text_bundle *bundle = &to->bundle;
    struct text_bundle_batch *batch = &bundle->batches[bundle->count];

    if (bundle->count == 0)
        to->start = run->start;
    else if (run[-1].strings_bytes > 0)
        bundle->strings_bytes = run[-1].strings_bytes;
    run->bundle = bundle;
    run->place = bundle->count;
    batch->sequence = run->batch.sequence;
    batch->lines = run->batch.rows;
    bundle->size = run->start + size - to->start;
    bundle->lines += run->batch.rows;
    bundle_add(ahead, bundle, run->hash, size);
}

/* A BATCH; false: the connection will end after it. */
static bool frame_decode_batch(struct text_ahead *ahead, struct frame_run *run, struct bytes frame)
{
    struct text_run *to;
    bool is_next;

    run->rc = binary_decoder_read_batch(frame_payload(frame), &run->batch);
    if (run->rc != 0)
        return false;
    to = frame_bundle(ahead, &run->batch);
    is_next = to != NULL && to->bundle.count > 0;
    run->rc = binary_decoder_begin(ahead->decoder, &run->batch, is_next);
    if (run->rc != 0)
        return false;
    if (run->batch.sequence != 0)
        frame_run_hash(run, ahead->decoder, ahead->builder->stream);
    if (to != NULL && binary_decoder_join(ahead->decoder, &run->batch, ahead->builder) == 1) {
        frame_bundled(ahead, to, run, frame.size);
        return true;
    }
    bundle_end(ahead);
    if (is_next)
        run->rc = binary_decoder_begin(ahead->decoder, &run->batch, false);
    if (run->rc != 0)
        return false;
    run->rows_rc = binary_decoder_rows(ahead->decoder, &run->batch, ahead->builder, 1);
    if (run->rows_rc == 0) {
        run->part = frame_part(ahead);
        row_builder_emit(ahead->builder, run->part);
    } else {
        row_builder_clear(ahead->builder);
    }
    return true;
}

static bool frame_decode(struct text_ahead *ahead, struct frame_run *run, struct bytes frame)
{
    run->is_sound = frame_is_sound(frame);
    if (!run->is_sound)
        return false;
    if (frame.data[4] == WIRE_BATCH)
        return frame_decode_batch(ahead, run, frame);
    frame_run_begin(run, ahead->decoder, WIRE_STRINGS, frame_payload(frame));
    return run->rc == 0;
}

/* The frames that were planned, up to one after which the connection will end. */
static void frames_decode(struct text_ahead *ahead)
{
    bool is_going_on = true;
    size_t at = ahead->start;

    for (uint32_t i = 0; i < ahead->frame_count && is_going_on;) {
        const uint8_t *data = ahead->data + at;
        struct bytes frame = bytes_of(data, WIRE_HEADER_SIZE + (size_t)load_u32(data));

        if (frame_is_run(data[4])) {
            ahead->frames[i].start = at;
            is_going_on = frame_decode(ahead, &ahead->frames[i], frame);
            lane_did(ahead->lane, ahead->frames[i++].batch.rows);
        } else {
            bundle_end(ahead);
        }
        at += frame.size;
    }
    bundle_end(ahead);
}

static void ahead_run(struct job *job)
{
    struct text_ahead *ahead = (struct text_ahead *)(void *)job;

    if (ahead->decoder != NULL)
        frames_decode(ahead);
    else
        lines_parse(ahead);
}

/* ---- on the engine thread ---- */

static void ahead_done(struct job *job)
{
    struct text_ahead *ahead = (struct text_ahead *)(void *)job;
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
    struct row_part *part = part_pool_take(connection->ingest, connection->stream);

    check(part != NULL); /* its builder was made, and a stream's table stays */
    return part;
}

/* `frames`: how many are runs; none of lines. */
static void ahead_fill(struct text_ahead *ahead, struct text_connection *connection,
                       const struct text_chunk *chunk, uint32_t frames)
{
    struct ingest *ingest = connection->ingest;

    ahead->job = (struct job){.run = ahead_run, .done = ahead_done};
    ahead->connection = connection;
    ahead->settings = connection->settings;
    ahead->is_under_way = true;
    ahead->lane = ingest->aheads.lane;
    ahead->order = connection->parser.order;
    ahead->bundle_rows = ingest_was_asked(ingest) ? TEXT_BUNDLE_ROWS_ASKED : TEXT_BUNDLE_ROWS_MAX;
    ahead->columns = line_parser_column_count(&connection->columns);
    ahead->data = chunk->data;
    ahead->start = chunk->start;
    ahead->end = chunk->end;
    if (connection->binary != NULL)
        ahead->decoder = binary_door_decoder(connection->binary);
    ahead->frame_count = frames;
    for (uint32_t i = 0; i < TEXT_RUNS_MAX; i++)
        ahead->runs[i].bundle.part = ahead_part(connection);
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
    size_t least = ahead_min(connection, FRAME_AHEAD_BYTES_MIN, FRAME_AHEAD_BYTES_NEXT);
    struct bytes back = text_input_back(input);
    size_t size;

    *frames_out = 0;
    if (connection->binary == NULL)
        return text_input_seal(input,
                               ahead_min(connection, TEXT_AHEAD_BYTES_MIN, TEXT_AHEAD_BYTES_NEXT));
    if (back.size < least)
        return NULL;
    size = frame_runs_plan(back, frames_out);
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
           connection->ingest->aheads.in_use < TEXT_AHEADS_MAX;
}

void text_ahead_submit(struct text_connection *connection)
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
    chunk->ahead->builder = builder;
    connection->jobs++;
    executor->submit(executor, LANE_COMPUTE, &chunk->ahead->job);
}

bool text_ahead_is_under_way(const struct text_connection *connection)
{
    const struct text_chunk *front = connection->input.front;

    return front != NULL && front->ahead != NULL && front->ahead->is_under_way;
}

/* The run of lines that starts at the front of the input, if what they were parsed under still
 * holds; or NULL. */
static struct text_run *run_at_front(const struct text_connection *connection)
{
    const struct text_chunk *front = connection->input.front;
    struct text_ahead *ahead = front->ahead;
    struct text_run *run;

    if (ahead == NULL || ahead->settings != connection->settings)
        return NULL;
    while (ahead->run_next < ahead->run_count && ahead->runs[ahead->run_next].start < front->start)
        ahead->run_next++;
    run = &ahead->runs[ahead->run_next];
    return ahead->run_next < ahead->run_count && run->start == front->start ? run : NULL;
}

size_t text_ahead_take(struct text_connection *connection, uint64_t number, uint64_t lines_max,
                       uint64_t *lines_out)
{
    struct text_run *run = run_at_front(connection);

    if (run == NULL || run->bundle.count > 0 || run->bundle.lines > lines_max)
        return 0;
    reject_list_renumber(&run->bundle.part->rejects, number - 1);
    text_rows_append(&connection->rows, connection->ingest, run->bundle.part);
    run->bundle.part = NULL;
    connection->ingest->metrics.ahead->value += (int64_t)run->bundle.size;
    *lines_out = run->bundle.lines;
    return run->bundle.size;
}

const struct text_bundle *text_ahead_bundle(const struct text_connection *connection)
{
    struct text_run *run = run_at_front(connection);

    return run == NULL || run->bundle.count == 0 ? NULL : &run->bundle;
}

struct frame_run *text_ahead_frame(const struct text_connection *connection)
{
    const struct text_chunk *front = connection->input.front;
    struct text_ahead *ahead = front->ahead;
    struct frame_run *run;

    if (ahead == NULL)
        return NULL;
    check(ahead->settings == connection->settings);
    /* Those of a bundle were taken with it. */
    while (ahead->frame_next < ahead->frame_count &&
           ahead->frames[ahead->frame_next].start < front->start)
        ahead->frame_next++;
    if (ahead->frame_next == ahead->frame_count ||
        ahead->frames[ahead->frame_next].start != front->start)
        return NULL;
    run = &ahead->frames[ahead->frame_next++];
    return run;
}

static void chunk_drop(struct text_connection *connection, struct text_chunk *chunk)
{
    if (chunk->ahead == NULL || chunk->ahead->is_under_way)
        return;
    ahead_give(connection->ingest, chunk->ahead);
    chunk->ahead = NULL;
}

void text_ahead_advance(struct text_connection *connection)
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
        text_ahead_submit(connection);
}

void text_ahead_abandon(struct text_connection *connection)
{
    struct text_chunk *chunk = connection->input.front;

    for (; chunk != NULL; chunk = chunk->next)
        chunk_drop(connection, chunk);
}
