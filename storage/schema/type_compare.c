/* Compares values in Cassandra's orders:
 *
 *   signed        tinyint smallint int bigint counter timestamp
 *   bytes         text ascii blob inet date time duration: unsigned; a shorter prefix comes first
 *   number        varint decimal (by value: 0.5 equals 0.50, though their bytes differ);
 *                 float double: -0 before 0, NaN last and equal to itself
 *   boolean       false before true; every byte but 0 is true
 *   uuid          version, then time if the version is 1, then unsigned bytes
 *   timeuuid      time, then the last eight bytes as signed ones (Cassandra's old mistake)
 *   collections   item by item, a null first; if these are equal, the value with fewer items comes
 *                 first; fields that are missing at the end of a tuple or UDT are nulls
 *
 * Runs on disk are sorted by these orders, so a change of an order is a change of format. */
#include <math.h>
#include <string.h>

#include "base/bigint.h"
#include "storage/schema/type_private.h"

static int order_signed(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int order_unsigned(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int order_double(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
    if (a < b || a > b)
        return a < b ? -1 : 1;
    return (signbit(b) ? 1 : 0) - (signbit(a) ? 1 : 0);
}

/* The version and the 60-bit time of a version 1 uuid, most significant part first: bytes 6 7, 4 5,
 * 0 1 2 3. */
static uint64_t uuid_time(const uint8_t *uuid)
{
    uint64_t high = load_u64_be(uuid);

    return high << 48 | (high << 16 & UINT64_C(0xFFFF00000000)) | high >> 32;
}

static int order_timeuuid(const uint8_t *a, const uint8_t *b)
{
    const uint64_t signs = UINT64_C(0x8080808080808080);
    int order = order_unsigned(uuid_time(a), uuid_time(b));

    if (order != 0)
        return order;
    return order_unsigned(load_u64_be(a + 8) ^ signs, load_u64_be(b + 8) ^ signs);
}

static int order_uuid(const uint8_t *a, const uint8_t *b)
{
    int a_version = a[6] >> 4;
    int b_version = b[6] >> 4;

    if (a_version != b_version)
        return a_version - b_version;
    if (a_version == 1) {
        int order = order_unsigned(uuid_time(a), uuid_time(b));
        if (order != 0)
            return order;
    }
    return memcmp(a, b, 16);
}

static int order_varint(struct bytes a, struct bytes b)
{
    if (a.size <= 8 && b.size <= 8)
        return order_signed(type_value_integer(a), type_value_integer(b));
    return bigint_compare_scaled(a, 0, b, 0);
}

/* False: the value has no scale, or one outside the limits, which could take unlimited memory. */
static bool decimal_is_sane(struct bytes value)
{
    return value.size >= 4 && type_decimal_scale(value) <= TYPE_DECIMAL_SCALE_MAX &&
           type_decimal_scale(value) >= -TYPE_DECIMAL_SCALE_MAX;
}

static int order_decimal(struct bytes a, struct bytes b)
{
    if (!decimal_is_sane(a) || !decimal_is_sane(b))
        return bytes_compare(a, b);
    int32_t a_scale = type_decimal_scale(a);
    int32_t b_scale = type_decimal_scale(b);
    if (a_scale == b_scale)
        return order_varint(type_decimal_unscaled(a), type_decimal_unscaled(b));
    return bigint_compare_scaled(type_decimal_unscaled(a), a_scale, type_decimal_unscaled(b),
                                 b_scale);
}

static int order_items(const struct type *type, struct bytes a, struct bytes b)
{
    struct type_items a_items;
    struct type_items b_items;

    if (!type_items_open(type, a, &a_items) || !type_items_open(type, b, &b_items))
        return bytes_compare(a, b);
    for (uint32_t i = 0; i < a_items.count && i < b_items.count; i++) {
        struct bytes a_item;
        struct bytes b_item;
        if (!type_items_next(&a_items, &a_item) || !type_items_next(&b_items, &b_item))
            return bytes_compare(a, b);
        int order;
        if (a_item.data == NULL || b_item.data == NULL)
            order = (a_item.data != NULL) - (b_item.data != NULL);
        else
            order = type_compare(type_item_type(type, i), a_item, b_item);
        if (order != 0)
            return order;
    }
    return order_unsigned(a_items.count, b_items.count);
}

static int order_fixed(const struct type *type, struct bytes a, struct bytes b)
{
    if (type_has_trait(type, TYPE_IS_INTEGER))
        return order_signed(type_value_integer(a), type_value_integer(b));
    switch ((int)type->kind) {
    case TYPE_BOOLEAN:
        return (a.data[0] != 0) - (b.data[0] != 0);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return order_double(type_value_floating(a), type_value_floating(b));
    case TYPE_UUID:
        return order_uuid(a.data, b.data);
    case TYPE_TIMEUUID:
        return order_timeuuid(a.data, b.data);
    default:
        return bytes_compare(a, b);
    }
}

int type_compare(const struct type *type, struct bytes a, struct bytes b)
{
    if (a.size == 0 || b.size == 0)
        return order_unsigned(a.size, b.size);
    if (type->argument_count > 0)
        return order_items(type, a, b);
    if (type->kind == TYPE_VARINT)
        return order_varint(a, b);
    if (type->kind == TYPE_DECIMAL)
        return order_decimal(a, b);
    size_t size = type_fixed_size(type->kind);
    if (size != 0 && a.size == size && b.size == size)
        return order_fixed(type, a, b);
    return bytes_compare(a, b);
}
