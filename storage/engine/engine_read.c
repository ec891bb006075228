/* engine_read: one page of rows, from a partition or a scan, as of the durable frame.
 *
 * Sealed runs do not change, so a job on the read lane reads them.  A hand-over to another thread
 * and back takes longer than a page that the system has in memory, so a read of few pages is tried
 * on the engine thread first, and begun anew on the lane where it would have to wait.
 *
 * What a page needs of the open memtable is copied out first (engine_read_capture.c).  Where that
 * would be too much the memtable is frozen instead, and the page is read from it as from any other
 * run.  A page that needs nothing else is made of the open memtable at once (engine_read_page.c).
 *
 * Reads that wait for the lane hold their captures, so only so many are begun as `reads_share`
 * allows; later ones wait in their order, without.
 *
 * The position says where to go on behind a page, in bytes that mean the same after a restart:
 *
 *   u8 1, u8 kind, u64 token, key (varint size, bytes), packed clustering when kind is ROW
 *   kind: 0 after a row, 1 after the static row, 2 after the partition */
#include <errno.h>
#include <stddef.h>

#include "base/memory.h"
#include "base/murmur3.h"
#include "storage/engine/engine_read_private.h"

enum {
    READS_BYTES_MAX = 16 << 20,
    READS_SHARE = 16, /* of the memory, at most READS_BYTES_MAX */
    PAGE_ARENA = 64 * 1024,
    POSITION_VERSION = 1,
    /* What reads may take of the engine thread: so many pages, some 30 us each, in so long. */
    HASTE_PAGES = 8,
    HASTE_US = 1000
};

/* ---- positions ---- */

void engine_read_put_position(struct buffer *buffer, enum position_kind kind, int64_t token,
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
    engine_read_put_position(position, kind, row->token, row->key, &row->row.clustering);
}

int64_t engine_read_scan_start(const struct read_job *read, struct bytes *key_out, bool *after_out)
{
    const struct position *position = &read->position;
    int64_t first = read->request.has_tokens ? read->request.token_first : INT64_MIN;
    bool goes_on = position->is_set && position->token >= first;
    *key_out = goes_on ? position->key : (struct bytes){0};
    *after_out = goes_on && position->kind == AFTER_PARTITION;
    return goes_on ? position->token : first;
}

bool engine_read_is_past(const struct read_job *read, int64_t token)
{
    return read->request.has_tokens && token > read->request.token_last;
}

struct slice engine_read_rest(const struct position *position, struct slice slice)
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

/* ---- the life of a read ---- */

static void read_prepare(struct read_job *read);

static uint64_t reads_share(const struct engine *engine)
{
    uint64_t share = engine->env.options.memory_limit / READS_SHARE;
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
    engine_read_capture_drop(read);
    memtable_unref(read->viewed);
    memory_free(read->rows);
    buffer_release(&read->position_out);
    view_release(&read->view);
    schema_unref(read->schema);
    arena_free(read->arena);
    engine->reads_bytes -= read->counted;
    memory_free(read);
    reads_go_on(engine);
    engine_env_job_done(&engine->env);
}

static void read_done(struct job *job)
{
    read_finish((struct read_job *)job);
}

static uint32_t haste_pages(struct engine *engine)
{
    struct clock *clock = engine->env.world->clock;
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
    engine_read_reduce(read);
    if (read->view.segment_count > 0 && read->view.segment_count > haste_pages(engine))
        return false;
    read->view.haste = &engine->haste;
    engine_read_run(&read->job);
    read->view.haste = NULL;
    if (read->status == -EAGAIN) {
        read->status = 0;
        read->row_count = 0;
        read->captured_at = 0;
        return false;
    }
    return true;
}

static void read_start(struct read_job *read)
{
    struct executor *executor = read->engine->env.world->executor;
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
    bool fits = engine_read_capture_fresh(read);
    if (fits && !read->request.is_scan && read->request.key_count == 0)
        read->version = engine_version(engine, read->request.table_id, read->request.key);
    if (fits && engine_read_is_open_only(read) && engine_read_open(read)) {
        read_finish(read);
        return;
    }
    if (fits && engine_read_capture(read)) {
        read_start(read);
        return;
    }
    engine_read_capture_drop(read);
    view_release(&read->view);
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
    read->status = error_set(&read->err, ERROR_FAILED, "%s", read->engine->env.failure.text);
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
        part->slice = engine_read_rest(position, part->slice);
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
    read->job = (struct job){.run = engine_read_run, .done = read_done};
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
    engine_env_job_started(&engine->env);
    if (engine->reads_waiting != NULL || engine->reads_bytes >= reads_share(engine))
        read_wait(read);
    else
        read_prepare(read);
    return 0;
}
