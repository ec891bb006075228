/* Thirteen digits are one number by words and by vectors, and nothing else is any. */
#include "ingest/parse/digits.h"

#include <inttypes.h>
#include <stdio.h>

#include <criterion/criterion.h>

/* Digits behind the last must not matter, nor anything else. */
static bool number_of(const char *text, uint64_t *number_out)
{
    uint8_t bytes[DIGITS_READ];
    uint64_t again;
    bool is_number;

    memset(bytes, '7', sizeof bytes);
    memcpy(bytes, text, DIGITS_TIME);
    is_number = digits_time(bytes, number_out);
    cr_assert(digits_time_by_words(bytes, &again) == is_number);
    if (is_number)
        cr_assert(again == *number_out);
    memset(bytes + DIGITS_TIME, 0xFF, sizeof bytes - DIGITS_TIME);
    cr_assert(digits_time(bytes, &again) == is_number);
    if (is_number)
        cr_assert(again == *number_out);
    return is_number;
}

Test(digits, thirteen_digits_are_their_number_by_words_and_by_vectors)
{
    uint64_t number = 0;
    uint64_t found;
    char text[32];

    for (int i = 0; i < 100000; i++) {
        (void)snprintf(text, sizeof text, "%013" PRIu64, number);
        cr_assert(number_of(text, &found) && found == number, "%s", text);
        number = (number * UINT64_C(6364136223846793005) + 1) % UINT64_C(10000000000000);
    }
    cr_assert(number_of("9999999999999", &found) && found == UINT64_C(9999999999999));
    cr_assert(number_of("0000000000000", &found) && found == 0);
}

Test(digits, any_other_byte_anywhere_is_no_number)
{
    uint64_t number;

    for (unsigned at = 0; at < DIGITS_TIME; at++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            char text[] = "1385654400123";

            text[at] = (char)byte;
            cr_assert(number_of(text, &number) == (byte >= '0' && byte <= '9'));
        }
    }
}
