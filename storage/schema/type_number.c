/* Converts numbers of every type to exact decimals, and back.
 *
 * A sum of money must not have errors of binary fractions.  0.005 in a `float` is
 * 0.004999999888241291, but the sender meant 0.005.  So the value of a float is the shortest
 * decimal that reads back as the same float. */
#include "base/decimal.h"
#include "storage/schema/type.h"

int type_decimal(const struct type *type, struct bytes value, struct decimal *decimal_out)
{
    struct buffer text = {0};
    if (type->kind == TYPE_DECIMAL)
        return decimal_deserialize(value, decimal_out);
    if (!type_is_number(type) || value.size == 0)
        return ERROR_INVALID;
    type_format(type, value, &text);
    int rc = decimal_parse(buffer_view(&text), decimal_out);
    /* Large floats are printed with an exponent, which gives a negative scale. */
    if (rc == 0 && decimal_out->scale < 0)
        rc = decimal_round(*decimal_out, 0, decimal_out);
    buffer_release(&text);
    return rc;
}

static struct decimal without_trailing_zeros(struct decimal number)
{
    struct decimal shorter = number;
    while (number.scale > 0 && decimal_round(number, number.scale - 1, &shorter) == 0 &&
           decimal_compare(shorter, number) == 0)
        number = shorter;
    return number;
}

int type_number(const struct type *type, struct decimal number, struct buffer *value)
{
    size_t start = value->size;
    struct buffer text = {0};
    struct decimal back;
    if (!type_is_number(type))
        return ERROR_INVALID;
    if (type->kind == TYPE_DECIMAL) {
        decimal_serialize(value, number);
        return 0;
    }
    decimal_append(&text, without_trailing_zeros(number));
    int rc = type_parse_text(type, buffer_view(&text), value, NULL);
    if (rc == 0)
        rc = type_decimal(type, bytes_of(value->data + start, value->size - start), &back);
    buffer_release(&text);
    return rc == 0 && decimal_compare(back, number) == 0 ? 0 : ERROR_INVALID;
}
