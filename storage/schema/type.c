/* Types and their CQL names.
 *
 * A built-in type is one of a constant table.  Parametrized types live in arenas and are compared
 * by structure, since every schema version makes its own. */
#include "storage/schema/type.h"

#include <string.h>

#include "storage/schema/type_private.h"

struct builtin_name {
    const char *name;
    struct type type;
};

/* `varchar` is text under its old name; type_print never gives it. */
static const struct builtin_name builtin_names[] = {
    {"ascii", {.kind = TYPE_ASCII}},       {"bigint", {.kind = TYPE_BIGINT}},
    {"blob", {.kind = TYPE_BLOB}},         {"boolean", {.kind = TYPE_BOOLEAN}},
    {"counter", {.kind = TYPE_COUNTER}},   {"date", {.kind = TYPE_DATE}},
    {"decimal", {.kind = TYPE_DECIMAL}},   {"double", {.kind = TYPE_DOUBLE}},
    {"duration", {.kind = TYPE_DURATION}}, {"float", {.kind = TYPE_FLOAT}},
    {"inet", {.kind = TYPE_INET}},         {"int", {.kind = TYPE_INT}},
    {"smallint", {.kind = TYPE_SMALLINT}}, {"text", {.kind = TYPE_TEXT}},
    {"time", {.kind = TYPE_TIME}},         {"timestamp", {.kind = TYPE_TIMESTAMP}},
    {"timeuuid", {.kind = TYPE_TIMEUUID}}, {"tinyint", {.kind = TYPE_TINYINT}},
    {"uuid", {.kind = TYPE_UUID}},         {"varint", {.kind = TYPE_VARINT}},
    {"varchar", {.kind = TYPE_TEXT}},
};

enum { BUILTIN_COUNT = sizeof builtin_names / sizeof builtin_names[0] };

static const struct builtin_name *builtin_find(enum type_kind kind)
{
    for (int i = 0; i < BUILTIN_COUNT; i++)
        if (builtin_names[i].type.kind == kind)
            return &builtin_names[i];
    return NULL;
}

const struct type *type_builtin(enum type_kind kind)
{
    const struct builtin_name *builtin = builtin_find(kind);

    check(builtin != NULL);
    return &builtin->type;
}

const struct type *type_builtin_named(struct bytes name)
{
    for (int i = 0; i < BUILTIN_COUNT; i++)
        if (bytes_equal(bytes_text(builtin_names[i].name), name))
            return &builtin_names[i].type;
    return NULL;
}

bool type_name_is_builtin(struct bytes name)
{
    return type_builtin_named(name) != NULL;
}

/* What CQL's grammar keeps for itself (Cassandra 5.0, `reserved keywords`). */
static bool name_is_reserved(struct bytes name)
{
    static const char *const reserved[] = {
        "add",          "allow",  "alter",    "and",         "apply",        "asc",
        "authorize",    "batch",  "begin",    "by",          "columnfamily", "create",
        "delete",       "desc",   "describe", "drop",        "entries",      "execute",
        "from",         "full",   "grant",    "if",          "in",           "index",
        "infinity",     "insert", "into",     "is",          "keyspace",     "limit",
        "materialized", "modify", "nan",      "norecursive", "not",          "null",
        "of",           "on",     "or",       "order",       "primary",      "rename",
        "replace",      "revoke", "schema",   "select",      "set",          "table",
        "to",           "token",  "truncate", "unlogged",    "update",       "use",
        "using",        "view",   "where",    "with",
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
    const struct builtin_name *builtin = builtin_find(type->kind);

    if (builtin != NULL) {
        buffer_append_text(buffer, builtin->name);
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

/* Looks at no more than it may find: user types within user types grow by powers. */
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
