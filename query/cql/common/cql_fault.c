/* Drivers repeat a request that is answered OVERLOADED, but must not repeat a write that may have
 * been applied.  Therefore OVERLOADED means that nothing was logged, and a failed write of the log
 * is answered WRITE_TIMEOUT. */
#include <stdarg.h>
#include <stdio.h>

#include "query/cql/common/cql_private.h"

enum { FAULT_TEXT_MAX = 2000 };

int cql_refuse(struct cql_fault *fault, enum cql_error_code code, const char *format, ...)
{
    char text[FAULT_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    size_t size = length < 0 ? 0 : (size_t)length;
    size = size < sizeof(text) ? size : sizeof(text) - 1;
    while (size > 0 && !bytes_valid_utf8(bytes_of(text, size)))
        size--;
    fault->error =
        (struct cql_error){.code = code, .message = cql_text(fault->arena, bytes_of(text, size))};
    return ERROR_INVALID;
}

int cql_fault_of(struct cql_fault *fault, const struct error *err)
{
    enum cql_error_code code = CQL_SERVER_ERROR;
    switch (err->code) {
    case ERROR_FULL:
    case ERROR_CLOSED:
    case ERROR_BUSY:
        code = CQL_OVERLOADED;
        break;
    case ERROR_INVALID:
    case ERROR_NOT_FOUND:
    case ERROR_EXISTS:
    case ERROR_LIMIT:
    case ERROR_CONFLICT:
    case ERROR_UNSUPPORTED:
    case ERROR_READ_ONLY:
        code = CQL_INVALID;
        break;
    default:
        break;
    }
    return cql_refuse(fault, code, "%s", err->text[0] != '\0' ? err->text : error_text(err->code));
}

const char *cql_text_printf(struct arena *arena, const char *format, ...)
{
    struct buffer text = {.arena = arena};
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    buffer_put_u8(&text, '\0');
    return (const char *)text.data;
}

const char *cql_text(struct arena *arena, struct bytes text)
{
    char *copy = arena_alloc(arena, text.size + 1, 1);
    if (text.size > 0)
        memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    return copy;
}
