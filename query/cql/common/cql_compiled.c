#include "query/cql/common/cql_compiled.h"

#include "storage/schema/schema.h"

struct cql_compiled *cql_compiled_ref(struct cql_compiled *compiled)
{
    check(compiled->references > 0);
    compiled->references++;
    return compiled;
}

void cql_compiled_unref(struct cql_compiled *compiled)
{
    check(compiled == NULL || compiled->references > 0);
    if (compiled == NULL || --compiled->references > 0)
        return;
    schema_unref(compiled->schema);
    if (compiled->is_kept)
        arena_free(compiled->arena);
}
