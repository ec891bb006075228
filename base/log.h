/* log: events that an operator reads, one line each on standard error.
 *
 *     2026-11-24T08:31:02.114Z warning disk_full path=data/log needed_bytes=67108864
 *
 * A line is the time in UTC, the level, the event's name, and fields as key=value (logfmt).  A
 * value is bare if it is not empty and has only visible ASCII other than " = \; else it is a JSON
 * string.  A value over LOG_VALUE_MAX bytes is cut and followed by "..."; the dots stand behind the
 * closing quote, so such a value is no JSON string.  Keys are words joined by '_'; the key of a
 * size or a time ends in the unit.  Any thread may log.
 *
 * An event that a client can cause at will needs a log_group. */
#ifndef DAYBOOK_BASE_LOG_H
#define DAYBOOK_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

enum log_level {
    LOG_NOTICE,
    LOG_WARNING,                       /* an operator has to act */
    LOG_ERROR
};

enum { LOG_LINE_MAX = 2048, LOG_VALUE_MAX = 256 }; /* bytes; what is longer is cut */

enum log_kind { LOG_TEXT, LOG_NUMBER };

struct log_field {
    const char *key;
    enum log_kind kind;
    struct bytes text;                 /* borrowed for the call */
    int64_t number;
};

static inline struct log_field log_bytes(const char *key, struct bytes value)
{
    return (struct log_field){.key = key, .kind = LOG_TEXT, .text = value};
}

static inline struct log_field log_text(const char *key, const char *value)
{
    return log_bytes(key, bytes_text(value));
}

static inline struct log_field log_number(const char *key, int64_t value)
{
    return (struct log_field){.key = key, .kind = LOG_NUMBER, .number = value};
}

/* Needs at least one field:
 *     log_event(LOG_WARNING, "disk_full", log_text("path", path), log_number("free_bytes", n)); */
#define log_event(level, event, ...)                                                               \
    log_event_fields(level, event, (const struct log_field[]){__VA_ARGS__},                        \
                     sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

void log_event_fields(enum log_level level, const char *event, const struct log_field *fields,
                      size_t field_count);
/* `time_ms` is milliseconds since 1970. */
void log_format(struct buffer *line, int64_t time_ms, enum log_level level, const char *event,
                const struct log_field *fields, size_t field_count);

/* Limits one kind of event to one line in `period_us`.  The owner sets `period_us`; the rest begins
 * as zeros. */
struct log_group {
    int64_t period_us;
    int64_t next_us;                   /* monotonic; 0: no line yet */
    uint64_t suppressed;               /* events since the last line */
};

/* Returns whether to log an event; `*count_out` is then the number of events since the last line,
 * this one included.  `now_us` is monotonic. */
bool log_group_admit(struct log_group *group, int64_t now_us, uint64_t *count_out);
#endif
