/* restamp: see the header. */
#include "storage/cell/restamp.h"

#include <stdlib.h>

#include "counters/counter_cell.h"
#include "base/arena.h"
#include "base/memory.h"

enum { STREAM_CHUNK = 64 * 1024 };

/* ---- the times ---- */

void restamp_init(struct restamp *restamp, int64_t after_us, int64_t until_us, uint32_t spans_max)
{
    check(after_us > 0 && after_us <= until_us && spans_max >= 2);
    *restamp = (struct restamp){.after_us = after_us,
                                .until_us = until_us,
                                .end_us = after_us,
                                .spans_max = spans_max,
                                .gap_us = 1};
}

void restamp_release(struct restamp *restamp)
{
    memory_free(restamp->spans);
}

static int span_order(const void *left, const void *right)
{
    const struct restamp_span *a = left, *b = right;
    return a->first_us < b->first_us ? -1 : a->first_us > b->first_us;
}

static void spans_join(struct restamp *restamp)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < restamp->count; i++) {
        const struct restamp_span span = restamp->spans[i];
        struct restamp_span *last = count > 0 ? &restamp->spans[count - 1] : NULL;
        if (last != NULL && span.first_us - last->last_us <= restamp->gap_us)
            last->last_us = span.last_us > last->last_us ? span.last_us : last->last_us;
        else
            restamp->spans[count++] = span;
    }
    restamp->count = count;
}

static void spans_settle(struct restamp *restamp)
{
    if (restamp->count > 0)
        qsort(restamp->spans, restamp->count, sizeof(*restamp->spans), span_order);
    spans_join(restamp);
    while (restamp->count > restamp->spans_max / 2) {
        restamp->gap_us *= 2;
        spans_join(restamp);
    }
}

static void span_add(struct restamp *restamp, int64_t timestamp_us)
{
    if (restamp->count == restamp->spans_max)
        spans_settle(restamp);
    restamp->spans = memory_make_room(restamp->spans, restamp->count, &restamp->capacity,
                                      sizeof(*restamp->spans));
    restamp->spans[restamp->count++] =
        (struct restamp_span){.first_us = timestamp_us, .last_us = timestamp_us};
}

int64_t restamp_note(struct restamp *restamp, int64_t timestamp_us)
{
    struct restamp_span *last = restamp->count > 0 ? &restamp->spans[restamp->count - 1] : NULL;
    if (timestamp_us <= restamp->after_us || timestamp_us > restamp->until_us)
        return timestamp_us;
    restamp->noted++;
    if (last == NULL || timestamp_us < last->first_us || timestamp_us - 1 > last->last_us)
        span_add(restamp, timestamp_us);
    else if (timestamp_us > last->last_us)
        last->last_us = timestamp_us;
    return timestamp_us;
}

void restamp_settle(struct restamp *restamp)
{
    spans_settle(restamp);
    restamp->end_us = restamp->after_us;
    for (uint32_t i = 0; i < restamp->count; i++) {
        struct restamp_span *span = &restamp->spans[i];
        span->to_us = restamp->end_us + 1;
        restamp->end_us = span->to_us + (span->last_us - span->first_us);
    }
}

int64_t restamp_of(const struct restamp *restamp, int64_t timestamp_us)
{
    uint32_t low = 0;
    uint32_t high = restamp->count;
    if (timestamp_us <= restamp->after_us || timestamp_us > restamp->until_us)
        return timestamp_us;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (restamp->spans[middle].last_us < timestamp_us)
            low = middle + 1;
        else
            high = middle;
    }
    check(low < restamp->count && restamp->spans[low].first_us <= timestamp_us);
    return restamp->spans[low].to_us + (timestamp_us - restamp->spans[low].first_us);
}

/* ---- a stream ---- */

struct restamp_stream {
    struct stream stream;
    struct stream *inner;
    struct restamp_each each;
    struct arena *arena;
};

static int64_t time_of(const struct restamp_stream *stream, int64_t timestamp_us)
{
    return timestamp_us == TIMESTAMP_NONE ? TIMESTAMP_NONE
                                          : stream->each.call(stream->each.context, timestamp_us);
}

static struct bytes counter_of(struct restamp_stream *stream, struct bytes cell)
{
    struct buffer to = {0};
    counter_cell_restamp(cell, stream->each.call, stream->each.context, &to);
    struct bytes kept = arena_copy(stream->arena, buffer_view(&to));
    buffer_release(&to);
    return kept;
}

static void row_restamp(struct restamp_stream *stream, struct row *row)
{
    struct cell *cells = arena_array(stream->arena, row->cell_count, sizeof(*cells));
    struct complex_deletion *complex =
        arena_array(stream->arena, row->complex_count, sizeof(*complex));
    row->marker.timestamp_us = time_of(stream, row->marker.timestamp_us);
    row->deletion.timestamp_us = time_of(stream, row->deletion.timestamp_us);
    for (uint32_t i = 0; i < row->complex_count; i++) {
        complex[i] = row->complex[i];
        complex[i].deletion.timestamp_us = time_of(stream, complex[i].deletion.timestamp_us);
    }
    for (uint32_t i = 0; i < row->cell_count; i++) {
        cells[i] = row->cells[i];
        cells[i].timestamp_us = time_of(stream, cells[i].timestamp_us);
        if ((cells[i].flags & CELL_COUNTER) != 0)
            cells[i].value = counter_of(stream, cells[i].value);
    }
    row->complex = complex;
    row->cells = cells;
}

static int restamp_next(struct stream *base, struct unfiltered *out, struct error *err)
{
    struct restamp_stream *stream = (struct restamp_stream *)base;
    int rc = stream->inner->next(stream->inner, out, err);
    if (rc != 1)
        return rc;
    arena_reset(stream->arena);
    if (out->kind == UNFILTERED_ROW) {
        row_restamp(stream, &out->row);
        return 1;
    }
    out->before.timestamp_us = time_of(stream, out->before.timestamp_us);
    out->after.timestamp_us = time_of(stream, out->after.timestamp_us);
    return 1;
}

static void restamp_close(struct stream *base)
{
    struct restamp_stream *stream = (struct restamp_stream *)base;
    stream_close(stream->inner);
    arena_free(stream->arena);
    memory_free(stream);
}

struct stream *restamp_of_stream(struct stream *inner, struct restamp_each each)
{
    struct restamp_stream *stream = memory_zeroed(1, sizeof(*stream));
    stream->stream = (struct stream){.table = inner->table,
                                     .partition_deletion = inner->partition_deletion,
                                     .next = restamp_next,
                                     .close = restamp_close};
    stream->inner = inner;
    stream->each = each;
    stream->arena = arena_new(STREAM_CHUNK);
    stream->stream.partition_deletion.timestamp_us =
        time_of(stream, inner->partition_deletion.timestamp_us);
    return &stream->stream;
}
