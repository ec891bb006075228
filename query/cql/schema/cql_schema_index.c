/* An index lists the values of a column.  For a collection that is not frozen, it lists elements,
 * keys or entries. */
#include "query/cql/schema/cql_schema_index.h"

#include <string.h>

#include "query/cql/schema/cql_schema_private.h"
#include "storage/schema/schema.h"

static bool is_collection(const struct type *type)
{
    return type->kind == TYPE_LIST || type->kind == TYPE_SET || type->kind == TYPE_MAP;
}

static int check_column(struct cql_fault *fault, const struct table *table,
                        const struct column *column)
{
    if (column->type->kind == TYPE_DURATION)
        return cql_invalid(fault, "Secondary indexes are not supported on duration columns");
    if (column->kind == COLUMN_PARTITION && table->partition_count == 1) {
        return cql_invalid(fault,
                           "Cannot create secondary index on the only partition key column %s",
                           column->name);
    }
    if (column->type->kind == TYPE_UDT && !column->type->frozen)
        return cql_invalid(fault, "Cannot create index on non-frozen UDT column %s", column->name);
    return 0;
}

static int read_kind(struct cql_fault *fault, const struct column *column, enum cql_index_kind kind,
                     enum cql_index_of *of_out)
{
    const struct type *type = column->type;
    bool is_frozen = is_collection(type) && type->frozen;
    bool is_map = type->kind == TYPE_MAP;
    *of_out = CQL_INDEX_OF_VALUE;
    if (kind == CQL_INDEX_FULL) {
        return is_frozen ? 0
                         : cql_invalid(fault, "full() indexes can only be created on frozen "
                                              "collections");
    }
    const char *word = kind == CQL_INDEX_KEYS      ? "keys"
                       : kind == CQL_INDEX_ENTRIES ? "entries"
                                                   : "values";
    if (is_frozen) {
        return cql_invalid(fault,
                           "Cannot create %s() index on frozen column %s. Frozen collections are "
                           "immutable and must be fully indexed by using the 'full(%s)' modifier",
                           word, column->name, column->name);
    }
    if (kind != CQL_INDEX_SIMPLE && !is_collection(type)) {
        return cql_invalid(fault,
                           "Cannot create %s() index on %s. Non-collection columns only "
                           "support simple indexes",
                           word, column->name);
    }
    if (kind == CQL_INDEX_KEYS || kind == CQL_INDEX_ENTRIES) {
        *of_out = kind == CQL_INDEX_KEYS ? CQL_INDEX_OF_KEYS : CQL_INDEX_OF_ENTRIES;
        return is_map
                   ? 0
                   : cql_invalid(fault, "Cannot create index on %s of column %s with non-map type",
                                 word, column->name);
    }
    if (is_collection(type))
        *of_out = CQL_INDEX_OF_ELEMENTS;
    return 0;
}

/* Returns <table>_<column>_idx, followed by _1, _2 ... while the name is in use.  Characters that
 * names may not have are replaced by _. */
static const char *make_name(const struct schema *schema, const struct table *table,
                             const struct column *column, struct arena *arena)
{
    struct buffer name = {.arena = arena};
    struct cql_index index;
    buffer_printf(&name, "%s_%s_idx", table->name, column->name);
    for (size_t i = 0; i < name.size; i++)
        if (!cql_schema_is_plain_name(bytes_of(&name.data[i], 1)))
            name.data[i] = '_';
    size_t size = name.size;
    for (int number = 1; cql_index_find(schema, table->keyspace, buffer_view(&name), arena, &index);
         number++) {
        name.size = size;
        buffer_printf(&name, "_%d", number);
    }
    return cql_text(arena, buffer_view(&name));
}

static const struct cql_index *find_duplicate(const struct schema *schema,
                                              const struct table *table,
                                              const struct column *column, enum cql_index_of of,
                                              struct arena *arena)
{
    const struct cql_index *indexes;
    uint32_t count = cql_index_list(schema, table, arena, &indexes);
    for (uint32_t i = 0; i < count; i++)
        if (indexes[i].column == column && indexes[i].of == of)
            return &indexes[i];
    return NULL;
}

static int check_duplicates(struct cql_execution *execution, struct schema *schema,
                            const struct table *table, const struct column *column,
                            enum cql_index_of of, bool if_not_exists, const char **name)
{
    struct cql_index same;
    bool found =
        cql_index_find(schema, table->keyspace, bytes_text(*name), execution->arena, &same);
    const struct cql_index *other = find_duplicate(schema, table, column, of, execution->arena);
    if (!found && other == NULL)
        return 0;
    if (if_not_exists) {
        *name = NULL;
        return 0;
    }
    return found ? cql_invalid(&execution->fault, "Index '%s' already exists", *name)
                 : cql_invalid(&execution->fault, "Index %s is a duplicate of existing index %s",
                               *name, other->name);
}

/* Refuse Cassandra's own classes as unsupported, and other classes as unknown. */
static int refuse_class(struct cql_fault *fault, const struct cql_create_index *create)
{
    static const char *const classes[] = {"sai", "StorageAttachedIndex",
                                          "org.apache.cassandra.index.sai.StorageAttachedIndex",
                                          "org.apache.cassandra.index.sasi.SASIIndex"};
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (bytes_equal(create->class_name, bytes_text(classes[i]))) {
            return cql_invalid(fault, "Custom indexes are not supported by daybook: %s",
                               classes[i]);
        }
    }
    struct bytes sought = create->has_class ? create->class_name : bytes_text("legacy_local_table");
    return cql_refuse(fault, CQL_CONFIG_ERROR, "Unable to find custom indexer class '%.*s'",
                      CQL_SHOW(sought));
}

int cql_schema_index_create(struct cql_execution *execution, struct schema *schema,
                            const struct table *table, const struct cql_create_index *create,
                            const char **name_out)
{
    struct cql_fault *fault = &execution->fault;
    enum cql_index_of of;
    if (create->has_class || create->is_custom)
        return refuse_class(fault, create);
    if ((table->flags & TABLE_COUNTER) != 0)
        return cql_invalid(fault, "Secondary indexes on counter tables aren't supported");
    if (create->targets == NULL) {
        return cql_invalid(fault, "Only CUSTOM indexes can be created without specifying a target "
                                  "column");
    }
    if (create->targets->next != NULL)
        return cql_invalid(fault, "Only CUSTOM indexes support multiple columns");
    if (create->properties != NULL)
        return cql_invalid(fault, "Cannot specify options for a non-CUSTOM index");
    cql_index_drop_unbuilt(schema, execution->arena);
    const struct column *column = schema_column_named(table, create->targets->column);
    if (column == NULL) {
        return cql_invalid(fault, "Undefined column name %.*s in table %s.%s",
                           CQL_SHOW(create->targets->column), table->keyspace, table->name);
    }
    int rc = check_column(fault, table, column);
    if (rc == 0)
        rc = read_kind(fault, column, create->targets->kind, &of);
    if (rc != 0)
        return rc;
    *name_out = create->name.size > 0 ? cql_text(execution->arena, create->name)
                                      : make_name(schema, table, column, execution->arena);
    rc = check_duplicates(execution, schema, table, column, of, create->if_not_exists, name_out);
    /* cql_index.c relies on names without blanks. */
    if (rc == 0 && create->name.size > 0 && !cql_schema_is_plain_name(create->name)) {
        return cql_refuse(fault, CQL_CONFIG_ERROR, "Illegal index name %.*s",
                          CQL_SHOW(create->name));
    }
    return rc == 0 && *name_out != NULL
               ? cql_index_make(schema, table, column, of, *name_out, execution->arena, fault)
               : rc;
}
