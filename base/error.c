/* error: fills and prefixes the one-line text of a struct error.  The end of a text that is too
 * long is cut off. */
#include "base/error.h"

#include <errno.h>
#include <execinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int error_set(struct error *err, int code, const char *format, ...)
{
    if (err == NULL)
        return code;
    va_list arguments;
    va_start(arguments, format);
    err->code = code;
    if (vsnprintf(err->text, sizeof err->text, format, arguments) < 0)
        err->text[0] = '\0';
    va_end(arguments);
    return code;
}

int error_keep(struct error *kept, int status, const struct error *err)
{
    if (kept->code == 0 && status != 0)
        error_set(kept, status, "%s", err != NULL ? err->text : error_text(status));
    return kept->code;
}

void error_wrap(struct error *err, const char *format, ...)
{
    if (err == NULL)
        return;
    char old[sizeof err->text];
    memcpy(old, err->text, sizeof old);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    if (length < 0)
        length = 0;
    size_t used = (size_t)length;
    if (used >= sizeof err->text)
        return;
    if (snprintf(err->text + used, sizeof err->text - used, ": %s", old) < 0)
        err->text[used] = '\0';
}

bool error_is_passing(int code)
{
    return code == -ENOSPC || code == -EDQUOT || code == -EMFILE || code == -ENFILE ||
           code == -ENOMEM;
}

const char *error_text(int code)
{
    switch (code) {
    case 0:
        return "no error";
#define X(name, number, text)                                                                      \
    case number:                                                                                   \
        return text;
        ERROR_CODES(X)
#undef X
    /* libuv's codes that are not errnos. */
    case -4095:
        return "end of file";
    case -4094:
        return "unknown error";
    case -3008:
        return "unknown node or service";
    case -3005:
        return "no address of this family";
    case -3007:
        return "the name has no address";
    case -3001:
        return "temporary failure of name resolution";
    case -3004:
        return "permanent failure of name resolution";
    }
    const char *text = code < 0 && code > -4000 ? strerrordesc_np(-code) : NULL;
    return text != NULL ? text : "unknown error";
}

/* The first call of backtrace loads a library, for which it needs the heap's lock.  If the failed
 * thread already holds that lock, backtrace hangs, and the alarm ends the program. */
static void print_callers(void)
{
    enum { CALLERS_MAX = 64, ALARM_S = 2 };
    void *callers[CALLERS_MAX];
    alarm(ALARM_S);
    backtrace_symbols_fd(callers, backtrace(callers, CALLERS_MAX), STDERR_FILENO);
    alarm(0);
}

_Noreturn void error_check_failed(const char *file, int line, const char *expression)
{
    fflush(stdout);
    fprintf(stderr, "%s:%d: check failed: %s\n", file, line, expression);
    fflush(stderr);
    print_callers();
    abort();
}
