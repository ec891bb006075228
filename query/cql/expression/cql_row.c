/* A collection is cells with paths in the store, and one value for a client:
 *
 *   list   path: timeuuid, cell: element        [count] elements in the paths' order
 *   set    path: element, cell: nothing         [count] paths
 *   map    path: key, cell: value               [count] path, cell, path, ...
 *   UDT    path: smallint field, cell: value    fields in their order, missing ones null
 *
 * As in Cassandra, a collection without live cells is null. */
#include "query/cql/expression/cql_row.h"

#include "query/cql/expression/cql_value_set.h"

const struct cell *cql_row_cells(const struct cql_row *row, const struct column *column,
                                 uint32_t *count_out)
{
    const struct row *from = column->kind == COLUMN_STATIC ? row->static_row : row->row;
    uint32_t ends[2] = {0, 0}; /* first cells of this and the next column */
    *count_out = 0;
    for (uint32_t side = 0; from != NULL && side < 2; side++) {
        uint32_t until = from->cell_count;
        ends[side] = ends[0];
        while (ends[side] < until) {
            uint32_t middle = ends[side] + (until - ends[side]) / 2;
            if (from->cells[middle].column_id < column->id + side)
                ends[side] = middle + 1;
            else
                until = middle;
        }
    }
    *count_out = ends[1] - ends[0];
    return *count_out > 0 ? &from->cells[ends[0]] : NULL;
}

struct bytes cql_row_collection(const struct type *type, const struct bytes *items, uint32_t count,
                                struct arena *arena)
{
    struct buffer value = {.arena = arena};
    size_t size = 4;
    for (uint32_t i = 0; i < count; i++)
        size += 4 + items[i].size;
    arena_count(arena, count);
    buffer_reserve(&value, size);
    if (type->kind == TYPE_LIST || type->kind == TYPE_SET)
        type_value_put_int(&value, (int32_t)count);
    else if (type->kind == TYPE_MAP)
        type_value_put_int(&value, (int32_t)(count / 2));
    for (uint32_t i = 0; i < count; i++) {
        type_value_put_int(&value, items[i].data == NULL ? -1 : (int32_t)items[i].size);
        buffer_append_bytes(&value, items[i]);
    }
    return value.size == 0 ? bytes_of("", 0) : buffer_view(&value);
}

static struct bytes udt_value(const struct type *type, const struct cell *cells, uint32_t count,
                              struct arena *arena)
{
    uint32_t fields = type->argument_count;
    struct bytes *items = arena_alloc_zeroed(arena, fields * sizeof(struct bytes), 16);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t field = cells[i].path.size == 2 ? load_u16_be(cells[i].path.data) : fields;
        if (field < fields)
            items[field] = cells[i].value;
    }
    return cql_row_collection(type, items, fields, arena);
}

/* ---- the memo of a row ---- */

enum { SCANS_MAX = 8 }; /* scans of a column's items before they are sorted */

struct cql_row_part {
    const struct column *column;
    struct cql_row_part *next;
    bool has_value, has_items;
    struct bytes value;
    struct cql_items items;
    uint32_t scans;
    struct cql_value_set sorted; /* items of a list or values of a map */
};

/* Without a memo, each call makes a new part. */
static struct cql_row_part *memo_part(const struct cql_row *row, const struct column *column,
                                      struct arena *arena)
{
    struct cql_row_part *part = row->memo == NULL ? NULL : row->memo->parts;
    while (part != NULL && part->column != column)
        part = part->next;
    if (part != NULL)
        return part;
    part = arena_alloc_zeroed(arena, sizeof(*part), 16);
    part->column = column;
    if (row->memo != NULL) {
        part->next = row->memo->parts;
        row->memo->parts = part;
    }
    return part;
}

/* The data of an empty path or value may be NULL, which would mean null to the caller. */
static struct bytes not_null(struct bytes value)
{
    return value.data == NULL ? bytes_of("", 0) : value;
}

static struct cql_items items_of_cells(const struct type *type, const struct cell *cells,
                                       uint32_t count, struct arena *arena)
{
    struct bytes *items = arena_alloc(arena, 2 * (size_t)count * sizeof(struct bytes), 16);
    uint32_t used = 0;
    arena_count(arena, count);
    for (uint32_t i = 0; i < count; i++) {
        if (type->kind != TYPE_LIST)
            items[used++] = not_null(cells[i].path);
        if (type->kind != TYPE_SET)
            items[used++] = not_null(cells[i].value);
    }
    return (struct cql_items){items, used};
}

static struct cql_items items_of_value(const struct type *type, struct bytes value,
                                       struct arena *arena)
{
    struct type_items from;
    if (value.data == NULL || !type_items_open(type, value, &from))
        return (struct cql_items){0};
    struct bytes *items = arena_alloc(arena, (from.count + 1) * sizeof(struct bytes), 16);
    uint32_t used = 0;
    arena_count(arena, from.count);
    while (used < from.count && type_items_next(&from, &items[used]))
        used++;
    return (struct cql_items){items, used};
}

static const struct cql_items *part_items(const struct cql_row *row, struct cql_row_part *part,
                                          struct arena *arena)
{
    const struct column *column = part->column;
    if (!part->has_items && type_is_complex(column->type)) {
        uint32_t count;
        const struct cell *cells = cql_row_cells(row, column, &count);
        part->items = items_of_cells(column->type, cells, count, arena);
    } else if (!part->has_items) {
        part->items = items_of_value(column->type, cql_row_value(row, column, arena), arena);
    }
    part->has_items = true;
    return &part->items;
}

struct cql_items cql_row_items(const struct cql_row *row, const struct column *column,
                               struct arena *arena)
{
    return *part_items(row, memo_part(row, column, arena), arena);
}

struct bytes cql_row_element(const struct cql_row *row, const struct column *column,
                             struct bytes key, struct arena *arena)
{
    const struct type *type = column->type;
    uint32_t step = type->kind == TYPE_MAP ? 2 : 1;
    struct cql_items items = cql_row_items(row, column, arena);
    uint32_t place =
        step * cql_value_set_place(type->arguments[0], items.items, step * sizeof(struct bytes),
                                   items.count / step, key);
    bool is_there = place + step <= items.count &&
                    type_compare(type->arguments[0], items.items[place], key) == 0;
    return is_there ? items.items[place + step - 1] : CQL_NULL;
}

static struct cql_value_set sort_items(const struct type *type, struct cql_items items,
                                       uint32_t part, uint32_t step, struct arena *arena)
{
    struct bytes *values = arena_alloc(arena, (items.count + 1) * sizeof(struct bytes), 16);
    uint32_t count = 0;
    arena_count(arena, items.count);
    for (uint32_t i = part; i < items.count; i += step)
        values[count++] = items.items[i];
    return cql_value_set_sort(type, values, count);
}

bool cql_row_contains(const struct cql_row *row, const struct column *column, uint32_t part,
                      struct bytes value, struct arena *arena)
{
    const struct type *type = column->type;
    bool is_map = type->kind == TYPE_MAP;
    if (type->kind == TYPE_SET || (is_map && part == 0))
        return cql_row_element(row, column, value, arena).data != NULL;
    struct cql_row_part *kept = memo_part(row, column, arena);
    const struct cql_items *items = part_items(row, kept, arena);
    const struct type *item_type = type->arguments[part];
    if (++kept->scans > SCANS_MAX) {
        if (kept->sorted.values == NULL)
            kept->sorted = sort_items(item_type, *items, part, is_map ? 2 : 1, arena);
        return cql_value_set_has(&kept->sorted, value);
    }
    arena_count(arena, items->count);
    for (uint32_t i = part; i < items->count; i += is_map ? 2 : 1)
        if (items->items[i].data != NULL && type_compare(item_type, items->items[i], value) == 0)
            return true;
    return false;
}

static struct bytes complex_value(const struct cql_row *row, struct cql_row_part *part,
                                  struct arena *arena)
{
    const struct type *type = part->column->type;
    uint32_t count;
    const struct cell *cells = cql_row_cells(row, part->column, &count);
    if (count == 0)
        return CQL_NULL;
    if (type->kind == TYPE_UDT)
        return udt_value(type, cells, count, arena);
    const struct cql_items *items = part_items(row, part, arena);
    return cql_row_collection(type, items->items, items->count, arena);
}

/* ---- values ---- */

struct bytes cql_row_value(const struct cql_row *row, const struct column *column,
                           struct arena *arena)
{
    struct bytes value = CQL_NULL;
    if (column->kind == COLUMN_PARTITION) {
        int rc =
            type_key_component(row->key, row->table->partition_count, column->position, &value);
        return rc == 0 ? value : CQL_NULL;
    }
    if (column->kind == COLUMN_CLUSTERING) {
        bool has = row->row != NULL && column->position < row->row->clustering.count;
        return has ? row->row->clustering.values[column->position] : CQL_NULL;
    }
    if (type_is_complex(column->type)) {
        struct cql_row_part *part = memo_part(row, column, arena);
        if (!part->has_value)
            part->value = complex_value(row, part, arena);
        part->has_value = true;
        return part->value;
    }
    uint32_t count;
    const struct cell *cells = cql_row_cells(row, column, &count);
    if (count == 0)
        return CQL_NULL;
    return not_null(cells[0].value);
}
