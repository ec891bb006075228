/* Makes the schema of the virtual tables, and for each request the rows of a table.
 *
 * The tables of system_virtual_schema are empty, because system_schema lists virtual tables as if
 * they were stored.
 *
 * SELECT needs rows in (token, key, clustering) order, with their cells in the order of column
 * ids. */
#include "query/cql/system/cql_system.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/murmur3.h"
#include "query/cql/common/cql_scope.h"
#include "query/cql/expression/cql_row.h"
#include "storage/cell/row.h"
#include "storage/engine/store.h"
#include "storage/schema/schema.h"
#include "storage/schema/type.h"
#include "base/memory.h"

enum { COLUMNS_MAX = 32, TOKENS = 16, PORT_DEFAULT = 9042 };

/* ---- the catalog ---- */

/* Parses `text` in place: strtok_r changes the text. */
static uint32_t read_columns(char *text, struct column_definition *columns)
{
    uint32_t count = 0;
    char *rest = NULL;
    for (char *part = strtok_r(text, ",", &rest); part != NULL; part = strtok_r(NULL, ",", &rest)) {
        char *fields = NULL;
        check(count < COLUMNS_MAX);
        char *name = strtok_r(part, " ", &fields);
        char *type = strtok_r(NULL, " ", &fields);
        char *kind = strtok_r(NULL, " ", &fields);
        for (char *c = type; *c != '\0'; c++)
            *c = *c == ';' ? ',' : *c;
        columns[count++] = (struct column_definition){.name = name,
                                                      .type = type,
                                                      .kind = *kind == 'p'   ? COLUMN_PARTITION
                                                              : *kind == 'c' ? COLUMN_CLUSTERING
                                                                             : COLUMN_REGULAR};
    }
    return count;
}

struct schema *cql_system_schema(void)
{
    uint32_t count;
    const struct cql_system_table *tables = cql_system_tables(&count);
    struct schema *schema = schema_new();
    for (uint32_t i = 0; i < count; i++) {
        struct column_definition columns[COLUMNS_MAX];
        char *text = memory_string(tables[i].columns);
        int rc = 0;
        if (schema_keyspace(schema, tables[i].keyspace) == NULL)
            rc = schema_add_keyspace(schema, tables[i].keyspace, NULL);
        struct table_definition definition = {.keyspace = tables[i].keyspace,
                                              .name = tables[i].name,
                                              .comment = tables[i].comment,
                                              .columns = columns,
                                              .column_count = read_columns(text, columns)};
        if (rc == 0)
            rc = schema_add_table(schema, &definition, NULL);
        check(rc == 0);
        memory_free(text);
    }
    return schema;
}

/* ---- values ---- */

void cql_system_bytes(struct cql_system_maker *maker, struct bytes value)
{
    check(maker->value_count < COLUMNS_MAX);
    struct bytes kept = CQL_NULL;
    if (value.data != NULL)
        kept = value.size == 0 ? bytes_of("", 0) : arena_copy(maker->execution->arena, value);
    maker->values[maker->value_count++] = kept;
}

void cql_system_text(struct cql_system_maker *maker, const char *text)
{
    cql_system_bytes(maker, text == NULL ? CQL_NULL : bytes_text(text));
}

void cql_system_boolean(struct cql_system_maker *maker, bool value)
{
    uint8_t byte = value;
    cql_system_bytes(maker, bytes_of(&byte, 1));
}

void cql_system_int(struct cql_system_maker *maker, int32_t value)
{
    struct buffer bytes = {.arena = maker->execution->arena};
    type_value_put_int(&bytes, value);
    cql_system_bytes(maker, buffer_view(&bytes));
}

void cql_system_double(struct cql_system_maker *maker, double value)
{
    struct buffer bytes = {.arena = maker->execution->arena};
    type_value_put_floating(&bytes, false, value);
    cql_system_bytes(maker, buffer_view(&bytes));
}

void cql_system_timestamp(struct cql_system_maker *maker, int64_t value_ms)
{
    struct buffer bytes = {.arena = maker->execution->arena};
    type_value_put_bigint(&bytes, value_ms);
    cql_system_bytes(maker, buffer_view(&bytes));
}

void cql_system_inet(struct cql_system_maker *maker, const struct cql_address *address)
{
    static const uint8_t loopback[4] = {127, 0, 0, 1};
    cql_system_bytes(maker, address->size > 0 ? bytes_of(address->bytes, address->size)
                                              : bytes_of(loopback, sizeof(loopback)));
}

void cql_system_null(struct cql_system_maker *maker, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        cql_system_bytes(maker, CQL_NULL);
}

void cql_system_texts(struct cql_system_maker *maker, const char *const *texts, uint32_t count)
{
    const struct column *column = schema_column(maker->table, maker->value_count + 1);
    struct buffer value = {.arena = maker->execution->arena};
    type_value_put_int(&value, (int32_t)(column->type->kind == TYPE_MAP ? count / 2 : count));
    for (uint32_t i = 0; i < count; i++) {
        type_value_put_int(&value, (int32_t)strlen(texts[i]));
        buffer_append_text(&value, texts[i]);
    }
    struct bytes sorted =
        type_normalize(column->type, buffer_view(&value), maker->execution->arena);
    cql_system_bytes(maker, sorted);
}

/* ---- rows ---- */

static uint32_t count_cells(const struct column *column, struct bytes value)
{
    struct type_items items;
    bool is_key = column->kind == COLUMN_PARTITION || column->kind == COLUMN_CLUSTERING;
    if (is_key || value.data == NULL)
        return 0;
    if (!type_is_complex(column->type))
        return 1;
    bool opened = type_items_open(column->type, value, &items);
    check(opened);
    return column->type->kind == TYPE_MAP ? items.count / 2 : items.count;
}

static uint32_t make_cells(const struct column *column, struct bytes value, struct cell *cells)
{
    struct type_items items;
    uint32_t count = 0;
    bool opened = type_items_open(column->type, value, &items);
    check(opened);
    for (uint32_t i = 0; i < items.count; i++) {
        struct bytes path;
        struct bytes item = bytes_of("", 0);
        bool read = type_items_next(&items, &path);
        if (column->type->kind == TYPE_MAP) {
            i++;
            read = read && type_items_next(&items, &item);
        }
        check(read);
        cells[count++] = (struct cell){
            .column_id = column->id, .expiry_s = EXPIRY_NONE, .path = path, .value = item};
    }
    return count;
}

void cql_system_row(struct cql_system_maker *maker)
{
    const struct table *table = maker->table;
    struct arena *arena = maker->execution->arena;
    check(maker->value_count == table->column_count);
    maker->value_count = 0;
    maker->rows =
        arena_make_room(arena, maker->rows, maker->count, &maker->capacity, sizeof(*maker->rows));
    struct page_row *row = &maker->rows[maker->count++];
    *row = (struct page_row){.row = {.marker = {0, 0, EXPIRY_NONE}, .deletion = DELETION_NONE}};
    size_t cell_count = 0;
    for (uint32_t id = 1; id <= table->column_count; id++)
        cell_count += count_cells(schema_column(table, id), maker->values[id - 1]);
    struct cell *cells = arena_alloc(arena, cell_count * sizeof(*cells), 16);
    row->row.cells = cells;
    struct buffer key = {.arena = maker->execution->arena};
    for (uint32_t id = 1; id <= table->column_count; id++) {
        const struct column *column = schema_column(table, id);
        struct bytes value = maker->values[id - 1];
        if (column->kind == COLUMN_PARTITION) {
            type_key_put_component(&key, table->partition_count, value);
        } else if (column->kind == COLUMN_CLUSTERING) {
            row->row.clustering.values[row->row.clustering.count++] = value;
        } else if (value.data != NULL && type_is_complex(column->type)) {
            row->row.cell_count += make_cells(column, value, cells + row->row.cell_count);
        } else if (value.data != NULL) {
            cells[row->row.cell_count++] =
                (struct cell){.column_id = id, .expiry_s = EXPIRY_NONE, .value = value};
        }
    }
    check(row->row.cell_count == cell_count);
    row->key = arena_copy(arena, buffer_view(&key));
    row->token = murmur3_token(key.data, key.size);
}

static int order_rows(const void *a, const void *b, void *table)
{
    const struct page_row *left = a;
    const struct page_row *right = b;
    if (left->token != right->token)
        return left->token < right->token ? -1 : 1;
    int order = bytes_compare(left->key, right->key);
    return order != 0
               ? order
               : row_clustering_compare(table, &left->row.clustering, &right->row.clustering);
}

/* ---- system.local ---- */

static void put_tokens(struct cql_system_maker *maker)
{
    char texts[TOKENS][24];
    const char *tokens[TOKENS];
    for (uint64_t i = 0; i < TOKENS; i++) {
        int64_t token = (int64_t)((UINT64_C(1) << 63) + i * (UINT64_C(1) << 60));
        snprintf(texts[i], sizeof(texts[i]), "%" PRId64, token);
        tokens[i] = texts[i];
    }
    cql_system_texts(maker, tokens, TOKENS);
}

static void local_row(struct cql_system_maker *maker)
{
    struct cql_execution *execution = maker->execution;
    const struct cql_address *address = &execution->session->local;
    int32_t port = address->port != 0 ? address->port : PORT_DEFAULT;
    uint8_t version[16];
    schema_uuid(store_schema(execution->cql->options.store), version);
    cql_system_text(maker, "local");
    cql_system_text(maker, "COMPLETED");
    cql_system_inet(maker, address);
    cql_system_int(maker, 7000);
    cql_system_text(maker, CQL_CLUSTER_NAME);
    cql_system_text(maker, CQL_LANGUAGE_VERSION);
    cql_system_text(maker, CQL_DATACENTER);
    cql_system_int(maker, 1);
    cql_system_bytes(maker, bytes_of(execution->cql->options.host_id, 16));
    cql_system_inet(maker, address);
    cql_system_int(maker, 7000);
    cql_system_text(maker, CQL_PROTOCOL_VERSION);
    cql_system_text(maker, CQL_PARTITIONER);
    cql_system_text(maker, CQL_RACK);
    cql_system_text(maker, CQL_RELEASE_VERSION);
    cql_system_inet(maker, address);
    cql_system_int(maker, port);
    cql_system_bytes(maker, bytes_of(version, sizeof(version)));
    put_tokens(maker);
    cql_system_null(maker, 1);
    cql_system_row(maker);
}

uint32_t cql_system_rows(struct cql_execution *execution, const struct table *table,
                         const struct page_row **rows_out)
{
    check(cql_scope_is_virtual(execution->cql, table));
    struct bytes values[COLUMNS_MAX];
    struct cql_system_maker maker = {.execution = execution, .table = table, .values = values};
    if (strcmp(table->name, "local") == 0) {
        local_row(&maker);
    } else if (strcmp(table->keyspace, "system_traces") == 0) {
        cql_system_trace_rows(&maker, execution->cql->traces);
    } else if (strcmp(table->keyspace, "system_schema") == 0) {
        cql_system_schema_rows(&maker, execution->cql->system_schema);
        cql_system_schema_rows(&maker, store_schema(execution->cql->options.store));
    }
    if (maker.count > 1) {
        qsort_r(maker.rows, maker.count, sizeof(struct page_row), order_rows,
                (void *)(uintptr_t)table);
    }
    *rows_out = maker.rows;
    return maker.count;
}
