/* Types and their CQL names.
 *
 * Parametrized types are compared by structure, because each version of a schema has its own
 * copies. */

#include <string.h>

#include "storage/schema/type_private.h"

struct builtin {
    const char *name; /* NULL: the kind needs parameters */
    struct type type;
    uint8_t size; /* bytes of every value that is not empty; 0: they vary */
    uint8_t traits;
};

static const struct builtin builtins[TYPE_TUPLE + 1] = {
    [TYPE_ASCII] = {"ascii", {.kind = TYPE_ASCII}, 0, TYPE_IS_QUOTED},
    [TYPE_BIGINT] = {"bigint", {.kind = TYPE_BIGINT}, 8, TYPE_IS_INTEGER | TYPE_IS_NUMBER},
    [TYPE_BLOB] = {"blob", {.kind = TYPE_BLOB}, 0, 0},
    [TYPE_BOOLEAN] = {"boolean", {.kind = TYPE_BOOLEAN}, 1, 0},
    [TYPE_COUNTER] = {"counter", {.kind = TYPE_COUNTER}, 8, TYPE_IS_INTEGER},
    [TYPE_DATE] = {"date", {.kind = TYPE_DATE}, 4, TYPE_IS_QUOTED | TYPE_IS_NEVER_EMPTY},
    [TYPE_DECIMAL] = {"decimal", {.kind = TYPE_DECIMAL}, 0, TYPE_IS_NUMBER},
    [TYPE_DOUBLE] = {"double", {.kind = TYPE_DOUBLE}, 8, TYPE_IS_NUMBER},
    [TYPE_DURATION] = {"duration", {.kind = TYPE_DURATION}, 0, TYPE_IS_NEVER_EMPTY},
    [TYPE_FLOAT] = {"float", {.kind = TYPE_FLOAT}, 4, TYPE_IS_NUMBER},
    [TYPE_INET] = {"inet", {.kind = TYPE_INET}, 0, TYPE_IS_QUOTED},
    [TYPE_INT] = {"int", {.kind = TYPE_INT}, 4, TYPE_IS_INTEGER | TYPE_IS_NUMBER},
    [TYPE_SMALLINT] = {"smallint",
                       {.kind = TYPE_SMALLINT},
                       2,
                       TYPE_IS_INTEGER | TYPE_IS_NUMBER | TYPE_IS_NEVER_EMPTY},
    [TYPE_TEXT] = {"text", {.kind = TYPE_TEXT}, 0, TYPE_IS_QUOTED},
    [TYPE_TIME] = {"time", {.kind = TYPE_TIME}, 8, TYPE_IS_QUOTED | TYPE_IS_NEVER_EMPTY},
    [TYPE_TIMESTAMP] = {"timestamp", {.kind = TYPE_TIMESTAMP}, 8, TYPE_IS_INTEGER | TYPE_IS_QUOTED},
    [TYPE_TIMEUUID] = {"timeuuid", {.kind = TYPE_TIMEUUID}, 16, 0},
    [TYPE_TINYINT] = {"tinyint",
                      {.kind = TYPE_TINYINT},
                      1,
                      TYPE_IS_INTEGER | TYPE_IS_NUMBER | TYPE_IS_NEVER_EMPTY},
    [TYPE_UUID] = {"uuid", {.kind = TYPE_UUID}, 16, 0},
    [TYPE_VARINT] = {"varint", {.kind = TYPE_VARINT}, 0, TYPE_IS_NUMBER},
};

const struct type *type_builtin(enum type_kind kind)
{
    check(builtins[kind].name != NULL);
    return &builtins[kind].type;
}

const struct type *type_builtin_named(struct bytes name)
{
    for (int kind = 0; kind <= TYPE_TUPLE; kind++)
        if (builtins[kind].name != NULL && bytes_equal(bytes_text(builtins[kind].name), name))
            return &builtins[kind].type;
    /* varchar is the old name of text; type_print never writes it. */
    return bytes_equal(bytes_text("varchar"), name) ? type_builtin(TYPE_TEXT) : NULL;
}

size_t type_fixed_size(enum type_kind kind)
{
    return builtins[kind].size;
}

bool type_has_trait(const struct type *type, enum type_trait trait)
{
    return (builtins[type->kind].traits & trait) != 0;
}

bool type_is_number(const struct type *type)
{
    return type_has_trait(type, TYPE_IS_NUMBER);
}

/* The words that CQL's grammar reserves (Cassandra 5.0, `reserved keywords`), and the two literals
 * that look like names. */
static bool name_is_reserved(struct bytes name)
{
    static const char *const reserved[] = {
        "add",      "allow",    "alter",   "and",          "apply",    "asc",    "authorize",
        "batch",    "begin",    "by",      "columnfamily", "create",   "delete", "desc",
        "describe", "drop",     "entries", "execute",      "false",    "from",   "full",
        "grant",    "if",       "in",      "index",        "infinity", "insert", "into",
        "is",       "keyspace", "limit",   "materialized", "modify",   "nan",    "norecursive",
        "not",      "null",     "of",      "on",           "or",       "order",  "primary",
        "rename",   "replace",  "revoke",  "schema",       "select",   "set",    "table",
        "to",       "token",    "true",    "truncate",     "unlogged", "update", "use",
        "using",    "view",     "where",   "with",
    };

    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (bytes_equal(bytes_text(reserved[i]), name))
            return true;
    return false;
}

bool type_name_is_plain(struct bytes name)
{
    bool plain = name.size > 0 && name.data[0] >= 'a' && name.data[0] <= 'z';

    for (size_t i = 0; i < name.size && plain; i++) {
        uint8_t c = name.data[i];

        plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    }
    return plain && !name_is_reserved(name);
}

void type_print_name(const char *name, struct buffer *buffer)
{
    if (type_name_is_plain(bytes_text(name))) {
        buffer_append_text(buffer, name);
        return;
    }
    buffer_append_quoted(buffer, bytes_text(name), '"');
}

static void type_print_arguments(const struct type *type, const char *name, struct buffer *buffer)
{
    buffer_append_text(buffer, name);
    buffer_put_u8(buffer, '<');
    for (uint32_t i = 0; i < type->argument_count; i++) {
        if (i > 0)
            buffer_append_text(buffer, ", ");
        type_print(type->arguments[i], buffer);
    }
    buffer_put_u8(buffer, '>');
}

void type_print(const struct type *type, struct buffer *buffer)
{
    const char *name = builtins[type->kind].name;

    if (name != NULL) {
        buffer_append_text(buffer, name);
        return;
    }
    if (type->frozen)
        buffer_append_text(buffer, "frozen<");
    if (type->kind == TYPE_UDT)
        type_print_name(type->name, buffer);
    else
        type_print_arguments(type,
                             type->kind == TYPE_LIST  ? "list"
                             : type->kind == TYPE_SET ? "set"
                             : type->kind == TYPE_MAP ? "map"
                                                      : "tuple",
                             buffer);
    if (type->frozen)
        buffer_put_u8(buffer, '>');
}

bool type_equal(const struct type *a, const struct type *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->frozen != b->frozen || a->argument_count != b->argument_count)
        return false;
    if (a->kind == TYPE_UDT && strcmp(a->name, b->name) != 0)
        return false;
    for (uint32_t i = 0; i < a->argument_count; i++) {
        if (a->kind == TYPE_UDT && strcmp(a->field_names[i], b->field_names[i]) != 0)
            return false;
        if (!type_equal(a->arguments[i], b->arguments[i]))
            return false;
    }
    return true;
}

/* The count stops at the limits, because it can grow exponentially with the depth of user types. */
static bool count_parts(const struct type *type, uint32_t depth, uint32_t *parts)
{
    bool is_moderate = depth <= TYPE_DEPTH_MAX && ++*parts <= TYPE_PARTS_MAX;

    for (uint32_t i = 0; i < type->argument_count && is_moderate; i++)
        is_moderate = count_parts(type->arguments[i], depth + 1, parts);
    return is_moderate;
}

bool type_is_moderate(const struct type *type)
{
    uint32_t parts = 0;

    return count_parts(type, 0, &parts);
}

bool type_is_complex(const struct type *type)
{
    bool holds_others = type->kind == TYPE_LIST || type->kind == TYPE_SET ||
                        type->kind == TYPE_MAP || type->kind == TYPE_UDT;

    return holds_others && !type->frozen;
}

const struct type *type_path(const struct type *type)
{
    check(type_is_complex(type));
    if (type->kind == TYPE_LIST)
        return type_builtin(TYPE_TIMEUUID);
    if (type->kind == TYPE_UDT)
        return type_builtin(TYPE_SMALLINT);
    return type->arguments[0];
}

const struct type *type_element(const struct type *type, struct bytes path)
{
    check(type_is_complex(type));
    if (type->kind == TYPE_SET)
        return NULL;
    if (type->kind == TYPE_MAP)
        return type->arguments[1];
    if (type->kind == TYPE_LIST)
        return type->arguments[0];
    if (path.size != 2 || load_u16_be(path.data) >= type->argument_count)
        return NULL;
    return type->arguments[load_u16_be(path.data)];
}
