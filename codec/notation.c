/* notation: see the header.
 *
 * What must hold: a count that is read is checked against the number of bytes left, before memory
 * for the items is allocated. */
#include "codec/notation.h"

#include "base/arena.h"
#include "storage/schema/type.h"

enum {
    OPTION_CUSTOM = 0,
    STRING_MAX = UINT16_MAX,
    STRING_SIZE_MIN = 2,
    ENTRY_SIZE_MIN = 6,
    CONSISTENCY_LAST = CQL_LOCAL_ONE
};

struct notation notation_reading(struct bytes body, uint8_t version, struct arena *arena)
{
    return (struct notation){.version = version, .reader = reader_of(body), .arena = arena};
}

struct notation notation_writing(struct buffer *to, uint8_t version)
{
    return (struct notation){.version = version, .to = to};
}

void *notation_items(struct notation *notation, void *array, size_t count, size_t item_size)
{
    void *items;
    if (notation_is_reading(notation)) {
        items = arena_alloc_zeroed(notation->arena, (count + 1) * item_size, 8);
        memcpy(array, &items, sizeof items);
    } else {
        memcpy(&items, array, sizeof items);
    }
    return items;
}

/* ---- numbers ---- */

void notation_u8(struct notation *notation, uint8_t *number)
{
    if (notation_is_reading(notation))
        *number = reader_u8(&notation->reader);
    else
        buffer_put_u8(notation->to, *number);
}

void notation_bool(struct notation *notation, bool *is_so)
{
    uint8_t number = *is_so;

    notation_u8(notation, &number);
    *is_so = number != 0;
}

void notation_u16(struct notation *notation, uint16_t *number)
{
    if (notation_is_reading(notation))
        *number = reader_u16_be(&notation->reader);
    else
        buffer_put_u16_be(notation->to, *number);
}

void notation_u32(struct notation *notation, uint32_t *number)
{
    if (notation_is_reading(notation))
        *number = reader_u32_be(&notation->reader);
    else
        buffer_put_u32_be(notation->to, *number);
}

void notation_i32(struct notation *notation, int32_t *number)
{
    uint32_t bits = (uint32_t)*number;

    notation_u32(notation, &bits);
    *number = (int32_t)bits;
}

void notation_i64(struct notation *notation, int64_t *number)
{
    if (notation_is_reading(notation))
        *number = (int64_t)reader_u64_be(&notation->reader);
    else
        buffer_put_u64_be(notation->to, (uint64_t)*number);
}

static void check_count(struct reader *reader, uint32_t *count, size_t item_size_min)
{
    if (*count > reader_left(reader) / item_size_min)
        reader->failed = true;
    if (reader->failed)
        *count = 0;
}

void notation_short_count(struct notation *notation, uint32_t *count, size_t item_size_min)
{
    uint16_t number = (uint16_t)*count;

    check(*count <= UINT16_MAX);
    notation_u16(notation, &number);
    if (notation_is_reading(notation)) {
        *count = number;
        check_count(&notation->reader, count, item_size_min);
    }
}

void notation_int_count(struct notation *notation, uint32_t *count, size_t item_size_min)
{
    notation_u32(notation, count);
    if (notation_is_reading(notation))
        check_count(&notation->reader, count, item_size_min);
}

void notation_consistency(struct notation *notation, enum cql_consistency *consistency)
{
    uint16_t number = (uint16_t)*consistency;

    notation_u16(notation, &number);
    if (number > CONSISTENCY_LAST)
        notation->reader.failed = true;
    *consistency = notation->reader.failed ? CQL_ANY : (enum cql_consistency)number;
}

/* ---- bytes ---- */

/* A text of more than STRING_MAX bytes is cut between two characters. */
static void put_string(struct buffer *to, struct bytes text)
{
    struct bytes cut = bytes_utf8_cut(text, STRING_MAX);

    buffer_put_u16_be(to, (uint16_t)cut.size);
    buffer_append_bytes(to, cut);
}

static struct bytes check_text(struct reader *reader, struct bytes text)
{
    if (bytes_valid_utf8(text))
        return text;
    reader->failed = true;
    return bytes_of(NULL, 0);
}

void notation_string(struct notation *notation, struct bytes *text)
{
    struct reader *reader = &notation->reader;

    if (notation_is_reading(notation))
        *text = check_text(reader, reader_bytes(reader, reader_u16_be(reader)));
    else
        put_string(notation->to, *text);
}

void notation_long_string(struct notation *notation, struct bytes *text)
{
    uint32_t size = (uint32_t)text->size;

    check(text->size <= INT32_MAX);
    notation_u32(notation, &size);
    if (size > INT32_MAX)
        notation->reader.failed = true;
    notation_fixed(notation, &text->data, size);
    if (notation_is_reading(notation))
        *text =
            check_text(&notation->reader, bytes_of(text->data, notation->reader.failed ? 0 : size));
}

void notation_short_bytes(struct notation *notation, struct bytes *bytes)
{
    uint16_t size = (uint16_t)bytes->size;

    check(bytes->size <= UINT16_MAX);
    notation_u16(notation, &size);
    notation_fixed(notation, &bytes->data, size);
    if (notation_is_reading(notation))
        bytes->size = notation->reader.failed ? 0 : size;
}

void notation_bytes(struct notation *notation, struct bytes *bytes)
{
    if (!notation_is_reading(notation)) {
        notation_put_bytes(notation->to, *bytes);
        return;
    }
    int32_t size = (int32_t)reader_u32_be(&notation->reader);
    *bytes = size < 0 ? bytes_of(NULL, 0) : reader_bytes(&notation->reader, (size_t)size);
}

void notation_fixed(struct notation *notation, const uint8_t **data, size_t size)
{
    if (notation_is_reading(notation))
        *data = reader_bytes(&notation->reader, size).data;
    else
        buffer_append(notation->to, *data, size);
}

static void put_value(struct buffer *to, const struct cql_value *value)
{
    if (value->state != CQL_VALUE_SET) {
        buffer_put_u32_be(to, (uint32_t)(value->state == CQL_VALUE_NULL ? -1 : -2));
        return;
    }
    check(value->data.size <= INT32_MAX);
    buffer_put_u32_be(to, (uint32_t)value->data.size);
    buffer_append_bytes(to, value->data);
}

void notation_value(struct notation *notation, struct cql_value *value)
{
    struct reader *reader = &notation->reader;

    if (!notation_is_reading(notation)) {
        put_value(notation->to, value);
        return;
    }
    int32_t size = (int32_t)reader_u32_be(reader);
    value->state = size >= 0 ? CQL_VALUE_SET : CQL_VALUE_NULL;
    if (size >= 0)
        value->data = reader_bytes(reader, (size_t)size);
    else if (notation->version >= 4 && size == -2)
        value->state = CQL_VALUE_UNSET;
    else if (notation->version >= 4 && size != -1)
        reader->failed = true;
}

void notation_inetaddr(struct notation *notation, struct cql_address *address)
{
    static const struct cql_address loopback = {.bytes = {127, 0, 0, 1}, .size = 4};
    bool is_unknown = !notation_is_reading(notation) && address->size == 0;
    const uint8_t *bytes = is_unknown ? loopback.bytes : address->bytes;
    uint8_t size = is_unknown ? loopback.size : address->size;

    notation_u8(notation, &size);
    if (size != 4 && size != 16)
        notation->reader.failed = true;
    notation_fixed(notation, &bytes, size);
    if (notation_is_reading(notation) && !notation->reader.failed) {
        address->size = size;
        memcpy(address->bytes, bytes, size);
    }
}

void notation_inet(struct notation *notation, struct cql_address *address)
{
    uint32_t port = address->port;

    notation_inetaddr(notation, address);
    notation_u32(notation, &port);
    if (port > UINT16_MAX)
        notation->reader.failed = true;
    address->port = notation->reader.failed ? 0 : (uint16_t)port;
}

void notation_text(struct notation *notation, const char **text)
{
    if (!notation_is_reading(notation)) {
        notation_put_text(notation->to, *text);
        return;
    }
    struct bytes read = {0};
    notation_string(notation, &read);
    char *copy = arena_alloc(notation->arena, read.size + 1, 1);
    if (read.size > 0) {
        if (memchr(read.data, '\0', read.size) != NULL)
            notation->reader.failed = true;
        memcpy(copy, read.data, read.size);
    }
    copy[read.size] = '\0';
    *text = copy;
}

/* ---- lists ---- */

void notation_texts(struct notation *notation, const char *const **texts, uint32_t *count)
{
    notation_short_count(notation, count, STRING_SIZE_MIN);
    const char **items = notation_items(notation, texts, *count, sizeof *items);
    for (uint32_t i = 0; i < *count; i++)
        notation_text(notation, &items[i]);
}

void notation_payload(struct notation *notation, const struct cql_payload **entries,
                      uint32_t *count)
{
    notation_short_count(notation, count, ENTRY_SIZE_MIN);
    struct cql_payload *items = notation_items(notation, entries, *count, sizeof *items);
    for (uint32_t i = 0; i < *count; i++) {
        notation_string(notation, &items[i].name);
        notation_bytes(notation, &items[i].value);
    }
}

/* ---- types ---- */

/* A type that has no id in older versions of the protocol, where its class name is sent instead. */
struct custom_type {
    enum type_kind kind;
    uint8_t version; /* the first version in which the type has an id */
    const char *class_name;
};

#define MARSHAL "org.apache.cassandra.db.marshal."

static const struct custom_type custom_types[] = {
    {TYPE_DATE, 4, MARSHAL "SimpleDateType"},   {TYPE_TIME, 4, MARSHAL "TimeType"},
    {TYPE_SMALLINT, 4, MARSHAL "ShortType"},    {TYPE_TINYINT, 4, MARSHAL "ByteType"},
    {TYPE_DURATION, 5, MARSHAL "DurationType"},
};

enum { CUSTOM_TYPE_COUNT = sizeof custom_types / sizeof custom_types[0] };

static const struct type *read_option(struct notation *notation, int depth);

static const struct type *read_custom(struct notation *notation)
{
    struct bytes name = {0};

    notation_string(notation, &name);
    for (size_t i = 0; i < CUSTOM_TYPE_COUNT; i++)
        if (bytes_equal(name, bytes_text(custom_types[i].class_name)))
            return type_builtin(custom_types[i].kind);
    notation->reader.failed = true;
    return type_builtin(TYPE_BLOB);
}

static const struct type *read_parametrized(struct notation *notation, enum type_kind kind,
                                            int depth)
{
    struct type *type = arena_alloc(notation->arena, sizeof *type, _Alignof(struct type));
    const char **names = NULL;

    *type = (struct type){.kind = kind, .argument_count = kind == TYPE_MAP ? 2 : 1};
    if (kind == TYPE_UDT) {
        struct bytes keyspace = {0}; /* not used */
        notation_string(notation, &keyspace);
        notation_text(notation, &type->name);
        notation_short_count(notation, &type->argument_count, 4);
        names = notation_items(notation, &type->field_names, type->argument_count, sizeof *names);
    } else if (kind == TYPE_TUPLE) {
        notation_short_count(notation, &type->argument_count, 2);
    }
    const struct type **arguments =
        notation_items(notation, &type->arguments, type->argument_count, sizeof *arguments);
    for (uint32_t i = 0; i < type->argument_count; i++) {
        if (names != NULL)
            notation_text(notation, &names[i]);
        arguments[i] = read_option(notation, depth + 1);
    }
    return type;
}

static const struct type *read_option(struct notation *notation, int depth)
{
    struct reader *reader = &notation->reader;
    uint16_t number = reader_u16_be(reader);

    if (depth > TYPE_DEPTH_MAX)
        reader->failed = true;
    if (reader->failed)
        return type_builtin(TYPE_BLOB);
    if (number == OPTION_CUSTOM)
        return read_custom(notation);
    if (number == 0x0A) /* the id of text in version 2 */
        return type_builtin(TYPE_TEXT);
    if (number >= TYPE_ASCII && number <= TYPE_DURATION)
        return type_builtin((enum type_kind)number);
    if (number == TYPE_LIST || number == TYPE_MAP || number == TYPE_SET || number == TYPE_UDT ||
        number == TYPE_TUPLE)
        return read_parametrized(notation, (enum type_kind)number, depth);
    reader->failed = true;
    return type_builtin(TYPE_BLOB);
}

void notation_type(struct notation *notation, const struct type **type, const char *keyspace)
{
    if (notation_is_reading(notation))
        *type = read_option(notation, 0);
    else
        notation_put_type(notation->to, *type, keyspace, notation->version);
}

/* ---- writing ---- */

void notation_put_text(struct buffer *to, const char *text)
{
    put_string(to, bytes_text(text));
}

void notation_put_bytes(struct buffer *to, struct bytes bytes)
{
    check(bytes.size <= INT32_MAX);
    buffer_put_u32_be(to, bytes.data == NULL ? UINT32_MAX : (uint32_t)bytes.size);
    buffer_append_bytes(to, bytes);
}

/* False: the type has an id in `version`. */
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
