/* test_log: a line of the log is one line, whatever its values are. */
#include "base/log.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_file.h"

/* The line of an event with one text, without its time. */
static const char *line_of(struct buffer *line, struct bytes value)
{
    struct log_field field = log_bytes("value", value);
    buffer_clear(line);
    log_format(line, LOG_LOGFMT, 0, LOG_WARNING, "seen", &field, 1);
    buffer_put_u8(line, '\0');
    const char *prefix = "time=1970-01-01T00:00:00.000Z level=warning event=seen value=";
    cr_assert_eq(strncmp((const char *)line->data, prefix, strlen(prefix)), 0, "%s", line->data);
    return (const char *)line->data + strlen(prefix);
}

Test(log, a_line_has_time_level_event_and_fields)
{
    struct log_field fields[] = {log_text("path", "data/log"), log_number("needed_bytes", -7),
                                 log_text("why", "no space left")};
    struct buffer line = {0};
    log_format(&line, LOG_LOGFMT, 1385654400123, LOG_ERROR, "disk_full", fields, 3);
    log_format(&line, LOG_JSON, 1385654400123, LOG_ERROR, "disk_full", fields, 3);
    buffer_put_u8(&line, '\0');
    cr_assert_str_eq((const char *)line.data,
                     "time=2013-11-28T16:00:00.123Z level=error event=disk_full path=data/log "
                     "needed_bytes=-7 why=\"no space left\"\n"
                     "{\"time\":\"2013-11-28T16:00:00.123Z\",\"level\":\"error\","
                     "\"event\":\"disk_full\",\"path\":\"data/log\",\"needed_bytes\":-7,"
                     "\"why\":\"no space left\"}\n");
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
    value[0] = ' ';
    shown = line_of(&line, bytes_of(value, sizeof value));
    cr_assert_str_eq(shown + LOG_VALUE_MAX, "...\"\n");
    buffer_release(&line);
}

Test(log, fields_that_do_not_fit_are_left_out_and_the_line_stays_whole)
{
    struct buffer line = {0};
    char value[LOG_VALUE_MAX];
    memset(value, '\1', sizeof value);
    struct bytes text = bytes_of(value, sizeof value);
    struct log_field fields[] = {log_bytes("a", text), log_bytes("b", text), log_number("c", 3)};
    log_format(&line, LOG_JSON, 0, LOG_ERROR, "seen", fields, 3);
    cr_expect_leq(line.size, LOG_LINE_MAX);
    buffer_put_u8(&line, '\0');
    const char *end = strstr((const char *)line.data, "\\u0001\",");
    cr_assert_not_null(end);
    cr_expect_str_eq(end, "\\u0001\",\"c\":3}\n");
    buffer_release(&line);
}

/* Lines arrive whole, until the reader has stopped; then they are dropped. */
static void expect_no_wait(const int ends[2])
{
    char bytes[100] = "";
    cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    log_event(LOG_NOTICE, "told", log_number("count", 7));
    cr_assert_gt(read(ends[0], bytes, sizeof bytes - 1), 0);
    cr_expect_str_eq(bytes + strlen("time=1970-01-01T00:00:00.000Z"),
                     " level=notice event=told count=7\n");
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

/* ---- a file ---- */

enum { THREADS = 4, LINES = 3000 };

struct file_bench {
    char directory[64];
    char path[80];
};

static void file_bench_start(struct file_bench *bench)
{
    struct error err = {0};
    snprintf(bench->directory, sizeof bench->directory, "/tmp/daybook-log-XXXXXX");
    cr_assert_not_null(mkdtemp(bench->directory));
    snprintf(bench->path, sizeof bench->path, "%s/log", bench->directory);
    cr_assert_eq(log_open(bench->path, &err), 0, "%s", err.text);
}

/* What a file of the log has, as text; it is removed. */
static const char *take_file(struct buffer *text, const char *path)
{
    struct error err = {0};
    buffer_clear(text);
    cr_assert_eq(text_file_read(path, 16 << 20, text, &err), 0, "%s", err.text);
    cr_assert_eq(unlink(path), 0);
    buffer_put_u8(text, '\0');
    return (const char *)text->data;
}

static void *log_many(void *context)
{
    for (int i = 0; i < LINES; i++)
        log_event(LOG_NOTICE, "told", log_number("thread", *(int *)context), log_number("n", i));
    return context;
}

/* Each thread's lines are there, in their order. */
static void count_lines(const char *text, int seen[THREADS])
{
    int thread, n;
    for (const char *at = text; *at != '\0'; at = strchr(at, '\n') + 1) {
        cr_assert_eq(sscanf(at, "time=%*s level=notice event=told thread=%d n=%d\n", &thread, &n),
                     2, "%.80s", at);
        cr_assert_eq(n, seen[thread]++);
    }
}

Test(log, a_file_that_is_renamed_and_opened_again_loses_no_line)
{
    struct file_bench bench;
    struct error err = {0};
    struct buffer text = {0};
    pthread_t threads[THREADS];
    int numbers[THREADS], seen[THREADS] = {0};
    char moved[96];
    file_bench_start(&bench);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        cr_assert_eq(pthread_create(&threads[i], NULL, log_many, &numbers[i]), 0);
    }
    for (int i = 0; i < 50; i++) {
        snprintf(moved, sizeof moved, "%s/moved%d", bench.directory, i);
        cr_assert_eq(rename(bench.path, moved), 0);
        cr_assert_eq(log_reopen(&err), 0, "%s", err.text);
    }
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 50; i++) {
        snprintf(moved, sizeof moved, "%s/moved%d", bench.directory, i);
        count_lines(take_file(&text, moved), seen);
    }
    count_lines(take_file(&text, bench.path), seen);
    for (int i = 0; i < THREADS; i++)
        cr_expect_eq(seen[i], LINES);
    cr_expect_eq(rmdir(bench.directory), 0);
    buffer_release(&text);
}

Test(log, a_file_is_its_owners_and_what_is_announced_is_also_on_the_former_standard_error)
{
    struct file_bench bench;
    struct stat of;
    struct buffer text = {0};
    char said[200] = "";
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    file_bench_start(&bench);
    log_set_form(LOG_JSON);
    log_event(LOG_NOTICE, "told", log_text("name", "a\n\"b\""));
    log_announce(LOG_ERROR, "announced", log_number("n", 1));
    cr_assert_eq(stat(bench.path, &of), 0);
    cr_expect_eq(of.st_mode & 07777, 0600);
    const char *file = take_file(&text, bench.path);
    cr_expect_not_null(strstr(file, "\"event\":\"told\",\"name\":\"a\\u000a\\\"b\\\"\"}\n{"));
    cr_assert_gt(read(ends[0], said, sizeof said - 1), 0);
    cr_expect_str_eq(said + strlen("{\"time\":\"1970-01-01T00:00:00.000Z\""),
                     ",\"level\":\"error\",\"event\":\"announced\",\"n\":1}\n");
    cr_expect_str_eq(strchr(file, '\n') + 1, said);
    cr_expect_eq(rmdir(bench.directory), 0);
    buffer_release(&text);
}

Test(log, a_file_that_cannot_be_opened_changes_nothing)
{
    struct error err = {0};
    struct file_bench bench;
    struct buffer text = {0};
    cr_expect_eq(log_open("/nowhere/at/all", &err), -ENOENT);
    cr_expect_not_null(strstr(err.text, "the log /nowhere/at/all: "), "%s", err.text);
    file_bench_start(&bench);
    char moved[96];
    snprintf(moved, sizeof moved, "%s/moved", bench.directory);
    cr_assert_eq(rename(bench.path, moved), 0);
    cr_assert_eq(mkdir(bench.path, 0700), 0);
    cr_expect_eq(log_reopen(&err), -EISDIR);
    log_event(LOG_NOTICE, "told", log_number("n", 1));
    cr_assert_eq(rmdir(bench.path), 0);
    cr_expect_not_null(strstr(take_file(&text, moved), "event=told n=1\n"));
    cr_expect_eq(rmdir(bench.directory), 0);
    buffer_release(&text);
}

Test(log, a_line_that_a_full_disk_cuts_does_not_begin_the_next_one)
{
    struct file_bench bench;
    struct buffer text = {0};
    struct rlimit limit;
    file_bench_start(&bench);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit small = {.rlim_cur = 30, .rlim_max = limit.rlim_max};
    cr_assert_neq(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    log_event(LOG_NOTICE, "told", log_number("n", 1));
    log_event(LOG_NOTICE, "told", log_number("n", 2));
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    log_event(LOG_NOTICE, "told", log_number("n", 3));
    log_event(LOG_NOTICE, "told", log_number("n", 4));
    const char *file = take_file(&text, bench.path);
    const size_t line = strlen("time=1970-01-01T00:00:00.000Z level=notice event=told n=3\n");
    cr_expect_eq(strlen(file), 30 + 1 + 2 * line, "%s", file);
    cr_expect_eq(file[30], '\n');
    cr_expect_not_null(strstr(file + 31, "event=told n=3\ntime="));
    cr_expect_not_null(strstr(file + 31, "event=told n=4\n"));
    cr_expect_eq(rmdir(bench.directory), 0);
    buffer_release(&text);
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
