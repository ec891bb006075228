/* Serialized values and keys.
 *
 * A collection is [int count] and its items, a map's items key and value in turn; a tuple or UDT
 * has no count: its fields follow one another, and fields added to a UDT later are missing at the
 * end of older values.  {'a'} as set<text> is 00 00 00 01  00 00 00 01  61.
 *
 * A partition key of several components is Cassandra's composite, so that its token is the one
 * every driver works out: ('supaboobs', '2013-11-28') is
 * 00 09 supaboobs 00  00 0A 2013-11-28 00. */
#include <string.h>

#include "storage/schema/type.h"
#include "storage/schema/type_private.h"

size_t type_fixed_size(enum type_kind kind)
{
    switch (kind) {
    case TYPE_BOOLEAN:
    case TYPE_TINYINT:
        return 1;
    case TYPE_SMALLINT:
        return 2;
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_DATE:
        return 4;
    case TYPE_BIGINT:
    case TYPE_COUNTER:
    case TYPE_DOUBLE:
    case TYPE_TIMESTAMP:
    case TYPE_TIME:
        return 8;
    case TYPE_UUID:
    case TYPE_TIMEUUID:
        return 16;
    case TYPE_ASCII:
    case TYPE_BLOB:
    case TYPE_DECIMAL:
    case TYPE_TEXT:
    case TYPE_VARINT:
    case TYPE_INET:
    case TYPE_DURATION:
    case TYPE_LIST:
    case TYPE_MAP:
    case TYPE_SET:
    case TYPE_UDT:
    case TYPE_TUPLE:
        return 0;
    }
    return 0;
}

void type_value_put_bigint(struct buffer *buffer, int64_t value)
{
    buffer_put_u64_be(buffer, (uint64_t)value);
}

void type_value_put_int(struct buffer *buffer, int32_t value)
{
    buffer_put_u32_be(buffer, (uint32_t)value);
}

void type_value_put_boolean(struct buffer *buffer, bool value)
{
    buffer_put_u8(buffer, value ? 1 : 0);
}

int64_t type_value_bigint(struct bytes value)
{
    check(value.size == 8);
    return (int64_t)load_u64_be(value.data);
}

int32_t type_value_int(struct bytes value)
{
    check(value.size == 4);
    return (int32_t)load_u32_be(value.data);
}

bool type_value_boolean(struct bytes value)
{
    check(value.size == 1);
    return value.data[0] != 0;
}

void type_key_put_component(struct buffer *key, uint32_t component_count, struct bytes value)
{
    if (component_count == 1) {
        buffer_append_bytes(key, value);
        return;
    }
    check(value.size <= KEY_SIZE_MAX);
    buffer_reserve(key, value.size + KEY_COMPONENT_EXTRA);
    uint8_t *to = key->data + key->size;
    store_u16_be(to, (uint16_t)value.size);
    if (value.size > 0)
        memcpy(to + 2, value.data, value.size);
    to[2 + value.size] = 0;
    key->size += value.size + KEY_COMPONENT_EXTRA;
}

int type_key_component(struct bytes key, uint32_t component_count, uint32_t index,
                       struct bytes *value_out)
{
    struct reader reader = reader_of(key);
    struct bytes wanted = key;

    if (index >= component_count)
        return ERROR_CORRUPT;
    for (uint32_t i = 0; component_count > 1 && i < component_count; i++) {
        struct bytes size = reader_bytes(&reader, 2);
        if (reader.failed)
            return ERROR_CORRUPT;
        struct bytes component = reader_bytes(&reader, load_u16_be(size.data));
        if (reader_u8(&reader) != 0 || reader.failed)
            return ERROR_CORRUPT;
        if (i == index)
            wanted = component;
    }
    if (component_count > 1 && reader_left(&reader) != 0)
        return ERROR_CORRUPT;
    *value_out = wanted;
    return 0;
}

bool type_items_open(const struct type *type, struct bytes value, struct type_items *items_out)
{
    items_out->reader = reader_of(value);
    if (type->kind == TYPE_TUPLE || type->kind == TYPE_UDT) {
        items_out->count = type->argument_count;
        return true;
    }
    uint32_t per_entry = type->kind == TYPE_MAP ? 2 : 1;
    struct bytes count_bytes = reader_bytes(&items_out->reader, 4);
    if (items_out->reader.failed)
        return false;
    uint32_t count = load_u32_be(count_bytes.data);
    if (count > reader_left(&items_out->reader) / 4 / per_entry)
        return false;
    items_out->count = count * per_entry;
    return true;
}

bool type_items_next(struct type_items *items, struct bytes *item_out)
{
    *item_out = bytes_of(NULL, 0);
    if (reader_left(&items->reader) == 0)
        return true;
    struct bytes size_bytes = reader_bytes(&items->reader, 4);
    if (items->reader.failed)
        return false;
    int32_t size = (int32_t)load_u32_be(size_bytes.data);
    if (size == -1)
        return true;
    if (size < 0)
        return false;
    *item_out = reader_bytes(&items->reader, (size_t)size);
    return !items->reader.failed;
}

const struct type *type_item_type(const struct type *type, uint32_t index)
{
    if (type->kind == TYPE_MAP)
        return type->arguments[index % 2];
    if (type->kind == TYPE_TUPLE || type->kind == TYPE_UDT)
        return type->arguments[index];
    return type->arguments[0];
}

/* Cassandra's vint: as many leading one bits in the first byte as further bytes follow, then the
 * number, big-endian; signed ones are zigzag.  150 is 81 2C. */
static bool vint_read(struct reader *reader, int64_t *value_out)
{
    uint8_t first = reader_u8(reader);
    int extra = 0;

    while (extra < 8 && (first & (0x80 >> extra)))
        extra++;
    uint64_t value = extra >= 7 ? 0 : first & (0xFFu >> (extra + 1));
    for (int i = 0; i < extra; i++)
        value = value << 8 | reader_u8(reader);
    *value_out = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
    return !reader->failed;
}

static void vint_write(struct buffer *buffer, int64_t number)
{
    uint64_t value = (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
    int extra = 0;

    while (extra < 8 && value >> (7 * (extra + 1)) != 0)
        extra++;
    uint8_t ones = (uint8_t)(0xFF00u >> extra);
    buffer_put_u8(buffer, (uint8_t)(ones | (extra == 8 ? 0 : value >> (8 * extra))));
    for (int i = extra - 1; i >= 0; i--)
        buffer_put_u8(buffer, (uint8_t)(value >> (8 * i)));
}

bool type_duration_parts(struct bytes value, struct type_duration *duration_out)
{
    struct reader reader = reader_of(value);
    int64_t months;
    int64_t days;
    int64_t nanoseconds;

    if (!vint_read(&reader, &months) || !vint_read(&reader, &days) ||
        !vint_read(&reader, &nanoseconds) || reader_left(&reader) != 0)
        return false;
    if (months < INT32_MIN || months > INT32_MAX || days < INT32_MIN || days > INT32_MAX)
        return false;
    *duration_out = (struct type_duration){(int32_t)months, (int32_t)days, nanoseconds};
    return true;
}

bool type_duration_read(struct bytes value, struct type_duration *duration_out)
{
    struct type_duration parts;

    if (!type_duration_parts(value, &parts))
        return false;
    bool negative = parts.months < 0 || parts.days < 0 || parts.nanoseconds < 0;
    if (negative && (parts.months > 0 || parts.days > 0 || parts.nanoseconds > 0))
        return false;
    *duration_out = parts;
    return true;
}

void type_duration_write(struct type_duration duration, struct buffer *value)
{
    vint_write(value, duration.months);
    vint_write(value, duration.days);
    vint_write(value, duration.nanoseconds);
}

int32_t type_decimal_scale(struct bytes value)
{
    return (int32_t)load_u32_be(value.data);
}

struct bytes type_decimal_unscaled(struct bytes value)
{
    return bytes_of(value.data + 4, value.size - 4);
}
