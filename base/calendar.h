/* calendar: days, times and time zones, without the C library's global state.
 *
 * A day is a count of days since 1970-01-01 in the proleptic Gregorian calendar; a time is
 * milliseconds since 1970-01-01T00:00Z.  Source: H. Hinnant, "chrono-Compatible Low-Level Date
 * Algorithms". */
#ifndef DAYBOOK_BASE_CALENDAR_H
#define DAYBOOK_BASE_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

enum {
    DAY_TEXT_SIZE = 10,                               /* YYYY-MM-DD */
    MONTH_TEXT_SIZE = 7,                              /* YYYY-MM */
    WEEK_TEXT_MAX = 9,                                /* YYYY-Www, or -0001-W52 */
    MOMENT_TEXT_MAX = 25,                             /* YYYY-MM-DDThh:mm:ss+hh:mm */
    DAY_MIN = -719528,                                /* 0000-01-01 */
    DAY_MAX = 2932896                                 /* 9999-12-31 */
};
#define MINUTE_MS INT64_C(60000)
#define HOUR_MS INT64_C(3600000)
#define DAY_MS INT64_C(86400000)
#define TIME_MS_MIN INT64_C(0)                        /* 1970-01-01T00:00:00.000Z */
#define TIME_MS_MAX INT64_C(253402300799999)          /* 9999-12-31T23:59:59.999Z */

/* Parse YYYY-MM-DD.  False: `text` is not a day of the years 0000 to 9999. */
bool calendar_day_parse(struct bytes text, int32_t *day_out);
/* `day` lies in DAY_MIN..DAY_MAX. */
void calendar_day_format(int32_t day, char text[DAY_TEXT_SIZE + 1]);
int32_t calendar_day_of_time(int64_t time_ms);        /* the UTC day */
int32_t calendar_month_of_day(int32_t day);           /* months since January of the year 0000 */
int32_t calendar_month_first_day(int32_t month);
/* Weeks of ISO 8601 begin on Mondays, and belong to the year of their Thursday.  The result counts
 * weeks since the week of 1970-01-01. */
int32_t calendar_week_of_day(int32_t day);
/* Write 2013-W48, with a NUL, for the week of a day in DAY_MIN..DAY_MAX.  Returns the length. */
size_t calendar_week_format(int32_t week, char text[WEEK_TEXT_MAX + 1]);

/* Parse decimal milliseconds, or ISO 8601 with a zone: 2013-11-28T02:16:52Z, or 2013-11-28
 * 02:16:52.5+01:00.  Seconds may be missing.  False: the text has another form, or the time is
 * outside TIME_MS_MIN..TIME_MS_MAX. */
bool calendar_time_parse(struct bytes text, int64_t *time_ms_out);
/* Append 2013-11-28T02:16:52.000Z; `time_ms` lies in TIME_MS_MIN..TIME_MS_MAX. */
void calendar_time_format(int64_t time_ms, struct buffer *buffer);

/* An IANA zone, read from the system's TZif files (RFC 8536). */
struct zone;
/* ERROR_NOT_FOUND when the system has no zone of that name, ERROR_INVALID when `name` does not have
 * the form of a zone's name; else the error of reading or decoding the file. */
must_check int calendar_zone_open(const char *name, struct zone **zone_out, struct error *err);
void calendar_zone_close(struct zone *zone);                         /* NULL is fine */
/* ERROR_CORRUPT when the bytes do not follow the format, ERROR_UNSUPPORTED for version 1 and for
 * zones that count leap seconds. */
must_check int calendar_zone_decode(struct bytes tzif, struct zone **zone_out);
int32_t calendar_zone_day(const struct zone *zone, int64_t time_ms);  /* the local day */
/* The first time, in ms, at which local clocks show `day` or, if the zone skipped that day, a
 * later one. */
int64_t calendar_zone_day_start(const struct zone *zone, int32_t day);

/* A local hour or minute: from a moment at which local clocks show a full hour or minute to the
 * next such moment.  A change of the clocks within a span ends the span and begins another. */
struct calendar_span {
    int64_t start_ms;
    int64_t end_ms;                                   /* exclusive */
};
/* The span that contains `time_ms`, a time in TIME_MS_MIN..TIME_MS_MAX.  `unit_ms` is HOUR_MS or
 * MINUTE_MS. */
struct calendar_span calendar_zone_span(const struct zone *zone, int64_t time_ms, int64_t unit_ms);
/* Write `time_ms`, the start of a span, in local time with a NUL: 2013-11-28T02:00+01:00, or
 * 2013-11-28T01:00Z in UTC.  If the offset has seconds or the local day is after 9999-12-31, the
 * text is in UTC.  Seconds are written if they are not 0.  Returns the length. */
size_t calendar_zone_format(const struct zone *zone, int64_t time_ms,
                            char text[MOMENT_TEXT_MAX + 1]);
#endif
