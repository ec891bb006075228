/* Lists (DESCRIBE TABLES) have the columns keyspace_name, type and name; descriptions (DESCRIBE
 * TABLE t) also have create_statement.  A keyspace is followed by its types, each after the types
 * that it uses, and by its tables with indexes.  Order, columns and errors are Cassandra's. */
#include "query/cql/schema/cql_describe.h"

#include <string.h>

#include "query/cql/common/cql_compiled.h"
#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_metadata.h"
#include "query/cql/common/cql_scope.h"
#include "query/cql/index/cql_index.h"
#include "storage/engine/store.h"
#include "storage/schema/schema.h"
#include "storage/schema/type.h"

struct describe {
    struct cql_execution *execution;
    const struct cql_describe *asked;
    const struct schema *schemas[2]; /* the store's and the system's */
    const struct schema *schema;     /* one of `schemas`: has the keyspace found last */
    struct buffer cells;
    uint32_t row_count;
    bool has_statements;
    bool with_ids;
};

/* ---- rows ---- */

static void put_cell(struct describe *describe, struct bytes text)
{
    buffer_put_u32_be(&describe->cells, (uint32_t)text.size);
    buffer_append_bytes(&describe->cells, text);
}

static void put_name(struct describe *describe, const char *name)
{
    struct buffer quoted = {.arena = describe->execution->arena};

    type_print_name(name, &quoted);
    put_cell(describe, buffer_view(&quoted));
}

static void put_row(struct describe *describe, const char *keyspace, const char *type,
                    const char *name)
{
    put_name(describe, keyspace);
    put_cell(describe, bytes_text(type));
    put_name(describe, name);
    describe->row_count++;
}

static void put_statement(struct describe *describe, struct buffer *cql)
{
    if (describe->has_statements)
        put_cell(describe, buffer_view(cql));
}

static void put_keyspace(struct describe *describe, const struct keyspace *keyspace)
{
    struct keyspace shown = *keyspace;
    struct buffer cql = {.arena = describe->execution->arena};

    if (cql_scope_is_system(keyspace->name))
        shown.replication = "{'class': 'org.apache.cassandra.locator.LocalStrategy'}";
    put_row(describe, keyspace->name, "keyspace", keyspace->name);
    schema_print_keyspace(&shown, &cql);
    put_statement(describe, &cql);
}

static void put_type(struct describe *describe, const struct user_type *type)
{
    struct buffer cql = {.arena = describe->execution->arena};

    put_row(describe, type->keyspace, "type", type->type->name);
    schema_print_type(type, &cql);
    put_statement(describe, &cql);
}

static void put_index(struct describe *describe, const struct cql_index *index)
{
    struct buffer cql = {.arena = describe->execution->arena};

    put_row(describe, index->table->keyspace, "index", index->name);
    buffer_append_text(&cql, "CREATE INDEX ");
    type_print_name(index->name, &cql);
    buffer_append_text(&cql, " ON ");
    type_print_name(index->table->keyspace, &cql);
    buffer_put_u8(&cql, '.');
    type_print_name(index->table->name, &cql);
    buffer_append_text(&cql, " (");
    cql_index_target(index, &cql);
    buffer_append_text(&cql, ");");
    put_statement(describe, &cql);
}

/* If the answer has statements, the table's indexes follow the table. */
static void put_table(struct describe *describe, const struct table *table)
{
    struct buffer cql = {.arena = describe->execution->arena};
    const struct cql_index *indexes = NULL;
    uint32_t count = 0;

    put_row(describe, table->keyspace, "table", table->name);
    schema_print_table(table, describe->with_ids, &cql);
    put_statement(describe, &cql);
    if (describe->has_statements)
        count = cql_index_list(describe->schema, table, describe->execution->arena, &indexes);
    for (uint32_t i = 0; i < count; i++)
        put_index(describe, &indexes[i]);
}

/* ---- the objects of the schemas ---- */

static const struct keyspace *find_keyspace(struct describe *describe, const char *name)
{
    for (int i = 0; i < 2; i++) {
        const struct keyspace *keyspace = schema_keyspace(describe->schemas[i], name);

        describe->schema = describe->schemas[i];
        if (keyspace != NULL)
            return keyspace;
    }
    return NULL;
}

static void put_types(struct describe *describe, const struct keyspace *keyspace)
{
    const struct user_type *type;

    for (uint32_t i = 0; (type = schema_type_at(describe->schema, i)) != NULL; i++)
        if (strcmp(type->keyspace, keyspace->name) == 0)
            put_type(describe, type);
}

static void put_tables(struct describe *describe, const struct keyspace *keyspace)
{
    const struct table before = {.keyspace = keyspace->name, .name = ""};
    const struct table *table = &before;

    while ((table = schema_table_next(describe->schema, table)) != NULL &&
           strcmp(table->keyspace, keyspace->name) == 0)
        if ((table->flags & TABLE_HIDDEN) == 0)
            put_table(describe, table);
}

static void put_whole_keyspace(struct describe *describe, const struct keyspace *keyspace)
{
    put_keyspace(describe, keyspace);
    put_types(describe, keyspace);
    put_tables(describe, keyspace);
}

/* The keyspace after `after`, of either schema, in the order of names.  `after` NULL: the first
 * keyspace.  Returns NULL after the last. */
static const struct keyspace *next_keyspace(struct describe *describe, const struct keyspace *after)
{
    const struct keyspace *next = NULL;

    for (int i = 0; i < 2; i++) {
        const struct keyspace *own = schema_keyspace_next(describe->schemas[i], after);

        if (own != NULL && (next == NULL || strcmp(own->name, next->name) < 0)) {
            next = own;
            describe->schema = describe->schemas[i];
        }
    }
    return next;
}

/* Call `put` for the keyspace `name`, or for all if `name` is empty.  Cassandra's own keyspaces are
 * left out unless `with_system`. */
static void for_keyspaces(struct describe *describe, const char *name, bool with_system,
                          void (*put)(struct describe *describe, const struct keyspace *keyspace))
{
    const struct keyspace *keyspace = NULL;

    while ((keyspace = next_keyspace(describe, keyspace)) != NULL)
        if ((name[0] == '\0' || strcmp(name, keyspace->name) == 0) &&
            (with_system || !cql_scope_is_system(keyspace->name)))
            put(describe, keyspace);
}

/* ---- statements ---- */

static int describe_cluster(struct describe *describe)
{
    put_cell(describe, bytes_text(CQL_CLUSTER_NAME));
    put_cell(describe, bytes_text(strrchr(CQL_PARTITIONER, '.') + 1));
    put_cell(describe, bytes_text("SimpleSnitch"));
    describe->row_count = 1;
    return 0;
}

/* An empty `name` means the keyspace in use. */
static int keyspace_of(struct describe *describe, struct bytes name,
                       const struct keyspace **keyspace_out)
{
    struct cql_execution *execution = describe->execution;
    const char *text = name.size > 0 ? cql_text(execution->arena, name) : execution->keyspace;

    if (text[0] == '\0')
        return cql_invalid(&execution->fault, "No keyspace specified and no current keyspace");
    *keyspace_out = find_keyspace(describe, text);
    if (*keyspace_out == NULL)
        return cql_invalid(&execution->fault, "'%s' not found in keyspaces", text);
    return 0;
}

static int describe_keyspace(struct describe *describe, struct bytes name, bool only)
{
    const struct keyspace *keyspace;
    int rc = keyspace_of(describe, name, &keyspace);

    describe->has_statements = true;
    if (rc == 0 && only)
        put_keyspace(describe, keyspace);
    else if (rc == 0)
        put_whole_keyspace(describe, keyspace);
    return rc;
}

/* NULL: there is no such table, or clients may not see it. */
static const struct table *find_table(const struct schema *schema, const char *keyspace,
                                      const char *name)
{
    const struct table *table = schema_table_named(schema, keyspace, name);

    return table != NULL && (table->flags & TABLE_HIDDEN) == 0 ? table : NULL;
}

static const char *refusal_begin(enum cql_describe_kind kind)
{
    static const char *const names[] = {[CQL_DESCRIBE_TABLE] = "Table ",
                                        [CQL_DESCRIBE_INDEX] = "Table for existing index ",
                                        [CQL_DESCRIBE_VIEW] = "Materialized view ",
                                        [CQL_DESCRIBE_TYPE] = "User defined type ",
                                        [CQL_DESCRIBE_FUNCTION] = "User defined function ",
                                        [CQL_DESCRIBE_AGGREGATE] = "User defined aggregate ",
                                        [CQL_DESCRIBE_ANY] = ""};

    return names[kind];
}

/* daybook has no views, functions or aggregates: they are never found. */
static int describe_object(struct describe *describe, const struct cql_describe *asked)
{
    struct cql_execution *execution = describe->execution;
    const char *name = cql_text(execution->arena, asked->name.name);
    bool may_be_any = asked->kind == CQL_DESCRIBE_ANY;
    bool may_be_table = asked->kind == CQL_DESCRIBE_TABLE || may_be_any;
    const struct keyspace *keyspace;
    const struct table *table = NULL;
    const struct user_type *type = NULL;
    struct cql_index index;
    int rc = keyspace_of(describe, asked->name.keyspace, &keyspace);

    describe->has_statements = true;
    if (rc < 0)
        return rc;
    if (may_be_table)
        table = find_table(describe->schema, keyspace->name, name);
    if (asked->kind == CQL_DESCRIBE_TYPE)
        type = schema_type(describe->schema, keyspace->name, name);
    if (table != NULL)
        put_table(describe, table);
    else if (type != NULL)
        put_type(describe, type);
    else if ((asked->kind == CQL_DESCRIBE_INDEX || may_be_any) &&
             cql_index_find(describe->schema, keyspace->name, asked->name.name, execution->arena,
                            &index))
        put_index(describe, &index);
    else
        return cql_invalid(&execution->fault, "%s'%s' not found in %s'%s'",
                           refusal_begin(asked->kind), name, may_be_table ? "keyspace " : "",
                           keyspace->name);
    return 0;
}

static int describe_any(struct describe *describe, const struct cql_describe *asked)
{
    const char *name = cql_text(describe->execution->arena, asked->name.name);

    if (asked->name.keyspace.size == 0 && find_keyspace(describe, name) != NULL)
        return describe_keyspace(describe, asked->name.name, false);
    if (asked->name.keyspace.size == 0 && describe->execution->keyspace[0] == '\0')
        return cql_invalid(&describe->execution->fault, "'%s' not found in keyspaces", name);
    return describe_object(describe, asked);
}

static int describe_make(void *context)
{
    struct describe *describe = context;
    const struct cql_describe *asked = describe->asked;

    switch (asked->kind) {
    case CQL_DESCRIBE_CLUSTER:
        return describe_cluster(describe);
    case CQL_DESCRIBE_SCHEMA:
    case CQL_DESCRIBE_FULL_SCHEMA:
        describe->has_statements = true;
        for_keyspaces(describe, "", asked->kind == CQL_DESCRIBE_FULL_SCHEMA, put_whole_keyspace);
        return 0;
    case CQL_DESCRIBE_KEYSPACES:
        for_keyspaces(describe, "", true, put_keyspace);
        return 0;
    case CQL_DESCRIBE_KEYSPACE:
    case CQL_DESCRIBE_ONLY_KEYSPACE:
        return describe_keyspace(describe, asked->name.name,
                                 asked->kind == CQL_DESCRIBE_ONLY_KEYSPACE);
    case CQL_DESCRIBE_TABLES:
        for_keyspaces(describe, describe->execution->keyspace, true, put_tables);
        return 0;
    case CQL_DESCRIBE_TYPES:
        for_keyspaces(describe, describe->execution->keyspace, true, put_types);
        return 0;
    case CQL_DESCRIBE_FUNCTIONS:
    case CQL_DESCRIBE_AGGREGATES:
        return 0;
    case CQL_DESCRIBE_ANY:
        return describe_any(describe, asked);
    case CQL_DESCRIBE_TABLE:
    case CQL_DESCRIBE_INDEX:
    case CQL_DESCRIBE_VIEW:
    case CQL_DESCRIBE_TYPE:
    case CQL_DESCRIBE_FUNCTION:
    case CQL_DESCRIBE_AGGREGATE:
        return describe_object(describe, asked);
    }
    return 0;
}

static struct cql_metadata describe_metadata(const struct describe *describe, bool is_cluster)
{
    static const char *const of_cluster[] = {"cluster", "partitioner", "snitch"};
    static const char *const of_objects[] = {"keyspace_name", "type", "name", "create_statement"};
    uint32_t count = describe->has_statements ? 4 : 3;
    struct cql_column *columns =
        arena_alloc(describe->execution->arena, count * sizeof *columns, 16);

    for (uint32_t i = 0; i < count; i++) {
        columns[i] =
            (struct cql_column){"system", "describe", is_cluster ? of_cluster[i] : of_objects[i],
                                type_builtin(TYPE_TEXT)};
    }
    return (struct cql_metadata){columns, count};
}

void cql_describe_run(struct cql_execution *execution)
{
    check(execution->compiled->statement->kind == CQL_STATEMENT_DESCRIBE);
    const struct cql_describe *asked = &execution->compiled->statement->describe;
    struct describe describe = {
        .execution = execution,
        .asked = asked,
        .cells = {.arena = execution->arena},
        .schemas = {store_schema(execution->cql->options.store), execution->cql->system_schema},
        .with_ids = asked->with_internals};

    if (cql_guard(execution, describe_make, &describe) < 0) {
        cql_execution_finish_fault(execution);
    } else {
        bool is_cluster = asked->kind == CQL_DESCRIBE_CLUSTER;
        struct cql_result result = {.kind = CQL_RESULT_ROWS,
                                    .rows = {.metadata = describe_metadata(&describe, is_cluster),
                                             .row_count = describe.row_count,
                                             .cells = buffer_view(&describe.cells)}};

        cql_metadata_id(&result.rows.metadata, execution->arena, result.rows.metadata_id);
        cql_execution_finish(execution, &result);
    }
}
