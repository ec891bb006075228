/* Passing a job to another thread and back takes longer than reading a page from the page cache.
 * So a read of one partition is tried on the engine thread first, unless the table is an event
 * table.  If the read would have to wait for the disk, it is begun again on LANE_READ. */
#include <errno.h>
#include <stddef.h>

#include "base/murmur3.h"
#include "base/memory.h"
#include "storage/engine/reads_private.h"

enum {
    PAGE_ARENA = 64 * 1024,
    /* A page takes about 30 us. */
    READ_BUDGET_PAGES = 8,
    READ_BUDGET_US = 1000,
    /* the time for beginning reads in one turn of the loop */
    READ_TURN_US = 2000
};

int64_t reads_scan_start(const struct read_job *read, struct bytes *key_out, bool *after_out)
{
    const struct read_position *position = &read->position;
    int64_t first = read->request.has_tokens ? read->request.token_first : INT64_MIN;
    bool goes_on = position->is_set && position->token >= first;
    *key_out = goes_on ? position->key : (struct bytes){0};
    *after_out = goes_on && position->kind == AFTER_PARTITION;
    return goes_on ? position->token : first;
}

bool reads_is_past(const struct read_job *read, int64_t token)
{
    return read->request.has_tokens && token > read->request.token_last;
}

/* ---- beginning and ending a read ---- */

static void read_prepare(struct read_job *read);

static void read_wait(struct read_job *read)
{
    struct reads *reads = read->reads;
    read->next = NULL;
    if (reads->first == NULL)
        reads->first = read;
    else
        reads->last->next = read;
    reads->last = read;
}

static void reads_begin_waiting(struct reads *reads);

static void reads_turn(struct timer *timer)
{
    reads_begin_waiting(timer->context);
}

/* A read that ends within read_prepare calls this function again; that call does nothing. */
static void reads_begin_waiting(struct reads *reads)
{
    struct world *world = reads->env->world;
    if (reads->is_beginning || reads->is_answering || reads->first == NULL)
        return;
    reads->is_beginning = true;
    world_timer_stop(world, &reads->turn);
    int64_t end_us = world_monotonic_us(world) + READ_TURN_US;
    while (reads->first != NULL && reads->bytes < memory_account_reads_share(reads->account)) {
        if (world_monotonic_us(world) >= end_us) {
            world_timer_start(world, &reads->turn, reads_turn, reads, 0);
            break;
        }
        struct read_job *read = reads->first;
        reads->first = read->next;
        read_prepare(read);
    }
    reads->is_beginning = false;
}

/* A read that is begun within the callback waits until the callback has returned, so that the stack
 * does not grow with the number of reads. */
static void read_answer(struct read_job *read)
{
    struct reads *reads = read->reads;
    bool was_answering = reads->is_answering;
    struct read_page page = {.table = read->table,
                             .rows = read->rows,
                             .row_count = read->row_count,
                             .position = buffer_view(&read->position_out),
                             .version = read->version};
    reads->is_answering = true;
    if (read->status == 0)
        read->page(read->context, 0, NULL, &page);
    else
        read->page(read->context, read->status, &read->err, NULL);
    reads->is_answering = was_answering;
}

static void read_finish(struct read_job *read)
{
    struct reads *reads = read->reads;
    read_answer(read);
    reads_capture_drop(read);
    memtable_unref(read->viewed);
    memory_free(read->rows);
    buffer_release(&read->position_out);
    view_release(&read->view);
    schema_unref(read->schema);
    arena_free(read->arena);
    reads->bytes -= read->counted;
    memory_free(read);
    reads_begin_waiting(reads);
    engine_env_job_done(reads->env);
}

static void read_done(struct job *job)
{
    read_finish((struct read_job *)job);
}

static uint32_t read_budget_pages(struct reads *reads)
{
    int64_t now_us = world_monotonic_us(reads->env->world);
    if (now_us - reads->read_budget_began_us >= READ_BUDGET_US) {
        reads->read_budget_began_us = now_us;
        reads->read_budget.pages_left = READ_BUDGET_PAGES;
    }
    return reads->read_budget.pages_left;
}

/* False: the read needs a job, because it is long or would have to wait; nothing was read.  A read
 * with `fold` always needs a job, because no row may be folded twice. */
static bool read_on_engine_thread(struct read_job *read)
{
    struct reads *reads = read->reads;
    if (read->request.is_scan || read->part_count > 1 || read->request.fold != NULL ||
        (read->table->flags & TABLE_OF_EVENTS) != 0)
        return false;
    reads_reduce(read);
    if (read->view.segment_count > 0 && read->view.segment_count > read_budget_pages(reads))
        return false;
    uint32_t looked = 0;
    read->view.read_budget = &reads->read_budget;
    read->view.looked = &looked;
    reads_run(&read->job);
    read->view.read_budget = NULL;
    read->view.looked = NULL;
    if (read->status == -EAGAIN || looked > READ_LOOKED_MAX) {
        read->status = 0;
        read->err = (struct error){0};
        read->row_count = 0;
        read->captured_at = 0;
        buffer_clear(&read->position_out);
        return false;
    }
    return true;
}

static void read_start(struct read_job *read)
{
    read->counted = arena_held(read->arena);
    read->reads->bytes += read->counted;
    if (read_on_engine_thread(read))
        read_finish(read);
    else
        world_submit(read->reads->env->world, LANE_READ, &read->job, reads_run, read_done);
}

static void read_resume(struct freeze_waiter *waiter, int status);

static void read_prepare(struct read_job *read)
{
    struct reads *reads = read->reads;
    view_take(reads->memtables, reads->runs, read->request.table_id, true,
              reads_frame(reads, read->request.view), &read->view);
    read->before = arena_held(read->arena);
    bool fits = reads_capture_appended(read);
    if (fits && !read->request.is_scan && read->request.key_count == 0)
        read->version =
            sequencer_version(reads->sequencer, read->request.table_id, read->request.key);
    if (fits && reads_is_open_only(read) && reads_open(read)) {
        read_finish(read);
        return;
    }
    if (fits && reads_capture(read)) {
        read_start(read);
        return;
    }
    reads_capture_drop(read);
    view_release(&read->view);
    read->waiter.resume = read_resume;
    sequencer_freeze_then(reads->sequencer, &read->waiter);
}

static void read_resume(struct freeze_waiter *waiter, int status)
{
    struct read_job *read =
        (struct read_job *)(void *)((char *)waiter - offsetof(struct read_job, waiter));
    if (status == 0 && read->reads->is_answering)
        read_wait(read);
    else if (status == 0)
        read_prepare(read);
    if (status == 0)
        return;
    read->status = engine_env_check(read->reads->env, &read->err);
    read_finish(read);
}

static void add_part(struct read_job *read, struct bytes key)
{
    const struct read_position *position = &read->position;
    struct read_part *part = &read->parts[read->part_count];
    *part = (struct read_part){murmur3_token(key.data, key.size), key, read->request.slice};
    int order = !position->is_set
                    ? 1
                    : partition_index_order(part->token, part->key, position->token, position->key);
    if (order < 0 || (order == 0 && position->kind == AFTER_PARTITION))
        return;
    if (order == 0)
        part->slice = read_position_rest(position, part->slice);
    read->part_count++;
}

static int add_parts(struct read_job *read, struct error *err)
{
    const struct read_request *request = &read->request;
    uint32_t count = request->key_count > 0 ? request->key_count : 1;
    if (request->is_scan)
        return 0;
    if (request->key_count > 0 &&
        (count > READ_KEYS_MAX || (read->table->flags & TABLE_OF_EVENTS) != 0)) {
        return error_set(err, ERROR_INVALID, "%u partitions of table %u cannot be read at once",
                         count, request->table_id);
    }
    read->parts =
        arena_alloc(read->arena, count * sizeof(struct read_part), _Alignof(struct read_part));
    if (request->key_count == 0)
        add_part(read, request->key);
    for (uint32_t i = 0; i < request->key_count; i++)
        add_part(read, request->keys[i]);
    for (uint32_t i = 1; i < read->part_count; i++) {
        const struct read_part *part = &read->parts[i];
        if (partition_index_order(part[-1].token, part[-1].key, part->token, part->key) >= 0)
            return error_set(err, ERROR_INVALID, "keys that are read at once are out of order");
    }
    return 0;
}

int reads_read(struct reads *reads, const struct read_request *request, store_page page,
               void *context, struct error *err)
{
    const struct table *table = schema_table(reads->memtables->schema, request->table_id);
    if (table == NULL)
        return error_set(err, ERROR_NOT_FOUND, "there is no table %u", request->table_id);
    struct read_job *read = memory_zeroed(1, sizeof(*read));
    read->reads = reads;
    read->schema = schema_ref(reads->memtables->schema);
    read->table = table;
    read->arena = arena_new(PAGE_ARENA);
    read->request = store_request_copy(request, read->arena);
    int rc = read_position_parse(read->request.position, &read->position, err);
    rc = rc == 0 ? read_position_check(&read->position, table, err) : rc;
    rc = rc == 0 ? add_parts(read, err) : rc;
    if (rc != 0) {
        schema_unref(read->schema);
        arena_free(read->arena);
        memory_free(read);
        return rc;
    }
    read->page = page;
    read->context = context;
    reads->env->jobs++;
    if (reads->is_answering || reads->first != NULL ||
        reads->bytes >= memory_account_reads_share(reads->account))
        read_wait(read);
    else
        read_prepare(read);
    return 0;
}
