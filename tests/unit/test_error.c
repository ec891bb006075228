/* test_error: the error text and its codes. */
#include "base/error.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Test(error, set_returns_the_code_and_fills_the_text)
{
    struct error err = {0};
    cr_assert_eq(error_set(&err, ERROR_LIMIT, "%d of %d", 3, 2), ERROR_LIMIT);
    cr_assert_eq(err.code, ERROR_LIMIT);
    cr_assert_str_eq(err.text, "3 of 2");
}

Test(error, wrap_prefixes_and_keeps_the_code)
{
    struct error err = {0};
    cr_assert_eq(error_set(&err, -ENOSPC, "allocate %s", "log/7"), -ENOSPC);
    error_wrap(&err, "make files %s", "ahead");
    cr_assert_str_eq(err.text, "make files ahead: allocate log/7");
    cr_assert_eq(err.code, -ENOSPC);
}

Test(error, nobody_listening_is_fine)
{
    cr_assert_eq(error_set(NULL, -EIO, "lost"), -EIO);
    error_wrap(NULL, "context");
}

Test(error, long_texts_are_cut_at_their_end)
{
    char full[2000];
    memset(full, 'x', sizeof full - 1);
    full[sizeof full - 1] = '\0';
    struct error err;
    cr_assert_eq(error_set(&err, ERROR_CORRUPT, "%s", full), ERROR_CORRUPT);
    cr_assert_eq(strlen(err.text), sizeof err.text - 1);
    error_wrap(&err, "segment 7");
    cr_assert_eq(strlen(err.text), sizeof err.text - 1);
    cr_assert_eq(strncmp(err.text, "segment 7: xxx", 14), 0);
    error_wrap(&err, "%s", full);
    cr_assert_eq(strlen(err.text), sizeof err.text - 1);
}

Test(error, every_code_has_a_text)
{
    cr_assert_str_eq(error_text(0), "no error");
    cr_assert_str_eq(error_text(ERROR_FULL), "no room now, wait for drain");
    cr_assert_str_eq(error_text(-ENOSPC), "No space left on device");
    cr_assert_str_eq(error_text(-4095), "end of file");
    cr_assert_str_eq(error_text(-19999), "unknown error");
    cr_assert_str_eq(error_text(12), "unknown error");
}

Test(error, a_failed_check_aborts, .signal = SIGABRT)
{
    check(1 + 1 == 2);
    check(1 + 1 == 3);
}

/* What a process says on standard error that runs into a check which fails. */
static void said_by_a_failed_check(char *text, size_t size)
{
    int ends[2];
    int status;
    cr_assert_eq(pipe(ends), 0);
    fflush(stdout);
    pid_t process = fork();
    if (process == 0) {
        dup2(ends[1], STDERR_FILENO);
        error_check_failed("here.c", 7, "1 + 1 == 3");
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    size_t length = fread(text, 1, size - 1, from);
    text[length] = '\0';
    fclose(from);
    cr_assert_eq(waitpid(process, &status, 0), process);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

Test(error, a_failed_check_says_where_it_was_and_by_whom_it_was_called)
{
    char text[16384];
    char own[256];
    snprintf(own, sizeof(own), "%s(+0x", program_invocation_name);
    said_by_a_failed_check(text, sizeof(text));
    const char *callers = strchr(text, '\n');
    cr_assert_eq(strncmp(text, "here.c:7: check failed: 1 + 1 == 3\n", 35), 0, "%s", text);
    int count = 0;
    for (const char *at = callers; (at = strstr(at, own)) != NULL; at++)
        count++;
    cr_assert(count >= 3, "%s", text);
}
