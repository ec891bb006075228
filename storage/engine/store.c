/* store: the calls of the interface, each passed on to the implementation. */
#include "storage/engine/store.h"

struct store_capabilities store_capabilities(struct store *store)
{
    return store->ops->capabilities(store);
}

int store_apply(struct store *store, struct write_batch *batch, store_done done, void *context,
                struct error *err)
{
    return store->ops->apply(store, batch, done, context, err);
}

int store_apply_if(struct store *store, struct write_batch *batch,
                   const struct store_expectation *expectations, uint32_t expectation_count,
                   store_done done, void *context, struct error *err)
{
    return store->ops->apply_if(store, batch, expectations, expectation_count, done, context, err);
}

void store_write_lock(struct store *store, struct store_write_lock *write_lock)
{
    store->ops->write_lock(store, write_lock);
}

void store_write_unlock(struct store *store, struct store_write_lock *write_lock)
{
    store->ops->write_unlock(store, write_lock);
}

int store_read(struct store *store, const struct read_request *request, store_page page,
               void *context, struct error *err)
{
    check(request->row_limit >= 1 && request->row_limit <= READ_ROWS_MAX);
    return store->ops->read(store, request, page, context, err);
}

int store_stats(struct store *store, uint32_t table_id, uint32_t column_id, struct bytes key,
                enum read_view view, store_figures figures, void *context, struct error *err)
{
    return store->ops->stats(store, table_id, column_id, key, view, figures, context, err);
}

int store_stats_scan(struct store *store, uint32_t table_id, uint32_t column_id,
                     struct bytes position, uint32_t limit, enum read_view view,
                     store_figures figures, void *context, struct error *err)
{
    check(limit >= 1);
    return store->ops->stats_scan(store, table_id, column_id, position, limit, view, figures,
                                  context, err);
}

int store_group(struct store *store, const struct group_request *request, store_figures figures,
                void *context, struct error *err)
{
    return store->ops->group(store, request, figures, context, err);
}

const struct schema *store_schema(struct store *store)
{
    return store->ops->schema(store);
}

void store_set_commit_check(struct store *store, store_commit_check check, void *context)
{
    store->ops->set_commit_check(store, check, context);
}

void store_set_commit_hook(struct store *store, store_commit_hook hook, void *context)
{
    store->ops->set_commit_hook(store, hook, context);
}

void store_on_drain(struct store *store, void (*drain)(void *context), void *context)
{
    store->ops->on_drain(store, drain, context);
}

void store_on_waiting(struct store *store, store_waiting_changed changed, void *context)
{
    store->ops->on_waiting(store, changed, context);
}

const char *store_shortage_name(enum store_shortage shortage)
{
    static const char *const names[STORE_SHORTAGES] = {[STORE_SHORT_OF_NOTHING] = "nothing",
                                                       [STORE_SHORT_OF_DISK] = "disk_full",
                                                       [STORE_SHORT_OF_DESCRIPTORS] =
                                                           "no_descriptors",
                                                       [STORE_SHORT_OF_MEMORY] = "no_memory"};
    return names[shortage];
}

void store_status(struct store *store, struct store_status *status_out)
{
    store->ops->status(store, status_out);
}

int64_t store_now_us(struct store *store)
{
    return store->ops->now_us(store);
}

struct store_clock store_clock(struct store *store)
{
    return store->ops->clock(store);
}

void store_watch_clock(struct store *store)
{
    store->ops->watch_clock(store);
}

int store_accept_clock(struct store *store, store_done done, void *context, struct error *err)
{
    return store->ops->accept_clock(store, done, context, err);
}

void store_close(struct store *store, store_done done, void *context)
{
    store->ops->close(store, done, context);
}

bool store_row_value(const struct table *table, const struct page_row *row, uint32_t column_id,
                     struct bytes *value_out)
{
    const struct column *column = schema_column(table, column_id);
    check(column != NULL);
    if (column->kind == COLUMN_PARTITION)
        return type_key_component(row->key, table->partition_count, column->position, value_out) ==
               0;
    if (column->kind == COLUMN_CLUSTERING) {
        if (column->position >= row->row.clustering.count)
            return false;
        *value_out = row->row.clustering.values[column->position];
        return value_out->data != NULL;
    }
    for (uint32_t i = 0; i < row->row.cell_count; i++) {
        if (row->row.cells[i].column_id == column_id) {
            *value_out = row->row.cells[i].value;
            return true;
        }
    }
    return false;
}
