/* test_descriptors: who gets the last file descriptors of a process. */
#include "base/world/descriptors.h"

#include <unistd.h>

#include <criterion/criterion.h>

#include <sys/resource.h>

Test(descriptors, the_last_ones_are_kept_for_files_and_some_of_those_for_commands)
{
    const struct descriptors few = {.limit = 64, .reserved = 16, .taken = 20};
    cr_assert(descriptors_admit(&few, 47, false));
    cr_assert(!descriptors_admit(&few, 48, false));
    cr_assert(descriptors_admit(&few, 55, true));
    cr_assert(!descriptors_admit(&few, 56, true));
    cr_assert(!descriptors_admit(&few, -1, true));
    cr_assert_eq(descriptors_left(&few), 24, "a server that starts has not opened all it needs");
    const struct descriptors none = {.limit = 64, .reserved = 16, .taken = 48};
    cr_assert_eq(descriptors_left(&none), 0);
}

Test(descriptors, what_is_taken_and_reserved_follows_the_process)
{
    struct rlimit limit = {.rlim_cur = 64, .rlim_max = 64};
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    struct descriptors before = descriptors_look();
    uint64_t open_before = descriptors_open_count();
    cr_assert_eq(before.limit, 64);
    cr_assert_eq(before.reserved, 16);
    while (dup(STDERR_FILENO) >= 0)
        continue;
    struct descriptors after = descriptors_look();
    cr_assert_lt(before.taken, after.taken);
    cr_assert_eq(after.taken, 64);
    cr_assert_eq(descriptors_left(&after), 0);
    cr_assert(open_before == UINT64_MAX || descriptors_open_count() == 64);
}

Test(descriptors, more_are_reserved_where_there_are_more_but_not_without_end)
{
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max < 1024 ? limit.rlim_max : 1024;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_assert_eq(descriptors_look().reserved, limit.rlim_cur / 8);
    descriptors_raise_limit();
    cr_assert_eq(descriptors_look().limit, limit.rlim_max < INT32_MAX ? limit.rlim_max : INT32_MAX);
    cr_assert_leq(descriptors_look().reserved, 1024);
}
