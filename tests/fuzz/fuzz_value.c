/* fuzz_value: serialized values of any type.
 *
 * Input: a type in CQL, a newline, bytes.  Bytes that are a value of the type print and equal
 * their normal form; as text of a scalar they become a value that is valid. */
#include "base/arena.h"
#include "storage/schema/type.h"
#include "tests/fuzz/fuzz.h"

static void check_value(const struct type *type, struct bytes value, struct arena *arena)
{
    struct buffer text = {0};
    struct error err = {0};
    if (type_validate(type, value, &err) == 0) {
        struct bytes normal = type_normalize(type, value, arena);
        check(type_validate(type, normal, &err) == 0);
        check(type_compare(type, normal, normal) == 0);
        type_format(type, normal, &text);
    }
    (void)type_compare(type, value, bytes_of(value.data, value.size / 2));
    buffer_release(&text);
}

static void check_text(const struct type *type, struct bytes text)
{
    struct buffer value = {0};
    if (type->argument_count == 0 && type_parse_text(type, text, &value, NULL) == 0)
        check(type_validate(type, buffer_view(&value), NULL) == 0);
    buffer_release(&value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size == 0 ? NULL : memchr(data, '\n', size);
    if (end == NULL)
        return 0;
    struct bytes name = bytes_of(data, (size_t)(end - data));
    struct bytes rest = bytes_of(end + 1, size - name.size - 1);
    struct arena *arena = arena_new(1 << 16);
    const struct type *type, *again;
    if (type_parse(name, arena, NULL, NULL, &type, NULL) == 0) {
        struct buffer printed = {0};
        type_print(type, &printed);
        check(type_parse(buffer_view(&printed), arena, NULL, NULL, &again, NULL) == 0);
        check(type_equal(type, again));
        check_value(type, rest, arena);
        check_text(type, rest);
        buffer_release(&printed);
    }
    arena_free(arena);
    return 0;
}
