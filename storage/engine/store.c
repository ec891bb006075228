#include "storage/engine/store.h"

const char *store_shortage_name(enum store_shortage shortage)
{
    static const char *const names[STORE_SHORTAGES] = {[STORE_SHORT_OF_NOTHING] = "nothing",
                                                       [STORE_SHORT_OF_DISK] = "disk_full",
                                                       [STORE_SHORT_OF_DESCRIPTORS] =
                                                           "no_descriptors",
                                                       [STORE_SHORT_OF_MEMORY] = "no_memory"};
    return names[shortage];
}

struct read_request store_request_copy(const struct read_request *request, struct arena *arena)
{
    struct read_request copy = *request;
    copy.key = arena_copy(arena, request->key);
    copy.position = arena_copy(arena, request->position);
    copy.slice.start.prefix = row_clustering_copy(&request->slice.start.prefix, arena);
    copy.slice.end.prefix = row_clustering_copy(&request->slice.end.prefix, arena);
    struct bytes *keys = arena_array(arena, request->key_count, sizeof *keys);
    for (uint32_t i = 0; i < request->key_count; i++)
        keys[i] = arena_copy(arena, request->keys[i]);
    copy.keys = keys;
    return copy;
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
