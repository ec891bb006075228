/* quiet_fork: forks only while the process's other threads wait.
 *
 * Criterion forks for each test, and a thread of its own takes the messages of the test before.
 * glibc's allocator sees to its locks at a fork; gcc's address sanitizer, which takes its place,
 * does not: a child forked while that thread allocates finds the lock taken by a thread that it
 * does not have, and its first allocation waits for ever.  A thread that sleeps holds no such lock.
 *
 * Linked into tests with that sanitizer only (Makefile).  What wakes between the look and the fork
 * is not seen; tests/run.sh ends and repeats who is caught by that. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Threads that work for longer than 100 ms do not keep a fork from happening. */
enum { LOOKS_MAX = 1000, LOOK_US = 100 };

/* "12 (name) S 1 ...": the name may hold anything, so the state is behind the last bracket. */
static bool thread_waits(int tasks, const char *name)
{
    char path[64], text[256];
    (void)snprintf(path, sizeof(path), "%s/stat", name);
    int fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true; /* It has ended. */
    ssize_t length = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *bracket = strrchr(text, ')');
    return bracket == NULL || (bracket[1] == ' ' && bracket[2] == 'S');
}

static bool others_wait(DIR *tasks)
{
    long self = (long)gettid();
    bool waiting = true;
    rewinddir(tasks);
    for (struct dirent *task; waiting && (task = readdir(tasks)) != NULL;)
        if (task->d_name[0] != '.' && strtol(task->d_name, NULL, 10) != self)
            waiting = thread_waits(dirfd(tasks), task->d_name);
    return waiting;
}

static void wait_for_others(void)
{
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL)
        return;
    for (int look = 0; look < LOOKS_MAX && !others_wait(tasks); look++)
        (void)usleep(LOOK_US);
    (void)closedir(tasks);
}

__attribute__((constructor)) static void quiet_fork(void)
{
    (void)pthread_atfork(wait_for_others, NULL, NULL);
}
