/* log: see the header.
 *
 * A line is one write(2), so that lines of several threads do not mix.  A line is dropped if
 * standard error accepts no bytes.  A non-blocking standard error would affect all
 * processes that share it, so sockets use MSG_DONTWAIT, and a pipe is opened a second time. */
#include "base/log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/calendar.h"

static const char *const level_names[] = {
    [LOG_NOTICE] = "notice", [LOG_WARNING] = "warning", [LOG_ERROR] = "error"};

static bool is_plain(struct bytes value)
{
    for (size_t i = 0; i < value.size; i++) {
        uint8_t byte = value.data[i];
        if (byte <= ' ' || byte == '"' || byte == '=' || byte == '\\' || byte >= 0x7f)
            return false;
    }
    return value.size > 0;
}

/* Bytes beyond ASCII are escaped unless the whole value is UTF-8. */
static void append_quoted(struct buffer *line, struct bytes value)
{
    bool is_utf8 = bytes_valid_utf8(value);
    buffer_put_u8(line, '"');
    for (size_t i = 0; i < value.size; i++) {
        uint8_t byte = value.data[i];
        if (byte == '"' || byte == '\\') {
            buffer_put_u8(line, '\\');
            buffer_put_u8(line, byte);
        } else if (byte < ' ' || byte == 0x7f || (byte >= 0x80 && !is_utf8)) {
            buffer_printf(line, "\\u%04x", byte);
        } else if (byte == 0xc2 && value.data[i + 1] < 0xa0) {
            buffer_printf(line, "\\u%04x", value.data[++i]); /* U+0080 to U+009F */
        } else {
            buffer_put_u8(line, byte);
        }
    }
    buffer_put_u8(line, '"');
}

static size_t cut_size(struct bytes value)
{
    if (value.size <= LOG_VALUE_MAX)
        return value.size;
    size_t size = LOG_VALUE_MAX;
    while (size > LOG_VALUE_MAX - 4 && (value.data[size] & 0xc0) == 0x80)
        size--;
    return size;
}

static void append_text(struct buffer *line, struct bytes value)
{
    struct bytes shown = bytes_of(value.data, cut_size(value));
    if (is_plain(shown))
        buffer_append_bytes(line, shown);
    else
        append_quoted(line, shown);
    if (shown.size < value.size)
        buffer_append_text(line, "...");
}

void log_format(struct buffer *line, int64_t time_ms, enum log_level level, const char *event,
                const struct log_field *fields, size_t field_count)
{
    calendar_time_format(time_ms, line);
    buffer_printf(line, " %s %s", level_names[level], event);
    for (size_t i = 0; i < field_count; i++) {
        buffer_printf(line, " %s=", fields[i].key);
        if (fields[i].kind == LOG_NUMBER)
            buffer_printf(line, "%lld", (long long)fields[i].number);
        else
            append_text(line, fields[i].text);
    }
    buffer_put_u8(line, '\n');
}

static int64_t wall_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    int64_t time_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (time_ms < TIME_MS_MIN)
        return TIME_MS_MIN;
    return time_ms > TIME_MS_MAX ? TIME_MS_MAX : time_ms;
}

/* For terminals, files, and pipes that cannot be opened again. */
static ssize_t write_if_ready(struct bytes line)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0)
        return 0;
    return write(STDERR_FILENO, line.data, line.size);
}

static void write_line(struct bytes line)
{
    struct stat of = {0};
    ssize_t written; /* cannot be logged */
    bool is_pipe = fstat(STDERR_FILENO, &of) == 0 && S_ISFIFO(of.st_mode);
    int own = is_pipe ? open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (own >= 0) {
        written = write(own, line.data, line.size);
        (void)close(own);
    } else if (S_ISSOCK(of.st_mode)) {
        written = send(STDERR_FILENO, line.data, line.size, MSG_DONTWAIT);
    } else {
        written = write_if_ready(line);
    }
    (void)written;
}

void log_event_fields(enum log_level level, const char *event, const struct log_field *fields,
                      size_t field_count)
{
    struct buffer line = {0};
    log_format(&line, wall_ms(), level, event, fields, field_count);
    if (line.size > LOG_LINE_MAX) {
        line.size = LOG_LINE_MAX;
        line.data[LOG_LINE_MAX - 1] = '\n';
    }
    write_line(buffer_view(&line));
    buffer_release(&line);
}

bool log_group_admit(struct log_group *group, int64_t now_us, uint64_t *count_out)
{
    group->suppressed++;
    if (group->next_us != 0 && now_us < group->next_us)
        return false;
    group->next_us = now_us + group->period_us;
    *count_out = group->suppressed;
    group->suppressed = 0;
    return true;
}
