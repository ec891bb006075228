/* ram_disk: files in memory that a test can look into, damage, and make fail.
 *
 * For tests of formats, which damage every byte of a file and read it again: everything written is
 * there at once, and syncs are only counted.  What a crash may lose is another simulator's matter.
 */
#ifndef DAYBOOK_TESTS_SIM_RAM_DISK_H
#define DAYBOOK_TESTS_SIM_RAM_DISK_H

#include "base/buffer.h"
#include "base/world/world.h"

struct ram_disk;

struct ram_disk *ram_disk_new(void);
void ram_disk_free(struct ram_disk *ram);
/* A world with this disk and nothing else; lives as long. */
struct world *ram_disk_world(struct ram_disk *ram);

/* The content of a file, to be changed at will; NULL when there is no such file. */
struct buffer *ram_disk_content(struct ram_disk *ram, const char *path);
uint32_t ram_disk_file_count(const struct ram_disk *ram);
/* Of the calls that change something (open to create, write, sync, rename, remove, directory sync)
 * the one after `calls` more fails with -EIO, and all after it.  Negative: none fails. */
void ram_disk_fail_after(struct ram_disk *ram, int calls);
#endif
