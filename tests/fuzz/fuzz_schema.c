/* fuzz_schema: serialized catalogs; what is read prints, and is written and read the same. */
#include "tests/fuzz/fuzz.h"

static void print_all(const struct schema *schema)
{
    struct buffer cql = {0};
    for (const struct keyspace *keyspace = schema_keyspace_next(schema, NULL); keyspace != NULL;
         keyspace = schema_keyspace_next(schema, keyspace)) {
        schema_print_keyspace(keyspace, &cql);
    }
    const struct user_type *type;
    for (uint32_t i = 0; (type = schema_type_at(schema, i)) != NULL; i++)
        schema_print_type(type, &cql);
    for (const struct table *table = schema_table_next(schema, NULL); table != NULL;
         table = schema_table_next(schema, table)) {
        schema_print_table(table, true, &cql);
    }
    buffer_release(&cql);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct schema *schema = NULL, *again = NULL;
    struct error err = {0};
    if (schema_deserialize(bytes_of(data, size), &schema, &err) != 0) {
        check(err.text[0] != '\0');
        return 0;
    }
    struct buffer first = {0}, second = {0};
    print_all(schema);
    schema_serialize(schema, &first);
    check(schema_deserialize(buffer_view(&first), &again, &err) == 0);
    schema_serialize(again, &second);
    check(bytes_equal(buffer_view(&first), buffer_view(&second)));
    schema_unref(schema);
    schema_unref(again);
    buffer_release(&first);
    buffer_release(&second);
    return 0;
}
