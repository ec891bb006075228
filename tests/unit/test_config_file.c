/* test_config_file: settings come in the order of the file, and a wrong line is named. */
#include "base/buffer.h"
#include "program/control/config_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Writes "name=value;" of each, and refuses what is called wrong. */
static int note_setting(void *context, const char *name, const char *value, struct error *err)
{
    struct buffer *noted = context;
    if (strcmp(name, "wrong") == 0)
        return error_set(err, ERROR_UNSUPPORTED, "it is wrong");
    buffer_append_bytes(noted, bytes_text(name));
    buffer_append_bytes(noted, bytes_text("="));
    buffer_append_bytes(noted, bytes_text(value));
    buffer_append_bytes(noted, bytes_text(";"));
    return 0;
}

static void expect_settings(const char *text, const char *wanted)
{
    struct buffer noted = {0};
    struct error err = {0};
    cr_assert_eq(config_file_parse(bytes_text(text), note_setting, &noted, &err), 0, "%s: %s", text,
                 err.text);
    cr_assert(bytes_equal(buffer_view(&noted), bytes_text(wanted)), "%s: %.*s", text,
              (int)noted.size, (const char *)noted.data);
    buffer_release(&noted);
}

static void expect_wrong(struct bytes text, int code, const char *message)
{
    struct buffer noted = {0};
    struct error err = {0};
    cr_assert_eq(config_file_parse(text, note_setting, &noted, &err), code, "%s", message);
    cr_assert_str_eq(err.text, message);
    buffer_release(&noted);
}

Test(config_file, gives_names_and_values_without_blanks_and_comments)
{
    expect_settings("", "");
    expect_settings("# only\n\n; this\n", "");
    expect_settings("ingest = 10.0.0.5:7600\nmemory=4G ; half of it\r\n  \ncql =none",
                    "ingest=10.0.0.5:7600;memory=4G;cql=none;");
    expect_settings("\xef\xbb\xbfpath = /a b/c#d\n", "path=/a b/c#d;");
}

Test(config_file, names_the_line_that_is_wrong)
{
    static const char zero[] = "a = 1\nb = \0\n";
    char line[CONFIG_LINE_MAX + 3];
    expect_wrong(bytes_text("a = 1\n\nwrong = 2\nb = 3\n"), ERROR_UNSUPPORTED,
                 "line 3: it is wrong");
    expect_wrong(bytes_text("a = 1\nb\n"), ERROR_INVALID, "line 2: it is not NAME = VALUE");
    expect_wrong(bytes_text("b\nwrong = 2\n"), ERROR_INVALID, "line 1: it is not NAME = VALUE");
    expect_wrong(bytes_text("wrong = 2\nb\n"), ERROR_UNSUPPORTED, "line 1: it is wrong");
    expect_wrong(bytes_text("[serve]\na = 1\n"), ERROR_INVALID,
                 "line 2: [serve]: there are no sections");
    expect_wrong(bytes_of(zero, sizeof zero - 1), ERROR_INVALID, "line 2: a byte of it is zero");
    memset(line, 'x', sizeof line);
    memcpy(line, "a=", 2);
    line[CONFIG_LINE_MAX + 1] = '\n';
    expect_wrong(bytes_of(line, CONFIG_LINE_MAX + 2), ERROR_LIMIT, "line 1: over 197 bytes");
}

Test(config_file, takes_lines_of_any_length_up_to_the_limit)
{
    char text[CONFIG_LINE_MAX + 1];
    for (size_t size = 3; size <= CONFIG_LINE_MAX; size++) {
        struct buffer noted = {0};
        memset(text, 'x', size);
        memcpy(text, "a=", 2);
        text[size] = '\n';
        cr_assert_eq(config_file_parse(bytes_of(text, size + 1), note_setting, &noted, NULL), 0);
        cr_assert_eq(noted.size, size + 1, "of %zu bytes", size);
        buffer_release(&noted);
    }
}

Test(config_file, is_limited_and_says_which_file_it_cannot_read)
{
    static char large[CONFIG_SIZE_MAX + 1];
    struct error err = {0};
    memset(large, '\n', sizeof large);
    expect_wrong(bytes_of(large, sizeof large), ERROR_LIMIT, "more than 65536 bytes");
    cr_assert_lt(config_file_load("/no/such/file", note_setting, NULL, &err), 0);
    cr_assert_str_eq(err.text, "cannot read /no/such/file: No such file or directory");
}
