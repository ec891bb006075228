/* Each statement is compiled or looked up and bound; the whole is then one write. */
#include "query/cql/session/cql_batch.h"

#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_slice.h"
#include "query/cql/session/cql_bind.h"
#include "query/cql/session/cql_compile.h"
#include "query/cql/session/cql_prepared.h"
#include "query/cql/write/cql_write.h"

enum { ITEMS_A_LOOK = 16 }; /* at the clock */

static int bind_item(struct cql_work *work, const struct cql_compiled *compiled,
                     const struct cql_batch_item *item, const struct cql_value **values_out)
{
    enum cql_statement_kind kind = compiled->statement->kind;
    if (kind != CQL_STATEMENT_INSERT && kind != CQL_STATEMENT_UPDATE &&
        kind != CQL_STATEMENT_DELETE) {
        return cql_invalid(&work->fault, "Invalid statement in batch: only UPDATE, INSERT and "
                                         "DELETE statements are allowed.");
    }
    return cql_bind(work, compiled, item->values, item->value_count, false, values_out);
}

static int add_item(struct cql_work *work, const struct cql_batch_item *item)
{
    const struct cql_value *values;
    struct cql_compiled *compiled =
        item->is_prepared ? cql_prepared_get(work, item->text)
                          : cql_compile(work, work->arena, item->text, work->keyspace);
    if (compiled == NULL)
        return ERROR_INVALID;
    int rc = bind_item(work, compiled, item, &values);
    if (rc == 0)
        cql_write_items_add(work, compiled, values);
    else
        cql_compiled_unref(compiled);
    return rc;
}

/* In slices: a batch may have tens of thousands of texts. */
static void add_items(struct cql_work *work)
{
    const struct cql_request *request = &work->request;
    uint32_t count = cql_write_items_count(work);
    int rc = cql_guard_look(work);
    while (rc == 0 && count < request->item_count) {
        rc = add_item(work, &request->items[count++]);
        bool looks = count % ITEMS_A_LOOK == ITEMS_A_LOOK - 1 && count < request->item_count;
        if (rc == 0 && looks && cql_slice_is_over(work->cql)) {
            cql_slice_yield(work, add_items);
            return;
        }
    }
    if (rc != 0)
        cql_finish_fault(work);
    else
        cql_write_items_run(work);
}

void cql_batch_run(struct cql_work *work)
{
    cql_write_items_begin(work);
    if (work->session->read_only) {
        cql_refuse(&work->fault, CQL_UNAUTHORIZED, "this door is for reading only");
        cql_finish_fault(work);
        return;
    }
    add_items(work);
}
