/* stream: slices, order, and the streams that need no merging. */
#include "storage/cell/stream.h"

#include "base/arena.h"
#include "base/memory.h"

enum { STREAM_ARENA_CHUNK = 4096 };

struct slice stream_slice_all(void)
{
    return (struct slice){
        .start = {.side = BOUND_BEFORE},
        .end = {.side = BOUND_AFTER},
        .with_static = true,
    };
}

bool stream_slice_contains(const struct table *table, const struct slice *slice,
                           const struct clustering *clustering)
{
    return row_bound_compare_clustering(table, &slice->start, clustering) < 0 &&
           row_bound_compare_clustering(table, &slice->end, clustering) > 0;
}

int stream_position_compare(const struct table *table, const struct unfiltered *a,
                            const struct unfiltered *b)
{
    bool a_is_row = a->kind == UNFILTERED_ROW;
    bool b_is_row = b->kind == UNFILTERED_ROW;
    bool a_is_static = a_is_row && a->row.is_static;
    bool b_is_static = b_is_row && b->row.is_static;

    if (a_is_static || b_is_static)
        return (int)b_is_static - (int)a_is_static;
    if (a_is_row && b_is_row)
        return row_clustering_compare(table, &a->row.clustering, &b->row.clustering);
    if (a_is_row)
        return -row_bound_compare_clustering(table, &b->bound, &a->row.clustering);
    if (b_is_row)
        return row_bound_compare_clustering(table, &a->bound, &b->row.clustering);
    return row_bound_compare(table, &a->bound, &b->bound);
}

void stream_close(struct stream *stream)
{
    if (stream != NULL && stream->close != NULL)
        stream->close(stream);
}

/* ---- an array ---- */

struct array_stream {
    struct stream base;
    const struct unfiltered *items;
    size_t count;
    size_t next;
};

static int array_next(struct stream *stream, struct unfiltered *out, struct error *err)
{
    struct array_stream *array = (struct array_stream *)stream;

    (void)err;
    if (array->next == array->count)
        return 0;
    *out = array->items[array->next++];
    return 1;
}

static void array_close(struct stream *stream)
{
    memory_free(stream);
}

struct stream *stream_of_array(const struct table *table, struct deletion partition_deletion,
                               const struct unfiltered *items, size_t count)
{
    struct array_stream *array = memory_zeroed(1, sizeof *array);

    array->base = (struct stream){
        .table = table,
        .partition_deletion = partition_deletion,
        .next = array_next,
        .close = array_close,
    };
    array->items = items;
    array->count = count;
    return &array->base;
}

/* ---- rows as a reader sees them, rows as a compaction keeps them ---- */

struct filter_stream {
    struct stream base;
    struct stream *source; /* owned */
    int64_t now_s;
    int64_t before_us; /* this and has_dropped: only of stream_purged */
    bool *has_dropped;
    struct arena *arena;
};

static int live_next(struct stream *stream, struct unfiltered *out, struct error *err)
{
    struct filter_stream *filter = (struct filter_stream *)stream;
    int rc;

    while ((rc = filter->source->next(filter->source, out, err)) == 1) {
        arena_reset(filter->arena);
        if (out->kind == UNFILTERED_ROW &&
            row_live(stream->table, &out->row, filter->now_s, filter->arena, &out->row))
            break;
    }
    out->before = DELETION_NONE;
    out->after = DELETION_NONE;
    return rc;
}

static bool is_same_deletion(struct deletion a, struct deletion b)
{
    return a.timestamp_us == b.timestamp_us;
}

static bool is_whole(const struct unfiltered *item, const struct unfiltered *kept)
{
    const struct row *row = &item->row;
    if (!is_same_deletion(item->before, kept->before) ||
        !is_same_deletion(item->after, kept->after))
        return false;
    return item->kind == UNFILTERED_BOUND ||
           (is_same_deletion(row->deletion, kept->row.deletion) &&
            row->marker.timestamp_us == kept->row.marker.timestamp_us &&
            row->complex_count == kept->row.complex_count &&
            row->cell_count == kept->row.cell_count);
}

static bool purge_item(const struct filter_stream *filter, const struct unfiltered *item,
                       struct unfiltered *out)
{
    *out = *item;
    out->before = row_deletion_purge(item->before, filter->before_us);
    out->after = row_deletion_purge(item->after, filter->before_us);
    if (item->kind == UNFILTERED_BOUND)
        return out->before.timestamp_us != TIMESTAMP_NONE ||
               out->after.timestamp_us != TIMESTAMP_NONE;
    return row_purge(filter->base.table, &item->row, filter->now_s, filter->before_us,
                     filter->arena, &out->row);
}

static int purged_next(struct stream *stream, struct unfiltered *out, struct error *err)
{
    struct filter_stream *filter = (struct filter_stream *)stream;
    struct unfiltered item;
    int rc;

    while ((rc = filter->source->next(filter->source, &item, err)) == 1) {
        arena_reset(filter->arena);
        bool is_left = purge_item(filter, &item, out);

        *filter->has_dropped |= !is_whole(&item, out);
        if (is_left)
            break;
    }
    return rc;
}

static void filter_close(struct stream *stream)
{
    struct filter_stream *filter = (struct filter_stream *)stream;

    stream_close(filter->source);
    arena_free(filter->arena);
    memory_free(filter);
}

static struct filter_stream *filter_new(struct stream *source, int64_t now_s)
{
    struct filter_stream *filter = memory_zeroed(1, sizeof *filter);

    filter->base = (struct stream){
        .table = source->table,
        .partition_deletion = DELETION_NONE,
        .next = live_next,
        .close = filter_close,
    };
    filter->source = source;
    filter->now_s = now_s;
    filter->arena = arena_new(STREAM_ARENA_CHUNK);
    return filter;
}

struct stream *stream_live(struct stream *stream, int64_t now_s)
{
    return &filter_new(stream, now_s)->base;
}

struct stream *stream_purged(struct stream *stream, int64_t now_s, int64_t before_us,
                             bool *has_dropped)
{
    struct filter_stream *filter = filter_new(stream, now_s);

    filter->base.partition_deletion = row_deletion_purge(stream->partition_deletion, before_us);
    filter->base.next = purged_next;
    filter->before_us = before_us;
    filter->has_dropped = has_dropped;
    *has_dropped |= !is_same_deletion(stream->partition_deletion, filter->base.partition_deletion);
    return &filter->base;
}
