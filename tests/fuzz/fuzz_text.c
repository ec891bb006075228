/* fuzz_text: days, times, decimals and UUIDs as text: what parses prints, and prints as what parses
 * the same. */
#include "base/calendar.h"
#include "base/decimal.h"
#include "base/uuid.h"
#include "tests/fuzz/fuzz.h"

static void check_day(struct bytes text)
{
    int32_t day;
    char printed[DAY_TEXT_SIZE + 1];
    if (calendar_day_parse(text, &day)) {
        calendar_day_format(day, printed);
        check(bytes_equal(text, bytes_of(printed, DAY_TEXT_SIZE)));
    }
}

static void check_time(struct bytes text)
{
    int64_t time_ms, again;
    if (calendar_time_parse(text, &time_ms)) {
        struct buffer printed = {0};
        check(time_ms >= TIME_MS_MIN && time_ms <= TIME_MS_MAX);
        calendar_time_format(time_ms, &printed);
        check(calendar_time_parse(buffer_view(&printed), &again) && again == time_ms);
        buffer_release(&printed);
    }
}

static void check_decimal(struct bytes text)
{
    struct decimal value, again;
    int128 unscaled;
    char printed[DECIMAL_TEXT_MAX];
    if (decimal_parse_input(text, &value) == 0) {
        check(decimal_to_int128(value, &unscaled) && !decimal_is_negative(value));
        check(value.scale >= 0 && value.scale <= DECIMAL_INPUT_SCALE_MAX);
        decimal_format(value, printed);
        check(decimal_parse_input(bytes_text(printed), &again) == 0);
        check(decimal_compare(value, again) == 0 && value.scale == again.scale);
    }
    if (decimal_parse(text, &value) == 0) {
        struct buffer serialized = {0};
        decimal_serialize(&serialized, value);
        check(decimal_deserialize(buffer_view(&serialized), &again) == 0);
        check(decimal_compare(value, again) == 0 && value.scale == again.scale);
        check(decimal_format(value, printed) < DECIMAL_TEXT_MAX);
        buffer_release(&serialized);
    }
    if (decimal_deserialize(text, &value) == 0)
        check(decimal_format(value, printed) < DECIMAL_TEXT_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes text = bytes_of(data, size);
    check_day(text);
    check_time(text);
    check_decimal(text);
    return 0;
}
