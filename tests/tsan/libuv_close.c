/* libuv_close: shows the thread sanitizer what libuv closes.
 *
 * The sanitizer keeps an object for every descriptor number: a use reads it, close writes and
 * forgets it, so that a close beside a use is a race.  libuv closes by syscall(SYS_close), past the
 * sanitizer's close(), unless libuv itself was built for the sanitizer, which a distribution's is
 * not.  The number then keeps what the last connection did with it, and the next file under that
 * number, opened and closed by another thread, seems to race with a connection that is long gone:
 *
 *     loop's thread:  accept4 = 21   read 21   syscall(SYS_close, 21)    seen: accept4, read
 *     flush's thread:                                     openat = 21  close 21   seen: close
 *
 * Linked into the program with the sanitizer only, this stands in the place of libc's syscall() and
 * has such a close go through close().  Nothing is hidden from the sanitizer: it sees more. */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 6 };

long syscall(long number, ...)
{
    long arguments[ARGUMENTS_MAX];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < ARGUMENTS_MAX; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_close)
        return close((int)arguments[0]);
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                arguments[5]);
}
