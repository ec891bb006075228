/* error: how a function reports that it failed.
 *
 * A function that can fail returns 0 or a negative code: a negative errno, a code of libuv, or one
 * of daybook's codes.  The function that detects the failure describes it in a struct error.
 *
 * A bug of the program is not an error but a failed check(), which aborts in every build. */
#ifndef DAYBOOK_BASE_ERROR_H
#define DAYBOOK_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#define must_check __attribute__((warn_unused_result))

/* Logs contain the numbers, so the numbers must not change. */
#define ERROR_CODES(X)                                                                             \
    X(ERROR_CORRUPT, -20001, "damaged data")                                                       \
    X(ERROR_FULL, -20002, "no room now, wait for drain")                                           \
    X(ERROR_CLOSED, -20003, "closed")                                                              \
    X(ERROR_EXISTS, -20004, "exists already")                                                      \
    X(ERROR_NOT_FOUND, -20005, "not found")                                                        \
    X(ERROR_INVALID, -20006, "invalid value")                                                      \
    X(ERROR_LIMIT, -20007, "over a limit")                                                         \
    X(ERROR_CONFLICT, -20008, "changed meanwhile")                                                 \
    X(ERROR_BUSY, -20009, "in use by another process")                                             \
    X(ERROR_NEWER_FORMAT, -20010, "written by a newer version")                                    \
    X(ERROR_NOT_OURS, -20011, "not a daybook directory")                                           \
    X(ERROR_READ_ONLY, -20012, "opened for reading only")                                          \
    X(ERROR_FAILED, -20013, "stopped after a write or sync failed")                                \
    X(ERROR_UNSUPPORTED, -20014, "not supported")                                                  \
    X(ERROR_USAGE, -20015, "wrong usage")

enum error_code {
#define X(name, number, text) name = number,
    ERROR_CODES(X)
#undef X
};

/* One line, with no final full stop or newline. */
struct error {
    int code;
    char text[512];
};

/* `err` may be NULL.  Returns `code`. */
int error_set(struct error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Keep the first of several failures: copy `status` and the text of `err` to `kept`, unless `kept`
 * has a code already or `status` is 0.  `err` may be NULL.  Returns the code of `kept`. */
int error_keep(struct error *kept, int status, const struct error *err);

/* Put the formatted text and ": " before the text of `err`, which may be NULL. */
void error_wrap(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `code` may also be a negative errno or a code of libuv.  The text is static, and never NULL. */
const char *error_text(int code);

/* Whether the cause may be temporary, as a full disk is. */
bool error_is_passing(int code);

_Noreturn void error_check_failed(const char *file, int line, const char *expression);

#define check(expression)                                                                          \
    ((expression) ? (void)0 : error_check_failed(__FILE__, __LINE__, #expression))
#endif
