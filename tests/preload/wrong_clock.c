/* wrong_clock: the wall clock is ahead by the seconds that stand in the file WRONG_CLOCK names, and
 * follows that file while the process runs.
 *
 * tests/e2e/test_clock.py loads it before the C library (LD_PRELOAD). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long ahead_seconds(void)
{
    const char *path = getenv("WRONG_CLOCK");
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    long seconds = 0;
    if (file == NULL)
        return 0;
    if (fscanf(file, "%ld", &seconds) != 1)
        seconds = 0;
    fclose(file);
    return seconds;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    long rc = syscall(SYS_clock_gettime, id, now);
    if (rc == 0 && id == CLOCK_REALTIME)
        now->tv_sec += ahead_seconds();
    return (int)rc;
}
