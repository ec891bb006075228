#include <stdlib.h>
#include <string.h>

#include "query/cql/index/cql_index.h"
#include "query/cql/system/cql_system.h"
#include "storage/schema/schema.h"
#include "storage/schema/type.h"

static bool is_hidden(const struct table *table)
{
    return (table->flags & TABLE_HIDDEN) != 0;
}

/* ---- keyspaces ---- */

enum { MAP_TEXTS_MAX = 256 };

/* Add the map of a literal such as {'class': 'x', 'replication_factor': '1'}.  In the literal,
 * quotes within a text are doubled. */
static void put_map(struct cql_system_maker *maker, const char *literal)
{
    const char *texts[MAP_TEXTS_MAX];
    uint32_t count = 0;
    const char *at = strchr(literal, '\'');
    while (at != NULL && count < MAP_TEXTS_MAX) {
        char *text = arena_alloc(maker->execution->arena, strlen(at), 1);
        size_t size = 0;
        for (at++; *at != '\0' && (at[0] != '\'' || at[1] == '\''); at++) {
            at += *at == '\'' ? 1 : 0;
            text[size++] = *at;
        }
        text[size] = '\0';
        texts[count++] = text;
        at = *at == '\0' ? NULL : strchr(at + 1, '\'');
    }
    cql_system_texts(maker, texts, count - count % 2);
}

static void keyspace_rows(struct cql_system_maker *maker, const struct schema *schema)
{
    static const char local[] = "{'class': 'org.apache.cassandra.locator.LocalStrategy'}";
    bool is_ours = schema == maker->execution->cql->system_schema;
    for (const struct keyspace *k = schema_keyspace_next(schema, NULL); k != NULL;
         k = schema_keyspace_next(schema, k)) {
        cql_system_text(maker, k->name);
        cql_system_boolean(maker, k->durable_writes);
        put_map(maker, is_ours ? local : k->replication);
        cql_system_row(maker);
    }
}

/* ---- tables ---- */

static void put_option(struct cql_system_maker *maker, const struct table *table, const char *name)
{
    const char *value = schema_option(table, name);
    if (value[0] == '{')
        put_map(maker, value);
    else if (value[0] == '\'')
        cql_system_bytes(maker, bytes_of(value + 1, strlen(value) - 2));
    else if (value[0] == 't' || value[0] == 'f')
        cql_system_boolean(maker, value[0] == 't');
    else if (strchr(value, '.') != NULL)
        cql_system_double(maker, strtod(value, NULL));
    else
        cql_system_int(maker, (int32_t)strtol(value, NULL, 10));
}

/* Add an option whose default is true: null stands for the default, as in Cassandra. */
static void put_option_given(struct cql_system_maker *maker, const struct table *table,
                             const char *name)
{
    bool is_given = false;
    for (uint32_t i = 0; i < table->option_count; i++) {
        is_given = is_given || (strcmp(table->options[i].name, name) == 0 &&
                                strcmp(table->options[i].value, "false") == 0);
    }
    if (is_given)
        put_option(maker, table, name);
    else
        cql_system_null(maker, 1);
}

static void table_row(struct cql_system_maker *maker, const struct table *table)
{
    static const char *const flags[] = {"compound", "counter"};
    cql_system_text(maker, table->keyspace);
    cql_system_text(maker, table->name);
    put_option(maker, table, "additional_write_policy");
    put_option_given(maker, table, "allow_auto_snapshot");
    put_option(maker, table, "bloom_filter_fp_chance");
    put_option(maker, table, "caching");
    cql_system_null(maker, 1);
    cql_system_text(maker, table->comment);
    put_option(maker, table, "compaction");
    put_option(maker, table, "compression");
    put_option(maker, table, "crc_check_chance");
    cql_system_double(maker, 0.0);
    cql_system_int(maker, table->default_ttl_s);
    cql_system_texts(maker, NULL, 0);
    cql_system_texts(maker, flags, (table->flags & TABLE_COUNTER) != 0 ? 2 : 1);
    put_option(maker, table, "gc_grace_seconds");
    cql_system_bytes(maker, bytes_of(table->uuid, sizeof(table->uuid)));
    put_option_given(maker, table, "incremental_backups");
    put_option(maker, table, "max_index_interval");
    cql_system_null(maker, 1);
    put_option(maker, table, "memtable_flush_period_in_ms");
    put_option(maker, table, "min_index_interval");
    put_option(maker, table, "read_repair");
    cql_system_double(maker, 0.0);
    put_option(maker, table, "speculative_retry");
    cql_system_row(maker);
}

static void table_rows(struct cql_system_maker *maker, const struct schema *schema)
{
    for (const struct table *t = schema_table_next(schema, NULL); t != NULL;
         t = schema_table_next(schema, t)) {
        if (!is_hidden(t))
            table_row(maker, t);
    }
}

/* ---- columns ---- */

static void put_type(struct cql_system_maker *maker, const struct type *type)
{
    struct buffer text = {.arena = maker->execution->arena};
    type_print(type, &text);
    cql_system_bytes(maker, buffer_view(&text));
}

static void column_row(struct cql_system_maker *maker, const struct table *table,
                       const struct column *column)
{
    static const char *const kinds[] = {[COLUMN_PARTITION] = "partition_key",
                                        [COLUMN_CLUSTERING] = "clustering",
                                        [COLUMN_STATIC] = "static",
                                        [COLUMN_REGULAR] = "regular"};
    bool is_key = column->kind == COLUMN_PARTITION || column->kind == COLUMN_CLUSTERING;
    cql_system_text(maker, table->keyspace);
    cql_system_text(maker, table->name);
    cql_system_text(maker, column->name);
    cql_system_text(maker, column->kind != COLUMN_CLUSTERING ? "none"
                           : column->descending              ? "desc"
                                                             : "asc");
    cql_system_text(maker, column->name);
    cql_system_text(maker, kinds[column->kind]);
    cql_system_int(maker, is_key ? (int32_t)column->position : -1);
    put_type(maker, column->type);
    cql_system_row(maker);
}

static void column_rows(struct cql_system_maker *maker, const struct schema *schema)
{
    for (const struct table *t = schema_table_next(schema, NULL); t != NULL;
         t = schema_table_next(schema, t)) {
        for (uint32_t i = 0; i < t->column_count && !is_hidden(t); i++)
            column_row(maker, t, &t->columns[i]);
    }
}

static void dropped_rows(struct cql_system_maker *maker, const struct schema *schema)
{
    for (const struct table *t = schema_table_next(schema, NULL); t != NULL;
         t = schema_table_next(schema, t)) {
        for (uint32_t i = 0; i < t->dropped_count; i++) {
            const struct dropped_column *dropped = &t->dropped[i];
            cql_system_text(maker, t->keyspace);
            cql_system_text(maker, t->name);
            cql_system_text(maker, dropped->name);
            cql_system_timestamp(maker, dropped->dropped_us / 1000);
            cql_system_text(maker, dropped->kind == COLUMN_STATIC ? "static" : "regular");
            put_type(maker, dropped->type);
            cql_system_row(maker);
        }
    }
}

/* ---- types ---- */

static void type_rows(struct cql_system_maker *maker, const struct schema *schema)
{
    const struct user_type *u;
    for (uint32_t i = 0; (u = schema_type_at(schema, i)) != NULL; i++) {
        uint32_t count = u->type->argument_count;
        cql_system_text(maker, u->keyspace);
        cql_system_text(maker, u->type->name);
        cql_system_texts(maker, u->type->field_names, count);
        cql_system_texts(maker, u->field_types, count);
        cql_system_row(maker);
    }
}

static void index_rows(struct cql_system_maker *maker, const struct schema *schema)
{
    for (const struct table *t = schema_table_next(schema, NULL); t != NULL;
         t = schema_table_next(schema, t)) {
        const struct cql_index *indexes;
        uint32_t count = cql_index_list(schema, t, maker->execution->arena, &indexes);
        for (uint32_t i = 0; i < count; i++) {
            struct buffer target = {.arena = maker->execution->arena};
            cql_index_target(&indexes[i], &target);
            const char *options[] = {"target",
                                     cql_text(maker->execution->arena, buffer_view(&target))};
            cql_system_text(maker, t->keyspace);
            cql_system_text(maker, t->name);
            cql_system_text(maker, indexes[i].name);
            cql_system_text(maker, "COMPOSITES");
            cql_system_texts(maker, options, 2);
            cql_system_row(maker);
        }
    }
}

void cql_system_schema_rows(struct cql_system_maker *maker, const struct schema *schema)
{
    static const struct {
        const char *name;
        void (*rows)(struct cql_system_maker *maker, const struct schema *schema);
    } makers[] = {{"keyspaces", keyspace_rows},      {"tables", table_rows},
                  {"columns", column_rows},          {"types", type_rows},
                  {"dropped_columns", dropped_rows}, {"indexes", index_rows}};
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
        if (strcmp(makers[i].name, maker->table->name) == 0)
            makers[i].rows(maker, schema);
}
