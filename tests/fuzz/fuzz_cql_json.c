/* fuzz_cql_json: JSON as values of any type.
 *
 * Input: a type in CQL, a newline, JSON.  What becomes a value prints as JSON that becomes the same
 * value again, but for NaN and the infinities, which print as null. */
#include "query/cql/expression/cql_json.h"
#include "base/arena.h"
#include "tests/fuzz/fuzz.h"

static void check_again(const struct type *type, struct bytes value, struct arena *arena)
{
    const struct cql_json *json;
    struct buffer printed = {0};
    struct buffer again = {0};

    cql_json_format(type, value, &printed);
    check(cql_json_read(buffer_view(&printed), arena, &json, NULL) == 0);
    if (memmem(printed.data, printed.size, "null", 4) == NULL &&
        cql_json_value(json, type, arena, &again, NULL) == 0)
        check(type_compare(type, value, buffer_view(&again)) == 0);
    buffer_release(&again);
    buffer_release(&printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size == 0 ? NULL : memchr(data, '\n', size);
    struct arena *arena;
    const struct type *type;
    const struct cql_json *json;
    struct buffer value = {0};

    if (end == NULL)
        return 0;
    arena = arena_new(1 << 16);
    if (type_parse(bytes_of(data, (size_t)(end - data)), arena, NULL, NULL, &type, NULL) == 0 &&
        cql_json_read(bytes_of(end + 1, (size_t)(data + size - end - 1)), arena, &json, NULL) ==
            0 &&
        json->kind != CQL_JSON_NULL && cql_json_value(json, type, arena, &value, NULL) == 0) {
        check(type_validate(type, buffer_view(&value), NULL) == 0);
        if (value.size > 0)
            check_again(type, buffer_view(&value), arena);
    }
    buffer_release(&value);
    arena_free(arena);
    return 0;
}
