/* Carries out writes.
 *
 *   bind ─▶ read what must be known ─▶ conditions hold? ─▶ build ─▶ apply if unchanged ─▶ answer
 *              ▲                            │ no: wait until                │ changed
 *              │                            ▼ all that was seen is durable  │
 *              └────────────────────────────────────────────────────────────┘
 *
 * The batch is applied only if every partition that was read is unchanged (store_apply_if).
 * Therefore no other write comes between the check of a condition and its write.  A failed
 * condition is answered only when the rows that it was checked against are durable.
 *
 * If a write's outcome is unknown, the answer is a write timeout, which drivers do not retry by
 * themselves. */
#include "query/cql/write/cql_write.h"

#include <string.h>

#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_trace.h"
#include "query/cql/common/cql_wait.h"
#include "query/cql/write/cql_condition.h"
#include "query/cql/write/cql_row_size.h"
#include "rollup/days/rollup.h"
#include "rollup/streams/streams.h"
#include "storage/engine/store.h"

enum {
    FREE_ATTEMPTS = 8, /* attempts before the store's write lock is taken */
    ATTEMPTS_MAX = 100,
    READ_ROWS = 5000,
    FIRST_ROWS = 2 /* a static row, and one more */
};

struct write {
    struct cql_execution *execution;
    bool is_batch;
    enum cql_batch_kind kind;
    const struct cql_expression *timestamp; /* of a batch; NULL: none */
    struct cql_write_statement *statements;
    uint32_t count;
    struct cql_compiled **compiled; /* of the protocol's BATCH; each holds a reference */
    uint32_t compiled_count;
    bool is_conditional;
    uint32_t attempts;
    bool has_write_lock;
    struct store_write_lock write_lock;

    uint32_t read_statement; /* the statement whose rows are being read */
    uint32_t read_unit;      /* the index in the statement's `reads` */
    struct buffer position;
    bool read_failed;
    const struct read_page *page;
    struct store_expectation *expectations;
    uint32_t expectation_count;

    struct write_batch *batch;
    struct cql_row_size_measure measure;
    struct cql_idempotency *idempotency; /* NULL: the request has no id */
    bool is_copy;                        /* the request is a retry */
    struct cql_idempotency_answer answer;
};

static void write_lock_end(struct write *write)
{
    if (write->has_write_lock) {
        write->has_write_lock = false;
        store_write_unlock(write->execution->cql->options.store, &write->write_lock);
    }
}

static void write_release(struct cql_execution *execution)
{
    struct write *write = execution->state;
    write_lock_end(write);
    for (uint32_t i = 0; i < write->compiled_count; i++)
        cql_compiled_unref(write->compiled[i]);
    buffer_release(&write->position);
    cql_idempotency_free(write->idempotency);
    write_batch_free_blocks(write->batch);
    write_batch_free(write->batch);
    cql_wait_write_end(execution->cql);
}

static struct write *write_new(struct cql_execution *execution, uint32_t count)
{
    struct write *write = arena_alloc(execution->arena, sizeof(*write), 16);
    *write = (struct write){
        .execution = execution,
        .statements =
            arena_alloc_zeroed(execution->arena, (count + 1) * sizeof(*write->statements), 16),
        .compiled = arena_array(execution->arena, count + 1, sizeof(*write->compiled)),
        .batch = write_batch_new_in(execution->arena)};
    execution->state = write;
    execution->release = write_release;
    cql_wait_write_begin(execution->cql);
    return write;
}

/* ---- the answer ---- */

static const char *write_type(const struct write *write)
{
    if (write->is_conditional)
        return "CAS";
    if (write->count > 0 && write->statements[0].plan->is_counter)
        return "COUNTER";
    if (!write->is_batch)
        return "SIMPLE";
    return write->kind == CQL_BATCH_LOGGED ? "BATCH" : "UNLOGGED_BATCH";
}

static void answer_unknown(struct write *write, const struct error *err)
{
    struct cql_execution *execution = write->execution;
    cql_refuse(&execution->fault, CQL_WRITE_TIMEOUT,
               "Operation timed out - received only 0 responses. (%s)",
               err != NULL ? err->text : "the store stopped");
    execution->fault.error.consistency = execution->request.consistency;
    execution->fault.error.write_type = write_type(write);
    execution->fault.error.contentions = (uint16_t)write->attempts;
    cql_execution_finish_fault(execution);
}

/* ---- applying ---- */

static void write_start(void *context);

static bool is_clicks_table(const struct cql *cql, const struct table *table)
{
    const struct streams *streams = cql->options.streams;
    const struct click_stream *stream = streams == NULL || (table->flags & TABLE_STREAM) == 0
                                            ? NULL
                                            : streams_user(streams, table->id);
    return stream != NULL && stream->clicks.table_id == table->id;
}

/* Changes of clicks may not take the store's write lock, because they also lock days
 * (rollup/days/day_lock.h).  Otherwise a change that holds a day lock and the holder of the write
 * lock could wait for each other. */
static bool may_lock(const struct write *write)
{
    bool may = true;
    for (uint32_t i = 0; i < write->count; i++)
        may &= !is_clicks_table(write->execution->cql, write->statements[i].plan->table);
    return may;
}

static void write_retry(void *context)
{
    struct write *write = context;
    cql_trace(write->execution, "What was read has changed: reading again");
    if (write->attempts < FREE_ATTEMPTS || write->has_write_lock || !may_lock(write)) {
        write_start(write);
        return;
    }
    write->has_write_lock = true;
    write->write_lock = (struct store_write_lock){.granted = write_start, .context = write};
    store_write_lock(write->execution->cql->options.store, &write->write_lock);
}

static void write_applied(void *context, int status, const struct error *err)
{
    struct write *write = context;
    struct cql_execution *execution = write->execution;
    if (status == 0) {
        write_lock_end(write);
        cql_trace(execution, "The commit log is synced");
        cql_write_answer(execution, write->statements[0].plan->table, &write->answer);
    } else if (status == ERROR_CONFLICT && ++write->attempts < ATTEMPTS_MAX) {
        write_retry(write);
    } else if (status == ERROR_INVALID || status == ERROR_LIMIT || status == ERROR_READ_ONLY) {
        cql_fault_of(&execution->fault, err);
        cql_execution_finish_fault(execution);
    } else {
        answer_unknown(write, err);
    }
}

/* Returns HOST:PORT; NULL: the client has no address. */
static const char *peer_of(struct cql_execution *execution)
{
    const struct cql_address *client = &execution->session->client;
    struct buffer host = {.arena = execution->arena};
    if (client->size == 0)
        return NULL;
    type_format(type_builtin(TYPE_INET), bytes_of(client->bytes, client->size), &host);
    return cql_text_printf(execution->arena, client->size == 16 ? "[%.*s]:%u" : "%.*s:%u",
                           CQL_SHOW(host), client->port);
}

/* Unless the write only inserts clicks or changes no stream, add a row to the table `change`, to
 * which the write's restatements refer. */
static void add_change(struct write *write)
{
    struct cql_execution *execution = write->execution;
    struct streams *streams = execution->cql->options.streams;
    bool has_name = false;
    for (uint32_t i = 0; i < write->count; i++) {
        const struct cql_write_plan *plan = write->statements[i].plan;
        bool is_clicks = is_clicks_table(execution->cql, plan->table);
        has_name |=
            (plan->table->flags & TABLE_STREAM) != 0 && (!is_clicks || plan->kind != CQL_INSERT);
    }
    if (!has_name || streams == NULL)
        return;
    const char *words[] = {"INSERT", "UPDATE", "DELETE"};
    const struct cql_write_plan *plan = write->statements[0].plan;
    const char *user = execution->session->user;
    struct change_row change = {.door = "cql",
                                .peer = peer_of(execution),
                                .actor = user[0] != '\0' ? user : "anonymous",
                                .command =
                                    cql_text_printf(execution->arena, "%s %s.%s",
                                                    write->is_batch ? "BATCH" : words[plan->kind],
                                                    plan->table->keyspace, plan->table->name)};
    rollup_add_change(streams_find(streams, NULL), write->batch, &change);
}

static int apply_batch(struct write *write, struct error *err)
{
    struct cql_options *options = &write->execution->cql->options;
    if (options->streams != NULL) {
        streams_apply(options->streams, write->batch, write->expectations, write->expectation_count,
                      write_applied, write);
        return 0;
    }
    return store_apply_if(options->store, write->batch, write->expectations,
                          write->expectation_count, write_applied, write, err);
}

/* Handle the store's result `rc`.  If the store is full, `again` is called when the store accepts
 * writes.  If a partition that was read has changed, `retry` is called.  After ATTEMPTS_MAX
 * attempts and for any other error, the execution ends with the fault. */
static void write_given(struct write *write, int rc, const struct error *err,
                        void (*again)(struct cql_execution *execution), void (*retry)(void *write))
{
    if (rc == 0)
        return; /* the write may be freed already */
    struct cql_execution *execution = write->execution;
    if (rc == ERROR_FULL) {
        execution->resume = again;
        cql_wait_for_room(execution);
    } else if (rc == ERROR_CONFLICT && ++write->attempts < ATTEMPTS_MAX) {
        retry(write);
    } else {
        cql_fault_of(&execution->fault, err);
        cql_execution_finish_fault(execution);
    }
}

static void write_apply(struct cql_execution *execution)
{
    struct write *write = execution->state;
    struct error err = {0};
    cql_trace(execution, "Appending to commit log and memtable: %u mutations, %u increments",
              write->batch->mutation_count, write->batch->increment_count);
    write_given(write, apply_batch(write, &err), &err, write_apply, write_retry);
}

/* Wait until all rows that were read are durable. */
static void write_wait(struct cql_execution *execution)
{
    struct write *write = execution->state;
    struct error err = {0};
    bool is_new = write->idempotency != NULL && !write->is_copy;
    struct store_expectation expectation = {0};
    write_batch_clear(write->batch);
    write->batch->joins_loop_turn = true;
    if (is_new) {
        expectation = cql_idempotency_expectation(write->idempotency);
        cql_idempotency_add(write->idempotency, &write->answer, write->batch);
        write->batch->write_lock = write->has_write_lock ? &write->write_lock : NULL;
    }
    int rc = store_apply_if(execution->cql->options.store, write->batch, &expectation, is_new,
                            write_applied, write, &err);
    write_given(write, rc, &err, write_wait, write_start);
}

static int build(void *context)
{
    struct write *write = context;
    int64_t now_us = store_now_us(write->execution->cql->options.store);
    write_batch_free_blocks(write->batch);
    write_batch_clear(write->batch);
    write->batch->joins_loop_turn = true;
    write->batch->write_lock = write->has_write_lock ? &write->write_lock : NULL;
    for (uint32_t i = 0; i < write->count; i++) {
        struct cql_write_statement statement = write->statements[i];
        bool is_stream = (statement.plan->table->flags & TABLE_STREAM) != 0;
        if (statement.timestamp_us == TIMESTAMP_SERVER && !is_stream)
            statement.timestamp_us = now_us;
        if (statement.plan->is_ignored) {
            cql_execution_warn(write->execution,
                               "Table %s.%s is kept by a stream: this change of it was ignored",
                               statement.plan->table->keyspace, statement.plan->table->name);
            continue;
        }
        /* In a batch with conditions, ranges are deleted 1 us before the other writes, as in
         * Cassandra.  In a stream's table all writes of a batch have one timestamp, so such a
         * deletion would hide the batch's own rows, and is refused. */
        if (write->is_batch && write->is_conditional && cql_write_deletes_range(statement.plan)) {
            if (statement.timestamp_us == TIMESTAMP_SERVER) {
                return cql_invalid(&write->execution->fault,
                                   "A batch with conditions cannot delete a partition or a range "
                                   "of rows of %s.%s, which belongs to a stream",
                                   statement.plan->table->keyspace, statement.plan->table->name);
            }
            statement.timestamp_us--;
        }
        int rc = cql_write_build(write->execution, &statement, write->batch);
        if (rc != 0)
            return rc;
    }
    add_change(write);
    int rc = 0;
    if (write->is_batch && write->count > 0) {
        rc = cql_write_check_size(write->execution, write->kind, write->statements[0].plan->table,
                                  write->batch);
    }
    if (rc == 0 && write->idempotency != NULL)
        cql_idempotency_add(write->idempotency, &write->answer, write->batch);
    return rc;
}

/* ---- conditions ---- */

enum { CONDITIONS_FAIL = 1 };

static int check_conditions(void *context)
{
    struct write *write = context;
    struct cql_execution *execution = write->execution;
    for (uint32_t i = 0; i < write->count; i++) {
        if (!cql_condition_holds(&write->statements[i], execution->arena)) {
            cql_trace(execution, "A condition does not hold");
            int rc = cql_write_keep_refused(execution, write->statements, write->count,
                                            write->is_batch, &write->answer);
            return rc == 0 ? CONDITIONS_FAIL : rc;
        }
    }
    if (write->is_conditional)
        cql_write_keep_applied(execution, &write->answer);
    return 0;
}

static void write_measured(void *context, int rc)
{
    struct write *write = context;
    if (rc == 0)
        write_apply(write->execution);
    else
        cql_execution_finish_fault(write->execution);
}

static void write_decide(struct write *write)
{
    struct cql_execution *execution = write->execution;
    int rc = cql_guard(execution, check_conditions, write);
    write->measure = (struct cql_row_size_measure){
        .execution = execution, .batch = write->batch, .ready = write_measured, .context = write};
    if (rc == CONDITIONS_FAIL)
        write_wait(execution);
    else if (rc != 0 || cql_guard(execution, build, write) != 0)
        cql_execution_finish_fault(execution);
    else
        cql_row_size_measure_begin(&write->measure);
}

/* ---- reading first ---- */

static void read_units(struct write *write);

static void keep_row(struct write *write, struct cql_read_row *read, const struct row *row)
{
    struct arena *arena = write->execution->arena;
    if (row->is_static) {
        read->static_row = arena_alloc(arena, sizeof(struct row), 16);
        row_copy(row, arena, read->static_row);
        return;
    }
    read->rows = arena_make_room(arena, read->rows, read->row_count, &read->row_capacity,
                                 sizeof(*read->rows));
    row_copy(row, arena, &read->rows[read->row_count++]);
}

static struct cql_read_row *read_place(const struct write *write)
{
    return &write->statements[write->read_statement].reads[write->read_unit];
}

static int keep_rows(void *context)
{
    struct write *write = context;
    for (uint32_t i = 0; i < write->page->row_count; i++)
        keep_row(write, read_place(write), &write->page->rows[i].row);
    return 0;
}

static void read_arrived(void *context, int status, const struct error *err,
                         const struct read_page *page)
{
    struct write *write = context;
    if (status != 0) {
        cql_fault_of(&write->execution->fault, err);
        write->read_failed = true;
        read_units(write);
        return;
    }
    const struct cql_write_statement *statement = &write->statements[write->read_statement];
    const struct cql_read_row *read = read_place(write);
    if (write->position.size == 0) {
        write->expectations[write->expectation_count++] =
            (struct store_expectation){.table_id = statement->plan->table->id,
                                       .key = read->key,
                                       .version = page->version,
                                       .allows_appended = true};
    }
    cql_trace(write->execution, "Read %u rows", page->row_count);
    write->page = page;
    write->read_failed = cql_guard(write->execution, keep_rows, write) != 0;
    buffer_set(&write->position, page->position);
    if (write->position.size == 0 || read == statement->first) {
        buffer_clear(&write->position);
        write->read_unit++;
    }
    read_units(write);
}

static bool reads(const struct cql_write_plan *plan)
{
    return plan->is_conditional || plan->reads_first;
}

static bool read_next(struct write *write)
{
    for (; write->read_statement < write->count; write->read_statement++, write->read_unit = 0) {
        const struct cql_write_statement *statement = &write->statements[write->read_statement];
        uint32_t units = statement->read_count + (statement->first != NULL);
        if (reads(statement->plan) && write->read_unit < units)
            return true;
    }
    return false;
}

static void read_unit(struct write *write)
{
    const struct cql_write_statement *statement = &write->statements[write->read_statement];
    const struct cql_read_row *read = read_place(write);
    struct read_request request = {.table_id = statement->plan->table->id,
                                   .key = read->key,
                                   .slice = *read->slice,
                                   .position = buffer_view(&write->position),
                                   .row_limit = read == statement->first ? FIRST_ROWS : READ_ROWS,
                                   .view = READ_APPLIED};
    request.slice.with_static = true;
    cql_trace(write->execution, "Reading existing values from %s", statement->plan->table->name);
    cql_execution_read(write->execution, &request, read_arrived, write);
}

static void read_units(struct write *write)
{
    if (write->read_failed)
        cql_execution_finish_fault(write->execution);
    else if (read_next(write))
        read_unit(write);
    else
        write_decide(write);
}

static void make_places(struct write *write, struct cql_write_statement *statement,
                        bool shows_first)
{
    const struct cql_restrict_bound *bound = &statement->bound;
    uint32_t slices = bound->slice_count;
    struct slice *nothing = arena_alloc(write->execution->arena, sizeof(*nothing), 16);
    struct slice *all = arena_alloc(write->execution->arena, sizeof(*all), 16);
    *nothing = stream_slice_all();
    nothing->end.side = BOUND_BEFORE;
    *all = stream_slice_all();
    statement->read_count = bound->key_count * slices;
    statement->reads = arena_alloc_zeroed(
        write->execution->arena, (statement->read_count + 1) * sizeof(*statement->reads), 16);
    for (uint32_t i = 0; i < statement->read_count; i++) {
        statement->reads[i].key = bound->keys[i / slices];
        statement->reads[i].slice =
            statement->plan->is_static ? nothing : &bound->slices[i % slices];
    }
    if (shows_first) {
        statement->first = &statement->reads[statement->read_count];
        *statement->first = (struct cql_read_row){.key = bound->keys[0], .slice = all};
    }
}

static void id_looked_up(void *context, enum cql_idempotency_verdict verdict)
{
    struct write *write = context;
    struct cql_execution *execution = write->execution;
    if (verdict == CQL_IDEMPOTENCY_FAILED) {
        cql_execution_finish_fault(execution);
        return;
    }
    write->is_copy = verdict == CQL_IDEMPOTENCY_KNOWN;
    cql_idempotency_set_echo(execution, write->is_copy);
    if (write->is_copy) {
        write->answer = write->idempotency->answer;
        write_wait(execution);
        return;
    }
    write->expectations[write->expectation_count++] =
        cql_idempotency_expectation(write->idempotency);
    read_units(write);
}

static void write_start(void *context)
{
    struct write *write = context;
    uint32_t places = 0;
    bool shows_first = cql_condition_shows_first(write->statements, write->count);
    for (uint32_t i = 0; i < write->count; i++) {
        const struct cql_write_plan *plan = write->statements[i].plan;
        if (reads(plan)) {
            make_places(write, &write->statements[i], shows_first && plan->is_conditional);
            shows_first = shows_first && !plan->is_conditional;
            places += write->statements[i].read_count + (write->statements[i].first != NULL);
        }
    }
    write->expectations =
        arena_array(write->execution->arena, places + 1, sizeof(*write->expectations));
    write->expectation_count = 0;
    write->read_statement = 0;
    write->read_unit = 0;
    buffer_clear(&write->position);
    if (write->idempotency != NULL)
        cql_idempotency_look(write->idempotency, id_looked_up, write);
    else
        read_units(write);
}

/* ---- statements ---- */

static int read_id(struct write *write)
{
    struct cql_execution *execution = write->execution;
    const struct cql_compiled *whole = execution->compiled;
    const struct cql_compiled *first = whole;
    if (whole == NULL && write->compiled_count > 0)
        first = write->compiled[0];
    int rc = cql_idempotency_new(execution, first != NULL ? first->request_id : CQL_NULL,
                                 &write->idempotency);
    if (rc != 0 || write->idempotency == NULL)
        return rc;
    if (whole != NULL)
        cql_idempotency_add_statement(write->idempotency, whole, execution->values);
    for (uint32_t i = 0; i < write->compiled_count; i++)
        cql_idempotency_add_statement(write->idempotency, write->compiled[i],
                                      write->statements[i].values);
    return 0;
}

static int bind_all(void *context)
{
    struct write *write = context;
    struct cql_execution *execution = write->execution;
    const struct cql_expression *timestamp = write->timestamp;
    int rc = read_id(write);
    if (rc == 0 && write->is_batch) {
        rc = cql_write_check_batch(execution, write->kind, write->statements, write->count,
                                   timestamp != NULL);
    }
    for (uint32_t i = 0; i < write->count && rc == 0; i++) {
        rc =
            cql_write_bind(execution, &write->statements[i], timestamp, write->idempotency != NULL);
        write->is_conditional |= write->statements[i].plan->is_conditional;
    }
    if (rc == 0 && write->is_batch && write->is_conditional)
        rc = cql_condition_check_batch(execution, write->statements, write->count);
    return rc;
}

static void write_begin(struct write *write)
{
    struct cql_execution *execution = write->execution;
    execution->write_type = write_type(write);
    int rc = cql_guard(execution, bind_all, write);
    execution->write_type = write_type(write);
    if (rc != 0)
        cql_execution_finish_fault(execution);
    else if (write->count == 0)
        cql_execution_finish_void(execution);
    else
        write_start(write);
}

void cql_write_run(struct cql_execution *execution)
{
    struct write *write = write_new(execution, 1);
    write->count = 1;
    write->statements[0].plan = execution->compiled->write;
    write->statements[0].values = execution->values;
    write_begin(write);
}

void cql_write_run_batch(struct cql_execution *execution)
{
    const struct cql_batch_plan *plan = execution->compiled->batch;
    struct write *write = write_new(execution, plan->count);
    write->is_batch = true;
    write->kind = plan->kind;
    write->count = plan->count;
    for (uint32_t i = 0; i < plan->count; i++) {
        write->statements[i].plan = plan->statements[i];
        write->statements[i].values = execution->values;
    }
    write->timestamp = plan->timestamp;
    write_begin(write);
}

/* ---- the protocol's BATCH ---- */

void cql_write_items_begin(struct cql_execution *execution)
{
    const struct cql_request *request = &execution->request;
    struct write *write = write_new(execution, request->item_count);
    write->is_batch = true;
    write->kind = request->batch_kind;
    execution->write_type = write_type(write);
}

uint32_t cql_write_items_count(const struct cql_execution *execution)
{
    const struct write *write = execution->state;
    return write->count;
}

void cql_write_items_add(struct cql_execution *execution, struct cql_compiled *compiled,
                         const struct cql_value *values)
{
    struct write *write = execution->state;
    check(write->count < execution->request.item_count);
    write->compiled[write->compiled_count++] = compiled;
    struct cql_write_statement *statement = &write->statements[write->count++];
    statement->plan = compiled->write;
    statement->values = values;
}

void cql_write_items_run(struct cql_execution *execution)
{
    write_begin(execution->state);
}
