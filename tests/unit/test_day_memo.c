/* Days kept as text and back are those of the calendar, whichever were asked for before. */
#include "ingest/parse/day_memo.h"

#include <criterion/criterion.h>

#include "base/memory.h"

/* Days that share slots, in both orders. */
Test(day_memo, days_are_formatted_and_parsed_as_the_calendar_does)
{
    static const int32_t steps[] = {1, 31, 64, 365, 7919};
    struct day_memo *memo = memory_zeroed(1, sizeof *memo);
    char text[DAY_TEXT_SIZE + 1];
    int32_t parsed;

    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        for (int32_t day = 0; day <= DAY_MAX && day < 400 * steps[s]; day += steps[s]) {
            calendar_day_format(day, text);
            for (int again = 0; again < 2; again++) {
                cr_assert(bytes_equal(day_memo_format(memo, day), bytes_text(text)));
                cr_assert(day_memo_parse(memo, (const uint8_t *)text, &parsed));
                cr_assert(parsed == day);
            }
        }
    }
    cr_assert(bytes_equal(day_memo_format(memo, 0), bytes_text("1970-01-01")));
    memory_free(memo);
}

/* Each beside the day whose slot it has, which is kept. */
Test(day_memo, what_is_no_day_is_never_one)
{
    static const char *const texts[] = {"2013-11-31", "2013-13-28", "2013-11-2 ", "2013x11-28",
                                        "2014-02-29", "0000000000", "2013-1128-"};
    static const uint8_t zeros[DAY_TEXT_SIZE] = {0};
    struct day_memo *memo = memory_zeroed(1, sizeof *memo);
    int32_t parsed;

    cr_expect(!day_memo_parse(memo, zeros, &parsed));
    cr_assert(day_memo_parse(memo, (const uint8_t *)"2013-11-28", &parsed));
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
            cr_expect(!day_memo_parse(memo, (const uint8_t *)texts[i], &parsed), "%s", texts[i]);
    cr_expect(day_memo_parse(memo, (const uint8_t *)"2013-11-28", &parsed) && parsed == 16037);
    memory_free(memo);
}
