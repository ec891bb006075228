/* CREATE statements, as DESCRIBE gives them.
 *
 * They make the same thing again, column by column and option by option; table options that a
 * store on one node has no use for are left out.
 *
 *   CREATE TABLE daybook.clicks_per_ad (
 *       ad_id text PRIMARY KEY,
 *       clicks counter
 *   ) WITH comment = ''
 *       AND default_time_to_live = 0; */
#include "storage/schema.h"
#include "storage/schema_private.h"

static void print_quoted(const char *text, struct buffer *cql)
{
    buffer_put_u8(cql, '\'');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'')
            buffer_put_u8(cql, '\'');
        buffer_put_u8(cql, (uint8_t)*c);
    }
    buffer_put_u8(cql, '\'');
}

static void print_name(const char *keyspace, const char *name, struct buffer *cql)
{
    type_print_name(keyspace, cql);
    buffer_put_u8(cql, '.');
    type_print_name(name, cql);
}

static void print_columns(const struct table *table, bool inline_key, struct buffer *cql)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        buffer_append_text(cql, i == 0 ? "\n    " : ",\n    ");
        type_print_name(column->name, cql);
        buffer_put_u8(cql, ' ');
        type_print(column->type, cql);
        if (column->kind == COLUMN_STATIC)
            buffer_append_text(cql, " static");
        if (inline_key && column->kind == COLUMN_PARTITION)
            buffer_append_text(cql, " PRIMARY KEY");
    }
}

static void print_names(const struct column *columns, uint32_t count, struct buffer *cql)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_append_text(cql, ", ");
        type_print_name(columns[i].name, cql);
    }
}

static void print_primary_key(const struct table *table, struct buffer *cql)
{
    buffer_append_text(cql, ",\n    PRIMARY KEY (");
    if (table->partition_count > 1)
        buffer_put_u8(cql, '(');
    print_names(table->columns, table->partition_count, cql);
    if (table->partition_count > 1)
        buffer_put_u8(cql, ')');
    if (table->clustering_count > 0)
        buffer_append_text(cql, ", ");
    print_names(table->columns + table->partition_count, table->clustering_count, cql);
    buffer_put_u8(cql, ')');
}

static void print_clustering_order(const struct table *table, struct buffer *cql)
{
    buffer_append_text(cql, "CLUSTERING ORDER BY (");
    for (uint32_t i = 0; i < table->clustering_count; i++) {
        const struct column *column = &table->columns[table->partition_count + i];
        if (i > 0)
            buffer_append_text(cql, ", ");
        type_print_name(column->name, cql);
        buffer_append_text(cql, column->descending ? " DESC" : " ASC");
    }
    buffer_append_text(cql, ")\n    AND ");
}

void schema_print(const struct schema *schema, const struct table *table, struct buffer *cql)
{
    bool inline_key = table->partition_count == 1 && table->clustering_count == 0;

    check(schema_table(schema, table->id) == table);
    buffer_append_text(cql, "CREATE TABLE ");
    print_name(table->keyspace, table->name, cql);
    buffer_append_text(cql, " (");
    print_columns(table, inline_key, cql);
    if (!inline_key)
        print_primary_key(table, cql);
    buffer_append_text(cql, "\n) WITH ");
    if (table->clustering_count > 0)
        print_clustering_order(table, cql);
    buffer_append_text(cql, "comment = ");
    print_quoted(table->comment, cql);
    buffer_printf(cql, "\n    AND default_time_to_live = %d;\n", table->default_ttl_s);
}

static void print_user_type(const struct user_type *user_type, struct buffer *cql)
{
    const struct type *type = user_type->type;

    buffer_append_text(cql, "CREATE TYPE ");
    print_name(user_type->keyspace, type->name, cql);
    buffer_append_text(cql, " (");
    for (uint32_t i = 0; i < type->argument_count; i++) {
        buffer_append_text(cql, i == 0 ? "\n    " : ",\n    ");
        type_print_name(type->field_names[i], cql);
        buffer_put_u8(cql, ' ');
        type_print(type->arguments[i], cql);
    }
    buffer_append_text(cql, "\n);\n");
}

static bool in_keyspace(const char *name, const struct keyspace *keyspace)
{
    return bytes_equal(bytes_text(name), bytes_text(keyspace->name));
}

void schema_print_keyspace(const struct schema *schema, const struct keyspace *keyspace,
                           struct buffer *cql)
{
    buffer_append_text(cql, "CREATE KEYSPACE ");
    type_print_name(keyspace->name, cql);
    buffer_printf(cql, " WITH replication = %s  AND durable_writes = %s;\n", keyspace->replication,
                  keyspace->durable_writes ? "true" : "false");
    for (uint32_t i = 0; i < schema->type_count; i++) {
        if (in_keyspace(schema->types[i]->keyspace, keyspace)) {
            buffer_put_u8(cql, '\n');
            print_user_type(schema->types[i], cql);
        }
    }
    for (uint32_t i = 0; i < schema->table_count; i++) {
        if (in_keyspace(schema->tables[i]->keyspace, keyspace)) {
            buffer_put_u8(cql, '\n');
            schema_print(schema, schema->tables[i], cql);
        }
    }
}
