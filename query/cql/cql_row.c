/* Collections are cells with paths in the store and one value to a client:
 *
 *   list   path: timeuuid, cell: element        [count] elements in the paths' order
 *   set    path: element, cell: nothing         [count] paths
 *   map    path: key, cell: value               [count] path and cell in turn
 *   UDT    path: smallint field, cell: value    fields in turn, missing ones null
 *
 * A collection without live cells is null, as in Cassandra. */
#include "query/cql/cql_row.h"

#include <string.h>

const struct cell *cql_row_cells(const struct cql_row *row, const struct column *column,
                                 uint32_t *count_out)
{
    const struct row *from = column->kind == COLUMN_STATIC ? row->static_row : row->row;
    *count_out = 0;
    if (from == NULL)
        return NULL;
    for (uint32_t i = 0; i < from->cell_count; i++) {
        if (from->cells[i].column_id != column->id)
            continue;
        const struct cell *first = &from->cells[i];
        for (; i < from->cell_count && from->cells[i].column_id == column->id; i++)
            (*count_out)++;
        return first;
    }
    return NULL;
}

struct bytes cql_collection(const struct type *type, const struct bytes *items, uint32_t count,
                            struct arena *arena)
{
    struct buffer value = {0};
    if (type->kind == TYPE_LIST || type->kind == TYPE_SET)
        value_put_int(&value, (int32_t)count);
    else if (type->kind == TYPE_MAP)
        value_put_int(&value, (int32_t)(count / 2));
    for (uint32_t i = 0; i < count; i++) {
        value_put_int(&value, items[i].data == NULL ? -1 : (int32_t)items[i].size);
        buffer_append_bytes(&value, items[i]);
    }
    /* A view of nothing would be a null. */
    struct bytes kept = value.size == 0 ? bytes_of("", 0) : arena_copy(arena, buffer_view(&value));
    buffer_release(&value);
    return kept;
}

static struct bytes udt_value(const struct type *type, const struct cell *cells, uint32_t count,
                              struct arena *arena)
{
    uint32_t fields = type->argument_count;
    struct bytes *items = arena_alloc(arena, fields * sizeof(struct bytes), 16);
    memset(items, 0, fields * sizeof(struct bytes));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t field = cells[i].path.size == 2 ? load_u16_be(cells[i].path.data) : fields;
        if (field < fields)
            items[field] = cells[i].value;
    }
    return cql_collection(type, items, fields, arena);
}

static struct bytes complex_value(const struct type *type, const struct cell *cells, uint32_t count,
                                  struct arena *arena)
{
    if (count == 0)
        return CQL_NULL;
    if (type->kind == TYPE_UDT)
        return udt_value(type, cells, count, arena);
    struct bytes *items = arena_alloc(arena, 2 * (size_t)count * sizeof(struct bytes), 16);
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (type->kind != TYPE_LIST)
            items[used++] = cells[i].path;
        if (type->kind != TYPE_SET)
            items[used++] = cells[i].value;
    }
    return cql_collection(type, items, used, arena);
}

struct bytes cql_row_value(const struct cql_row *row, const struct column *column,
                           struct arena *arena)
{
    struct bytes value = CQL_NULL;
    if (column->kind == COLUMN_PARTITION) {
        int rc = key_component(row->key, row->table->partition_count, column->position, &value);
        return rc == 0 ? value : CQL_NULL;
    }
    if (column->kind == COLUMN_CLUSTERING) {
        bool has = row->row != NULL && column->position < row->row->clustering.count;
        return has ? row->row->clustering.values[column->position] : CQL_NULL;
    }
    uint32_t count;
    const struct cell *cells = cql_row_cells(row, column, &count);
    if (type_is_complex(column->type))
        return complex_value(column->type, cells, count, arena);
    if (count == 0)
        return CQL_NULL;
    /* An empty value is no null. */
    return cells[0].value.data == NULL ? bytes_of("", 0) : cells[0].value;
}
