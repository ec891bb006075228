/* Values as JSON, after Cassandra's toJson: map keys are always strings, NaN and the infinities are
 * null, times have a space where ISO 8601 has a T, and an empty value is "".  Decimals are strings:
 * most readers of JSON take numbers for binary floats, and these are money. */
#include "storage/type.h"
#include "storage/type_private.h"

static void json_string(struct bytes text, struct buffer *json)
{
    buffer_put_u8(json, '"');
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (c == '"' || c == '\\') {
            buffer_put_u8(json, '\\');
            buffer_put_u8(json, c);
        } else if (c == '\n') {
            buffer_append_text(json, "\\n");
        } else if (c < 0x20 || c == 0x7F) {
            buffer_printf(json, "\\u%04x", c);
        } else {
            buffer_put_u8(json, c);
        }
    }
    buffer_put_u8(json, '"');
}

static bool json_is_bare(const struct type *type)
{
    switch (type->kind) {
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
    case TYPE_COUNTER:
    case TYPE_VARINT:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_BOOLEAN:
        return true;
    case TYPE_ASCII:
    case TYPE_BLOB:
    case TYPE_DECIMAL:
    case TYPE_TIMESTAMP:
    case TYPE_UUID:
    case TYPE_TEXT:
    case TYPE_TIMEUUID:
    case TYPE_INET:
    case TYPE_DATE:
    case TYPE_TIME:
    case TYPE_DURATION:
    case TYPE_LIST:
    case TYPE_MAP:
    case TYPE_SET:
    case TYPE_UDT:
    case TYPE_TUPLE:
        return false;
    }
    return false;
}

static void json_scalar(const struct type *type, struct bytes value, struct buffer *json)
{
    struct buffer text = {0};

    type_format(type, value, &text);
    if (type->kind == TYPE_TIMESTAMP && text.size > 10 && text.data[10] == 'T')
        text.data[10] = ' ';
    bool bare = json_is_bare(type) && text.size > 0;
    bool is_float = type->kind == TYPE_FLOAT || type->kind == TYPE_DOUBLE;
    uint8_t last = text.size > 0 ? text.data[text.size - 1] : 0;
    if (bare && is_float && (last == 'N' || last == 'y'))
        buffer_append_text(json, "null");
    else if (bare)
        buffer_append_bytes(json, buffer_view(&text));
    else
        json_string(buffer_view(&text), json);
    buffer_release(&text);
}

/* A map's key: its JSON, made a string unless it is one. */
static void json_key(const struct type *type, struct bytes value, struct buffer *json)
{
    struct buffer key = {0};

    type_format_json(type, value, &key);
    if (key.data[0] == '"')
        buffer_append_bytes(json, buffer_view(&key));
    else
        json_string(buffer_view(&key), json);
    buffer_release(&key);
}

static void json_items(const struct type *type, struct bytes value, struct buffer *json)
{
    bool is_object = type->kind == TYPE_MAP || type->kind == TYPE_UDT;
    struct type_items items;

    buffer_put_u8(json, is_object ? '{' : '[');
    uint32_t count = type_items_open(type, value, &items) ? items.count : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct bytes item;
        if (!type_items_next(&items, &item))
            break;
        if (i > 0)
            buffer_append_text(json, type->kind == TYPE_MAP && i % 2 == 1 ? ": " : ", ");
        if (type->kind == TYPE_UDT) {
            json_string(bytes_text(type->field_names[i]), json);
            buffer_append_text(json, ": ");
        }
        if (item.data == NULL)
            buffer_append_text(json, "null");
        else if (type->kind == TYPE_MAP && i % 2 == 0)
            json_key(type_item_type(type, i), item, json);
        else
            type_format_json(type_item_type(type, i), item, json);
    }
    buffer_put_u8(json, is_object ? '}' : ']');
}

void type_format_json(const struct type *type, struct bytes value, struct buffer *text)
{
    if (type->argument_count > 0)
        json_items(type, value, text);
    else
        json_scalar(type, value, text);
}
