#include "query/cql/expression/cql_key.h"

#include "storage/schema/type.h"

int cql_key_check(struct cql_fault *fault, const struct bytes *values, uint32_t count, size_t more)
{
    size_t size = more;
    for (uint32_t i = 0; i < count; i++)
        size += values[i].size;
    return size <= KEY_SIZE_MAX
               ? 0
               : cql_invalid(fault, "Key length of %zu is longer than maximum of %d", size,
                             KEY_SIZE_MAX);
}

/* As in Cassandra, the size of the values is checked first, and then the size of the whole key. */
int cql_key_of(uint32_t count, const struct bytes *values, const struct cql_context *context,
               struct bytes *key_out)
{
    struct buffer key = {.arena = context->arena};
    int rc = cql_key_check(context->fault, values, count, 0);
    if (rc == 0 && count > 1)
        rc = cql_key_check(context->fault, values, count, KEY_COMPONENT_EXTRA * (size_t)count);
    if (rc != 0)
        return rc;
    for (uint32_t i = 0; i < count; i++)
        type_key_put_component(&key, count, values[i]);
    *key_out = key.size == 0 ? bytes_of("", 0) : buffer_view(&key);
    return 0;
}
