/* fuzz: see fuzz.h. */
#include "tests/fuzz/fuzz.h"

#include "ingest/tables.h"
#include "query/cql/cql_tables.h"
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
    const struct table_definition *const *tables = rollup_tables(&count);
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
