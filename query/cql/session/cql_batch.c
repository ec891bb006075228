/* Compiles or looks up each statement, binds it, and runs all statements as one write. */
#include "query/cql/session/cql_batch.h"

#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_slice.h"
#include "query/cql/session/cql_bind.h"
#include "query/cql/session/cql_compile.h"
#include "query/cql/session/cql_prepared.h"
#include "query/cql/write/cql_write.h"

enum { ITEMS_A_LOOK = 16 }; /* the clock is read once for this many statements */

static int bind_item(struct cql_execution *execution, const struct cql_compiled *compiled,
                     const struct cql_batch_item *item, const struct cql_value **values_out)
{
    if (!cql_compile_changes_rows(compiled)) {
        return cql_invalid(&execution->fault, "Invalid statement in batch: only UPDATE, INSERT and "
                                              "DELETE statements are allowed.");
    }
    return cql_bind(execution, compiled, item->values, item->value_count, false, values_out);
}

static int add_item(struct cql_execution *execution, const struct cql_batch_item *item)
{
    const struct cql_value *values;
    struct cql_compiled *compiled =
        item->is_prepared
            ? cql_prepared_get(execution, item->text)
            : cql_compile(execution, execution->arena, item->text, execution->keyspace);
    if (compiled == NULL)
        return ERROR_INVALID;
    int rc = bind_item(execution, compiled, item, &values);
    if (rc == 0)
        cql_write_items_add(execution, compiled, values);
    else
        cql_compiled_unref(compiled);
    return rc;
}

/* A batch may have tens of thousands of statements, so they are added in slices. */
static void add_items(struct cql_execution *execution)
{
    const struct cql_request *request = &execution->request;
    uint32_t count = cql_write_items_count(execution);
    int rc = cql_guard_look(execution);
    while (rc == 0 && count < request->item_count) {
        rc = add_item(execution, &request->items[count++]);
        bool looks = count % ITEMS_A_LOOK == ITEMS_A_LOOK - 1 && count < request->item_count;
        if (rc == 0 && looks && cql_slice_is_over(execution->cql)) {
            cql_slice_yield(execution, add_items);
            return;
        }
    }
    if (rc != 0)
        cql_execution_finish_fault(execution);
    else
        cql_write_items_run(execution);
}

void cql_batch_run(struct cql_execution *execution)
{
    cql_write_items_begin(execution);
    if (execution->session->read_only) {
        cql_refuse(&execution->fault, CQL_UNAUTHORIZED, "this door is for reading only");
        cql_execution_finish_fault(execution);
        return;
    }
    add_items(execution);
}
