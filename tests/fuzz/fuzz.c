/* fuzz: see fuzz.h. */
#include "tests/fuzz/fuzz.h"

#include "ingest/ingest_tables.h"
#include "query/cql/common/cql_tables.h"
#include "rollup/tables.h"

static const struct column_definition whole_columns[] = {
    {1, "pk", "text", COLUMN_PARTITION, false},
    {2, "c1", "int", COLUMN_CLUSTERING, false},
    {3, "c2", "text", COLUMN_CLUSTERING, true},
    {4, "s", "text", COLUMN_STATIC, false},
    {5, "a", "int", COLUMN_REGULAR, false},
    {6, "m", "map<text, int>", COLUMN_REGULAR, false},
    {7, "l", "list<decimal>", COLUMN_REGULAR, false},
    {8, "f", "frozen<set<frozen<tuple<int, varint>>>>", COLUMN_REGULAR, false},
};

static const struct table_definition whole_definition = {
    .id = FUZZ_TABLE_WHOLE,
    .keyspace = "fuzz",
    .name = "whole",
    .columns = whole_columns,
    .column_count = sizeof(whole_columns) / sizeof(whole_columns[0]),
};

static const struct column_definition counter_columns[] = {
    {1, "pk", "text", COLUMN_PARTITION, false},
    {2, "c1", "int", COLUMN_CLUSTERING, false},
    {3, "clicks", "counter", COLUMN_REGULAR, false},
    {4, "total", "counter", COLUMN_STATIC, false},
};

static const struct table_definition counter_definition = {
    .id = FUZZ_TABLE_COUNTER,
    .keyspace = "fuzz",
    .name = "counters",
    .flags = TABLE_COUNTER,
    .columns = counter_columns,
    .column_count = sizeof(counter_columns) / sizeof(counter_columns[0]),
};

static void add_tables(struct schema *schema, const struct table_definition *const *tables,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        check(schema_add_table(schema, tables[i], NULL) == 0);
}

static struct schema *make_schema(void)
{
    static const struct table_definition *const own[] = {&whole_definition, &counter_definition};
    struct schema *schema = schema_new();
    uint32_t count;
    check(schema_add_keyspace(schema, "daybook", NULL) == 0);
    check(schema_add_keyspace(schema, "daybook_system", NULL) == 0);
    check(schema_add_keyspace(schema, "fuzz", NULL) == 0);
    const struct table_definition *const *tables = tables_builtin(&count);
    add_tables(schema, tables, count);
    tables = ingest_tables(&count);
    add_tables(schema, tables, count);
    tables = cql_tables(&count);
    add_tables(schema, tables, count);
    add_tables(schema, own, 2);
    return schema;
}

struct schema *fuzz_schema(void)
{
    static struct schema *schema;
    if (schema == NULL)
        schema = make_schema();
    return schema;
}

void fuzz_put_file(struct world *world, const char *path, struct bytes content, size_t size_min)
{
    struct disk *disk = world->disk;
    struct disk_file *file;
    size_t size = content.size < size_min ? size_min : content.size;
    check(disk->open(disk, path, DISK_WRITE | DISK_CREATE, &file, NULL) == 0);
    check(disk->allocate(disk, file, size) == 0);
    check(content.size == 0 || disk->write(disk, file, 0, content.data, content.size) == 0);
    disk->close(disk, file);
}

unsigned fuzz_take_byte(struct bytes *input)
{
    if (input->size == 0)
        return 0;
    unsigned byte = input->data[0];
    *input = bytes_of(input->data + 1, input->size - 1);
    return byte;
}

/* ---- rows ---- */

static bool take_value(struct bytes *input, struct bytes *value_out)
{
    unsigned size = fuzz_take_byte(input);
    bool is_there = size != FUZZ_NO_VALUE;
    if (!is_there || size > input->size)
        size = is_there ? (unsigned)input->size : 0;
    *value_out = bytes_of(input->data, size);
    *input = bytes_of(input->data + size, input->size - size);
    return is_there;
}

struct page_row fuzz_take_row(struct bytes *input, const struct table *table, struct arena *arena)
{
    struct cell *cells = arena_alloc(arena, table->column_count * sizeof *cells, 8);
    struct page_row row = {.row = {.cells = cells}};
    struct bytes value;
    if (!take_value(input, &row.key))
        row.key = bytes_text("");
    for (uint32_t id = 1; id < table->column_id_next; id++) {
        const struct column *column = schema_column(table, id);
        if (column->kind == COLUMN_PARTITION || !take_value(input, &value))
            continue;
        if (column->kind == COLUMN_CLUSTERING)
            row.row.clustering.values[row.row.clustering.count++] = value;
        else
            cells[row.row.cell_count++] = (struct cell){.column_id = id, .value = value};
    }
    return row;
}

static void put_value(struct bytes value, struct buffer *target)
{
    check(value.size < FUZZ_NO_VALUE);
    buffer_put_u8(target, (uint8_t)value.size);
    buffer_append_bytes(target, value);
}

void fuzz_put_row(const struct page_row *row, const struct table *table, struct buffer *target)
{
    put_value(row->key, target);
    for (uint32_t id = 1; id < table->column_id_next; id++) {
        struct bytes value;
        if (schema_column(table, id)->kind == COLUMN_PARTITION)
            continue;
        if (store_row_value(table, row, id, &value))
            put_value(value, target);
        else
            buffer_put_u8(target, FUZZ_NO_VALUE);
    }
}

struct page_row fuzz_row_of(const struct write_batch *batch, uint32_t number)
{
    check(number < batch->mutation_count && batch->mutations[number].item_count == 1);
    const struct mutation *mutation = &batch->mutations[number];
    return (struct page_row){mutation->token, mutation->key, mutation->items[0].row};
}
