/* test_log: a line of the log is one line, whatever its values are. */
#include "base/log.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The line of an event with one text, without its time. */
static const char *line_of(struct buffer *line, struct bytes value)
{
    struct log_field field = log_bytes("value", value);
    buffer_clear(line);
    log_format(line, 0, LOG_WARNING, "seen", &field, 1);
    buffer_put_u8(line, '\0');
    const char *prefix = "1970-01-01T00:00:00.000Z warning seen value=";
    cr_assert_eq(strncmp((const char *)line->data, prefix, strlen(prefix)), 0, "%s", line->data);
    return (const char *)line->data + strlen(prefix);
}

Test(log, a_line_has_time_level_event_and_fields)
{
    struct log_field fields[] = {log_text("path", "data/log"), log_number("needed_bytes", -7),
                                 log_text("why", "no space left")};
    struct buffer line = {0};
    log_format(&line, 1385654400123, LOG_ERROR, "disk_full", fields, 3);
    buffer_put_u8(&line, '\0');
    cr_assert_str_eq((const char *)line.data,
                     "2013-11-28T16:00:00.123Z error disk_full path=data/log needed_bytes=-7 "
                     "why=\"no space left\"\n");
    buffer_release(&line);
}

Test(log, a_value_cannot_begin_a_line_or_a_field)
{
    struct buffer line = {0};
    cr_assert_str_eq(line_of(&line, bytes_text("")), "\"\"\n");
    cr_assert_str_eq(line_of(&line, bytes_text("a\n2013 error")), "\"a\\u000a2013 error\"\n");
    cr_assert_str_eq(line_of(&line, bytes_text("x level=y")), "\"x level=y\"\n");
    cr_assert_str_eq(line_of(&line, bytes_text("\"\\")), "\"\\\"\\\\\"\n");
    cr_assert_str_eq(line_of(&line, bytes_text("\x1b[2J")), "\"\\u001b[2J\"\n");
    cr_assert_str_eq(line_of(&line, bytes_text("\xc2\x9b"
                                               "2J")),
                     "\"\\u009b2J\"\n");
    cr_assert_str_eq(line_of(&line, bytes_text("Zoë")), "\"Zoë\"\n");
    cr_assert_str_eq(line_of(&line, bytes_text("\xff\xc2")), "\"\\u00ff\\u00c2\"\n");
    buffer_release(&line);
}

Test(log, a_long_value_is_cut_between_characters)
{
    struct buffer line = {0};
    char value[LOG_VALUE_MAX + 8];
    memset(value, 'x', sizeof value);
    memcpy(value + LOG_VALUE_MAX - 1, "ë", 2);
    const char *shown = line_of(&line, bytes_of(value, sizeof value));
    cr_assert_eq(strlen(shown), LOG_VALUE_MAX - 1 + strlen("...\n"));
    cr_assert_str_eq(shown + LOG_VALUE_MAX - 1, "...\n");
    buffer_release(&line);
}

/* Lines arrive whole, until the reader has stopped; then they are dropped. */
static void expect_no_wait(const int ends[2])
{
    char bytes[100] = "";
    cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    log_event(LOG_NOTICE, "told", log_number("count", 7));
    cr_assert_gt(read(ends[0], bytes, sizeof bytes - 1), 0);
    cr_expect_str_eq(bytes + strlen("1970-01-01T00:00:00.000Z"), " notice told count=7\n");
    for (int i = 0; i < 10000; i++)
        log_event(LOG_NOTICE, "told", log_number("count", i), log_text("word", "again and again"));
}

Test(log, a_pipe_that_nobody_reads_is_not_waited_for, .timeout = 10)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    expect_no_wait(ends);
}

Test(log, a_socket_that_nobody_reads_is_not_waited_for, .timeout = 10)
{
    int ends[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    expect_no_wait(ends);
}

Test(log, a_group_says_how_often_it_happened)
{
    struct log_group group = {.period_us = 1000};
    uint64_t count = 0;
    cr_assert(log_group_admit(&group, 5000, &count));
    cr_assert_eq(count, 1);
    cr_assert_not(log_group_admit(&group, 5999, &count));
    cr_assert_not(log_group_admit(&group, 5999, &count));
    cr_assert(log_group_admit(&group, 6000, &count));
    cr_assert_eq(count, 3);
}
