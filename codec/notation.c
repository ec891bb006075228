/* notation: see the header.
 *
 * What decides correctness: no count is believed before so many of the smallest items would fit
 * into what is left, so memory is never asked for that the sender has not paid for in bytes. */
#include "codec/notation.h"

#include "base/arena.h"
#include "storage/schema/type.h"

enum { OPTION_CUSTOM = 0, STRING_MAX = UINT16_MAX, CONSISTENCY_LAST = CQL_LOCAL_ONE };

static struct bytes reader_fail(struct reader *reader)
{
    reader->failed = true;
    return bytes_of(NULL, 0);
}

/* ---- reading ---- */

static struct bytes check_text(struct reader *reader, struct bytes text)
{
    return bytes_valid_utf8(text) ? text : reader_fail(reader);
}

struct bytes notation_string(struct reader *reader)
{
    return check_text(reader, notation_short_bytes(reader));
}

struct bytes notation_short_bytes(struct reader *reader)
{
    return reader_bytes(reader, reader_u16_be(reader));
}

struct bytes notation_long_string(struct reader *reader)
{
    uint32_t size = reader_u32_be(reader);

    return size > INT32_MAX ? reader_fail(reader) : check_text(reader, reader_bytes(reader, size));
}

struct bytes notation_bytes(struct reader *reader)
{
    int32_t size = (int32_t)reader_u32_be(reader);

    return size < 0 ? bytes_of(NULL, 0) : reader_bytes(reader, (size_t)size);
}

void notation_value(struct reader *reader, uint8_t version, struct cql_value *value_out)
{
    int32_t size = (int32_t)reader_u32_be(reader);

    *value_out = (struct cql_value){.state = CQL_VALUE_NULL};
    if (size >= 0) {
        value_out->data = reader_bytes(reader, (size_t)size);
        value_out->state = CQL_VALUE_SET;
    } else if (version >= 4 && size == -2) {
        value_out->state = CQL_VALUE_UNSET;
    } else if (version >= 4 && size != -1) {
        reader->failed = true;
    }
}

enum cql_consistency notation_consistency(struct reader *reader)
{
    uint16_t number = reader_u16_be(reader);

    if (number > CONSISTENCY_LAST)
        reader->failed = true;
    return reader->failed ? CQL_ANY : (enum cql_consistency)number;
}

struct cql_address notation_inet(struct reader *reader)
{
    struct cql_address address = {.size = reader_u8(reader)};

    if (address.size != 4 && address.size != 16)
        reader->failed = true;
    struct bytes bytes = reader_bytes(reader, address.size);
    uint32_t port = reader_u32_be(reader);
    if (port > UINT16_MAX)
        reader->failed = true;
    if (reader->failed)
        return (struct cql_address){0};
    memcpy(address.bytes, bytes.data, bytes.size);
    address.port = (uint16_t)port;
    return address;
}

static uint32_t check_count(struct reader *reader, uint32_t count, size_t item_size_min)
{
    if (count > reader_left(reader) / item_size_min)
        reader->failed = true;
    return reader->failed ? 0 : count;
}

uint32_t notation_short_count(struct reader *reader, size_t item_size_min)
{
    return check_count(reader, reader_u16_be(reader), item_size_min);
}

uint32_t notation_int_count(struct reader *reader, size_t item_size_min)
{
    return check_count(reader, reader_u32_be(reader), item_size_min);
}

const char *notation_text(struct reader *reader, struct arena *arena)
{
    struct bytes text = notation_string(reader);
    char *copy = arena_alloc(arena, text.size + 1, 1);

    if (text.size > 0) {
        if (memchr(text.data, '\0', text.size) != NULL)
            reader->failed = true;
        memcpy(copy, text.data, text.size);
    }
    copy[text.size] = '\0';
    return copy;
}

/* ---- types ---- */

/* Types that only later versions have a number for, by their class within
 * org.apache.cassandra.db.marshal. */
struct custom_type {
    enum type_kind kind;
    uint8_t version; /* the first with a number */
    const char *class_name;
};

#define MARSHAL "org.apache.cassandra.db.marshal."

static const struct custom_type custom_types[] = {
    {TYPE_DATE, 4, MARSHAL "SimpleDateType"},   {TYPE_TIME, 4, MARSHAL "TimeType"},
    {TYPE_SMALLINT, 4, MARSHAL "ShortType"},    {TYPE_TINYINT, 4, MARSHAL "ByteType"},
    {TYPE_DURATION, 5, MARSHAL "DurationType"},
};

enum { CUSTOM_TYPE_COUNT = sizeof custom_types / sizeof custom_types[0] };

static const struct type *read_option(struct reader *reader, struct arena *arena, int depth);

static const struct type *read_custom(struct reader *reader)
{
    struct bytes name = notation_string(reader);

    for (size_t i = 0; i < CUSTOM_TYPE_COUNT; i++)
        if (bytes_equal(name, bytes_text(custom_types[i].class_name)))
            return type_builtin(custom_types[i].kind);
    reader->failed = true;
    return type_builtin(TYPE_BLOB);
}

static const struct type *read_parametrized(struct reader *reader, struct arena *arena,
                                            enum type_kind kind, int depth)
{
    struct type *type = arena_alloc(arena, sizeof *type, _Alignof(struct type));
    const struct type **arguments;
    const char **names = NULL;

    *type = (struct type){.kind = kind, .argument_count = kind == TYPE_MAP ? 2 : 1};
    if (kind == TYPE_UDT) {
        (void)notation_string(reader); /* its keyspace is its column's */
        type->name = notation_text(reader, arena);
        type->argument_count = notation_short_count(reader, 4);
        names = arena_alloc(arena, (type->argument_count + 1) * sizeof *names, sizeof *names);
        type->field_names = names;
    } else if (kind == TYPE_TUPLE) {
        type->argument_count = notation_short_count(reader, 2);
    }
    arguments =
        arena_alloc(arena, (type->argument_count + 1) * sizeof *arguments, sizeof *arguments);
    type->arguments = arguments;
    for (uint32_t i = 0; i < type->argument_count; i++) {
        if (names != NULL)
            names[i] = notation_text(reader, arena);
        arguments[i] = read_option(reader, arena, depth + 1);
    }
    return type;
}

static const struct type *read_option(struct reader *reader, struct arena *arena, int depth)
{
    uint16_t number = reader_u16_be(reader);

    if (depth > TYPE_DEPTH_MAX)
        reader->failed = true;
    if (reader->failed)
        return type_builtin(TYPE_BLOB);
    if (number == OPTION_CUSTOM)
        return read_custom(reader);
    if (number == 0x0A) /* text, as version 2 had it */
        return type_builtin(TYPE_TEXT);
    if (number >= TYPE_ASCII && number <= TYPE_DURATION)
        return type_builtin((enum type_kind)number);
    if (number == TYPE_LIST || number == TYPE_MAP || number == TYPE_SET || number == TYPE_UDT ||
        number == TYPE_TUPLE)
        return read_parametrized(reader, arena, (enum type_kind)number, depth);
    reader->failed = true;
    return type_builtin(TYPE_BLOB);
}

const struct type *notation_type(struct reader *reader, struct arena *arena)
{
    return read_option(reader, arena, 0);
}

/* ---- writing ---- */

void notation_put_string(struct buffer *to, struct bytes text)
{
    size_t size = text.size;

    if (size > STRING_MAX) {
        size = STRING_MAX;
        while (size > 0 && (text.data[size] & 0xC0) == 0x80)
            size--;
    }
    buffer_put_u16_be(to, (uint16_t)size);
    buffer_append(to, text.data, size);
}

void notation_put_text(struct buffer *to, const char *text)
{
    notation_put_string(to, bytes_text(text));
}

void notation_put_long_string(struct buffer *to, struct bytes text)
{
    check(text.size <= INT32_MAX);
    buffer_put_u32_be(to, (uint32_t)text.size);
    buffer_append_bytes(to, text);
}

void notation_put_short_bytes(struct buffer *to, struct bytes bytes)
{
    check(bytes.size <= UINT16_MAX);
    buffer_put_u16_be(to, (uint16_t)bytes.size);
    buffer_append_bytes(to, bytes);
}

void notation_put_bytes(struct buffer *to, struct bytes bytes)
{
    check(bytes.size <= INT32_MAX);
    buffer_put_u32_be(to, bytes.data == NULL ? UINT32_MAX : (uint32_t)bytes.size);
    buffer_append_bytes(to, bytes);
}

void notation_put_value(struct buffer *to, const struct cql_value *value)
{
    if (value->state != CQL_VALUE_SET) {
        buffer_put_u32_be(to, (uint32_t)(value->state == CQL_VALUE_NULL ? -1 : -2));
        return;
    }
    check(value->data.size <= INT32_MAX);
    buffer_put_u32_be(to, (uint32_t)value->data.size);
    buffer_append_bytes(to, value->data);
}

void notation_put_inet(struct buffer *to, const struct cql_address *address)
{
    static const uint8_t loopback[] = {127, 0, 0, 1};
    bool is_known = address->size > 0;

    buffer_put_u8(to, is_known ? address->size : sizeof loopback);
    buffer_append(to, is_known ? address->bytes : loopback,
                  is_known ? address->size : sizeof loopback);
    buffer_put_u32_be(to, address->port);
}

/* A type that `version` has no number for; false: it has one. */
static bool put_custom(struct buffer *to, const struct type *type, uint8_t version)
{
    for (size_t i = 0; i < CUSTOM_TYPE_COUNT; i++) {
        if (custom_types[i].kind == type->kind && version < custom_types[i].version) {
            buffer_put_u16_be(to, OPTION_CUSTOM);
            notation_put_text(to, custom_types[i].class_name);
            return true;
        }
    }
    return false;
}

void notation_put_type(struct buffer *to, const struct type *type, const char *keyspace,
                       uint8_t version)
{
    if (put_custom(to, type, version))
        return;
    buffer_put_u16_be(to, (uint16_t)type->kind);
    if (type->kind == TYPE_UDT) {
        notation_put_text(to, keyspace);
        notation_put_text(to, type->name);
    }
    if (type->kind == TYPE_UDT || type->kind == TYPE_TUPLE)
        buffer_put_u16_be(to, (uint16_t)type->argument_count);
    for (uint32_t i = 0; i < type->argument_count; i++) {
        if (type->kind == TYPE_UDT)
            notation_put_text(to, type->field_names[i]);
        notation_put_type(to, type->arguments[i], keyspace, version);
    }
}
