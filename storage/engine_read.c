/* engine_read: one page of rows, from a partition or a scan, as of the durable frame.
 *
 * Sealed runs do not change, so a job on the read lane reads them.  A hand-over to another thread
 * and back takes longer than a page that the system has in memory, so a read of few pages is tried
 * on the engine thread first, and begun anew on the lane where it would have to wait.
 *
 * The open memtable does change, so what a page needs of it is copied out on the engine thread
 * first ("the capture"): packed rows of the narrow memtable and counters, columns of the wide one.
 * A page that needs nothing else is made of it at once instead, and views it.  Where a capture
 * would be more than CAPTURE_ITEMS_MAX items or CAPTURE_BYTES_MAX, or a scan meets fresh rows, the
 * memtable is frozen instead and the page is read from it as from any other run.
 *
 * Reads that wait for the lane hold their captures, so only so many are begun as `reads_share`
 * allows; later ones wait in their order, without.
 *
 * Partitions asked for by their keys are read by one job, in the order in which they are stored, so
 * that neighbours share pages; one key is the common case of it.
 *
 * A page ends after row_limit rows or PAGE_BYTES_MAX, or at the capture's horizon, the last
 * partition that was copied out whole; the position says where to go on, in bytes that mean the
 * same after a restart:
 *
 *   u8 1, u8 kind, u64 token, key (varint size, bytes), packed clustering when kind is ROW
 *   kind: 0 after a row, 1 after the static row, 2 after the partition */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "counters/counter_cell.h"
#include "storage/base/hash.h"
#include "storage/base/memory.h"
#include "storage/engine_private.h"
#include "storage/narrow_segment.h"

enum {
    CAPTURE_ITEMS_MAX = 20000,
    CAPTURE_BYTES_MAX = 4 << 20,
    CAPTURE_FRESH_ROWS_MAX = 65536,
    PAGE_BYTES_MAX = 2 << 20,
    PAGE_ROWS_SURE = 2, /* come whatever their size: a static row, and the one asked for */
    READS_BYTES_MAX = 16 << 20,
    READS_SHARE = 16, /* of the memory, at most READS_BYTES_MAX */
    PAGE_ARENA = 64 * 1024,
    PAGE_ROWS_FIRST = 32,
    POSITION_VERSION = 1,
    /* What reads may take of the engine thread: so many pages, some 30 us each, in so long. */
    HASTE_PAGES = 8,
    HASTE_US = 1000
};

enum position_kind { AFTER_ROW = 0, AFTER_STATIC = 1, AFTER_PARTITION = 2 };

struct position {
    bool is_set;
    enum position_kind kind;
    int64_t token;
    struct bytes key;
    struct clustering clustering;
};

/* A partition's rows as the open memtable has them. */
struct captured {
    int64_t token;
    struct bytes key;
    struct deletion deletion;
    struct unfiltered *items;
    size_t count;
};

/* A partition that is asked for by its key, and what is left of it to be read. */
struct read_part {
    int64_t token;
    struct bytes key;
    struct slice slice;
};

struct read_job {
    struct job job;
    struct freeze_waiter waiter;
    struct engine *engine;
    struct read_job *next; /* waiting to be begun */
    size_t before;         /* bytes of the arena before the capture, */
    size_t counted;        /* and after it: these are in the engine's sum */
    struct arena *arena;
    struct schema *schema; /* referenced: the table's */
    const struct table *table;
    struct read_request request;  /* its bytes copied into the arena */
    struct store_version version; /* of the partition, when the capture was taken */
    struct position position;
    struct read_part *parts; /* ascending; of a scan: none */
    uint32_t part_count;
    uint32_t part_end; /* those from here on were not captured */
    struct view view;
    struct captured *captured; /* in (token, key) order; one of two streams each */
    uint32_t captured_count;
    uint32_t captured_capacity;
    uint32_t captured_at; /* those before it lie before what is read */
    bool has_horizon;     /* nothing at or past it was captured */
    int64_t horizon_token;
    struct bytes horizon_key;
    struct wide_rows *fresh; /* of the open memtable; NULL: none */
    struct memtable *viewed; /* by the page, referenced; NULL: none */
    struct page_row *rows;
    uint32_t row_count;
    uint32_t row_capacity; /* grows with the answer: a limit is mostly far above it */
    struct buffer position_out;
    store_page page;
    void *context;
    int status;
    struct error err;
};

/* ---- positions ---- */

static void position_write(struct buffer *buffer, enum position_kind kind, int64_t token,
                           struct bytes key, const struct clustering *clustering)
{
    buffer_put_u8(buffer, POSITION_VERSION);
    buffer_put_u8(buffer, (uint8_t)kind);
    buffer_put_u64(buffer, (uint64_t)token);
    buffer_put_sized(buffer, key);
    if (kind == AFTER_ROW)
        clustering_pack(clustering, buffer);
}

static int position_read(struct bytes bytes, struct position *position, struct error *err)
{
    *position = (struct position){.is_set = bytes.size > 0};
    if (bytes.size == 0)
        return 0;
    struct reader reader = reader_of(bytes);
    uint8_t version = reader_u8(&reader);
    uint8_t kind = reader_u8(&reader);
    position->kind = (enum position_kind)kind;
    position->token = (int64_t)reader_u64(&reader);
    position->key = reader_sized(&reader);
    if (kind == AFTER_ROW)
        clustering_unpack(&reader, &position->clustering);
    if (reader.failed || version != POSITION_VERSION || kind > AFTER_PARTITION ||
        reader_left(&reader) > 0 ||
        position->token != murmur3_token(position->key.data, position->key.size)) {
        return error_set(err, ERROR_INVALID, "the position to go on from is damaged");
    }
    return 0;
}

void store_position_after(const struct page_row *row, bool partition, struct buffer *position)
{
    enum position_kind kind = partition            ? AFTER_PARTITION
                              : row->row.is_static ? AFTER_STATIC
                                                   : AFTER_ROW;
    position_write(position, kind, row->token, row->key, &row->row.clustering);
}

/* ---- deep copies ---- */

static struct unfiltered unfiltered_copy(const struct unfiltered *from, struct arena *arena)
{
    struct unfiltered copy = *from;
    if (from->kind == UNFILTERED_ROW)
        copy.row = row_copy(&from->row, arena);
    else
        copy.bound.prefix = clustering_copy(&from->bound.prefix, arena);
    return copy;
}

/* ---- the capture, on the engine thread ---- */

static size_t captured_bytes(const struct read_job *read)
{
    return arena_held(read->arena) - read->before;
}

/* Copy what `stream` (closed here) yields.  False when it is more than may be copied. */
static bool capture_stream(struct read_job *read, int64_t token, struct bytes key,
                           struct stream *stream, size_t *items_left)
{
    if (stream == NULL)
        return true;
    struct captured captured = {.token = token,
                                .key = arena_copy(read->arena, key),
                                .deletion = stream->partition_deletion};
    size_t capacity = 0;
    struct unfiltered item;
    int rc;
    while ((rc = stream->next(stream, &item, NULL)) == 1 && *items_left > 0 &&
           captured_bytes(read) <= CAPTURE_BYTES_MAX) {
        if (captured.count == capacity) {
            capacity = capacity == 0 ? 8 : capacity * 2;
            captured.items = memory_resize(captured.items, capacity * sizeof(struct unfiltered));
        }
        captured.items[captured.count++] = unfiltered_copy(&item, read->arena);
        (*items_left)--;
    }
    check(rc >= 0);
    if (stream->close != NULL)
        stream->close(stream);
    if (read->captured_count == read->captured_capacity) {
        read->captured_capacity = read->captured_capacity == 0 ? 8 : read->captured_capacity * 2;
        read->captured =
            memory_resize(read->captured, read->captured_capacity * sizeof(struct captured));
    }
    read->captured[read->captured_count++] = captured;
    return rc == 0;
}

static bool capture_partition(struct read_job *read, int64_t token, struct bytes key,
                              const struct slice *slice, size_t *items_left)
{
    struct memtable *open = read->engine->open;
    bool whole = capture_stream(
        read, token, key,
        narrow_memtable_stream(open->narrow, read->table, token, key, slice, read->view.frame),
        items_left);
    if (whole && (read->table->flags & TABLE_COUNTER) != 0) {
        whole = capture_stream(read, token, key,
                               counter_memtable_stream(open->counters, read->table, key, slice,
                                                       read->view.frame,
                                                       (uint64_t)open->timestamp_first_us),
                               items_left);
    }
    return whole;
}

/* Keep the first `count`. */
static void captured_cut(struct read_job *read, uint32_t count)
{
    while (read->captured_count > count)
        memory_free(read->captured[--read->captured_count].items);
}

/* Whether what was captured fills the page anyway. */
static bool is_captured_enough(const struct read_job *read, size_t items_left)
{
    return items_left < CAPTURE_ITEMS_MAX &&
           (CAPTURE_ITEMS_MAX - items_left > read->request.row_limit ||
            captured_bytes(read) > PAGE_BYTES_MAX);
}

/* The next partition of the table in the open memtable. */
static bool open_seek(struct read_job *read, int64_t token, struct bytes key, bool after,
                      int64_t *token_out, struct bytes *key_out)
{
    struct memtable *open = read->engine->open;
    bool found =
        narrow_memtable_seek(open->narrow, read->table->id, token, key, after, token_out, key_out);
    int64_t counter_token;
    struct bytes counter_key;
    if ((read->table->flags & TABLE_COUNTER) != 0 &&
        counter_memtable_seek(open->counters, read->table->id, token, key, after, &counter_token,
                              &counter_key) &&
        (!found || partition_order(counter_token, counter_key, *token_out, *key_out) < 0)) {
        *token_out = counter_token;
        *key_out = counter_key;
        found = true;
    }
    return found;
}

/* Where a scan begins: at its position, or at the first token asked for if that lies behind. */
static int64_t scan_start(const struct read_job *read, struct bytes *key_out, bool *after_out)
{
    const struct position *position = &read->position;
    int64_t first = read->request.has_tokens ? read->request.token_first : INT64_MIN;
    bool goes_on = position->is_set && position->token >= first;
    *key_out = goes_on ? position->key : (struct bytes){0};
    *after_out = goes_on && position->kind == AFTER_PARTITION;
    return goes_on ? position->token : first;
}

static bool is_past_tokens(const struct read_job *read, int64_t token)
{
    return read->request.has_tokens && token > read->request.token_last;
}

/* Partitions from the position on, until there is enough for a page.  False: the first alone is
 * too much. */
static bool capture_scan(struct read_job *read)
{
    size_t items_left = CAPTURE_ITEMS_MAX;
    struct bytes key;
    bool after;
    int64_t token = scan_start(read, &key, &after);
    for (; open_seek(read, token, key, after, &token, &key) && !is_past_tokens(read, token);
         after = true) {
        bool is_enough = is_captured_enough(read, items_left);
        uint32_t before = read->captured_count;
        if (!is_enough && capture_partition(read, token, key, &read->request.slice, &items_left))
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

/* The partitions asked for, until there is enough for a page.  False: the first alone is too much.
 */
static bool capture_parts(struct read_job *read)
{
    size_t items_left = CAPTURE_ITEMS_MAX;
    for (read->part_end = 0; read->part_end < read->part_count; read->part_end++) {
        const struct read_part *part = &read->parts[read->part_end];
        uint32_t before = read->captured_count;
        if (is_captured_enough(read, items_left))
            return true;
        if (!capture_partition(read, part->token, part->key, &part->slice, &items_left)) {
            captured_cut(read, before);
            return read->part_end > 0;
        }
    }
    return true;
}

/* Fresh rows of the open memtable, with strings of their own: the memtable's table of strings may
 * move while the job reads. */
static bool capture_fresh(struct read_job *read)
{
    struct wide_memtable *wide = memtable_wide(read->engine->open, read->table->id);
    if (wide == NULL)
        return true;
    uint32_t partition =
        read->request.is_scan ? UINT32_MAX : wide_memtable_find(wide, read->request.key);
    if (partition == UINT32_MAX)
        return !read->request.is_scan;
    if (wide_memtable_stats(wide, partition, UINT64_MAX).rows > CAPTURE_FRESH_ROWS_MAX)
        return false;
    read->fresh = arena_alloc(read->arena, sizeof(struct wide_rows), 16);
    wide_rows_init(read->fresh, read->table);
    wide_memtable_rows(wide, partition, read->view.frame, read->fresh);
    for (uint32_t v = 0; v < read->fresh->column_count; v++) {
        struct wide_vector *vector = &read->fresh->vectors[v];
        if (vector->kind != VECTOR_CODE)
            continue;
        struct bytes *strings =
            arena_alloc(read->arena, read->fresh->rows * sizeof(struct bytes), 16);
        for (uint32_t i = 0; i < read->fresh->rows; i++) {
            strings[i] = (struct bytes){0};
            if (vector->absent == NULL || vector->absent[i] == 0)
                strings[i] = arena_copy(read->arena, vector->strings[vector->codes[i]]);
            vector->codes[i] = i;
        }
        vector->strings = strings;
        vector->string_count = read->fresh->rows;
        vector->strings_shared = false;
    }
    return true;
}

/* ---- the job, on a lane ---- */

static bool is_before_horizon(const struct read_job *read, int64_t token, struct bytes key)
{
    return !read->has_horizon ||
           partition_order(token, key, read->horizon_token, read->horizon_key) < 0;
}

/* Move to the first that was captured at (token, key) or behind: partitions are read in order. */
static void captured_seek(struct read_job *read, int64_t token, struct bytes key)
{
    while (read->captured_at < read->captured_count &&
           partition_order(read->captured[read->captured_at].token,
                           read->captured[read->captured_at].key, token, key) < 0) {
        read->captured_at++;
    }
}

/* What was captured of the partition after the first `index` streams of it; NULL: no more. */
static struct captured *captured_of(const struct read_job *read, uint32_t index, int64_t token,
                                    struct bytes key)
{
    uint32_t at = read->captured_at + index;
    struct captured *captured = at < read->captured_count ? &read->captured[at] : NULL;
    return captured != NULL && captured->token == token && bytes_equal(captured->key, key)
               ? captured
               : NULL;
}

/* The next partition over sealed runs and the capture, before the horizon. */
static bool next_partition(struct read_job *read, struct partition_reader *reader, int64_t token,
                           struct bytes key, bool after, int64_t *token_out, struct bytes *key_out)
{
    /* First, because `key` may be what the last seek found, which the next one writes over. */
    captured_seek(read, token, key);
    while (after && captured_of(read, 0, token, key) != NULL)
        read->captured_at++;
    const struct captured *captured =
        read->captured_at < read->captured_count ? &read->captured[read->captured_at] : NULL;
    bool found = partition_reader_seek(reader, token, key, after, token_out, key_out);
    if (captured != NULL &&
        (!found || partition_order(captured->token, captured->key, *token_out, *key_out) < 0)) {
        *token_out = captured->token;
        *key_out = captured->key;
        found = true;
    }
    return found && is_before_horizon(read, *token_out, *key_out);
}

/* What is left of the slice of a partition that the position lies in. */
static struct slice slice_after(const struct position *position, struct slice slice)
{
    slice.with_static = false;
    if (position->kind == AFTER_ROW) {
        struct bound bound = {.prefix = position->clustering,
                              .side = slice.reversed ? BOUND_BEFORE : BOUND_AFTER};
        if (slice.reversed)
            slice.end = bound;
        else
            slice.start = bound;
    }
    return slice;
}

/* Above the store a counter is its value. */
static void resolve_counters(struct row *row, struct arena *arena)
{
    struct cell *cells = (struct cell *)(uintptr_t)row->cells;
    for (uint32_t i = 0; i < row->cell_count; i++) {
        if ((cells[i].flags & CELL_COUNTER) != 0) {
            struct buffer value = {0};
            value_put_bigint(&value, counter_value(cells[i].value));
            cells[i].value = arena_copy(arena, buffer_view(&value));
            buffer_release(&value);
        }
    }
}

/* What `row` points to lives as long as the page. */
static struct page_row *add_row(struct read_job *read, int64_t token, struct bytes key,
                                const struct row *row)
{
    if (read->row_count == read->row_capacity) {
        read->row_capacity = read->row_capacity == 0 ? PAGE_ROWS_FIRST : read->row_capacity * 2;
        read->rows = memory_resize(read->rows, read->row_capacity * sizeof(struct page_row));
    }
    struct page_row *added = &read->rows[read->row_count++];
    *added = (struct page_row){.token = token, .key = key, .row = *row};
    return added;
}

/* Captured items outside of what is left of the partition are dropped. */
static struct stream *captured_stream(const struct read_job *read, struct captured *captured,
                                      const struct slice *slice)
{
    size_t count = 0;
    for (size_t i = 0; i < captured->count; i++) {
        const struct unfiltered *item = &captured->items[i];
        bool keep =
            item->kind == UNFILTERED_BOUND ||
            (item->row.is_static ? slice->with_static
                                 : slice_contains(read->table, slice, &item->row.clustering));
        if (keep)
            captured->items[count++] = *item;
    }
    captured->count = count;
    return stream_of_array(read->table, captured->deletion, captured->items, captured->count);
}

static bool page_is_full(const struct read_job *read)
{
    return read->row_count == read->request.row_limit ||
           (read->row_count >= PAGE_ROWS_SURE &&
            arena_held(read->arena) - read->counted > PAGE_BYTES_MAX);
}

/* Rows of one partition into the page.  1: the page is full. */
static int read_partition(struct read_job *read, struct partition_reader *reader, int64_t token,
                          struct bytes key, const struct slice *slice, int64_t now_s)
{
    struct stream *extra[4];
    uint32_t extra_count = 0;
    struct captured *captured;
    captured_seek(read, token, key);
    while ((captured = captured_of(read, extra_count, token, key)) != NULL) {
        check(extra_count < 4);
        extra[extra_count++] = captured_stream(read, captured, slice);
    }
    struct stream *stream;
    int rc = partition_reader_stream(reader, token, key, slice, extra, extra_count, read->fresh,
                                     &stream, &read->err);
    if (rc != 0 || stream == NULL)
        return rc;
    stream = stream_live(stream, now_s);
    struct bytes kept = arena_copy(read->arena, key);
    struct unfiltered item;
    while ((rc = stream->next(stream, &item, &read->err)) == 1) {
        const struct row copy = row_copy(&item.row, read->arena);
        resolve_counters(&add_row(read, token, kept, &copy)->row, read->arena);
        if (page_is_full(read))
            break;
    }
    stream->close(stream);
    return rc;
}

static int read_parts(struct read_job *read, struct partition_reader *reader, int64_t now_s)
{
    int rc = 0;
    for (uint32_t i = 0; i < read->part_end && rc == 0; i++) {
        const struct read_part *part = &read->parts[i];
        rc = read_partition(read, reader, part->token, part->key, &part->slice, now_s);
    }
    if (rc == 0 && read->part_end < read->part_count) {
        const struct read_part *last = &read->parts[read->part_end - 1];
        position_write(&read->position_out, AFTER_PARTITION, last->token, last->key, NULL);
    }
    return rc;
}

static int read_scan(struct read_job *read, struct partition_reader *reader, int64_t now_s)
{
    struct bytes key;
    bool after;
    int64_t token = scan_start(read, &key, &after);
    bool within = read->position.is_set && !after;
    int64_t next_token;
    struct bytes next_key;
    int rc = 0;
    while (rc == 0 && next_partition(read, reader, token, key, after, &next_token, &next_key) &&
           !is_past_tokens(read, next_token)) {
        token = next_token;
        key = next_key;
        bool continues =
            within && token == read->position.token && bytes_equal(key, read->position.key);
        struct slice slice =
            continues ? slice_after(&read->position, read->request.slice) : read->request.slice;
        rc = read_partition(read, reader, token, key, &slice, now_s);
        after = true;
    }
    if (rc == 0 && read->has_horizon) {
        position_write(&read->position_out, AFTER_PARTITION, token, key, NULL);
        if (!after)
            rc = error_set(&read->err, ERROR_LIMIT, "a scan made no progress");
    }
    return rc;
}

static void read_run(struct job *job)
{
    struct read_job *read = (struct read_job *)job;
    struct clock *clock = read->engine->world->clock;
    int64_t now_s = clock->wall_us(clock) / 1000000;
    struct partition_reader *reader = partition_reader_new(&read->view, read->table);
    int rc =
        read->request.is_scan ? read_scan(read, reader, now_s) : read_parts(read, reader, now_s);
    partition_reader_free(reader);
    if (rc == 1)
        store_position_after(&read->rows[read->row_count - 1], false, &read->position_out);
    read->status = rc < 0 ? rc : 0;
}

static void read_prepare(struct read_job *read);

static uint64_t reads_share(const struct engine *engine)
{
    uint64_t share = engine->options.memory_limit / READS_SHARE;
    return share < READS_BYTES_MAX ? share : READS_BYTES_MAX;
}

static void read_wait(struct read_job *read)
{
    struct engine *engine = read->engine;
    read->next = NULL;
    if (engine->reads_waiting == NULL)
        engine->reads_waiting = read;
    else
        engine->reads_last->next = read;
    engine->reads_last = read;
}

/* Begin those that wait, as far as there is room; one that is answered at once comes here again. */
static void reads_go_on(struct engine *engine)
{
    if (engine->is_beginning_reads)
        return;
    engine->is_beginning_reads = true;
    while (engine->reads_waiting != NULL && engine->reads_bytes < reads_share(engine)) {
        struct read_job *read = engine->reads_waiting;
        engine->reads_waiting = read->next;
        read_prepare(read);
    }
    engine->is_beginning_reads = false;
}

static void read_finish(struct read_job *read)
{
    struct engine *engine = read->engine;
    struct read_page page = {.table = read->table,
                             .rows = read->rows,
                             .row_count = read->row_count,
                             .position = buffer_view(&read->position_out),
                             .version = read->version};
    if (read->status == 0)
        read->page(read->context, 0, NULL, &page);
    else
        read->page(read->context, read->status, &read->err, NULL);
    captured_cut(read, 0);
    memory_free(read->captured);
    if (read->fresh != NULL)
        wide_rows_release(read->fresh);
    memtable_unref(read->viewed);
    memory_free(read->rows);
    buffer_release(&read->position_out);
    view_release(&read->view);
    schema_unref(read->schema);
    arena_free(read->arena);
    engine->reads_bytes -= read->counted;
    memory_free(read);
    reads_go_on(engine);
    engine_job_done(engine);
}

static void read_done(struct job *job)
{
    read_finish((struct read_job *)job);
}

/* Whether the segment may have a part in the page of a partition, as far as is known without
 * reading. */
static bool segment_matters(const struct read_job *read, const struct segment *segment)
{
    const struct read_part *part = &read->parts[0];
    return read->part_count > 0 && segment_may_have(segment, part->token) &&
           narrow_segment_may_meet(segment, read->table, &part->slice);
}

/* Only segments that matter stay in the view of a read by key. */
static void view_reduce(struct read_job *read)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < read->view.segment_count; i++) {
        struct segment *segment = read->view.segments[i];
        if (segment_matters(read, segment))
            read->view.segments[count++] = segment;
        else
            segment_unref(segment);
    }
    read->view.segment_count = count;
}

static uint32_t haste_pages(struct engine *engine)
{
    struct clock *clock = engine->world->clock;
    int64_t now_us = clock->monotonic_us(clock);
    if (now_us - engine->haste_began_us >= HASTE_US) {
        engine->haste_began_us = now_us;
        engine->haste.pages_left = HASTE_PAGES;
    }
    return engine->haste.pages_left;
}

/* On the engine thread.  False: it would have to wait, or is too much, and nothing was read. */
static bool read_at_once(struct read_job *read)
{
    struct engine *engine = read->engine;
    if (read->request.is_scan || read->part_count > 1 || (read->table->flags & TABLE_RANKED) != 0)
        return false;
    view_reduce(read);
    if (read->view.segment_count > 0 && read->view.segment_count > haste_pages(engine))
        return false;
    read->view.haste = &engine->haste;
    read_run(&read->job);
    read->view.haste = NULL;
    if (read->status == -EAGAIN) {
        read->status = 0;
        read->row_count = 0;
        read->captured_at = 0;
        return false;
    }
    return true;
}

/* ---- a page of the open memtable alone ---- */

static bool memtable_matters(const struct read_job *read, const struct memtable *memtable)
{
    int64_t token;
    struct bytes key;
    if (read->part_count != 1)
        return narrow_memtable_seek(memtable->narrow, read->table->id, INT64_MIN, bytes_of("", 0),
                                    false, &token, &key);
    return narrow_memtable_has(memtable->narrow, read->table->id, read->parts[0].token,
                               read->parts[0].key);
}

/* Whether all there is of what is asked for, one partition or the table, is in the open memtable.
 */
static bool is_open_only(struct read_job *read)
{
    if ((read->table->flags & (TABLE_RANKED | TABLE_COUNTER)) != 0)
        return false;
    if (read->part_count == 1)
        view_reduce(read);
    for (uint32_t i = 0; i < read->view.frozen_count; i++)
        if (memtable_matters(read, read->view.frozen[i]))
            return false;
    return read->view.segment_count == 0;
}

/* A page that is being made on the engine thread, which alone writes the open memtable: nothing of
 * it need be copied. */
struct open_read {
    struct read_job *read;
    int64_t now_s;
    uint32_t items;
};

static bool open_read_is_over(const struct open_read *open)
{
    return open->items > CAPTURE_ITEMS_MAX || page_is_full(open->read);
}

static void open_read_partition(struct open_read *open, int64_t token, struct bytes key,
                                const struct slice *slice)
{
    struct read_job *read = open->read;
    struct stream *stream = narrow_memtable_stream_kept(read->viewed->narrow, read->table, token,
                                                        key, slice, read->view.frame, read->arena);
    struct unfiltered item;
    while (stream != NULL && !open_read_is_over(open) && stream->next(stream, &item, NULL) == 1) {
        struct row live;
        open->items++;
        if (item.kind == UNFILTERED_ROW &&
            row_live(read->table, &item.row, open->now_s, read->arena, &live))
            add_row(read, token, key, &live);
    }
    stream_close(stream);
}

static void open_read_scan(struct open_read *open)
{
    struct read_job *read = open->read;
    struct bytes key;
    bool after;
    int64_t token = scan_start(read, &key, &after);
    bool within = read->position.is_set && !after;
    for (; !open_read_is_over(open) && open_seek(read, token, key, after, &token, &key) &&
           !is_past_tokens(read, token);
         after = true) {
        bool continues =
            within && token == read->position.token && bytes_equal(key, read->position.key);
        struct slice slice =
            continues ? slice_after(&read->position, read->request.slice) : read->request.slice;
        open->items++;
        open_read_partition(open, token, key, &slice);
    }
}

/* False: it is too much, and nothing was read. */
static bool read_open(struct read_job *read)
{
    struct clock *clock = read->engine->world->clock;
    struct open_read open = {read, clock->wall_us(clock) / 1000000, 0};
    read->viewed = memtable_ref(read->engine->open);
    if (read->request.is_scan)
        open_read_scan(&open);
    for (uint32_t i = 0; i < read->part_count && !open_read_is_over(&open); i++) {
        const struct read_part *part = &read->parts[i];
        open_read_partition(&open, part->token, part->key, &part->slice);
    }
    if (page_is_full(read)) {
        store_position_after(&read->rows[read->row_count - 1], false, &read->position_out);
    } else if (open.items > CAPTURE_ITEMS_MAX) {
        memtable_unref(read->viewed);
        read->viewed = NULL;
        read->row_count = 0;
        return false;
    }
    return true;
}

static void read_start(struct read_job *read)
{
    struct executor *executor = read->engine->world->executor;
    read->counted = arena_held(read->arena);
    read->engine->reads_bytes += read->counted;
    if (read_at_once(read))
        read_finish(read);
    else
        executor->submit(executor, LANE_READ, &read->job);
}

static void read_resume(struct freeze_waiter *waiter, int status);

/* Take the view and the capture; freeze and come again where the capture would be too much. */
static void read_prepare(struct read_job *read)
{
    struct engine *engine = read->engine;
    uint64_t frame = read->request.view == READ_APPLIED ? UINT64_MAX : engine_durable_frame(engine);
    view_take(engine, read->request.table_id, frame, &read->view);
    read->before = arena_held(read->arena);
    bool fits = capture_fresh(read);
    if (fits && !read->request.is_scan && read->request.key_count == 0)
        read->version = engine_version(engine, read->request.table_id, read->request.key);
    if (fits && is_open_only(read) && read_open(read)) {
        read_finish(read);
        return;
    }
    if (fits)
        fits = read->request.is_scan ? capture_scan(read) : capture_parts(read);
    if (fits) {
        read_start(read);
        return;
    }
    captured_cut(read, 0);
    view_release(&read->view);
    read->has_horizon = false;
    read->waiter.resume = read_resume;
    engine_freeze_then(engine, &read->waiter);
}

static void read_resume(struct freeze_waiter *waiter, int status)
{
    struct read_job *read =
        (struct read_job *)(void *)((char *)waiter - offsetof(struct read_job, waiter));
    if (status == 0) {
        read_prepare(read);
        return;
    }
    read->status = error_set(&read->err, ERROR_FAILED, "%s", read->engine->failure.text);
    read_finish(read);
}

static void bound_copy(struct bound *bound, struct arena *arena)
{
    bound->prefix = clustering_copy(&bound->prefix, arena);
}

/* A partition that is asked for, unless the position lies behind it. */
static void add_part(struct read_job *read, struct bytes key)
{
    const struct position *position = &read->position;
    struct read_part *part = &read->parts[read->part_count];
    *part = (struct read_part){murmur3_token(key.data, key.size), key, read->request.slice};
    int order = !position->is_set
                    ? 1
                    : partition_order(part->token, part->key, position->token, position->key);
    if (order < 0 || (order == 0 && position->kind == AFTER_PARTITION))
        return;
    if (order == 0)
        part->slice = slice_after(position, part->slice);
    read->part_count++;
}

static int add_parts(struct read_job *read, struct error *err)
{
    const struct read_request *request = &read->request;
    uint32_t count = request->key_count > 0 ? request->key_count : 1;
    if (request->is_scan)
        return 0;
    if (request->key_count > 0 &&
        (count > READ_KEYS_MAX || (read->table->flags & TABLE_RANKED) != 0)) {
        return error_set(err, ERROR_INVALID, "%u partitions of table %u cannot be read at once",
                         count, request->table_id);
    }
    read->parts =
        arena_alloc(read->arena, count * sizeof(struct read_part), _Alignof(struct read_part));
    if (request->key_count == 0)
        add_part(read, request->key);
    for (uint32_t i = 0; i < request->key_count; i++)
        add_part(read, arena_copy(read->arena, request->keys[i]));
    for (uint32_t i = 1; i < read->part_count; i++) {
        const struct read_part *part = &read->parts[i];
        if (partition_order(part[-1].token, part[-1].key, part->token, part->key) >= 0)
            return error_set(err, ERROR_INVALID, "keys that are read at once are out of order");
    }
    return 0;
}

int engine_read_op(struct store *store, const struct read_request *request, store_page page,
                   void *context, struct error *err)
{
    struct engine *engine = (struct engine *)store;
    const struct table *table = schema_table(engine->schema, request->table_id);
    if (table == NULL)
        return error_set(err, ERROR_NOT_FOUND, "there is no table %u", request->table_id);
    struct read_job *read = memory_zeroed(1, sizeof(*read));
    read->job = (struct job){.run = read_run, .done = read_done};
    read->engine = engine;
    read->schema = schema_ref(engine->schema);
    read->table = table;
    read->arena = arena_new(PAGE_ARENA);
    read->request = *request;
    read->request.key = arena_copy(read->arena, request->key);
    bound_copy(&read->request.slice.start, read->arena);
    bound_copy(&read->request.slice.end, read->arena);
    int rc = position_read(arena_copy(read->arena, request->position), &read->position, err);
    if (rc == 0)
        rc = add_parts(read, err);
    if (rc != 0) {
        schema_unref(read->schema);
        arena_free(read->arena);
        memory_free(read);
        return rc;
    }
    read->page = page;
    read->context = context;
    engine_job_started(engine);
    if (engine->reads_waiting != NULL || engine->reads_bytes >= reads_share(engine))
        read_wait(read);
    else
        read_prepare(read);
    return 0;
}
