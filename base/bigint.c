/* bigint: adapts GMP's integers of any size (mpz).
 *
 * A negative number -m is stored as the inverted bits of m - 1, in the fewest bytes that leave the
 * top bit set: -128 is 80, -129 is FF 7F. */
#include "base/bigint.h"

#include <gmp.h>

#include "base/memory.h"

static void bigint_load(mpz_t target, struct bytes number)
{
    mpz_init(target);
    if (number.size == 0)
        return;
    mpz_import(target, number.size, 1, 1, 1, 0, number.data);
    if (number.data[0] & 0x80) {
        mpz_t modulus;

        mpz_init_set_ui(modulus, 1);
        mpz_mul_2exp(modulus, modulus, 8 * number.size);
        mpz_sub(target, target, modulus);
        mpz_clear(modulus);
    }
}

static void bigint_scale_up(mpz_t number, uint64_t digits)
{
    mpz_t power;

    mpz_init(power);
    mpz_ui_pow_ui(power, 10, digits);
    mpz_mul(number, number, power);
    mpz_clear(power);
}

int bigint_compare_scaled(struct bytes a, int32_t a_scale, struct bytes b, int32_t b_scale)
{
    mpz_t left;
    mpz_t right;

    bigint_load(left, a);
    bigint_load(right, b);
    if (a_scale < b_scale)
        bigint_scale_up(left, (uint64_t)((int64_t)b_scale - a_scale));
    else if (b_scale < a_scale)
        bigint_scale_up(right, (uint64_t)((int64_t)a_scale - b_scale));
    int order = mpz_cmp(left, right);
    mpz_clear(left);
    mpz_clear(right);
    return order;
}

void bigint_format(struct bytes number, struct buffer *text)
{
    mpz_t value;

    /* A byte makes fewer than 2.5 digits; mpz_get_str adds a sign and a NUL.  The buffer must grow
     * before GMP allocates, because buffer_reserve may end by longjmp (struct arena_budget), and
     * GMP's memory would then leak. */
    buffer_reserve(text, number.size / 2 * 5 + 8);
    bigint_load(value, number);
    char *digits = (char *)text->data + text->size;
    mpz_get_str(digits, 10, value);
    while (text->data[text->size] != '\0')
        text->size++;
    mpz_clear(value);
}

static void bigint_store(const mpz_t value, struct buffer *number)
{
    bool is_negative = mpz_sgn(value) < 0;
    mpz_t bits;

    mpz_init_set(bits, value);
    if (is_negative)
        mpz_com(bits, bits);
    size_t bit_count = mpz_sizeinbase(bits, 2); /* 1 for zero */
    size_t size = bit_count / 8 + 1;
    buffer_put_zeros(number, size);
    uint8_t *end = number->data + number->size;
    mpz_export(end - (bit_count + 7) / 8, NULL, 1, 1, 1, 0, bits);
    for (uint8_t *at = end - size; is_negative && at < end; at++)
        *at = (uint8_t) ~*at;
    mpz_clear(bits);
}

/* Whether a quotient with the remainder `left` is rounded away from zero.  Overwrites `left`. */
static bool bigint_rounds_away(const mpz_t quotient, mpz_t left, const mpz_t divisor,
                               enum decimal_rounding rounding)
{
    if (rounding == DECIMAL_DOWN)
        return false;
    mpz_mul_ui(left, left, 2);
    int order = mpz_cmpabs(left, divisor);
    return order > 0 || (order == 0 && (rounding == DECIMAL_HALF_UP || mpz_odd_p(quotient)));
}

void bigint_divide(struct bytes a, uint32_t a_digits, struct bytes b, uint32_t b_digits,
                   enum decimal_rounding rounding, struct buffer *quotient)
{
    mpz_t dividend;
    mpz_t divisor;
    mpz_t result;

    buffer_reserve(quotient, a.size + a_digits / 2 + 2); /* before GMP allocates */
    bigint_load(dividend, a);
    bigint_load(divisor, b);
    bigint_scale_up(dividend, a_digits);
    bigint_scale_up(divisor, b_digits);
    check(mpz_sgn(divisor) != 0);
    int sign = mpz_sgn(dividend) * mpz_sgn(divisor);
    mpz_init(result);
    mpz_tdiv_qr(result, dividend, dividend, divisor);
    if (bigint_rounds_away(result, dividend, divisor, rounding)) {
        if (sign < 0)
            mpz_sub_ui(result, result, 1);
        else
            mpz_add_ui(result, result, 1);
    }
    bigint_store(result, quotient);
    mpz_clears(dividend, divisor, result, NULL);
}

int bigint_parse(struct bytes text, struct buffer *number)
{
    size_t digits_start = text.size > 0 && text.data[0] == '-' ? 1 : 0;

    if (text.size == digits_start)
        return ERROR_INVALID;
    for (size_t i = digits_start; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return ERROR_INVALID;
    buffer_reserve(number, text.size / 2 + 2); /* before GMP allocates */
    char *terminated = memory_alloc(text.size + 1);
    memcpy(terminated, text.data, text.size);
    terminated[text.size] = '\0';
    mpz_t value;
    int failed = mpz_init_set_str(value, terminated, 10);
    memory_free(terminated);
    check(failed == 0);
    bigint_store(value, number);
    mpz_clear(value);
    return 0;
}
