/* figure_text: see the header. */
#include "tests/sim/figure_text.h"

#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/decimal.h"

static bool is_number(const char *text, int64_t unscaled, int32_t scale)
{
    struct decimal value;
    return decimal_parse(bytes_text(text), &value) == 0 &&
           decimal_compare(value, decimal_from(unscaled, scale)) == 0;
}

bool figure_text_matches(const struct buffer *figures, const char *reseller, const char *day,
                         const struct figure_expected *expected)
{
    char needle[32], gross[40], rate[40], amount[40];
    uint32_t clicks;
    snprintf(needle, sizeof needle, "%s %s ", reseller, day);
    const char *line = strstr((const char *)figures->data, needle);
    if (line == NULL)
        return expected->clicks == 0;
    cr_assert_eq(sscanf(line, "%*s %*s %u %39s %39s %39s", &clicks, gross, rate, amount), 4, "%s",
                 line);
    if (clicks != expected->clicks || !is_number(gross, expected->cents, 2))
        return false;
    if (expected->percent < 0 || clicks == 0)
        return expected->percent >= 0 || strcmp(amount, "-") == 0;
    return is_number(amount, expected->cents * expected->percent, 4);
}

bool figure_text_has_rate(const struct buffer *rates, const char *reseller, const char *day,
                          int64_t percent, int32_t scale)
{
    char needle[32], text[32];
    snprintf(needle, sizeof needle, "%s|%s|", reseller, day);
    const char *at = strstr((const char *)rates->data, needle);
    if (at == NULL || percent < 0)
        return at == NULL && percent < 0;
    cr_assert_eq(sscanf(at + strlen(needle), "%31s", text), 1);
    return is_number(text, percent, scale);
}
