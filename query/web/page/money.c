/* money: see the header. */
#include "query/web/page/money.h"

#include <stdlib.h>

#include "base/arena.h"
#include "query/web/page/html.h"

static const char percent_sign[] = "\xC2\xA0%"; /* a no-break space */

struct decimal money_of(struct bytes digits)
{
    struct decimal value;

    return decimal_parse(digits, &value) == 0 ? value : decimal_from(0, 0);
}

struct decimal money_plus(struct decimal a, struct decimal b)
{
    struct decimal sum;

    return decimal_add(a, b, &sum) == 0 ? sum : a;
}

struct decimal money_minus(struct decimal a, struct decimal b)
{
    struct decimal difference;

    return decimal_subtract(a, b, &difference) == 0 ? difference : a;
}

struct bytes money_digits(struct arena *arena, struct decimal value)
{
    struct buffer digits = {.arena = arena};

    decimal_append(&digits, value);
    return buffer_view(&digits);
}

struct bytes money_text(struct arena *arena, struct decimal value)
{
    return html_number(arena, money_digits(arena, value));
}

static struct bytes with_percent(struct arena *arena, struct decimal value)
{
    struct buffer text = {.arena = arena};

    buffer_append_bytes(&text, money_text(arena, value));
    buffer_append_text(&text, percent_sign);
    return buffer_view(&text);
}

struct bytes money_share(struct arena *arena, struct decimal part, struct decimal whole)
{
    struct decimal hundredfold, share;

    if (decimal_is_zero(whole) || decimal_multiply(part, decimal_from(100, 0), &hundredfold) != 0 ||
        decimal_divide(hundredfold, whole, 1, DECIMAL_HALF_EVEN, &share) != 0)
        return (struct bytes){0};
    return with_percent(arena, share);
}

struct bytes money_rate(struct arena *arena, struct bytes rate)
{
    struct decimal percent = money_of(rate);

    /* A multiplication by 100 moves the decimal point by two digits. */
    if (percent.scale >= 2)
        percent.scale -= 2;
    else if (decimal_multiply(percent, decimal_from(100, 0), &percent) != 0)
        return rate;
    else if (decimal_round(percent, 0, &percent) != 0)
        return rate;
    return with_percent(arena, percent);
}

double money_length(struct decimal value)
{
    char text[DECIMAL_TEXT_MAX];

    (void)decimal_format(value, text);
    return strtod(text, NULL);
}
