/* Prints CREATE statements, byte by byte as DESCRIBE of Cassandra 5.0.9 does.  Options that a table
 * does not have are printed with Cassandra's defaults, so that Cassandra can run a dump.
 *
 *   CREATE TABLE daybook.clicks_per_ad (
 *       ad_id text PRIMARY KEY,
 *       clicks counter
 *   ) WITH additional_write_policy = '99p'
 *       AND allow_auto_snapshot = true
 *       ...; */

#include <string.h>

#include "base/uuid.h"
#include "storage/schema/schema_private.h"

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

/* Cassandra's defaults, in the order of DESCRIBE. */
static const struct table_option defaults[] = {
    {"additional_write_policy", "'99p'"},
    {"allow_auto_snapshot", "true"},
    {"bloom_filter_fp_chance", "0.01"},
    {"caching", "{'keys': 'ALL', 'rows_per_partition': 'NONE'}"},
    {"cdc", "false"},
    {"comment", "''"},
    {"compaction", "{'class': 'org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy', "
                   "'max_threshold': '32', 'min_threshold': '4'}"},
    {"compression", "{'chunk_length_in_kb': '16', 'class': "
                    "'org.apache.cassandra.io.compress.LZ4Compressor'}"},
    {"memtable", "'default'"},
    {"crc_check_chance", "1.0"},
    {"default_time_to_live", "0"},
    {"extensions", "{}"},
    {"gc_grace_seconds", "864000"},
    {"incremental_backups", "true"},
    {"max_index_interval", "2048"},
    {"memtable_flush_period_in_ms", "0"},
    {"min_index_interval", "128"},
    {"read_repair", "'BLOCKING'"},
    {"speculative_retry", "'99p'"},
};
enum { DEFAULT_COUNT = sizeof defaults / sizeof defaults[0] };

const char *schema_option_default(const char *name)
{
    for (size_t i = 0; i < DEFAULT_COUNT; i++)
        if (strcmp(defaults[i].name, name) == 0)
            return defaults[i].value;
    return NULL;
}

const char *schema_option(const struct table *table, const char *name)
{
    for (uint32_t i = 0; i < table->option_count; i++)
        if (strcmp(table->options[i].name, name) == 0)
            return table->options[i].value;
    return schema_option_default(name);
}

static void print_options(const struct table *table, struct buffer *cql)
{
    for (size_t i = 0; i < DEFAULT_COUNT; i++) {
        const char *name = defaults[i].name;
        buffer_printf(cql, "%s%s = ", i == 0 ? "" : "\n    AND ", name);
        if (strcmp(name, "comment") == 0)
            buffer_append_quoted(cql, bytes_text(table->comment), '\'');
        else if (strcmp(name, "default_time_to_live") == 0)
            buffer_printf(cql, "%d", table->default_ttl_s);
        else
            buffer_append_text(cql, schema_option(table, name));
    }
    buffer_put_u8(cql, ';');
}

void schema_print_table(const struct table *table, bool with_id, struct buffer *cql)
{
    bool inline_key = table->partition_count == 1 && table->clustering_count == 0;
    char id[UUID_TEXT_SIZE + 1];

    buffer_append_text(cql, "CREATE TABLE ");
    print_name(table->keyspace, table->name, cql);
    buffer_append_text(cql, " (");
    print_columns(table, inline_key, cql);
    if (!inline_key)
        print_primary_key(table, cql);
    buffer_append_text(cql, "\n) WITH ");
    if (with_id) {
        uuid_format(table->uuid, id);
        buffer_printf(cql, "ID = %s\n    AND ", id);
    }
    if (table->clustering_count > 0)
        print_clustering_order(table, cql);
    print_options(table, cql);
}

void schema_print_type(const struct user_type *user_type, struct buffer *cql)
{
    const struct type *type = user_type->type;

    buffer_append_text(cql, "CREATE TYPE ");
    print_name(user_type->keyspace, type->name, cql);
    buffer_append_text(cql, " (");
    for (uint32_t i = 0; i < type->argument_count; i++) {
        buffer_append_text(cql, i == 0 ? "\n    " : ",\n    ");
        type_print_name(type->field_names[i], cql);
        buffer_put_u8(cql, ' ');
        buffer_append_text(cql, user_type->field_types[i]);
    }
    buffer_append_text(cql, "\n);");
}

/* Cassandra prints its own strategies without their package. */
static void print_replication(const char *replication, struct buffer *cql)
{
    static const char package[] = "org.apache.cassandra.locator.";
    const char *found = strstr(replication, package);

    if (found != NULL) {
        buffer_append(cql, replication, (size_t)(found - replication));
        replication = found + strlen(package);
    }
    buffer_append_text(cql, replication);
}

void schema_print_keyspace(const struct keyspace *keyspace, struct buffer *cql)
{
    buffer_append_text(cql, "CREATE KEYSPACE ");
    type_print_name(keyspace->name, cql);
    buffer_append_text(cql, " WITH replication = ");
    print_replication(keyspace->replication, cql);
    buffer_printf(cql, "  AND durable_writes = %s;", keyspace->durable_writes ? "true" : "false");
}
