/* Takes serialized values and keys apart, and puts them together.
 *
 * A collection is [int count] and its items; the items of a map are keys and values in turn.  A
 * tuple or UDT has no count; fields that were added to a UDT later are missing at the end of older
 * values.  The set<text> {'a'} is 00 00 00 01  00 00 00 01  61. */
#include <string.h>

#include "storage/schema/type_private.h"

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

void type_value_put_integer(struct buffer *buffer, size_t size, int64_t value)
{
    check(size >= 1 && size <= 8);
    buffer_reserve(buffer, 8);
    store_u64_be(buffer->data + buffer->size, (uint64_t)value << (64 - 8 * size));
    buffer->size += size;
}

void type_value_put_floating(struct buffer *buffer, bool is_float, double value)
{
    float narrow = (float)value;
    uint32_t float_bits;
    uint64_t bits;

    memcpy(&float_bits, &narrow, sizeof float_bits);
    memcpy(&bits, &value, sizeof bits);
    if (is_float)
        buffer_put_u32_be(buffer, float_bits);
    else
        buffer_put_u64_be(buffer, bits);
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

int64_t type_value_integer(struct bytes value)
{
    check(value.size <= 8);
    if (value.size == 8)
        return (int64_t)load_u64_be(value.data);
    if (value.size == 4)
        return (int32_t)load_u32_be(value.data);
    uint64_t number = value.size > 0 && value.data[0] & 0x80 ? UINT64_MAX : 0;

    for (size_t i = 0; i < value.size; i++)
        number = number << 8 | value.data[i];
    return (int64_t)number;
}

double type_value_floating(struct bytes value)
{
    check(value.size == 4 || value.size == 8);
    if (value.size == 4) {
        uint32_t bits = load_u32_be(value.data);
        float number;
        memcpy(&number, &bits, sizeof number);
        return (double)number;
    }
    uint64_t bits = load_u64_be(value.data);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
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
        struct bytes component = reader_bytes(&reader, reader_u16_be(&reader));
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
    uint32_t count = reader_u32_be(&items_out->reader);
    if (items_out->reader.failed || count > reader_left(&items_out->reader) / 4 / per_entry)
        return false;
    items_out->count = count * per_entry;
    return true;
}

bool type_items_next(struct type_items *items, struct bytes *item_out)
{
    *item_out = bytes_of(NULL, 0);
    if (reader_left(&items->reader) == 0)
        return true;
    int32_t size = (int32_t)reader_u32_be(&items->reader);
    if (size >= 0)
        *item_out = reader_bytes(&items->reader, (size_t)size);
    return !items->reader.failed && size >= -1;
}

const struct type *type_item_type(const struct type *type, uint32_t index)
{
    check(type->argument_count > 0);
    if (type->kind == TYPE_MAP)
        return type->arguments[index % 2];
    if (type->kind == TYPE_TUPLE || type->kind == TYPE_UDT)
        return type->arguments[index];
    return type->arguments[0];
}

int32_t type_decimal_scale(struct bytes value)
{
    check(value.size >= 4);
    return (int32_t)load_u32_be(value.data);
}

struct bytes type_decimal_unscaled(struct bytes value)
{
    check(value.size >= 4);
    return bytes_of(value.data + 4, value.size - 4);
}
