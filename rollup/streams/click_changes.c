/* Applies batches that change or delete clicks of a stream with counters.  The changed rows are
 * read before the batch is applied, so that the counters can be changed with them.
 *
 *   for every day of the batch: its rows from the first to the last that the batch may change
 *     ─▶ the same rows with the batch merged in ─▶ clicks gone, clicks new ─▶ increments of the
 *     stream's counters ─▶ one frame, if the days are unchanged; else again
 *
 * The rows after the batch are computed by the merge that readers use.  The store refuses the frame
 * if a mutation of one of the days came after the day was read.
 *
 * New clicks that come after the day was read matter to two kinds of batches.  A batch that deletes
 * a range could delete them.  A batch that names a rank that no click has yet could change them.
 * After FREE_TRIES repetitions the store's write lock is taken.
 *
 * Changes of one day are made one after the other (day_lock.h). */
#include "storage/engine/store_rows.h"
#include "rollup/streams/streams_private.h"
#include "base/arena.h"
#include "base/memory.h"
#include "storage/schema/type.h"

enum { FULL_PAUSE_MS = 20, FREE_TRIES = 2, ARENA_CHUNK = 64 * 1024, RANK_PLACE = 2 };

/* A stand-in that is later than every timestamp of the store; the batch gets its real timestamp
 * when it is applied. */
#define TIMESTAMP_LATER (INT64_MAX / 2)

struct day_mutation {
    struct mutation mutation;
    struct day_mutation *next; /* the next of the same day; NULL: none */
};

struct changed_day {
    uint32_t stream;
    const struct table *table;
    struct bytes key;
    struct day_mutation *first, *last;
    uint32_t mutation_count;
    bool deletes_range;
    bool is_read; /* its first page was read, and gave the version */
    struct store_version version;
};

struct click_changes {
    struct streams *streams;
    struct write_batch *batch;
    struct store_expectation *expectations; /* the caller's, then one for each day */
    uint32_t own_count;
    store_done done;
    void *context;
    struct arena *arena;
    struct changed_day *days;
    uint32_t day_count;
    struct key_map *named; /* rows that the batch names, by the day's number and the row's packed
                            * clustering: a bool, true if the row was there when the day was read */
    uint32_t day_next;
    uint32_t increment_count;
    struct key_map **counters; /* CLICK_STREAM_COUNTERS_MAX items for each stream: what to add to
                                * the counters, an int64_t by key; NULL: nothing */
    uint32_t stream_count;
    uint32_t tries;
    struct day_lock *lock;               /* NULL once the batch is applied */
    struct store_write_lock *write_lock; /* NULL: it is neither held nor requested */
    struct timer again;
};

/* ---- sums ---- */

static void delta_add(struct key_map **deltas, struct bytes key, int64_t value)
{
    if (*deltas == NULL)
        *deltas = key_map_new_of(sizeof(value));
    *(int64_t *)key_map_value(*deltas, key_map_add(*deltas, key)) += value;
}

static void deltas_clear(struct click_changes *changes)
{
    for (uint32_t i = 0; i < changes->stream_count * CLICK_STREAM_COUNTERS_MAX; i++) {
        key_map_free(changes->counters[i]);
        changes->counters[i] = NULL;
    }
}

static void deltas_write(struct write_batch *batch, const struct key_map *deltas,
                         const struct click_stream_counter *counter)
{
    for (uint32_t i = 0; deltas != NULL && i < key_map_count(deltas); i++) {
        const struct counter_increment increment = {.table_id = counter->table_id,
                                                    .column_id = counter->column_id,
                                                    .key = key_map_key(deltas, i),
                                                    .change = COUNTER_ADD,
                                                    .value =
                                                        *(const int64_t *)key_map_value(deltas, i)};
        if (increment.value != 0)
            write_batch_add_increment(batch, &increment);
    }
}

static bool counted_key(const struct click_stream *stream, enum click_stream_key of,
                        const struct changed_day *day, const struct page_row *click,
                        struct bytes *key_out)
{
    *key_out = day->key;
    return of == CLICKS_OF_DAY ||
           store_row_value(day->table, click,
                           of == CLICKS_OF_AD ? stream->clicks.ad : stream->clicks.reseller,
                           key_out);
}

static void count_row(struct click_changes *changes, const struct changed_day *day,
                      const struct row *row, int64_t value)
{
    const struct click_stream *stream = streams_number(changes->streams, day->stream);
    const struct page_row click = {.key = day->key, .row = *row};
    for (uint32_t i = 0; i < stream->counter_count; i++) {
        struct bytes key;
        if (counted_key(stream, stream->counters[i].key, day, &click, &key))
            delta_add(&changes->counters[day->stream * CLICK_STREAM_COUNTERS_MAX + i], key, value);
    }
}

static void write_counters(struct click_changes *changes)
{
    for (uint32_t n = 0; n < changes->stream_count; n++) {
        const struct click_stream *stream = streams_number(changes->streams, n);
        for (uint32_t i = 0; i < stream->counter_count; i++)
            deltas_write(changes->batch, changes->counters[n * CLICK_STREAM_COUNTERS_MAX + i],
                         &stream->counters[i]);
    }
}

/* ---- the end ---- */

static void write_lock_end(struct streams *streams, struct store_write_lock *write_lock)
{
    store_write_unlock(streams->store, write_lock);
    memory_free(write_lock);
}

static void changes_finish(void *context, int status, const struct error *err)
{
    struct click_changes *changes = context;
    struct streams *streams = changes->streams;
    store_done done = changes->done;
    void *done_context = changes->context;
    changes->batch->increment_count = changes->increment_count;
    if (changes->write_lock != NULL) {
        changes->batch->write_lock = NULL;
        write_lock_end(streams, changes->write_lock);
    }
    if (changes->lock != NULL)
        day_lock_release(changes->lock);
    key_map_free(changes->named);
    deltas_clear(changes);
    memory_free(changes->counters);
    arena_free(changes->arena);
    memory_free(changes);
    streams->changes_under_way--;
    streams->calls++;
    done(done_context, status, err);
    streams->calls--;
    streams_close_if_idle(streams);
}

/* ---- the rows of one day, before and after ---- */

static bool is_event_table(const struct changed_day *day)
{
    return (day->table->flags & TABLE_OF_EVENTS) != 0;
}

static bool is_click(const struct table *table, const struct row *row)
{
    return !row->is_static && row->clustering.count == table->clustering_count;
}

/* The row's key in `named`, written to `scratch`. */
static struct bytes named_key(const struct click_changes *changes, const struct changed_day *day,
                              const struct row *row, struct buffer *scratch)
{
    buffer_clear(scratch);
    buffer_put_u32(scratch, (uint32_t)(day - changes->days));
    row_clustering_pack(&row->clustering, scratch);
    return buffer_view(scratch);
}

/* Whether the row was there when the day was read; NULL: the batch does not name it. */
static bool *named_find(const struct click_changes *changes, const struct changed_day *day,
                        const struct row *row, struct buffer *scratch)
{
    uint32_t number = key_map_find(changes->named, named_key(changes, day, row, scratch));
    return number == KEY_MAP_NONE ? NULL : key_map_value(changes->named, number);
}

static struct stream *merged(struct click_changes *changes, const struct changed_day *day,
                             const struct unfiltered *before, uint32_t before_count)
{
    const struct table *table = day->table;
    struct stream **streams = memory_alloc((day->mutation_count + 1) * sizeof(struct stream *));
    uint32_t count = 0;
    if (before_count > 0)
        streams[count++] = stream_of_array(table, DELETION_NONE, before, before_count);
    for (const struct day_mutation *one = day->first; one != NULL; one = one->next) {
        const struct mutation *mutation = &one->mutation;
        streams[count++] =
            stream_of_array(table, mutation->deletion, mutation->items, mutation->item_count);
    }
    struct stream *all = stream_merge(table, streams, count, false);
    memory_free(streams);
    return stream_live(all, store_clock(changes->streams->store).wall_us / 1000000);
}

/* Subtract from the counters the rows that the batch removes.  `before` is in the order of the
 * table. */
static int count_gone(struct click_changes *changes, const struct changed_day *day,
                      const struct unfiltered *before, uint32_t count, struct error *err)
{
    const struct table *table = day->table;
    struct stream *after = merged(changes, day, before, count);
    struct unfiltered item;
    uint32_t next = 0;
    int rc;
    while ((rc = after->next(after, &item, err)) == 1) {
        int order = -1;
        while (next < count && (order = row_clustering_compare(table, &before[next].row.clustering,
                                                               &item.row.clustering)) < 0)
            count_row(changes, day, &before[next++].row, -1);
        next += next < count && order == 0;
    }
    while (rc == 0 && next < count)
        count_row(changes, day, &before[next++].row, -1);
    after->close(after);
    return rc;
}

/* Add to the counters the rows that the batch creates. */
static int count_new(struct click_changes *changes, const struct changed_day *day,
                     struct error *err)
{
    struct stream *after = merged(changes, day, NULL, 0);
    struct buffer scratch = {0};
    struct unfiltered item;
    int rc;
    while ((rc = after->next(after, &item, err)) == 1) {
        const bool *is_there = named_find(changes, day, &item.row, &scratch);
        if (is_there == NULL || *is_there)
            continue;
        if (is_event_table(day) && type_value_bigint(item.row.clustering.values[RANK_PLACE]) >= 0) {
            rc = error_set(err, ERROR_INVALID,
                           "there is no such click; a new one's click_id is negative, or left out");
            break;
        }
        count_row(changes, day, &item.row, 1);
    }
    after->close(after);
    buffer_release(&scratch);
    return rc;
}

static int take_page(void *context, const struct read_page *page, struct error *err)
{
    struct click_changes *changes = context;
    struct changed_day *day = &changes->days[changes->day_next];
    struct unfiltered *before = memory_alloc(page->row_count * sizeof(*before));
    struct buffer scratch = {0};
    if (!day->is_read)
        day->version = page->version;
    day->is_read = true;
    for (uint32_t i = 0; i < page->row_count; i++) {
        before[i] = (struct unfiltered){.kind = UNFILTERED_ROW,
                                        .row = page->rows[i].row,
                                        .before = DELETION_NONE,
                                        .after = DELETION_NONE};
        bool *is_there = named_find(changes, day, &before[i].row, &scratch);
        if (is_there != NULL)
            *is_there = true;
    }
    int rc = count_gone(changes, day, before, page->row_count, err);
    buffer_release(&scratch);
    memory_free(before);
    return rc;
}

/* ---- committing ---- */

static void read_next_day(struct click_changes *changes);

static void expect_days(struct click_changes *changes)
{
    struct store_expectation *expectations = &changes->expectations[changes->own_count];
    for (uint32_t i = 0; i < changes->day_count; i++) {
        const struct changed_day *day = &changes->days[i];
        expectations[i] = (struct store_expectation){.table_id = day->table->id,
                                                     .key = day->key,
                                                     .version = day->version,
                                                     .allows_appended = !day->deletes_range};
    }
    for (uint32_t i = 0; i < key_map_count(changes->named); i++) {
        struct reader reader = reader_of(key_map_key(changes->named, i));
        uint32_t number = reader_u32(&reader);
        struct clustering clustering;
        row_clustering_unpack(&reader, &clustering);
        if (is_event_table(&changes->days[number]) &&
            !*(const bool *)key_map_value(changes->named, i) &&
            type_value_bigint(clustering.values[RANK_PLACE]) >= 0)
            expectations[number].allows_appended = false;
    }
}

static void changes_read(void *context)
{
    struct click_changes *changes = context;
    changes->day_next = 0;
    for (uint32_t i = 0; i < changes->day_count; i++)
        changes->days[i].is_read = false;
    for (uint32_t i = 0; i < key_map_count(changes->named); i++)
        *(bool *)key_map_value(changes->named, i) = false;
    deltas_clear(changes);
    read_next_day(changes);
}

static void changes_try_again(struct click_changes *changes)
{
    if (++changes->tries <= FREE_TRIES || changes->write_lock != NULL) {
        changes_read(changes);
        return;
    }
    changes->write_lock = memory_zeroed(1, sizeof(*changes->write_lock));
    *changes->write_lock = (struct store_write_lock){.granted = changes_read, .context = changes};
    changes->batch->write_lock = changes->write_lock;
    store_write_lock(changes->streams->store, changes->write_lock);
}

static void changes_commit(struct timer *timer)
{
    struct click_changes *changes = timer->context;
    struct streams *streams = changes->streams;
    struct write_batch *batch = changes->batch;
    struct day_lock *lock = changes->lock;
    struct store_write_lock *write_lock = changes->write_lock;
    struct error err = {0};
    /* This keeps changes_finish, which store_apply_if may call, from freeing the streams. */
    streams->calls++;
    changes->lock = NULL;
    changes->write_lock = NULL;
    batch->increment_count = changes->increment_count;
    write_counters(changes);
    expect_days(changes);
    int rc = store_apply_if(streams->store, batch, changes->expectations,
                            changes->own_count + changes->day_count, changes_finish, changes, &err);
    if (rc == 0)
        day_lock_release(lock);
    if (rc == 0 && write_lock != NULL)
        write_lock_end(streams, write_lock);
    streams->calls--;
    if (rc == 0) {
        streams_close_if_idle(streams);
        return;
    }
    changes->lock = lock;
    changes->write_lock = write_lock;
    if (rc == ERROR_FULL) {
        world_timer_start(streams->world, &changes->again, changes_commit, changes, FULL_PAUSE_MS);
        return;
    }
    /* If the caller has expectations, the conflict may be with one of them, so the caller gets
     * it. */
    if (rc == ERROR_CONFLICT && changes->own_count == 0) {
        changes_try_again(changes);
        return;
    }
    changes_finish(changes, rc, &err);
}

/* ---- reading ---- */

static void day_read(void *context, int status, const struct error *err)
{
    struct click_changes *changes = context;
    struct error own = {0};
    if (status == 0) {
        err = &own;
        status = count_new(changes, &changes->days[changes->day_next], &own);
    }
    if (status < 0) {
        changes_finish(changes, status, err);
        return;
    }
    changes->day_next++;
    read_next_day(changes);
}

static struct bound bound_of(const struct unfiltered *item, enum bound_side side)
{
    if (item->kind == UNFILTERED_BOUND)
        return item->bound;
    return (struct bound){.prefix = item->row.clustering, .side = side};
}

static struct slice day_slice(const struct changed_day *day)
{
    struct slice slice = {0};
    bool is_first = true;
    for (const struct day_mutation *one = day->first; one != NULL; one = one->next) {
        const struct mutation *mutation = &one->mutation;
        if (mutation->deletion.timestamp_us != TIMESTAMP_NONE)
            return stream_slice_all();
        if (mutation->item_count == 0)
            continue;
        struct bound start = bound_of(&mutation->items[0], BOUND_BEFORE);
        struct bound end = bound_of(&mutation->items[mutation->item_count - 1], BOUND_AFTER);
        if (is_first || row_bound_compare(day->table, &start, &slice.start) < 0)
            slice.start = start;
        if (is_first || row_bound_compare(day->table, &end, &slice.end) > 0)
            slice.end = end;
        is_first = false;
    }
    return slice;
}

static void read_next_day(struct click_changes *changes)
{
    if (changes->day_next == changes->day_count) {
        changes_commit(&changes->again);
        return;
    }
    const struct changed_day *day = &changes->days[changes->day_next];
    struct read_request request = store_rows_request(day->table->id, &day->key, READ_APPLIED);
    request.slice = day_slice(day);
    store_rows_read_pages(changes->streams->store, &request, take_page, day_read, changes);
}

/* ---- what a batch changes ---- */

static void day_note(struct click_changes *changes, struct changed_day *day,
                     const struct mutation *mutation)
{
    struct buffer scratch = {0};
    day->deletes_range |= mutation->deletion.timestamp_us != TIMESTAMP_NONE;
    for (uint32_t i = 0; i < mutation->item_count; i++) {
        const struct unfiltered *item = &mutation->items[i];
        day->deletes_range |= item->kind == UNFILTERED_BOUND;
        if (item->kind != UNFILTERED_BOUND && is_click(day->table, &item->row))
            key_map_add(changes->named, named_key(changes, day, &item->row, &scratch));
    }
    buffer_release(&scratch);
}

/* Whether rows of the table must be read before they are written.  *number_out: the number of the
 * stream. */
static bool reads_first(const struct streams *streams, uint32_t table_id, uint32_t *number_out)
{
    for (uint32_t n = 0; n < streams->count; n++) {
        const struct click_stream *stream = streams_number(streams, n);
        if (stream->clicks.table_id == table_id) {
            *number_out = n;
            return stream->counter_count > 0;
        }
    }
    return false;
}

static void day_take(struct click_changes *changes, struct changed_day *day,
                     const struct mutation *mutation, int64_t timestamp_us)
{
    struct day_mutation *taken = arena_array(changes->arena, 1, sizeof(*taken));
    taken->next = NULL;
    mutation_fill(mutation, timestamp_us, changes->arena, &taken->mutation);
    if (day->first == NULL)
        day->first = taken;
    else
        day->last->next = taken;
    day->last = taken;
    day->mutation_count++;
    day_note(changes, day, mutation);
}

static void days_take(struct click_changes *changes)
{
    const struct write_batch *batch = changes->batch;
    struct key_map *keys = key_map_new();
    struct buffer key = {0};
    uint32_t stream;
    for (uint32_t i = 0; i < batch->mutation_count; i++) {
        const struct mutation *mutation = &batch->mutations[i];
        if (!reads_first(changes->streams, mutation->table_id, &stream))
            continue;
        buffer_clear(&key);
        buffer_put_u32(&key, mutation->table_id);
        buffer_append_bytes(&key, mutation->key);
        uint32_t number = key_map_add(keys, buffer_view(&key));
        struct changed_day *day = &changes->days[number];
        if (number == changes->day_count) {
            changes->day_count++;
            *day = (struct changed_day){
                .stream = stream,
                .table = schema_table(store_schema(changes->streams->store), mutation->table_id),
                .key = mutation->key};
        }
        day_take(changes, day, mutation, TIMESTAMP_LATER + i);
    }
    buffer_release(&key);
    key_map_free(keys);
}

static bool reads_any_first(const struct streams *streams, const struct write_batch *batch)
{
    uint32_t stream;
    for (uint32_t i = 0; i < batch->mutation_count; i++)
        if (reads_first(streams, batch->mutations[i].table_id, &stream))
            return true;
    return false;
}

void streams_apply(struct streams *streams, struct write_batch *batch,
                   struct store_expectation *expectations, uint32_t expectation_count,
                   store_done done, void *context)
{
    struct error err = {0};
    if (!reads_any_first(streams, batch) &&
        store_apply_if(streams->store, batch, expectations, expectation_count, done, context,
                       NULL) == 0)
        return;
    if (batch->mutation_count > WRITE_BATCH_MUTATIONS_MAX) {
        error_set(&err, ERROR_LIMIT, "a batch of %u partitions is over the limit of %d",
                  batch->mutation_count, WRITE_BATCH_MUTATIONS_MAX);
        done(context, err.code, &err);
        return;
    }
    struct arena *arena = arena_new(ARENA_CHUNK);
    size_t most = batch->mutation_count;
    size_t counters = (size_t)streams->count * CLICK_STREAM_COUNTERS_MAX;
    struct click_changes *changes = memory_zeroed(1, sizeof(*changes));
    *changes = (struct click_changes){.streams = streams,
                                      .batch = batch,
                                      .own_count = expectation_count,
                                      .done = done,
                                      .context = context,
                                      .arena = arena,
                                      .increment_count = batch->increment_count};
    changes->again = (struct timer){.fire = changes_commit, .context = changes};
    changes->counters = memory_zeroed(counters, sizeof(*changes->counters));
    changes->stream_count = streams->count;
    changes->days = arena_array(arena, most, sizeof(*changes->days));
    changes->named = key_map_new_of(sizeof(bool));
    changes->expectations = arena_array(arena, expectation_count + most, sizeof(*expectations));
    if (expectation_count > 0)
        memcpy(changes->expectations, expectations, expectation_count * sizeof(*expectations));
    streams->changes_under_way++;
    days_take(changes);
    changes->lock = day_lock_new(streams->locks, changes->day_count, changes_read, changes);
    for (uint32_t i = 0; i < changes->day_count; i++)
        day_lock_add(changes->lock, changes->days[i].key);
    day_lock_acquire(changes->lock);
}
