/* parse_job: see the header. */
#include "ingest/parse/parse_job.h"

#include "base/memory.h"
#include "ingest/parse/batch_hash.h"
#include "ingest/parse/control_line.h"

/* ---- lines ---- */

static size_t records_parse(struct parse_job *job, size_t at, uint64_t lines_max,
                            uint64_t *lines_out)
{
    struct line_parser *parser = &job->lane->parser;
    size_t size = 0;
    uint64_t piece_end;

    parser->line = 1;
    do {
        uint64_t lines = parser->line - 1;

        piece_end =
            lines_max - lines < PARSE_LANE_PIECE_ROWS ? lines_max : lines + PARSE_LANE_PIECE_ROWS;
        size += line_parser_run(parser, job->builder,
                                bytes_of(job->data + at + size, job->end - at - size),
                                piece_end - lines);
        parse_lane_did(job->lane, parser->line - 1 - lines);
    } while (parser->line - 1 == piece_end && piece_end < lines_max);
    *lines_out = parser->line - 1;
    return size;
}

static size_t span_parse(struct parse_job *job, struct record_span *span, size_t at)
{
    span->start = at;
    span->group.size = records_parse(job, at, UINT64_MAX - 1, &span->group.lines);
    row_builder_emit(job->builder, span->group.part);
    return at + span->group.size;
}

static struct bytes line_at(const struct parse_job *job, size_t at)
{
    const uint8_t *data = job->data + at;
    const uint8_t *end = memchr(data, '\n', job->end - at);

    return bytes_of(data, (size_t)(end - data) + 1);
}

/* The size of the control line at `at`, if it opens the next batch of the group; else 0. */
static size_t group_next(const struct parse_job *job, const struct batch_group *group, size_t at,
                         struct batch_group_member *batch)
{
    if (at == job->end || job->data[at] != '#')
        return 0;
    struct bytes line = line_at(job, at);
    size_t size = line.size--;
    if (!control_line_opens_batch(row_builder_without_cr(line), &batch->sequence, &batch->lines) ||
        !batch_group_admits(group, job->builder, batch->sequence, batch->lines))
        return 0;
    return size;
}

/* Add a batch to the group.  Its lines, `size` bytes from `at` on, are in the builder. */
static void group_add_lines(const struct parse_job *job, struct batch_group *group, size_t at,
                            size_t size)
{
    struct hash128_stream *hash =
        batch_hash_new(job->builder->stream, bytes_of(job->order.line_field, job->columns));

    hash128_stream_add(hash, job->data + at, size);
    batch_group_add(group, job->builder, hash, size);
    hash128_stream_free(hash);
    row_builder_part_ads(job->builder);
}

/* Parse batches from the control line at `at` on, at most `count_max`, as long as the group admits
 * them.  False: the last batch is not whole, and its lines are in the builder, too.  If it is the
 * only batch, its lines become the span. */
static bool group_fill(struct parse_job *job, struct record_span *span, size_t at,
                       uint32_t count_max)
{
    struct batch_group *group = &span->group;

    group->count = 0;
    group->size = 0;
    group->lines = 0;
    span->start = at;
    while (group->count < count_max) {
        struct batch_group_member *batch = &group->batches[group->count];
        size_t control = group_next(job, group, at, batch);
        uint64_t lines;

        if (control == 0)
            break;
        at += control;
        size_t size = records_parse(job, at, batch->lines, &lines);
        if (lines < batch->lines) {
            if (group->count == 0) {
                span->start = at;
                group->size = size;
                group->lines = lines;
            }
            return false;
        }
        group_add_lines(job, group, at, size);
        at += size;
        group->size += control + size;
        group->lines += 1 + lines;
    }
    return true;
}

/* Make the span from the control line at `at` on: a group, or the lines of a batch that is not
 * whole.  Returns the span's end; 0: there is none.  If a later batch of a group is not whole, the
 * earlier batches are parsed again without it. */
static size_t group_parse(struct parse_job *job, struct record_span *span, size_t at)
{
    uint32_t count_max = BATCH_GROUP_MAX;

    while (!group_fill(job, span, at, count_max) && span->group.count > 0) {
        count_max = span->group.count;
        row_builder_clear(job->builder);
    }
    if (span->group.size == 0)
        return 0;
    row_builder_emit(job->builder, span->group.part);
    return span->start + span->group.size;
}

void parse_job_lines(struct parse_job *job)
{
    size_t at = job->start;

    job->lane->parser.order = job->order;
    while (at < job->end && job->span_count < PARSE_JOB_SPANS_MAX) {
        struct record_span *span = &job->spans[job->span_count];
        size_t end = job->data[at] == '#' ? group_parse(job, span, at) : span_parse(job, span, at);

        job->span_count += end > 0;
        at = end > 0 ? end : at + line_at(job, at).size;
    }
}

/* ---- frames ---- */

/* The span to fill next; NULL: there are PARSE_JOB_SPANS_MAX spans already. */
static struct record_span *group_open(struct parse_job *job)
{
    return job->span_count < PARSE_JOB_SPANS_MAX ? &job->spans[job->span_count] : NULL;
}

static void group_end(struct parse_job *job)
{
    struct record_span *span = group_open(job);

    if (span == NULL || span->group.count == 0)
        return;
    row_builder_emit(job->builder, span->group.part);
    job->span_count++;
}

/* A part for the rows of a frame outside of groups: the next span's, or a new one.  A span whose
 * part is used in this way does not become a group. */
static struct row_part *frame_part(struct parse_job *job)
{
    struct record_span *span = group_open(job);
    struct row_part *part;

    if (span != NULL) {
        part = span->group.part;
        span->group.part = NULL;
        job->span_count++;
        return part;
    }
    part = memory_zeroed(1, sizeof *part);
    part->block = block_new_like(job->builder->block);
    return part;
}

/* The span whose group the batch may join; NULL: it may join none. */
static struct record_span *frame_group(struct parse_job *job, const struct binary_batch *batch)
{
    struct record_span *span = group_open(job);

    if (span != NULL &&
        !batch_group_admits(&span->group, job->builder, batch->sequence, batch->rows)) {
        group_end(job);
        span = group_open(job);
    }
    return batch->sequence == 0 || batch->rows > BATCH_GROUP_ROWS_MAX ? NULL : span;
}

/* Add a frame to the group.  Its rows are the last in the builder. */
static void frame_join(struct parse_job *job, struct record_span *to, struct decoded_frame *made,
                       size_t size)
{
    struct batch_group *group = &to->group;
    struct batch_group_member *batch = &group->batches[group->count];

    if (group->count == 0)
        to->start = made->start;
    else if (made[-1].strings_bytes > 0)
        group->strings_bytes = made[-1].strings_bytes;
    made->group = group;
    made->place = group->count;
    batch->sequence = made->batch.sequence;
    batch->lines = made->batch.rows;
    group->size = made->start + size - to->start;
    group->lines += made->batch.rows;
    batch_group_add(group, job->builder, made->hash, size);
}

static bool frame_decode_batch(struct parse_job *job, struct decoded_frame *made,
                               struct bytes frame)
{
    made->rc = binary_decoder_read_batch(decoded_frame_payload(frame), &made->batch);
    if (made->rc != 0)
        return false;
    struct record_span *to = frame_group(job, &made->batch);
    bool is_next = to != NULL && to->group.count > 0;
    made->rc = binary_decoder_begin(job->decoder, &made->batch, is_next);
    if (made->rc != 0)
        return false;
    if (made->batch.sequence != 0)
        decoded_frame_hash(made, job->decoder, job->builder->stream);
    if (to != NULL && binary_decoder_join(job->decoder, &made->batch, job->builder) == 1) {
        frame_join(job, to, made, frame.size);
        return true;
    }
    group_end(job);
    if (is_next)
        made->rc = binary_decoder_begin(job->decoder, &made->batch, false);
    if (made->rc != 0)
        return false;
    made->rows_rc = binary_decoder_rows(job->decoder, &made->batch, job->builder, 1);
    if (made->rows_rc == 0) {
        made->part = frame_part(job);
        row_builder_emit(job->builder, made->part);
    } else {
        row_builder_clear(job->builder);
    }
    return true;
}

static bool frame_decode(struct parse_job *job, struct decoded_frame *made, struct bytes frame)
{
    made->is_sound = decoded_frame_is_sound(frame);
    if (!made->is_sound)
        return false;
    if (frame.data[4] == WIRE_BATCH)
        return frame_decode_batch(job, made, frame);
    decoded_frame_begin(made, job->decoder, WIRE_STRINGS, decoded_frame_payload(frame));
    return made->rc == 0;
}

void parse_job_frames(struct parse_job *job)
{
    bool is_sound = true;
    size_t at = job->start;

    for (uint32_t i = 0; i < job->frame_count && is_sound;) {
        const uint8_t *data = job->data + at;
        struct bytes frame = bytes_of(data, WIRE_HEADER_SIZE + (size_t)load_u32(data));

        if (decoded_frame_has_kind(data[4])) {
            job->frames[i].start = at;
            is_sound = frame_decode(job, &job->frames[i], frame);
            parse_lane_did(job->lane, job->frames[i++].batch.rows);
        } else {
            group_end(job);
        }
        at += frame.size;
    }
    group_end(job);
}

/* ---- results ---- */

struct record_span *parse_job_span_at(struct parse_job *job, size_t start)
{
    while (job->span_next < job->span_count && job->spans[job->span_next].start < start)
        job->span_next++;
    struct record_span *span = &job->spans[job->span_next];
    return job->span_next < job->span_count && span->start == start ? span : NULL;
}

struct decoded_frame *parse_job_frame_at(struct parse_job *job, size_t start)
{
    while (job->frame_next < job->frame_count && job->frames[job->frame_next].start < start)
        job->frame_next++;
    if (job->frame_next == job->frame_count || job->frames[job->frame_next].start != start)
        return NULL;
    return &job->frames[job->frame_next++];
}

void parse_job_release(struct parse_job *job, struct part_pool *pool)
{
    for (uint32_t i = PARSE_JOB_SPANS_MAX; i > 0; i--)
        part_pool_give(pool, job->spans[i - 1].group.part);
    for (uint32_t i = 0; i < job->frame_count; i++) {
        part_pool_give(pool, job->frames[i].part);
        hash128_stream_free(job->frames[i].hash);
    }
}
