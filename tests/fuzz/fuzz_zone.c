/* fuzz_zone: TZif files; whatever zone comes out, days and hours follow one another.
 *
 * Input: 8 bytes of a time, then the file. */
#include "base/calendar.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zone *zone = NULL;
    if (size < 8 || calendar_zone_decode(bytes_of(data + 8, size - 8), &zone) != 0)
        return 0;
    int64_t time_ms = (int64_t)(load_u64(data) % (uint64_t)TIME_MS_MAX);
    int32_t day = calendar_zone_day(zone, time_ms);
    int64_t start = calendar_zone_day_start(zone, day);
    check(calendar_zone_day_start(zone, day + 1) >= start);
    check(calendar_zone_day(zone, start) >= day);
    struct calendar_span hour = calendar_zone_span(zone, time_ms, HOUR_MS);
    char text[MOMENT_TEXT_MAX + 1];
    check(hour.start_ms <= time_ms && time_ms < hour.end_ms);
    check(hour.end_ms - hour.start_ms <= HOUR_MS);
    check(calendar_zone_span(zone, hour.start_ms, HOUR_MS).start_ms == hour.start_ms);
    check(calendar_zone_span(zone, hour.end_ms, HOUR_MS).start_ms == hour.end_ms);
    check(calendar_zone_format(zone, hour.start_ms, text) <= MOMENT_TEXT_MAX);
    calendar_zone_close(zone);
    return 0;
}
