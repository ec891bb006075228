/* decimal: sign-and-magnitude arithmetic on 256-bit two's complement.
 *
 * What must hold: an operation gives the exact result or ERROR_LIMIT; in this file only
 * decimal_round rounds. */
#include "base/decimal.h"

#include <string.h>

#include <gmp.h>

#include "base/reader.h"

enum {
    LIMBS = 4,
    POWER_DIGITS_MAX = 19, /* the largest power of ten in 64 bits is 10^19 */
    DIGITS_MAX = 78        /* digits of a 256-bit magnitude */
};

struct magnitude {
    uint64_t limb[LIMBS]; /* least significant first */
};
_Static_assert(_Generic((mp_limb_t)0, uint64_t: true, default: false), "a limb is one of GMP's");

static const uint64_t powers_of_ten[POWER_DIGITS_MAX + 1] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

/* ---- magnitudes ---- */

static bool magnitude_is_zero(const struct magnitude *m)
{
    return mpn_zero_p(m->limb, LIMBS) != 0;
}

/* False: the result does not fit into 256 bits. */
static bool magnitude_multiply_add(struct magnitude *m, uint64_t factor, uint64_t term)
{
    return mpn_mul_1(m->limb, m->limb, LIMBS, factor) == 0 &&
           mpn_add_1(m->limb, m->limb, LIMBS, term) == 0;
}

static uint64_t magnitude_divide(struct magnitude *m, uint64_t divisor)
{
    return mpn_divrem_1(m->limb, 0, m->limb, LIMBS, divisor);
}

/* m = m * 10^digits.  False: the result does not fit into 256 bits. */
static bool magnitude_shift_up(struct magnitude *m, int64_t digits)
{
    if (magnitude_is_zero(m))
        return true;
    while (digits > 0) {
        int64_t step = digits < POWER_DIGITS_MAX ? digits : POWER_DIGITS_MAX;
        if (!magnitude_multiply_add(m, powers_of_ten[step], 0))
            return false;
        digits -= step;
    }
    return true;
}

/* ---- values and magnitudes ---- */

static struct magnitude decimal_magnitude(const struct decimal *value)
{
    struct magnitude m;
    memcpy(m.limb, value->limb, sizeof m.limb);
    if (decimal_is_negative(*value))
        mpn_neg(m.limb, m.limb, LIMBS);
    return m;
}

static bool is_scale(int64_t scale)
{
    return scale >= DECIMAL_SCALE_MIN && scale <= DECIMAL_SCALE_MAX;
}

static int decimal_assemble(bool is_negative, const struct magnitude *m, int64_t scale,
                            struct decimal *value_out)
{
    *value_out = (struct decimal){0};
    if (!is_scale(scale))
        return ERROR_LIMIT;
    bool has_top_bit = m->limb[3] >> 63 != 0;
    bool is_least = has_top_bit && (m->limb[3] << 1 | m->limb[2] | m->limb[1] | m->limb[0]) == 0;
    if (has_top_bit && !(is_negative && is_least))
        return ERROR_LIMIT;
    memcpy(value_out->limb, m->limb, sizeof value_out->limb);
    if (is_negative)
        mpn_neg(value_out->limb, value_out->limb, LIMBS);
    value_out->scale = (int32_t)scale;
    return 0;
}

struct decimal decimal_from(int128 unscaled, int32_t scale)
{
    check(is_scale(scale));
    uint64_t sign = unscaled < 0 ? UINT64_MAX : 0;
    return (struct decimal){
        .limb = {(uint64_t)unscaled, (uint64_t)((uint128)unscaled >> 64), sign, sign},
        .scale = scale,
    };
}

bool decimal_to_int128(struct decimal value, int128 *unscaled_out)
{
    uint64_t sign = value.limb[1] >> 63 != 0 ? UINT64_MAX : 0;
    *unscaled_out = (int128)((uint128)value.limb[1] << 64 | value.limb[0]);
    return value.limb[2] == sign && value.limb[3] == sign;
}

bool decimal_split(struct decimal value, uint8_t scale_max, int64_t *unscaled_out,
                   uint8_t *scale_out)
{
    int128 unscaled;
    bool fits = decimal_to_int128(value, &unscaled) && unscaled == (int64_t)unscaled;
    *unscaled_out = (int64_t)unscaled;
    *scale_out = (uint8_t)value.scale;
    return fits && value.scale >= 0 && value.scale <= scale_max;
}

bool decimal_is_zero(struct decimal value)
{
    return (value.limb[0] | value.limb[1] | value.limb[2] | value.limb[3]) == 0;
}

bool decimal_is_negative(struct decimal value)
{
    return value.limb[3] >> 63 != 0;
}

/* ---- text to value ---- */

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

int decimal_parse_input(struct bytes text, struct decimal *value_out)
{
    *value_out = (struct decimal){0};
    uint64_t unscaled = 0;
    size_t significant = 0;
    size_t point = text.size;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '.' && point == text.size && i > 0 && i + 1 < text.size) {
            point = i;
            continue;
        }
        if (!is_digit(text.data[i]))
            return ERROR_INVALID;
        unsigned digit = text.data[i] - '0';
        significant += significant > 0 || digit > 0;
        if (significant <= DECIMAL_INPUT_DIGITS_MAX)
            unscaled = unscaled * 10 + digit;
    }
    if (text.size == 0)
        return ERROR_INVALID;
    size_t scale = point < text.size ? text.size - point - 1 : 0;
    if (significant > DECIMAL_INPUT_DIGITS_MAX || scale > DECIMAL_INPUT_SCALE_MAX)
        return ERROR_LIMIT;
    *value_out = decimal_from((int128)unscaled, (int32_t)scale);
    return 0;
}

bool decimal_is_input(struct decimal value)
{
    int128 unscaled;
    return value.scale >= 0 && value.scale <= DECIMAL_INPUT_SCALE_MAX &&
           decimal_to_int128(value, &unscaled) && unscaled >= 0 &&
           unscaled < (int128)powers_of_ten[DECIMAL_INPUT_DIGITS_MAX];
}

/* Add the number of digits after the point to `*scale`. */
static int decimal_parse_digits(struct reader *reader, struct magnitude *m, int64_t *scale)
{
    bool has_digit = false;
    bool has_point = false;
    bool fits = true;
    while (reader_left(reader) > 0) {
        uint8_t c = reader->data[reader->offset];
        if (c == '.' && !has_point) {
            has_point = true;
        } else if (is_digit(c)) {
            has_digit = true;
            fits = fits && magnitude_multiply_add(m, 10, (uint64_t)(c - '0'));
            *scale += has_point;
        } else {
            break;
        }
        reader->offset++;
    }
    if (!has_digit)
        return ERROR_INVALID;
    return fits ? 0 : ERROR_LIMIT;
}

/* Read [eE][+-]digits or nothing, to the end of the text.  Once the exponent is over INT32_MAX, it
 * is beyond every limit, and further digits are not added. */
static int decimal_parse_exponent(struct reader *reader, int64_t *exponent_out)
{
    *exponent_out = 0;
    if (reader_left(reader) == 0)
        return 0;
    uint8_t letter = reader_u8(reader);
    if (letter != 'e' && letter != 'E')
        return ERROR_INVALID;
    uint8_t c = reader_u8(reader);
    bool is_negative = c == '-';
    if (c == '-' || c == '+')
        c = reader_u8(reader);
    int64_t exponent = 0;
    for (;;) {
        if (reader->failed || !is_digit(c))
            return ERROR_INVALID;
        if (exponent < INT32_MAX)
            exponent = exponent * 10 + (c - '0');
        if (reader_left(reader) == 0)
            break;
        c = reader_u8(reader);
    }
    *exponent_out = is_negative ? -exponent : exponent;
    return 0;
}

int decimal_parse(struct bytes text, struct decimal *value_out)
{
    *value_out = (struct decimal){0};
    struct reader reader = reader_of(text);
    bool is_negative = text.size > 0 && text.data[0] == '-';
    if (is_negative || (text.size > 0 && text.data[0] == '+'))
        reader.offset++;
    struct magnitude m = {{0}};
    int64_t scale = 0;
    int digits_rc = decimal_parse_digits(&reader, &m, &scale);
    if (digits_rc == ERROR_INVALID)
        return digits_rc;
    int64_t exponent;
    int rc = decimal_parse_exponent(&reader, &exponent);
    if (rc < 0)
        return rc;
    if (digits_rc < 0)
        return digits_rc;
    return decimal_assemble(is_negative, &m, scale - exponent, value_out);
}

/* ---- arithmetic ---- */

/* Whether the unscaled value fits into 64 bits, as that of nearly all amounts of money does. */
static bool is_small(const struct decimal *value)
{
    uint64_t sign = (uint64_t)((int64_t)value->limb[0] >> 63);
    return value->limb[1] == sign && value->limb[2] == sign && value->limb[3] == sign;
}

static int64_t small_value(const struct decimal *value)
{
    return (int64_t)value->limb[0];
}

int decimal_add(struct decimal a, struct decimal b, struct decimal *sum_out)
{
    if (a.scale == b.scale && is_small(&a) && is_small(&b) && is_scale(a.scale)) {
        *sum_out = decimal_from((int128)small_value(&a) + small_value(&b), a.scale);
        return 0;
    }
    int64_t scale = a.scale > b.scale ? a.scale : b.scale;
    bool a_is_negative = decimal_is_negative(a);
    bool b_is_negative = decimal_is_negative(b);
    struct magnitude m = decimal_magnitude(&a);
    struct magnitude n = decimal_magnitude(&b);
    *sum_out = (struct decimal){0};
    if (!magnitude_shift_up(&m, scale - a.scale) || !magnitude_shift_up(&n, scale - b.scale))
        return ERROR_LIMIT;
    if (a_is_negative == b_is_negative) {
        if (mpn_add_n(m.limb, m.limb, n.limb, LIMBS) != 0)
            return ERROR_LIMIT;
        return decimal_assemble(a_is_negative, &m, scale, sum_out);
    }
    if (mpn_cmp(m.limb, n.limb, LIMBS) >= 0) {
        mpn_sub_n(m.limb, m.limb, n.limb, LIMBS);
        return decimal_assemble(a_is_negative, &m, scale, sum_out);
    }
    mpn_sub_n(n.limb, n.limb, m.limb, LIMBS);
    return decimal_assemble(b_is_negative, &n, scale, sum_out);
}

int decimal_subtract(struct decimal a, struct decimal b, struct decimal *difference_out)
{
    struct magnitude m = decimal_magnitude(&b);
    struct decimal negated;
    int rc = decimal_assemble(!decimal_is_negative(b), &m, b.scale, &negated);
    *difference_out = (struct decimal){0};
    return rc < 0 ? rc : decimal_add(a, negated, difference_out);
}

int decimal_multiply(struct decimal a, struct decimal b, struct decimal *product_out)
{
    bool is_negative = decimal_is_negative(a) != decimal_is_negative(b);
    int64_t scale = (int64_t)a.scale + b.scale;
    if (is_small(&a) && is_small(&b) && is_scale(scale)) {
        *product_out = decimal_from((int128)small_value(&a) * small_value(&b), (int32_t)scale);
        return 0;
    }
    struct magnitude m = decimal_magnitude(&a);
    struct magnitude n = decimal_magnitude(&b);
    uint64_t product[2 * LIMBS];
    mpn_mul_n(product, m.limb, n.limb, LIMBS);
    memcpy(m.limb, product, sizeof m.limb);
    *product_out = (struct decimal){0};
    if (mpn_zero_p(product + LIMBS, LIMBS) == 0)
        return ERROR_LIMIT;
    return decimal_assemble(is_negative, &m, scale, product_out);
}

int decimal_compare(struct decimal a, struct decimal b)
{
    if (a.scale == b.scale && is_small(&a) && is_small(&b))
        return (small_value(&a) > small_value(&b)) - (small_value(&a) < small_value(&b));
    bool is_negative = decimal_is_negative(a);
    if (is_negative != decimal_is_negative(b))
        return is_negative ? -1 : 1;
    int64_t scale = a.scale > b.scale ? a.scale : b.scale;
    struct magnitude m = decimal_magnitude(&a);
    struct magnitude n = decimal_magnitude(&b);
    int order;
    /* Only the magnitude with the smaller scale is multiplied.  If the product does not fit into
     * 256 bits, that magnitude is the larger one. */
    if (!magnitude_shift_up(&m, scale - a.scale))
        order = 1;
    else if (!magnitude_shift_up(&n, scale - b.scale))
        order = -1;
    else
        order = mpn_cmp(m.limb, n.limb, LIMBS);
    return is_negative ? -order : order;
}

/* m = m / 10^digits, rounded half even. */
static void magnitude_round_down(struct magnitude *m, int64_t digits)
{
    bool is_inexact = false;
    for (int64_t left = digits - 1; left > 0 && !magnitude_is_zero(m);) {
        int64_t step = left < POWER_DIGITS_MAX ? left : POWER_DIGITS_MAX;
        is_inexact |= magnitude_divide(m, powers_of_ten[step]) != 0;
        left -= step;
    }
    uint64_t last = magnitude_divide(m, 10);
    bool is_odd = (m->limb[0] & 1) != 0;
    if (last > 5 || (last == 5 && (is_inexact || is_odd)))
        magnitude_multiply_add(m, 1, 1);
}

int decimal_round(struct decimal value, int32_t scale, struct decimal *rounded_out)
{
    bool is_negative = decimal_is_negative(value);
    struct magnitude m = decimal_magnitude(&value);
    int64_t more = (int64_t)scale - value.scale;
    *rounded_out = (struct decimal){0};
    if (more >= 0) {
        if (!magnitude_shift_up(&m, more))
            return ERROR_LIMIT;
    } else {
        magnitude_round_down(&m, -more);
    }
    return decimal_assemble(is_negative, &m, scale, rounded_out);
}

/* ---- value to text and bytes ---- */

/* The digits end at digits + DIGITS_MAX.  Returns where they begin. */
static char *magnitude_digits(struct magnitude m, char digits[DIGITS_MAX])
{
    char *at = digits + DIGITS_MAX;
    do {
        uint64_t part = magnitude_divide(&m, powers_of_ten[18]);
        bool is_last = magnitude_is_zero(&m);
        for (int i = 0; i < 18 && (!is_last || part > 0); i++) {
            *--at = (char)('0' + part % 10);
            part /= 10;
        }
    } while (!magnitude_is_zero(&m));
    if (at == digits + DIGITS_MAX)
        *--at = '0';
    return at;
}

size_t decimal_format(struct decimal value, char *text)
{
    check(is_scale(value.scale));
    char digits[DIGITS_MAX];
    const char *from = magnitude_digits(decimal_magnitude(&value), digits);
    size_t count = (size_t)(digits + DIGITS_MAX - from);
    size_t scale = value.scale > 0 ? (size_t)value.scale : 0;
    size_t zeros_after = value.scale < 0 && !decimal_is_zero(value) ? (size_t)-value.scale : 0;
    char *to = text;
    if (decimal_is_negative(value))
        *to++ = '-';
    if (count > scale) {
        memcpy(to, from, count - scale);
        to += count - scale;
        from += count - scale;
        count = scale;
    } else {
        *to++ = '0';
    }
    memset(to, '0', zeros_after);
    to += zeros_after;
    if (scale > 0) {
        *to++ = '.';
        memset(to, '0', scale - count);
        memcpy(to + scale - count, from, count);
        to += scale;
    }
    *to = '\0';
    return (size_t)(to - text);
}

void decimal_append(struct buffer *buffer, struct decimal value)
{
    buffer_reserve(buffer, DECIMAL_TEXT_MAX);
    buffer->size += decimal_format(value, (char *)buffer->data + buffer->size);
}

static size_t limbs_size(const uint64_t *limb)
{
    uint64_t fill = limb[LIMBS - 1] >> 63 != 0 ? UINT64_MAX : 0;
    size_t high = LIMBS - 1;
    /* A limb is left out if it only repeats the sign bit of the limb below. */
    while (high > 0 && limb[high] == fill && ((limb[high - 1] ^ fill) >> 63) == 0)
        high--;
    uint64_t bits = limb[high] ^ fill;
    size_t used = bit_length(bits);
    /* The sign takes one more bit. */
    return 8 * high + used / 8 + 1;
}

size_t decimal_store(struct decimal value, uint8_t *bytes)
{
    uint8_t whole[sizeof value.limb];
    size_t size = limbs_size(value.limb);
    if (size <= sizeof value.limb[0]) {
        store_u32_be(bytes, (uint32_t)value.scale);
        store_u64_be(bytes + 4, value.limb[0] << (64 - 8 * size));
        return 4 + size;
    }
    for (size_t i = 0; i < LIMBS; i++)
        store_u64_be(whole + sizeof whole - 8 * (i + 1), value.limb[i]);
    store_u32_be(bytes, (uint32_t)value.scale);
    memcpy(bytes + 4, whole + sizeof whole - size, size);
    return 4 + size;
}

void decimal_serialize(struct buffer *buffer, struct decimal value)
{
    buffer_reserve(buffer, DECIMAL_SERIALIZED_MAX);
    buffer->size += decimal_store(value, buffer->data + buffer->size);
}

int decimal_deserialize(struct bytes serialized, struct decimal *value_out)
{
    *value_out = (struct decimal){0};
    if (serialized.size < 5)
        return ERROR_INVALID;
    int64_t scale = (int32_t)load_u32_be(serialized.data);
    if (!is_scale(scale))
        return ERROR_LIMIT;
    const uint8_t *digits = serialized.data + 4;
    size_t size = serialized.size - 4;
    uint8_t fill = (digits[0] & 0x80) != 0 ? 0xff : 0;
    for (; size > sizeof value_out->limb; size--, digits++)
        if (digits[0] != fill || ((digits[1] ^ fill) & 0x80) != 0)
            return ERROR_LIMIT;
    value_out->scale = (int32_t)scale;
    if (size <= sizeof value_out->limb[0]) {
        uint64_t limb = fill != 0 ? UINT64_MAX : 0;
        memset(value_out->limb, fill, sizeof value_out->limb);
        for (size_t i = 0; i < size; i++)
            limb = limb << 8 | digits[i];
        value_out->limb[0] = limb;
        return 0;
    }
    uint8_t whole[sizeof value_out->limb];
    memset(whole, fill, sizeof whole);
    memcpy(whole + sizeof whole - size, digits, size);
    for (size_t i = 0; i < LIMBS; i++)
        value_out->limb[i] = load_u64_be(whole + sizeof whole - 8 * (i + 1));
    return 0;
}
