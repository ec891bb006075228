/* log: events that an operator reads, one line each on standard error or in a file.
 *
 *     time=2026-11-24T08:31:02.114Z level=warning event=disk_full path=data/log needed_bytes=4096
 *     {"time":"2026-11-24T08:31:02.114Z","level":"warning","event":"disk_full","path":"data/log",
 *      "needed_bytes":4096}                            (in one line)
 *
 * The time is in UTC.  In the first form (logfmt) a value is bare if it is not empty and has only
 * visible ASCII other than " = \; else it is a JSON string.  Keys are words joined by '_'; the key
 * of a size or a time ends in the unit.  Any thread may log.
 *
 * An event that a client can cause at will needs a log_group, which limits its lines. */
#ifndef DAYBOOK_BASE_LOG_H
#define DAYBOOK_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

enum log_level {
    LOG_NOTICE,
    LOG_WARNING,                       /* an operator has to act */
    LOG_ERROR
};

enum log_form { LOG_LOGFMT, LOG_JSON };

enum {
    LOG_LINE_MAX = 4096,               /* bytes; fields that do not fit are left out */
    LOG_VALUE_MAX = 512                /* bytes before escapes; longer ones end in "..." */
};

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

/* The macro needs at least one field:
 *     log_event(LOG_WARNING, "disk_full", log_text("path", path), log_number("free_bytes", n)); */
#define log_event(level, event, ...)                                                               \
    log_event_fields(level, event, (const struct log_field[]){__VA_ARGS__},                        \
                     sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

/* Like log_event, for the start and the end of a process: if the log is a file, the line is also
 * written to the standard error that the process began with. */
#define log_announce(level, event, ...)                                                            \
    log_announce_fields(level, event, (const struct log_field[]){__VA_ARGS__},                     \
                        sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

void log_event_fields(enum log_level level, const char *event, const struct log_field *fields,
                      size_t field_count);
void log_announce_fields(enum log_level level, const char *event, const struct log_field *fields,
                         size_t field_count);
/* Append one line.  `time_ms` is milliseconds since 1970. */
void log_format(struct buffer *line, enum log_form form, int64_t time_ms, enum log_level level,
                const char *event, const struct log_field *fields, size_t field_count);

/* Call log_set_form and log_open before other threads log. */
void log_set_form(enum log_form form);
/* Append the lines to the file `path`, which is made with mode 0600 if it is missing.  The file
 * becomes the standard error of the whole process.  Call this once; `path` must stay valid.  A
 * failure returns a negative errno and changes nothing. */
must_check int log_open(const char *path, struct error *err);

/* Open the path of log_open again, because the file may have been renamed.  Any thread may call
 * this.  Lines that other threads log meanwhile are written to the old file or to the new one.
 * After a failure the old file stays in use. */
must_check int log_reopen(struct error *err);

/* Limits one kind of event to one line in `period_us` microseconds.  The owner sets `period_us`;
 * the other members begin as zeros. */
struct log_group {
    int64_t period_us;
    int64_t next_us;                   /* no line before this monotonic time; 0: no line yet */
    uint64_t suppressed;               /* events since the last line */
};

/* Returns whether to log an event; `*count_out` is then the number of events since the last line,
 * this one included.  `now_us` is monotonic. */
bool log_group_admit(struct log_group *group, int64_t now_us, uint64_t *count_out);
#endif
