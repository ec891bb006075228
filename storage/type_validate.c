/* Is a sequence of bytes a value of a type?
 *
 * An empty value (size 0) is one of every type: Cassandra lets blobAsInt(0x) in, apart from null,
 * and so do we; only collections, tuples and UDTs have a form that cannot be empty. */
#include "storage/type.h"
#include "storage/type_private.h"

static int refuse(const struct type *type, struct error *err, const char *why)
{
    if (err != NULL) {
        struct buffer name = {0};

        type_print(type, &name);
        error_set(err, ERROR_INVALID, "no %.*s: %s", (int)(name.size < 200 ? name.size : 200),
                  (const char *)name.data, why);
        buffer_release(&name);
    }
    return ERROR_INVALID;
}

static int validate_items(const struct type *type, struct bytes value, struct error *err)
{
    struct type_items items;
    bool is_tuple = type->kind == TYPE_TUPLE || type->kind == TYPE_UDT;

    if (!type_items_open(type, value, &items))
        return refuse(type, err, "its count does not fit its size");
    for (uint32_t i = 0; i < items.count; i++) {
        struct bytes item;
        if (!type_items_next(&items, &item))
            return refuse(type, err, "an item does not fit");
        if (item.data == NULL) {
            if (!is_tuple)
                return refuse(type, err, "null is not supported inside collections");
            continue;
        }
        int rc = type_validate(type_item_type(type, i), item, err);
        if (rc < 0)
            return rc;
    }
    if (reader_left(&items.reader) != 0)
        return refuse(type, err, "bytes after its last item");
    return 0;
}

static int validate_decimal(const struct type *type, struct bytes value, struct error *err)
{
    if (value.size < 5)
        return refuse(type, err, "at least 5 bytes expected");
    if (value.size > TYPE_DECIMAL_SIZE_MAX)
        return refuse(type, err, "more than 1000 digits");
    int32_t scale = type_decimal_scale(value);
    if (scale > TYPE_DECIMAL_SCALE_MAX || scale < -TYPE_DECIMAL_SCALE_MAX)
        return refuse(type, err, "scale outside -1000 to 1000");
    return 0;
}

static bool bytes_are_ascii(struct bytes value)
{
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] > 127)
            return false;
    }
    return true;
}

static int validate_scalar(const struct type *type, struct bytes value, struct error *err)
{
    struct type_duration duration;
    size_t size = type_fixed_size(type->kind);

    if (size != 0 && value.size != size)
        return refuse(type, err, "wrong size");
    if (type->kind == TYPE_TIME && load_u64_be(value.data) >= UINT64_C(86400000000000))
        return refuse(type, err, "not within a day");
    if (type->kind == TYPE_TIMEUUID && value.data[6] >> 4 != 1)
        return refuse(type, err, "not a version 1 uuid");
    if (type->kind == TYPE_ASCII && !bytes_are_ascii(value))
        return refuse(type, err, "not ASCII");
    if (type->kind == TYPE_TEXT && !bytes_valid_utf8(value))
        return refuse(type, err, "not UTF-8");
    if (type->kind == TYPE_INET && value.size != 4 && value.size != 16)
        return refuse(type, err, "4 or 16 bytes expected");
    if (type->kind == TYPE_VARINT && value.size > TYPE_VARINT_SIZE_MAX)
        return refuse(type, err, "over 65535 bytes");
    if (type->kind == TYPE_DURATION && !type_duration_read(value, &duration))
        return refuse(type, err, "three numbers of one sign expected");
    return type->kind == TYPE_DECIMAL ? validate_decimal(type, value, err) : 0;
}

int type_validate(const struct type *type, struct bytes value, struct error *err)
{
    if (type->argument_count > 0)
        return validate_items(type, value, err);
    return value.size == 0 ? 0 : validate_scalar(type, value, err);
}
