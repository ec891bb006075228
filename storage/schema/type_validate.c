/* Checks whether bytes are a value of a type.  Errors have Cassandra's words, because drivers show
 * them to their users.
 *
 * An empty value (size 0) is not a null, and is valid for every scalar type, as in Cassandra.  A
 * collection cannot be empty, because it begins with a count. */
#include <inttypes.h>

#include "storage/schema/type_private.h"

static const char *collection_name(const struct type *type)
{
    return type->kind == TYPE_LIST ? "list" : type->kind == TYPE_SET ? "set" : "map";
}

static int validate_collection(const struct type *type, struct bytes value, struct error *err)
{
    const char *name = collection_name(type);
    struct type_items items;

    if (value.size >= 4 && (value.data[0] & 0x80) != 0)
        return error_set(err, ERROR_INVALID, "The data cannot be deserialized as a %s", name);
    if (!type_items_open(type, value, &items))
        return error_set(err, ERROR_INVALID, "Not enough bytes to read a %s", name);
    for (uint32_t i = 0; i < items.count; i++) {
        struct bytes item;
        if (reader_left(&items.reader) < 4 || !type_items_next(&items, &item))
            return error_set(err, ERROR_INVALID, "Not enough bytes to read a %s", name);
        /* As in Cassandra, a frozen list may hold nulls. */
        bool may_be_null = type->kind == TYPE_LIST && type->frozen;
        if (item.data == NULL && !may_be_null)
            return error_set(err, ERROR_INVALID, "Null value read when not allowed");
        int rc = item.data == NULL ? 0 : type_validate(type_item_type(type, i), item, err);
        if (rc < 0)
            return rc;
    }
    if (reader_left(&items.reader) != 0)
        return error_set(err, ERROR_INVALID, "Unexpected extraneous bytes after %s value", name);
    return 0;
}

static int validate_fields(const struct type *type, struct bytes value, struct error *err)
{
    bool is_udt = type->kind == TYPE_UDT;
    struct type_items items;

    if (!type_items_open(type, value, &items))
        return error_set(err, ERROR_INVALID, "Not enough bytes to read its fields");
    for (uint32_t i = 0; i < items.count; i++) {
        struct bytes item;
        size_t left = reader_left(&items.reader);
        if (!type_items_next(&items, &item))
            return error_set(err, ERROR_INVALID, "Not enough bytes to read %s%uth %s%s",
                             left < 4 ? "size of " : "", i, is_udt ? "field " : "component",
                             is_udt ? type->field_names[i] : "");
        int rc = item.data == NULL ? 0 : type_validate(type_item_type(type, i), item, err);
        if (rc < 0)
            return rc;
    }
    if (reader_left(&items.reader) != 0)
        return error_set(err, ERROR_INVALID, "Invalid remaining data after end of %s value",
                         is_udt ? "UDT" : "tuple");
    return 0;
}

static int validate_decimal(struct bytes value, struct error *err)
{
    if (value.size < 4)
        return error_set(err, ERROR_INVALID, "Expected 0 or at least 4 bytes (%zu)", value.size);
    if (value.size == 4)
        return error_set(err, ERROR_INVALID, "a decimal without digits");
    if (value.size > TYPE_DECIMAL_SIZE_MAX)
        return error_set(err, ERROR_INVALID, "a decimal of more than 1000 digits");
    int32_t scale = type_decimal_scale(value);
    if (scale > TYPE_DECIMAL_SCALE_MAX || scale < -TYPE_DECIMAL_SCALE_MAX)
        return error_set(err, ERROR_INVALID, "a decimal with a scale outside -1000 to 1000");
    return 0;
}

static int validate_ascii(struct bytes value, struct error *err)
{
    for (size_t i = 0; i < value.size; i++)
        if (value.data[i] > 127)
            return error_set(err, ERROR_INVALID, "Invalid byte for ascii: %d",
                             (int8_t)value.data[i]);
    return 0;
}

static int validate_duration(struct bytes value, struct error *err)
{
    struct type_duration duration;

    if (type_duration_read(value, &duration))
        return 0;
    if (value.size >= 3 && type_duration_parts(value, &duration))
        return error_set(err, ERROR_INVALID,
                         "The duration months, days and nanoseconds must be all of the same sign "
                         "(%" PRId32 ", %" PRId32 ", %" PRId64 ")",
                         duration.months, duration.days, duration.nanoseconds);
    if (value.size < 3)
        return error_set(err, ERROR_INVALID, "Expected at least 3 bytes for a duration (%zu)",
                         value.size);
    return error_set(err, ERROR_INVALID, "Three numbers expected for a duration");
}

static int validate_inet(struct bytes value, struct error *err)
{
    if (value.size == 4 || value.size == 16)
        return 0;
    struct buffer shown = {0};
    type_format_hex(bytes_of(value.data, value.size < 32 ? value.size : 32), &shown);
    int rc = error_set(err, ERROR_INVALID, "Expected 4 or 16 byte inetaddress; got %.*s",
                       (int)shown.size, (const char *)shown.data);
    buffer_release(&shown);
    return rc;
}

static int refuse_size(enum type_kind kind, size_t size, struct error *err)
{
    static const char *const expected[] = {
        [TYPE_BOOLEAN] = "Expected 1 or 0 byte value",
        [TYPE_TINYINT] = "Expected 1 byte for a tinyint",
        [TYPE_SMALLINT] = "Expected 2 bytes for a smallint",
        [TYPE_INT] = "Expected 4 or 0 byte int",
        [TYPE_BIGINT] = "Expected 8 or 0 byte long",
        [TYPE_COUNTER] = "Expected 8 or 0 byte long",
        [TYPE_FLOAT] = "Expected 4 or 0 byte value for a float",
        [TYPE_DOUBLE] = "Expected 8 or 0 byte value for a double",
        [TYPE_DATE] = "Expected 4 byte long for date",
        [TYPE_TIME] = "Expected 8 byte long for time",
        [TYPE_TIMESTAMP] = "Expected 8 or 0 byte long for date",
        [TYPE_UUID] = "UUID should be 16 or 0 bytes",
        [TYPE_TIMEUUID] = "UUID should be 16 or 0 bytes",
    };

    return error_set(err, ERROR_INVALID, "%s (%zu)", expected[kind], size);
}

static int validate_scalar(const struct type *type, struct bytes value, struct error *err)
{
    size_t size = type_fixed_size(type->kind);

    if (size != 0 && value.size != size)
        return refuse_size(type->kind, value.size, err);
    switch ((int)type->kind) {
    case TYPE_TIME:
        return load_u64_be(value.data) < UINT64_C(86400000000000)
                   ? 0
                   : error_set(err, ERROR_INVALID, "a time that is not within a day");
    case TYPE_TIMEUUID:
        return value.data[6] >> 4 == 1
                   ? 0
                   : error_set(err, ERROR_INVALID, "Invalid version for TimeUUID type: 0x%x",
                               value.data[6] & 15);
    case TYPE_ASCII:
        return validate_ascii(value, err);
    case TYPE_TEXT:
        return bytes_valid_utf8(value) ? 0
                                       : error_set(err, ERROR_INVALID, "String didn't validate.");
    case TYPE_INET:
        return validate_inet(value, err);
    case TYPE_VARINT:
        return value.size <= TYPE_VARINT_SIZE_MAX
                   ? 0
                   : error_set(err, ERROR_INVALID, "a varint of over %d bytes",
                               TYPE_VARINT_SIZE_MAX);
    case TYPE_DURATION:
        return validate_duration(value, err);
    case TYPE_DECIMAL:
        return validate_decimal(value, err);
    default:
        return 0;
    }
}

int type_validate(const struct type *type, struct bytes value, struct error *err)
{
    if (type->kind == TYPE_TUPLE || type->kind == TYPE_UDT)
        return validate_fields(type, value, err);
    if (type->argument_count > 0)
        return validate_collection(type, value, err);
    return value.size == 0 ? 0 : validate_scalar(type, value, err);
}

int type_validate_given(const struct type *type, struct bytes value, struct error *err)
{
    return value.size == 0 && type_has_trait(type, TYPE_IS_NEVER_EMPTY)
               ? validate_scalar(type, value, err)
               : type_validate(type, value, err);
}
