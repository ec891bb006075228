/* Values are accepted and refused as in Cassandra, in Cassandra's words.  The words include the
 * Java class of a value, such as LinkedHashMap.  A string may hold a value of any type: of a
 * collection, tuple or UDT as JSON, of another type as in a CQL string. */

#include "query/cql/expression/cql_json.h"
#include "base/arena.h"
#include "query/cql/expression/cql_literal_value.h"
#include "storage/schema/schema.h"

/* The number of members is limited because each is compared with all columns or fields. */
enum { JSON_MEMBERS_MAX = SCHEMA_COLUMNS_MAX };

/* ---- names ---- */

bool cql_json_key_is(struct bytes key, const char *name)
{
    struct bytes wanted = bytes_text(name);

    if (key.size >= 2 && key.data[0] == '"' && key.data[key.size - 1] == '"')
        return bytes_equal(bytes_of(key.data + 1, key.size - 2), wanted);
    if (key.size != wanted.size)
        return false;
    for (size_t i = 0; i < key.size; i++) {
        uint8_t c = key.data[i];

        if (c >= 'A' && c <= 'Z')
            c = (uint8_t)(c + ('a' - 'A'));
        if (c != wanted.data[i])
            return false;
    }
    return true;
}

const struct cql_json *cql_json_member(const struct cql_json *object, const char *name)
{
    const struct cql_json *found = NULL;

    for (const struct cql_json *item = object->items; item != NULL; item = item->next)
        if (cql_json_key_is(item->name, name))
            found = item;
    return found;
}

struct value_maker {
    struct arena *arena;
    struct buffer *value;
    struct error *err;
};

/* ---- classes and texts as in Java ---- */

static bool number_is_integer(struct bytes text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((text.data[i] < '0' || text.data[i] > '9') && text.data[i] != '-')
            return false;
    return true;
}

static const char *number_class(struct bytes text)
{
    struct buffer value = {0};
    const char *name = "BigInteger";

    if (!number_is_integer(text))
        name = "Double";
    else if (type_parse_text(type_builtin(TYPE_INT), text, &value, NULL) == 0)
        name = "Integer";
    else if (type_parse_text(type_builtin(TYPE_BIGINT), text, &value, NULL) == 0)
        name = "Long";
    buffer_release(&value);
    return name;
}

static const char *json_class(const struct cql_json *json)
{
    static const char *const classes[] = {[CQL_JSON_NULL] = "null",
                                          [CQL_JSON_BOOLEAN] = "Boolean",
                                          [CQL_JSON_STRING] = "String",
                                          [CQL_JSON_ARRAY] = "ArrayList",
                                          [CQL_JSON_OBJECT] = "LinkedHashMap"};

    return json->kind == CQL_JSON_NUMBER ? number_class(json->text) : classes[json->kind];
}

enum { SHOWN_MAX = 300 }; /* bytes in an error */

/* Print a value as Java does, [1, a] or {k=v}, up to about SHOWN_MAX bytes. */
static void put_shown(const struct cql_json *json, struct buffer *text)
{
    bool is_object = json->kind == CQL_JSON_OBJECT;

    if (json->kind != CQL_JSON_ARRAY && !is_object) {
        buffer_append_bytes(text, json->text);
        return;
    }
    buffer_put_u8(text, is_object ? '{' : '[');
    for (const struct cql_json *item = json->items; item != NULL && text->size < SHOWN_MAX;
         item = item->next) {
        if (item != json->items)
            buffer_append_text(text, ", ");
        if (is_object) {
            buffer_append_bytes(text, item->name);
            buffer_put_u8(text, '=');
        }
        put_shown(item, text);
    }
    buffer_put_u8(text, is_object ? '}' : ']');
}

static int shown_size(struct bytes text)
{
    return (int)bytes_utf8_cut(text, SHOWN_MAX).size;
}

static int fail_kind(struct value_maker *maker, const struct cql_json *json, const char *what)
{
    struct buffer shown = {.arena = maker->arena};

    put_shown(json, &shown);
    return error_set(maker->err, ERROR_INVALID, "Expected %s, but got a %s: %.*s", what,
                     json_class(json), shown_size(buffer_view(&shown)), (const char *)shown.data);
}

/* ---- scalars ---- */

/* Which JSON values, besides strings, Cassandra takes for a type. */
static const struct scalar_rule {
    bool from_integer;
    bool from_fraction;
    bool from_boolean;
    const char *expected;
} scalar_rules[] = {
    [TYPE_ASCII] = {false, false, false, "an ascii string"},
    [TYPE_TEXT] = {false, false, false, "a UTF-8 string"},
    [TYPE_TINYINT] = {true, false, false, "a byte value"},
    [TYPE_SMALLINT] = {true, false, false, "a short value"},
    [TYPE_INT] = {true, false, false, "an int value"},
    [TYPE_BIGINT] = {true, false, false, "a bigint value"},
    [TYPE_COUNTER] = {true, false, false, "a bigint value"},
    [TYPE_VARINT] = {true, false, false, "a varint value"},
    [TYPE_DECIMAL] = {true, true, false, "a decimal value"},
    [TYPE_FLOAT] = {true, true, false, "a float value"},
    [TYPE_DOUBLE] = {true, true, false, "a double value"},
    [TYPE_BOOLEAN] = {false, false, true, "a boolean value"},
    [TYPE_BLOB] = {false, false, false, "a blob string"},
    [TYPE_UUID] = {false, false, false, "a string representation of a uuid"},
    [TYPE_TIMEUUID] = {false, false, false, "a string representation of a timeuuid"},
    [TYPE_INET] = {false, false, false, "a string representation of an inet value"},
    [TYPE_TIMESTAMP] = {true, false, false,
                        "a long or a datestring representation of a timestamp value"},
    [TYPE_DATE] = {false, false, false, "a string representation of a date value"},
    [TYPE_TIME] = {false, false, false, "a string representation of a time value"},
    [TYPE_DURATION] = {false, false, false, "a string representation of a duration"},
};

static int put_string(struct value_maker *maker, const struct cql_json *json,
                      const struct type *type)
{
    const struct cql_term term = {.kind = CQL_TERM_STRING, .text = json->text};
    bool is_hex = json->text.size >= 2 && json->text.data[0] == '0' && json->text.data[1] == 'x';

    if (type->kind == TYPE_BLOB && !is_hex)
        return error_set(maker->err, ERROR_INVALID,
                         "Value '%.*s' is not a valid blob representation: String representation "
                         "of blob is missing 0x prefix: %.*s",
                         shown_size(json->text), (const char *)json->text.data,
                         shown_size(json->text), (const char *)json->text.data);
    if (json->text.size == 0 && type->kind == TYPE_BOOLEAN)
        type_value_put_boolean(maker->value, false);
    if (json->text.size == 0)
        return 0;
    return cql_literal_value(&term, type, maker->value, maker->err);
}

/* As in Cassandra, the words for a number depend on the type. */
static int fail_number(struct value_maker *maker, const struct cql_json *json,
                       const struct type *type, const char *expected)
{
    bool is_small = type->kind == TYPE_TINYINT || type->kind == TYPE_SMALLINT;

    if (json->kind != CQL_JSON_NUMBER || (!is_small && type->kind != TYPE_VARINT))
        return fail_kind(maker, json, expected);
    if (is_small)
        return error_set(maker->err, ERROR_INVALID, "Unable to make %s from '%.*s'",
                         type->kind == TYPE_TINYINT ? "byte" : "short", shown_size(json->text),
                         (const char *)json->text.data);
    return error_set(maker->err, ERROR_INVALID,
                     "Value '%.*s' is not a valid representation of a varint "
                     "value",
                     shown_size(json->text), (const char *)json->text.data);
}

static int put_scalar(struct value_maker *maker, const struct cql_json *json,
                      const struct type *type)
{
    const struct scalar_rule *rule = &scalar_rules[type->kind];
    bool is_taken = false;

    if (json->kind == CQL_JSON_STRING)
        return put_string(maker, json, type);
    if (json->kind == CQL_JSON_BOOLEAN)
        is_taken = rule->from_boolean;
    else if (json->kind == CQL_JSON_NUMBER)
        is_taken = number_is_integer(json->text) ? rule->from_integer : rule->from_fraction;
    if (!is_taken || type_parse_text(type, json->text, maker->value, NULL) < 0)
        return fail_number(maker, json, type, rule->expected);
    return 0;
}

/* ---- collections ---- */

static int put_value(struct value_maker *maker, const struct cql_json *json,
                     const struct type *type);

/* Append an item's size and value; a null has the size -1. */
static int put_item(struct value_maker *maker, const struct cql_json *json, const struct type *type)
{
    size_t start = maker->value->size;
    int rc = 0;

    buffer_put_u32_be(maker->value, UINT32_MAX);
    if (json == NULL || json->kind == CQL_JSON_NULL)
        return 0;
    rc = put_value(maker, json, type);
    if (rc == 0) {
        uint32_t size = __builtin_bswap32((uint32_t)(maker->value->size - start - 4));

        store_u32(maker->value->data + start, size);
    }
    return rc;
}

static int put_list(struct value_maker *maker, const struct cql_json *json, const struct type *type)
{
    const char *name = type->kind == TYPE_LIST ? "list" : "set";
    int rc = 0;

    if (json->kind != CQL_JSON_ARRAY)
        return fail_kind(maker, json,
                         type->kind == TYPE_LIST ? "a list" : "a list (representing a set)");
    buffer_put_u32_be(maker->value, json->count);
    for (const struct cql_json *item = json->items; item != NULL && rc == 0; item = item->next) {
        if (item->kind == CQL_JSON_NULL)
            return error_set(maker->err, ERROR_INVALID, "Invalid null element in %s", name);
        rc = put_item(maker, item, type->arguments[0]);
    }
    return rc;
}

static int put_map(struct value_maker *maker, const struct cql_json *json, const struct type *type)
{
    int rc = 0;

    if (json->kind != CQL_JSON_OBJECT)
        return fail_kind(maker, json, "a map");
    buffer_put_u32_be(maker->value, json->count);
    for (const struct cql_json *item = json->items; item != NULL && rc == 0; item = item->next) {
        const struct cql_json key = {.kind = CQL_JSON_STRING, .text = item->name};

        if (item->kind == CQL_JSON_NULL)
            return error_set(maker->err, ERROR_INVALID, "Invalid null value in map");
        rc = put_item(maker, &key, type->arguments[0]);
        if (rc == 0)
            rc = put_item(maker, item, type->arguments[1]);
    }
    return rc;
}

static int fail_tuple(struct value_maker *maker, const struct cql_json *json,
                      const struct type *type)
{
    struct buffer shown = {.arena = maker->arena};

    put_shown(json, &shown);
    return error_set(maker->err, ERROR_INVALID, "Tuple %s items (expected %u): %.*s",
                     json->count > type->argument_count ? "contains extra" : "is missing",
                     type->argument_count, shown_size(buffer_view(&shown)),
                     (const char *)shown.data);
}

static int put_tuple(struct value_maker *maker, const struct cql_json *json,
                     const struct type *type)
{
    const struct cql_json *item = json->items;
    int rc = 0;

    if (json->kind != CQL_JSON_ARRAY)
        return fail_kind(maker, json, "a list representation of a tuple");
    if (json->count != type->argument_count)
        return fail_tuple(maker, json, type);
    for (uint32_t i = 0; i < type->argument_count && rc == 0; i++, item = item->next)
        rc = put_item(maker, item, type->arguments[i]);
    return rc;
}

static int check_fields(const struct cql_json *json, const struct type *type, struct error *err)
{
    for (const struct cql_json *item = json->items; item != NULL; item = item->next) {
        uint32_t i = 0;

        while (i < type->argument_count && !cql_json_key_is(item->name, type->field_names[i]))
            i++;
        if (i == type->argument_count)
            return error_set(err, ERROR_INVALID,
                             "Unknown field '%.*s' in value of user defined type %s",
                             shown_size(item->name), (const char *)item->name.data, type->name);
    }
    return 0;
}

static int put_udt(struct value_maker *maker, const struct cql_json *json, const struct type *type)
{

    if (json->kind != CQL_JSON_OBJECT)
        return fail_kind(maker, json, "a map");
    if (json->count > JSON_MEMBERS_MAX)
        return error_set(maker->err, ERROR_LIMIT, "a JSON object of more than %d members",
                         JSON_MEMBERS_MAX);
    arena_count(maker->arena, json->count * type->argument_count);
    int rc = check_fields(json, type, maker->err);
    for (uint32_t i = 0; i < type->argument_count && rc == 0; i++)
        rc = put_item(maker, cql_json_member(json, type->field_names[i]), type->arguments[i]);
    return rc;
}

static int put_value(struct value_maker *maker, const struct cql_json *json,
                     const struct type *type)
{
    if (type->argument_count > 0 && json->kind == CQL_JSON_STRING) {
        int rc = cql_json_read(json->text, maker->arena, &json, maker->err);

        if (rc < 0)
            return rc;
    }
    switch ((int)type->kind) {
    case TYPE_LIST:
    case TYPE_SET:
        return put_list(maker, json, type);
    case TYPE_MAP:
        return put_map(maker, json, type);
    case TYPE_TUPLE:
        return put_tuple(maker, json, type);
    case TYPE_UDT:
        return put_udt(maker, json, type);
    default:
        return put_scalar(maker, json, type);
    }
}

int cql_json_value(const struct cql_json *json, const struct type *type, struct arena *arena,
                   struct buffer *value, struct error *err)
{
    struct buffer made = {.arena = arena};
    struct value_maker maker = {.arena = arena, .value = &made, .err = err};

    check(json->kind != CQL_JSON_NULL);
    buffer_reserve(&made, 1); /* so that the view of an empty value is not null */
    int rc = put_value(&maker, json, type);
    if (rc == 0)
        rc = type_validate(type, buffer_view(&made), err);
    if (rc == 0)
        buffer_append_bytes(value, type_normalize(type, buffer_view(&made), arena));
    return rc;
}

int cql_json_read_row(struct bytes text, struct arena *arena, const struct cql_json **object_out,
                      struct error *err)
{
    const struct cql_json *json;
    struct error cause = {0};
    int rc = cql_json_read(text, arena, &json, &cause);

    *object_out = NULL;
    if (rc == 0 && json->kind == CQL_JSON_NULL)
        return error_set(err, ERROR_INVALID, "Got null for INSERT JSON values");
    if (rc == 0 && json->kind != CQL_JSON_OBJECT)
        rc = error_set(&cause, ERROR_INVALID, "not an object");
    if (rc == 0 && json->count > JSON_MEMBERS_MAX)
        rc = error_set(&cause, ERROR_LIMIT, "more than %d members", JSON_MEMBERS_MAX);
    if (rc < 0)
        return error_set(err, rc, "Could not decode JSON string as a map: %s. (String was: %.*s)",
                         cause.text, shown_size(text), (const char *)text.data);
    *object_out = json;
    return 0;
}
