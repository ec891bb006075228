#include "query/cql/common/cql_scope.h"

#include <string.h>

#include "query/cql/syntax/cql_print.h"
#include "storage/schema/schema.h"

void *cql_scope_array(struct cql_scope *scope, size_t count, size_t item_size)
{
    return arena_alloc_zeroed(scope->arena, (count + 1) * item_size, 16);
}

int cql_scope_keyspace(struct cql_scope *scope, const struct cql_qualified_name *name,
                       const char **keyspace_out)
{
    *keyspace_out =
        name->keyspace.size > 0 ? cql_text(scope->arena, name->keyspace) : scope->keyspace;
    if ((*keyspace_out)[0] != '\0')
        return 0;
    return cql_invalid(scope->fault,
                       "No keyspace has been specified. USE a keyspace, or explicitly "
                       "specify keyspace.tablename");
}

int cql_scope_table(struct cql_scope *scope, const struct cql_qualified_name *name,
                    const struct table **table_out)
{
    const char *keyspace;
    int rc = cql_scope_keyspace(scope, name, &keyspace);
    if (rc != 0)
        return rc;
    const char *table_name = cql_text(scope->arena, name->name);
    *table_out = schema_table_named(scope->cql->system_schema, keyspace, table_name);
    if (*table_out == NULL)
        *table_out = schema_table_named(scope->schema, keyspace, table_name);
    if (*table_out != NULL)
        return 0;
    bool has_keyspace = schema_keyspace(scope->schema, keyspace) != NULL ||
                        schema_keyspace(scope->cql->system_schema, keyspace) != NULL;
    if (!has_keyspace)
        return cql_invalid(scope->fault, "keyspace %s does not exist", keyspace);
    return cql_invalid(scope->fault, "table %s does not exist", table_name);
}

const struct column *cql_scope_column(struct cql_scope *scope, const struct table *table,
                                      struct bytes name)
{
    const struct column *column = schema_column_named(table, name);
    if (column == NULL) {
        struct buffer shown = {.arena = scope->arena};
        cql_print_name(name, &shown);
        cql_invalid(scope->fault, "Undefined column name %.*s in table %s.%s",
                    CQL_SHOW(buffer_view(&shown)), table->keyspace, table->name);
    }
    return column;
}

bool cql_scope_is_virtual(const struct cql *cql, const struct table *table)
{
    return schema_table_named(cql->system_schema, table->keyspace, table->name) != NULL;
}

bool cql_scope_is_system(const char *keyspace)
{
    static const char *const names[] = {"system",
                                        "system_schema",
                                        "system_auth",
                                        "system_traces",
                                        "system_virtual_schema",
                                        "system_views",
                                        "system_distributed"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], keyspace) == 0)
            return true;
    return false;
}
