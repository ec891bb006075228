/* descriptors: see the header. */
#include "base/world/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/stat.h>

enum {
    RESERVED_MIN = 16, /* for log files, a flush, two merges and a backup */
    RESERVED_SHARE = 8,
    RESERVED_MAX = 1024,
    PROGRAM_OPEN = 24 /* descriptors of an idle server */
};

static uint32_t reserved_of(uint32_t limit)
{
    uint32_t reserved = limit / RESERVED_SHARE;
    if (reserved < RESERVED_MIN)
        return RESERVED_MIN;
    return reserved < RESERVED_MAX ? reserved : RESERVED_MAX;
}

static uint32_t lowest_free(uint32_t limit)
{
    int probe = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (probe < 0)
        return limit;
    (void)close(probe);
    return (uint32_t)probe;
}

struct descriptors descriptors_look(void)
{
    struct rlimit limit = {0};
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    uint32_t most = limit.rlim_cur < INT32_MAX ? (uint32_t)limit.rlim_cur : INT32_MAX;
    return (struct descriptors){
        .limit = most, .reserved = reserved_of(most), .taken = lowest_free(most)};
}

uint64_t descriptors_open_count(void)
{
    struct stat open_files;
    bool is_known = stat("/proc/self/fd", &open_files) == 0 && open_files.st_size > 0;
    return is_known ? (uint64_t)open_files.st_size : UINT64_MAX;
}

void descriptors_raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

bool descriptors_admit(const struct descriptors *descriptors, int descriptor, bool is_command)
{
    uint32_t kept = is_command ? descriptors->reserved / 2 : descriptors->reserved;
    return descriptor >= 0 && (uint64_t)descriptor + kept < descriptors->limit;
}

uint32_t descriptors_left(const struct descriptors *descriptors)
{
    uint32_t own = descriptors->taken > PROGRAM_OPEN ? descriptors->taken : PROGRAM_OPEN;
    uint64_t used = (uint64_t)own + descriptors->reserved;
    return used < descriptors->limit ? (uint32_t)(descriptors->limit - used) : 0;
}
