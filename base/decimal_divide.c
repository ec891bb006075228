/* decimal_divide: division of decimals.  The dividend or the divisor is first multiplied by a power
 * of ten, which gives the quotient its scale.  The product may have more than 256 bits, so bigint
 * divides.
 *
 *   10.50 / 3     1050 * 10^30 / 3 at scale 32, half up = 3.50000000000000000000000000000000 → 3.5
 *   10.50 % 3     10.50 - 3 * 3 = 1.50 */
#include <string.h>

#include "base/bigint.h"
#include "base/decimal.h"

enum { QUOTIENT_DIGITS = 32 };

/* Returns a view into `serialized`, which this function fills. */
static struct bytes unscaled_of(struct decimal value, uint8_t serialized[DECIMAL_SERIALIZED_MAX])
{
    size_t size = decimal_store(value, serialized);
    return bytes_of(serialized + 4, size - 4);
}

static int from_unscaled(struct bytes unscaled, int64_t scale, struct decimal *value_out)
{
    struct buffer serialized = {0};
    *value_out = (struct decimal){0};
    if (scale < DECIMAL_SCALE_MIN || scale > DECIMAL_SCALE_MAX)
        return ERROR_LIMIT;
    buffer_put_u32_be(&serialized, (uint32_t)scale);
    buffer_append_bytes(&serialized, unscaled);
    int rc = decimal_deserialize(buffer_view(&serialized), value_out);
    buffer_release(&serialized);
    return rc;
}

static int32_t digits_of(struct decimal value)
{
    uint8_t serialized[DECIMAL_SERIALIZED_MAX];
    struct buffer text = {0};
    bigint_format(unscaled_of(value, serialized), &text);
    int32_t digits = (int32_t)text.size - decimal_is_negative(value);
    buffer_release(&text);
    return digits;
}

int decimal_divide(struct decimal a, struct decimal b, int32_t scale,
                   enum decimal_rounding rounding, struct decimal *quotient_out)
{
    uint8_t left[DECIMAL_SERIALIZED_MAX];
    uint8_t right[DECIMAL_SERIALIZED_MAX];
    struct buffer quotient = {0};
    *quotient_out = (struct decimal){0};
    if (decimal_is_zero(b))
        return ERROR_INVALID;
    int64_t more = (int64_t)scale - a.scale + b.scale;
    bigint_divide(unscaled_of(a, left), more > 0 ? (uint32_t)more : 0, unscaled_of(b, right),
                  more < 0 ? (uint32_t)-more : 0, rounding, &quotient);
    int rc = from_unscaled(buffer_view(&quotient), scale, quotient_out);
    buffer_release(&quotient);
    return rc;
}

/* Removes trailing zeros of the value.  Returns how many, at most `most`. */
static int32_t strip_zeros(struct decimal *value, int32_t most)
{
    int32_t stripped = 0;
    struct decimal shorter;
    while (stripped < most && value->scale > DECIMAL_SCALE_MIN && !decimal_is_zero(*value)) {
        int rc = decimal_round(*value, value->scale - 1, &shorter);
        if (rc != 0 || decimal_compare(shorter, *value) != 0)
            break;
        *value = shorter;
        stripped++;
    }
    return stripped;
}

int decimal_quotient(struct decimal a, struct decimal b, struct decimal *quotient_out)
{
    int32_t first_digit = (digits_of(a) - a.scale) - (digits_of(b) - b.scale);
    int32_t scale = QUOTIENT_DIGITS - first_digit;
    scale = scale > a.scale ? scale : a.scale;
    scale = scale > b.scale ? scale : b.scale;
    scale = scale > QUOTIENT_DIGITS ? scale : QUOTIENT_DIGITS;
    int rc = decimal_divide(a, b, scale, DECIMAL_HALF_UP, quotient_out);
    if (rc == 0 && decimal_is_zero(*quotient_out))
        quotient_out->scale = 0;
    if (rc == 0)
        strip_zeros(quotient_out, INT32_MAX);
    return rc;
}

int decimal_remainder(struct decimal a, struct decimal b, struct decimal *remainder_out)
{
    struct decimal whole;
    struct decimal product;
    *remainder_out = (struct decimal){0};
    int rc = decimal_divide(a, b, 0, DECIMAL_DOWN, &whole);
    int32_t more = b.scale > a.scale ? b.scale - a.scale : 0;
    int32_t stripped = decimal_is_zero(whole) ? more : strip_zeros(&whole, more);
    if (rc == 0)
        rc = decimal_multiply(whole, b, &product);
    if (rc == 0)
        rc = decimal_subtract(a, product, remainder_out);
    if (rc == 0 && stripped > 0)
        rc = decimal_round(*remainder_out, a.scale + more - stripped, remainder_out);
    return rc;
}
