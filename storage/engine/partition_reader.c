/* Appended rows are stored without ranks until a purge.  Without a stored rank, a row's rank is its
 * place among the rows that are equal in all other key columns, over all append-only runs, oldest
 * first.  So the append-only runs of an event table are merged first, as columns, and ranks are
 * filled in.  The result is merged by clustering and timestamp with the row runs. */
#include "base/memory.h"
#include "storage/engine/partition_reader.h"
#include "storage/segment/columnar_segment.h"
#include "storage/segment/row_segment.h"

enum { PARTITION_ROWS_MAX = 1 << 26 };

struct partition_reader {
    const struct view *view;
    const struct table *table;
    struct columnar_segment_reader **columnar; /* by segment of the view; NULL for row segments, or
                                                * before the first use */
    struct segment_cursor **cursors; /* by segment of the view; NULL before the first use */
    struct buffer from;              /* copy of the key to seek, because the caller's may point into
                                      * a cursor, which the seek moves */
    struct buffer found[2];          /* keys that the last two seeks found, used in turn */
    uint32_t seek_count;
    struct columnar_rows *inputs;
    uint32_t input_count;
    uint32_t input_capacity;
    struct columnar_rows merged;
    struct columnar_strings *strings;
};

static bool is_event_table(const struct partition_reader *reader)
{
    return (reader->table->flags & TABLE_OF_EVENTS) != 0;
}

struct partition_reader *partition_reader_new(const struct view *view, const struct table *table)
{
    struct partition_reader *reader = memory_zeroed(1, sizeof(*reader));
    reader->view = view;
    reader->table = table;
    reader->columnar = memory_zeroed(view->segment_count, sizeof(struct columnar_segment_reader *));
    reader->cursors = memory_zeroed(view->segment_count, sizeof(struct segment_cursor *));
    if (is_event_table(reader))
        columnar_rows_init(&reader->merged, table);
    reader->strings = columnar_rows_strings_new();
    return reader;
}

void partition_reader_free(struct partition_reader *reader)
{
    for (uint32_t i = 0; i < reader->view->segment_count; i++) {
        if (reader->columnar[i] != NULL)
            columnar_segment_reader_free(reader->columnar[i]);
        if (reader->cursors[i] != NULL)
            segment_cursor_give(reader->view->segments[i], reader->cursors[i]);
    }
    for (uint32_t i = 0; i < reader->input_capacity; i++)
        columnar_rows_release(&reader->inputs[i]);
    memory_free(reader->inputs);
    memory_free(reader->columnar);
    memory_free(reader->cursors);
    buffer_release(&reader->from);
    buffer_release(&reader->found[0]);
    buffer_release(&reader->found[1]);
    if (is_event_table(reader))
        columnar_rows_release(&reader->merged);
    columnar_rows_strings_free(reader->strings);
    memory_free(reader);
}

static struct segment_cursor *cursor_of(struct partition_reader *reader, uint32_t i)
{
    if (reader->cursors[i] == NULL)
        reader->cursors[i] = segment_cursor_take(reader->view->segments[i]);
    return reader->cursors[i];
}

/* ---- walking partitions ---- */

struct candidate {
    bool found;
    int64_t token;
    struct bytes key;
};

static void candidate_offer(struct candidate *best, int64_t token, struct bytes key)
{
    if (!best->found || partition_index_order(token, key, best->token, best->key) < 0)
        *best = (struct candidate){true, token, key};
}

/* Offer the first partition with appended rows at (token, key), or behind it; if `after`, only
 * behind. */
static void seek_columnar(const struct columnar_memtable *columnar, int64_t token, struct bytes key,
                          bool after, struct candidate *best)
{
    const uint32_t *order = columnar_memtable_order(columnar);
    uint32_t low = 0;
    uint32_t high = columnar_memtable_partition_count(columnar);
    uint32_t count = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t partition = order[middle];
        int compared =
            partition_index_order(columnar_memtable_partition_token(columnar, partition),
                                  columnar_memtable_partition_key(columnar, partition), token, key);
        if (compared < 0 || (compared == 0 && after))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < count) {
        candidate_offer(best, columnar_memtable_partition_token(columnar, order[low]),
                        columnar_memtable_partition_key(columnar, order[low]));
    }
}

static void seek_segment(struct segment_cursor *cursor, uint32_t count, int64_t token,
                         struct bytes key, bool after, struct candidate *best)
{
    uint32_t at = segment_directory_seek(cursor, token, key);
    if (at < count && after) {
        const struct segment_partition *partition = segment_directory_at(cursor, at);
        at += partition_index_order(partition->token, partition->key, token, key) == 0;
    }
    if (at < count) {
        const struct segment_partition *partition = segment_directory_at(cursor, at);
        candidate_offer(best, partition->token, partition->key);
    }
}

static void seek_memtable(struct memtable *memtable, const struct table *table, int64_t token,
                          struct bytes key, bool after, struct candidate *best)
{
    int64_t found_token;
    struct bytes found_key;
    if (memtable_seek(memtable, table, token, key, after, &found_token, &found_key))
        candidate_offer(best, found_token, found_key);
    struct columnar_memtable *columnar = memtable_columnar(memtable, table->id);
    if (columnar != NULL)
        seek_columnar(columnar, token, key, after, best);
}

bool partition_reader_seek(struct partition_reader *reader, int64_t token, struct bytes key,
                           bool after, int64_t *token_out, struct bytes *key_out)
{
    struct candidate best = {0};
    buffer_clear(&reader->from);
    buffer_append_bytes(&reader->from, key);
    key = buffer_view(&reader->from);
    for (uint32_t i = 0; i < reader->view->segment_count; i++) {
        const struct segment *segment = reader->view->segments[i];
        if (segment_info(segment)->table_id == reader->table->id) {
            seek_segment(cursor_of(reader, i), segment_partition_count(segment), token, key, after,
                         &best);
        }
    }
    for (uint32_t i = 0; i < reader->view->frozen_count; i++)
        seek_memtable(reader->view->frozen[i], reader->table, token, key, after, &best);
    struct buffer *kept = &reader->found[reader->seek_count++ % 2];
    buffer_clear(kept);
    buffer_append_bytes(kept, best.key);
    *token_out = best.token;
    *key_out = buffer_view(kept);
    return best.found;
}

bool partition_reader_has_overwrites(struct partition_reader *reader, int64_t token,
                                     struct bytes key)
{
    const struct view *view = reader->view;
    for (uint32_t i = 0; i < view->segment_count; i++) {
        if (segment_is(view->segments[i], reader->table->id, SEGMENT_ROW) &&
            segment_may_have(view->segments[i], token) &&
            segment_directory_find(cursor_of(reader, i), token, key) != NULL) {
            return true;
        }
    }
    for (uint32_t i = 0; i < view->frozen_count; i++)
        if (row_memtable_has(view->frozen[i]->rows, reader->table->id, token, key))
            return true;
    return false;
}

/* ---- appended rows ---- */

static int appended_of_segment(struct partition_reader *reader, uint32_t i, int64_t token,
                               struct bytes key, struct columnar_rows *rows, struct error *err)
{
    struct segment *segment = reader->view->segments[i];
    const struct segment_days *days = segment_days(segment);
    columnar_rows_clear(rows);
    if (days->count > 0 && segment_days_find(days, segment_days_of_key(reader->table, key)) == NULL)
        return 0;
    const struct segment_partition *partition =
        segment_may_have(segment, token) ? segment_directory_find(cursor_of(reader, i), token, key)
                                         : NULL;
    if (partition == NULL)
        return 0;
    if (reader->columnar[i] == NULL) {
        reader->columnar[i] = columnar_segment_reader_new(segment, reader->table);
        columnar_segment_reader_share(reader->columnar[i]);
    }
    return columnar_segment_reader_rows(reader->columnar[i], partition, PARTITION_ROWS_MAX, rows,
                                        err);
}

static void appended_of_memtable(const struct partition_reader *reader,
                                 const struct memtable *memtable, struct bytes key,
                                 struct columnar_rows *rows)
{
    columnar_rows_clear(rows);
    struct columnar_memtable *columnar;
    uint32_t partition = memtable_find(memtable, reader->table->id, key, &columnar);
    if (partition != UINT32_MAX)
        columnar_memtable_rows(columnar, partition, reader->view->frame, rows);
}

static struct columnar_rows *input_next(struct partition_reader *reader)
{
    if (reader->input_count == reader->input_capacity) {
        uint32_t capacity = reader->input_capacity == 0 ? 8 : reader->input_capacity * 2;
        reader->inputs = memory_resize(reader->inputs, capacity * sizeof(struct columnar_rows));
        for (uint32_t i = reader->input_capacity; i < capacity; i++)
            columnar_rows_init(&reader->inputs[i], reader->table);
        reader->input_capacity = capacity;
    }
    return &reader->inputs[reader->input_count];
}

/* *rows_out NULL: there are no appended rows. */
static int appended_merged(struct partition_reader *reader, int64_t token, struct bytes key,
                           const struct columnar_rows *extra, const struct columnar_rows **rows_out,
                           struct error *err)
{
    const struct view *view = reader->view;
    *rows_out = NULL;
    reader->input_count = 0;
    for (uint32_t i = 0; i < view->segment_count; i++) {
        if (!segment_is(view->segments[i], reader->table->id, SEGMENT_COLUMNAR))
            continue;
        int rc = appended_of_segment(reader, i, token, key, input_next(reader), err);
        if (rc != 0)
            return rc;
        reader->input_count += reader->inputs[reader->input_count].rows > 0;
    }
    for (uint32_t i = 0; i < view->frozen_count; i++) {
        appended_of_memtable(reader, view->frozen[i], key, input_next(reader));
        reader->input_count += reader->inputs[reader->input_count].rows > 0;
    }
    bool has_extra = extra != NULL && extra->rows > 0;
    uint32_t count = reader->input_count + has_extra;
    if (count == 0)
        return 0;
    const struct columnar_rows **inputs = memory_alloc(count * sizeof(*inputs));
    for (uint32_t i = 0; i < reader->input_count; i++)
        inputs[i] = &reader->inputs[i];
    if (has_extra)
        inputs[count - 1] = extra;
    int rc = 0;
    *rows_out = inputs[0];
    if (count > 1) {
        rc = columnar_rows_merge(inputs, count, reader->strings, &reader->merged);
        *rows_out = &reader->merged;
    }
    memory_free(inputs);
    return rc == 0 ? 0 : error_set(err, rc, "too many rows in one partition");
}

/* ---- the whole partition ---- */

struct stream_list {
    struct stream **streams;
    uint32_t count;
};

static void list_add(struct stream_list *list, struct stream *stream)
{
    if (stream != NULL)
        list->streams[list->count++] = stream;
}

static void list_close(struct stream_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        stream_close(list->streams[i]);
    memory_free(list->streams);
}

static int add_segments(struct partition_reader *reader, int64_t token, struct bytes key,
                        const struct slice *slice, struct stream_list *list, struct error *err)
{
    for (uint32_t i = 0; i < reader->view->segment_count; i++) {
        if (!segment_is(reader->view->segments[i], reader->table->id, SEGMENT_ROW))
            continue;
        struct stream *stream;
        int rc = row_segment_stream(reader->view->segments[i], reader->table, token, key, slice,
                                    &stream, err);
        if (rc != 0)
            return rc;
        if (stream != NULL)
            row_segment_stream_limit(stream, reader->view->read_budget);
        list_add(list, stream);
    }
    return 0;
}

static void add_memtables(struct partition_reader *reader, int64_t token, struct bytes key,
                          const struct slice *slice, struct stream_list *list)
{
    const struct view *view = reader->view;
    for (uint32_t i = 0; i < view->frozen_count; i++)
        list->count +=
            memtable_row_streams(view->frozen[i], reader->table, token, key, slice, view->frame,
                                 view->looked, READ_LOOKED_MAX + 1, list->streams + list->count);
}

/* True: a deletion of the partition hides all its appended rows.  False: perhaps not. */
static bool is_appended_hidden(struct partition_reader *reader, int64_t token, struct bytes key,
                               const struct stream_list *overwrites,
                               const struct columnar_rows *extra_rows)
{
    const struct view *view = reader->view;
    struct deletion deletion = DELETION_NONE;
    struct columnar_memtable *columnar;
    for (uint32_t i = 0; i < overwrites->count; i++)
        if (row_deletion_supersedes(overwrites->streams[i]->partition_deletion, deletion))
            deletion = overwrites->streams[i]->partition_deletion;
    if (deletion.timestamp_us == TIMESTAMP_NONE || (extra_rows != NULL && extra_rows->rows > 0))
        return false;
    for (uint32_t i = 0; i < view->segment_count; i++) {
        struct segment *segment = view->segments[i];
        if (segment_is(segment, reader->table->id, SEGMENT_COLUMNAR) &&
            !row_deletion_hides(deletion, segment_info(segment)->timestamp_max_us) &&
            segment_has(segment, token, key)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < view->frozen_count; i++)
        if (memtable_find(view->frozen[i], reader->table->id, key, &columnar) != UINT32_MAX)
            return false;
    return true;
}

int partition_reader_stream(struct partition_reader *reader, int64_t token, struct bytes key,
                            const struct slice *slice, struct stream **extra, uint32_t extra_count,
                            const struct columnar_rows *extra_rows, struct stream **stream_out,
                            struct error *err)
{
    *stream_out = NULL;
    uint32_t most = extra_count + reader->view->segment_count + 2 * reader->view->frozen_count + 1;
    struct stream_list list = {memory_alloc(most * sizeof(struct stream *)), 0};
    for (uint32_t i = 0; i < extra_count; i++)
        list_add(&list, extra[i]);
    int rc = add_segments(reader, token, key, slice, &list, err);
    const struct columnar_rows *appended = NULL;
    if (rc == 0)
        add_memtables(reader, token, key, slice, &list);
    if (rc == 0 && is_event_table(reader) &&
        !is_appended_hidden(reader, token, key, &list, extra_rows))
        rc = appended_merged(reader, token, key, extra_rows, &appended, err);
    if (rc != 0) {
        list_close(&list);
        return rc;
    }
    if (appended != NULL)
        list_add(&list, columnar_rows_stream(appended, slice));
    if (list.count > 0) {
        *stream_out = stream_merge(reader->table, list.streams, list.count, slice->reversed);
        list.count = 0;
    }
    list_close(&list);
    return 0;
}
