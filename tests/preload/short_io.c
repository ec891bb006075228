/* short_io: reads and writes of files do less than they were asked, as the system may, and one in
 * sixteen is interrupted before it does anything.
 *
 * tests/e2e/test_commands.py loads it before the C library (LD_PRELOAD).  The simulated disk knows
 * no such thing: a disk's reads and writes are whole or an error (base/world/world.h), and it is
 * disk_posix.c that makes them whole.
 *
 * What is past the page cache is cut to whole blocks, as the system does. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BLOCK = 4096, INTERRUPTED_ONE_IN = 16 };

static bool is_interrupted(void)
{
    static atomic_uint calls;
    return atomic_fetch_add(&calls, 1) % INTERRUPTED_ONE_IN == INTERRUPTED_ONE_IN - 1;
}

static size_t less(int fd, size_t size)
{
    bool is_direct = (fcntl(fd, F_GETFL) & O_DIRECT) != 0;
    if (is_direct)
        return size <= BLOCK ? size : size / 2 / BLOCK * BLOCK;
    return size <= 1 ? size : size / 2;
}

static ssize_t interrupted(void)
{
    errno = EINTR;
    return -1;
}

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
    return is_interrupted() ? interrupted() : syscall(SYS_pread64, fd, to, less(fd, size), offset);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t offset)
{
    return is_interrupted() ? interrupted()
                            : syscall(SYS_pwrite64, fd, from, less(fd, size), offset);
}

/* Of one piece, which is all that daybook asks for. */
ssize_t preadv2(int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
    const struct iovec piece = {pieces[0].iov_base, less(fd, pieces[0].iov_len)};
    return count == 1 ? syscall(SYS_preadv2, fd, &piece, 1, offset, 0L, flags) : interrupted();
}
