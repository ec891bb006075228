/* The entries for a page of the table are written as one batch before the next page is read. */
#include "query/cql/schema/cql_index_build.h"

#include <string.h>

#include "query/cql/common/cql_wait.h"
#include "query/cql/index/cql_index.h"
#include "storage/cell/stream.h"
#include "storage/cell/write_batch.h"
#include "storage/engine/store.h"
#include "base/memory.h"

enum { BUILD_ROWS = 500 };

struct build {
    struct cql_execution *execution;
    struct cql_index index;
    void (*built)(struct cql_execution *execution, int status);
    struct write_batch *batch;
    struct buffer position;
    void *outer_state;
    bool is_done;
    int status;
};

static void build_continue(struct build *build);

static void build_stop(struct build *build, int status)
{
    build->is_done = true;
    build->status = status;
}

static void entries_durable(void *context, int status, const struct error *err)
{
    struct build *build = context;
    if (status != 0)
        build_stop(build, cql_fault_of(&build->execution->fault, err));
    else if (build->position.size == 0)
        build_stop(build, 0);
    build_continue(build);
}

static void build_apply(struct cql_execution *execution)
{
    struct build *build = execution->state;
    struct error err = {0};
    int rc = store_apply(execution->cql->options.store, build->batch, entries_durable, build, &err);
    if (rc == ERROR_FULL) {
        execution->resume = build_apply;
        cql_wait_for_room(execution);
    } else if (rc != 0) {
        build_stop(build, cql_fault_of(&execution->fault, &err));
        build_continue(build);
    }
}

static void page_arrived(void *context, int status, const struct error *err,
                         const struct read_page *page)
{
    struct build *build = context;
    struct cql_execution *execution = build->execution;
    int rc = status == 0 ? 0 : cql_fault_of(&execution->fault, err);
    write_batch_clear(build->batch);
    for (uint32_t i = 0; rc == 0 && i < page->row_count; i++) {
        rc = cql_index_add(&build->index, 1, page->rows[i].key, &page->rows[i].row, build->batch,
                           &execution->fault);
    }
    if (rc != 0) {
        build_stop(build, rc);
        build_continue(build);
        return;
    }
    buffer_set(&build->position, page->position);
    build_apply(execution);
}

static void build_end(struct build *build)
{
    struct cql_execution *execution = build->execution;
    int status = build->status;
    void (*built)(struct cql_execution *, int) = build->built;
    execution->state = build->outer_state;
    write_batch_free(build->batch);
    buffer_release(&build->position);
    memory_free(build);
    built(execution, status);
}

static void build_continue(struct build *build)
{
    if (build->is_done) {
        build_end(build);
        return;
    }
    struct read_request request = {.table_id = build->index.table->id,
                                   .is_scan = true,
                                   .slice = stream_slice_all(),
                                   .position = buffer_view(&build->position),
                                   .row_limit = BUILD_ROWS,
                                   .view = READ_APPLIED};
    request.slice.with_static = true;
    cql_execution_read(build->execution, &request, page_arrived, build);
}

void cql_index_build(struct cql_execution *execution, const char *keyspace, const char *name,
                     void (*built)(struct cql_execution *execution, int status))
{
    check(name != NULL && built != NULL);
    struct build *build = memory_zeroed(1, sizeof(*build));
    build->execution = execution;
    build->built = built;
    build->batch = write_batch_new();
    build->outer_state = execution->state;
    execution->state = build;
    if (!cql_index_find(store_schema(execution->cql->options.store), keyspace, bytes_text(name),
                        execution->arena, &build->index)) {
        build_stop(build,
                   cql_invalid(&execution->fault, "Index '%s.%s' doesn't exist", keyspace, name));
    }
    build_continue(build);
}
