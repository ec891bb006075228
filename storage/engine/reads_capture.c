/* Copies what a page needs of the open memtable, on the engine thread, because the open memtable
 * changes while a job reads.
 *
 * What decides correctness: a partition is copied whole, as of the view's frame, or not at all.
 * The first partition that is not copied is the horizon of the scan: the page ends before it. */
#include "base/memory.h"
#include "storage/engine/reads_private.h"

enum { CAPTURE_BYTES_MAX = 4 << 20, CAPTURE_FRESH_ROWS_MAX = 65536 };

/* ---- copying ---- */

static struct unfiltered unfiltered_copy(const struct unfiltered *from, struct arena *arena)
{
    struct unfiltered copy = *from;
    if (from->kind == UNFILTERED_ROW)
        row_copy(&from->row, arena, &copy.row);
    else
        copy.bound.prefix = row_clustering_copy(&from->bound.prefix, arena);
    return copy;
}

static size_t captured_bytes(const struct read_job *read)
{
    return arena_held(read->arena) - read->before;
}

/* Returns a time: no deletion in this partition that a run of the view has is newer.  INT64_MAX: a
 * frozen memtable has the partition. */
static int64_t newest_elsewhere(const struct read_job *read, int64_t token, struct bytes key)
{
    int64_t newest_us = INT64_MIN;
    for (uint32_t i = 0; i < read->view.frozen_count; i++)
        if (row_memtable_has(read->view.frozen[i]->rows, read->table->id, token, key))
            return INT64_MAX;
    for (uint32_t i = 0; i < read->view.segment_count; i++) {
        const struct segment *segment = read->view.segments[i];
        int64_t max_us = segment_info(segment)->timestamp_max_us;
        if (max_us > newest_us && segment_may_have(segment, token))
            newest_us = max_us;
    }
    return newest_us;
}

/* After a row that no run of the view can delete, skip the rows with the same first clustering
 * value, because there may be thousands in memory. */
static void capture_pass(const struct unfiltered *item, int64_t newest_elsewhere_us,
                         struct stream *stream)
{
    const struct row *row = &item->row;
    if (item->kind == UNFILTERED_ROW && row->clustering.count > 0 &&
        row->marker.timestamp_us > newest_elsewhere_us && row->marker.ttl_s == 0)
        (void)row_memtable_stream_pass(stream, row->clustering.values[0]);
}

/* False: `stream` yields more than may be copied.  If `newest_elsewhere_us` is below INT64_MAX,
 * `stream` is of the row memtable, for a request with one_of_each. */
static bool capture_stream(struct read_job *read, int64_t token, struct bytes key,
                           struct stream *stream, int64_t newest_elsewhere_us, uint32_t *items)
{
    if (stream == NULL)
        return true;
    struct captured captured = {.token = token,
                                .key = arena_copy(read->arena, key),
                                .deletion = stream->partition_deletion};
    uint32_t capacity = 0;
    struct unfiltered item;
    int rc;
    while ((rc = stream->next(stream, &item, NULL)) == 1 && *items < READ_CAPTURE_ITEMS_MAX &&
           captured_bytes(read) <= CAPTURE_BYTES_MAX) {
        captured.items =
            memory_make_room(captured.items, captured.count, &capacity, sizeof(struct unfiltered));
        captured.items[captured.count++] = unfiltered_copy(&item, read->arena);
        if (newest_elsewhere_us < INT64_MAX)
            capture_pass(&captured.items[captured.count - 1], newest_elsewhere_us, stream);
        ++*items;
    }
    check(rc >= 0);
    stream_close(stream);
    read->captured = memory_make_room(read->captured, read->captured_count,
                                      &read->captured_capacity, sizeof(struct captured));
    read->captured[read->captured_count++] = captured;
    return rc == 0;
}

static bool capture_partition(struct read_job *read, int64_t token, struct bytes key,
                              const struct slice *slice, uint32_t *items)
{
    struct memtable *open = read->reads->memtables->open;
    int64_t newest_elsewhere_us =
        read->request.one_of_each ? newest_elsewhere(read, token, key) : INT64_MAX;
    struct stream *rows =
        row_memtable_stream(open->rows, read->table, token, key, slice, read->view.frame, NULL);
    uint32_t looked = *items; /* counts deleted rows, too */
    if (rows != NULL)
        row_memtable_stream_limit(rows, &looked, READ_CAPTURE_ITEMS_MAX + 1);
    bool whole = capture_stream(read, token, key, rows, newest_elsewhere_us, items) &&
                 looked <= READ_CAPTURE_ITEMS_MAX;
    *items = looked > *items ? looked : *items;
    if (whole && (read->table->flags & TABLE_COUNTER) != 0) {
        whole = capture_stream(read, token, key,
                               counter_memtable_stream(open->counters, read->table, key, slice,
                                                       read->view.frame,
                                                       (uint64_t)open->timestamp_first_us),
                               INT64_MAX, items);
    }
    return whole;
}

static void captured_cut(struct read_job *read, uint32_t count)
{
    while (read->captured_count > count) {
        struct captured *last = &read->captured[--read->captured_count];
        memory_free(last->items);
        memory_free(last->cut);
    }
}

static bool is_captured_enough(const struct read_job *read, uint32_t items)
{
    return items > read->request.row_limit || read->captured_count > READ_CAPTURE_ITEMS_MAX ||
           (items > 0 && captured_bytes(read) > READ_PAGE_BYTES_MAX);
}

bool reads_open_seek(struct read_job *read, int64_t token, struct bytes key, bool after,
                     int64_t *token_out, struct bytes *key_out)
{
    return memtable_seek(read->reads->memtables->open, read->table, token, key, after, token_out,
                         key_out);
}

/* False: the first partition is too large to be copied. */
static bool capture_scan(struct read_job *read)
{
    uint32_t items = 0;
    struct bytes key;
    bool after;
    int64_t token = reads_scan_start(read, &key, &after);
    for (; reads_open_seek(read, token, key, after, &token, &key) && !reads_is_past(read, token);
         after = true) {
        bool is_enough = is_captured_enough(read, items);
        uint32_t before = read->captured_count;
        if (!is_enough && capture_partition(read, token, key, &read->request.slice, &items))
            continue;
        if (!is_enough && before == 0)
            return false;
        captured_cut(read, before);
        read->has_horizon = true;
        read->horizon_token = token;
        read->horizon_key = arena_copy(read->arena, key);
        return true;
    }
    return true;
}

/* False: the first partition is too large to be copied. */
static bool capture_parts(struct read_job *read)
{
    uint32_t items = 0;
    for (read->part_end = 0; read->part_end < read->part_count; read->part_end++) {
        const struct read_part *part = &read->parts[read->part_end];
        uint32_t before = read->captured_count;
        if (is_captured_enough(read, items))
            return true;
        if (!capture_partition(read, part->token, part->key, &part->slice, &items)) {
            captured_cut(read, before);
            return read->part_end > 0;
        }
    }
    return true;
}

bool reads_capture(struct read_job *read)
{
    return read->request.is_scan ? capture_scan(read) : capture_parts(read);
}

void reads_capture_drop(struct read_job *read)
{
    captured_cut(read, 0);
    memory_free(read->captured);
    read->captured = NULL;
    read->captured_capacity = 0;
    read->has_horizon = false;
    if (read->appended != NULL)
        columnar_rows_release(read->appended);
    read->appended = NULL;
}

/* The strings of the appended rows are copied, too, because the memtable's table of strings may
 * move while the job reads. */
bool reads_capture_appended(struct read_job *read)
{
    struct columnar_memtable *columnar =
        memtable_columnar(read->reads->memtables->open, read->table->id);
    if (columnar == NULL)
        return true;
    uint32_t partition =
        read->request.is_scan ? UINT32_MAX : columnar_memtable_find(columnar, read->request.key);
    if (partition == UINT32_MAX)
        return !read->request.is_scan;
    if (columnar_memtable_stats(columnar, partition, UINT64_MAX).rows > CAPTURE_FRESH_ROWS_MAX)
        return false;
    read->appended = arena_alloc(read->arena, sizeof(struct columnar_rows), 16);
    columnar_rows_init(read->appended, read->table);
    columnar_memtable_rows(columnar, partition, read->view.frame, read->appended);
    for (uint32_t v = 0; v < read->appended->column_count; v++) {
        struct columnar_vector *vector = &read->appended->vectors[v];
        if (vector->kind != VECTOR_CODE)
            continue;
        struct bytes *strings =
            arena_alloc(read->arena, read->appended->rows * sizeof(struct bytes), 16);
        for (uint32_t i = 0; i < read->appended->rows; i++) {
            strings[i] = (struct bytes){0};
            if (vector->absent == NULL || vector->absent[i] == 0)
                strings[i] = arena_copy(read->arena, vector->strings[vector->codes[i]]);
            vector->codes[i] = i;
        }
        vector->strings = strings;
        vector->string_count = read->appended->rows;
        vector->strings_shared = false;
    }
    return true;
}

/* ---- reading the copies ---- */

void reads_captured_seek(struct read_job *read, int64_t token, struct bytes key)
{
    while (read->captured_at < read->captured_count &&
           partition_index_order(read->captured[read->captured_at].token,
                                 read->captured[read->captured_at].key, token, key) < 0) {
        read->captured_at++;
    }
}

struct captured *reads_captured(const struct read_job *read, uint32_t index, int64_t token,
                                struct bytes key)
{
    uint32_t at = read->captured_at + index;
    struct captured *captured = at < read->captured_count ? &read->captured[at] : NULL;
    return captured != NULL && captured->token == token && bytes_equal(captured->key, key)
               ? captured
               : NULL;
}

static bool is_within(const struct read_job *read, const struct slice *slice,
                      const struct unfiltered *item)
{
    if (item->kind == UNFILTERED_BOUND)
        return true;
    return item->row.is_static ? slice->with_static
                               : stream_slice_contains(read->table, slice, &item->row.clustering);
}

struct stream *reads_captured_stream(const struct read_job *read, struct captured *captured,
                                     const struct slice *slice)
{
    uint32_t start = 0;
    while (start < captured->count && is_within(read, slice, &captured->items[start]))
        start++;
    if (start == captured->count)
        return stream_of_array(read->table, captured->deletion, captured->items, start);
    /* The items do not change, because another slice may be read from them. */
    uint32_t count = start;
    captured->cut = memory_resize(captured->cut, captured->count * sizeof(struct unfiltered));
    memcpy(captured->cut, captured->items, start * sizeof(struct unfiltered));
    for (uint32_t i = start; i < captured->count; i++)
        if (is_within(read, slice, &captured->items[i]))
            captured->cut[count++] = captured->items[i];
    return stream_of_array(read->table, captured->deletion, captured->cut, count);
}
