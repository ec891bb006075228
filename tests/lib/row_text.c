/* row_text: see the header. */
#include "tests/lib/row_text.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint32_t row_text_times(const struct buffer *text, const char *needle)
{
    uint32_t count = 0;
    for (const char *at = (const char *)text->data; (at = strstr(at, needle)) != NULL; at++)
        count++;
    return count;
}

int64_t row_text_number(const struct buffer *text, const char *name)
{
    char needle[32];
    int64_t number = 0;
    snprintf(needle, sizeof needle, "%s|", name);
    const char *at = strstr((const char *)text->data, needle);
    if (at != NULL)
        cr_assert_eq(sscanf(at + strlen(needle), "%" SCNd64, &number), 1);
    return number;
}
