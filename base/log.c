/* log: see the header.
 *
 * A line is one write(2), so that lines of several threads do not mix.  A line is dropped if
 * standard error accepts no bytes, and cut if standard error accepts only some, as on a full disk.
 * The line after a cut one begins with a line feed.  O_NONBLOCK on standard error would affect all
 * processes that share it, so sockets use MSG_DONTWAIT, and a pipe is opened a second time.
 *
 * A log file replaces descriptor 2, so it also gets what libraries and a failed check print.  dup2
 * replaces the descriptor atomically, so other threads may log meanwhile. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/calendar.h"

static const char *const level_names[] = {
    [LOG_NOTICE] = "notice", [LOG_WARNING] = "warning", [LOG_ERROR] = "error"};

static struct {
    enum log_form form;
    const char *path;   /* of the log file; NULL: standard error stays as the process got it */
    int terminal;       /* the first standard error if there is a log file, else -1 */
    atomic_bool is_cut; /* the last line has no line feed */
} target = {.terminal = -1};

static const char cut_mark[] = "...";

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
static void append_quoted(struct buffer *line, struct bytes value, const char *end)
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
    buffer_printf(line, "%s\"", end);
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

static void append_text(struct buffer *line, enum log_form form, struct bytes value)
{
    struct bytes shown = bytes_of(value.data, cut_size(value));
    const char *end = shown.size < value.size ? cut_mark : "";
    if (form == LOG_JSON || !is_plain(shown)) {
        append_quoted(line, shown, end);
        return;
    }
    buffer_append_bytes(line, shown);
    buffer_append_text(line, end);
}

static void append_field(struct buffer *line, enum log_form form, const struct log_field *field)
{
    buffer_printf(line, form == LOG_JSON ? ",\"%s\":" : " %s=", field->key);
    if (field->kind == LOG_NUMBER)
        buffer_printf(line, "%lld", (long long)field->number);
    else
        append_text(line, form, field->text);
}

void log_format(struct buffer *line, enum log_form form, int64_t time_ms, enum log_level level,
                const char *event, const struct log_field *fields, size_t field_count)
{
    const char *end = form == LOG_JSON ? "}\n" : "\n";
    size_t size_max = line->size + LOG_LINE_MAX - strlen(end);
    buffer_append_text(line, form == LOG_JSON ? "{\"time\":\"" : "time=");
    calendar_time_format(time_ms, line);
    buffer_printf(line,
                  form == LOG_JSON ? "\",\"level\":\"%s\",\"event\":\"%s\"" : " level=%s event=%s",
                  level_names[level], event);
    for (size_t i = 0; i < field_count; i++) {
        size_t before = line->size;
        append_field(line, form, &fields[i]);
        if (line->size > size_max)
            line->size = before;
    }
    buffer_append_text(line, end);
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

/* Used for terminals, files, and pipes that cannot be opened again. */
static ssize_t write_if_ready(int descriptor, struct bytes line)
{
    struct pollfd out = {.fd = descriptor, .events = POLLOUT};
    if (poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0)
        return 0;
    return write(descriptor, line.data, line.size);
}

static int open_pipe_again(int descriptor)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

/* Returns how many bytes were written, or -1. */
static ssize_t write_line(int descriptor, struct bytes line)
{
    struct stat of = {0};
    ssize_t written;
    bool is_pipe = fstat(descriptor, &of) == 0 && S_ISFIFO(of.st_mode);
    int own = is_pipe ? open_pipe_again(descriptor) : -1;
    if (own >= 0) {
        written = write(own, line.data, line.size);
        (void)close(own);
    } else if (S_ISSOCK(of.st_mode)) {
        written = send(descriptor, line.data, line.size, MSG_DONTWAIT);
    } else {
        written = write_if_ready(descriptor, line);
    }
    return written;
}

static void write_event(bool is_announced, enum log_level level, const char *event,
                        const struct log_field *fields, size_t field_count)
{
    struct buffer line = {0};
    bool was_cut = atomic_exchange(&target.is_cut, false);
    if (was_cut)
        buffer_put_u8(&line, '\n');
    log_format(&line, target.form, wall_ms(), level, event, fields, field_count);
    ssize_t written = write_line(STDERR_FILENO, buffer_view(&line));
    if (written > 0 ? (size_t)written < line.size : was_cut)
        atomic_store(&target.is_cut, true);
    if (is_announced && target.terminal >= 0)
        (void)write_line(target.terminal, bytes_of(line.data + was_cut, line.size - was_cut));
    buffer_release(&line);
}

void log_event_fields(enum log_level level, const char *event, const struct log_field *fields,
                      size_t field_count)
{
    write_event(false, level, event, fields, field_count);
}

void log_announce_fields(enum log_level level, const char *event, const struct log_field *fields,
                         size_t field_count)
{
    write_event(true, level, event, fields, field_count);
}

/* ---- where the lines go ---- */

void log_set_form(enum log_form form)
{
    target.form = form;
}

int log_reopen(struct error *err)
{
    int file = open(target.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                    S_IRUSR | S_IWUSR);
    int rc = file < 0 || dup2(file, STDERR_FILENO) < 0 ? -errno : 0;
    if (rc == 0)
        atomic_store(&target.is_cut, false);
    if (file >= 0)
        (void)close(file);
    return rc == 0 ? 0 : error_set(err, rc, "the log %s: %s", target.path, error_text(rc));
}

int log_open(const char *path, struct error *err)
{
    check(target.path == NULL);
    target.terminal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    target.path = path;
    int rc = log_reopen(err);
    if (rc != 0) {
        if (target.terminal >= 0)
            (void)close(target.terminal);
        target.terminal = -1;
        target.path = NULL;
    }
    return rc;
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
