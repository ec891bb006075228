/* test_whole_file: names of files, on the simulated disk. */
#include "base/world/whole_file.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "tests/sim/sim_disk.h"

static void make_file(struct disk *disk, const char *path)
{
    struct disk_file *file;

    cr_assert_eq(disk->open(disk, path, DISK_WRITE | DISK_CREATE, &file, NULL), 0);
    disk->close(disk, file);
}

Test(whole_file, a_name_is_unused_only_if_no_file_is_found)
{
    struct sim_disk *sim = sim_disk_new();
    struct disk *disk = sim_disk_interface(sim);
    char path[32];

    cr_assert_eq(whole_file_unused_name(disk, "kept-", path, sizeof path), 0);
    cr_assert_str_eq(path, "kept-1");
    make_file(disk, "kept-1");
    make_file(disk, "kept-2");
    cr_assert_eq(whole_file_unused_name(disk, "kept-", path, sizeof path), 0);
    cr_assert_str_eq(path, "kept-3");
    sim_disk_fail(sim, SIM_OPEN, 2, -EMFILE, false);
    cr_assert_eq(whole_file_unused_name(disk, "kept-", path, sizeof path), -EMFILE);
    cr_assert_str_eq(path, "kept-2");
    sim_disk_free(sim);
}
