/* sim_disk: a directory in memory that knows what a loss of power could take back.
 *
 * A write is kept apart until its file is synced, and a new, renamed or removed name until its
 * directory is.  sim_disk_crash draws from a seed what of all that had reached the disk.  Calls
 * fail where a test says so, by kind and number.  Direct files insist on aligned calls.
 *
 * Renaming a directory is not simulated. */
#ifndef DAYBOOK_TESTS_SIM_SIM_DISK_H
#define DAYBOOK_TESTS_SIM_SIM_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/world/world.h"

struct sim_disk;

enum sim_call {
    SIM_OPEN,
    SIM_READ,
    SIM_WRITE,
    SIM_SYNC,
    SIM_ALLOCATE,
    SIM_SIZE,
    SIM_RENAME,
    SIM_REMOVE,
    SIM_MAKE_DIRECTORY,
    SIM_SYNC_DIRECTORY,
    SIM_LIST,
    SIM_CALL_COUNT
};

/* Whether it decides what a crash leaves: before such a call all that matters can be lost. */
bool sim_call_keeps(enum sim_call call);

struct sim_disk *sim_disk_new(void);
void sim_disk_free(struct sim_disk *disk);                     /* files may still be open */
struct disk *sim_disk_interface(struct sim_disk *disk);

/* A new disk as it may be found after the power failed now.  The one before stays as it is and may
 * go on: so one history gives any number of crashes.
 *
 * Each unsynced write is kept, dropped, or torn: then each of its sectors, of 512 or of 4096 bytes
 * by the seed, is there or not, and behind the old end of the file may also be zeros.  Each
 * unsynced change of names is kept or dropped as one; writes to a file and changes of names keep no
 * order among each other.  Files are closed and the lock is free. */
struct sim_disk *sim_disk_crash(const struct sim_disk *disk, uint64_t seed);

/* All crashes that matter, by number: each unsynced change of names kept or dropped, each unsynced
 * write kept, dropped, or torn: its first sectors there, all but one, or only one, of 512 and of
 * 4096 bytes, in up to 8 places of it, and the file as long as before or as after.  UINT64_MAX when
 * there are more.  The same number gives the same disk. */
uint64_t sim_disk_crash_count(const struct sim_disk *disk);
struct sim_disk *sim_disk_crash_number(const struct sim_disk *disk, uint64_t number);
/* Of all names and bytes that reads show: equal disks have equal ones. */
uint64_t sim_disk_hash(const struct sim_disk *disk);

/* A new disk with everything kept: the process was killed, or ended, and the machine went on. */
struct sim_disk *sim_disk_restart(const struct sim_disk *disk);

/* The `number`-th call of a kind from now on (1 is the next) returns `code`, and with `for_ever`
 * all after it.  A write that fails leaves its first half; a sync that fails loses what it should
 * have saved, though reads still show it: no later sync brings that back.  A code of 0 takes the
 * fault away. */
void sim_disk_fail(struct sim_disk *disk, enum sim_call call, uint64_t number, int code,
                   bool for_ever);
uint64_t sim_disk_calls(const struct sim_disk *disk, enum sim_call call);      /* made so far */

/* Called before each call is carried out, for a crash or a count at every one; NULL stops it. */
void sim_disk_watch(struct sim_disk *disk, void (*before)(void *context, enum sim_call call),
                    void *context);

/* Files may hold `bytes` together; what would take more gets -ENOSPC.  Unlimited at first. */
void sim_disk_set_space(struct sim_disk *disk, uint64_t bytes);
uint64_t sim_disk_used(const struct sim_disk *disk);

/* Damage: bit 0 is the lowest of the first byte.  The file must be that long. */
void sim_disk_flip_bit(struct sim_disk *disk, const char *path, uint64_t bit);
/* The same in the system's memory alone: all is there, and the `number`-th read from now on (1 is
 * the next) finds this bit of what it reads turned over, modulo its size; the next one finds it
 * right.  0 ends that.  Whether the one asked for before was reached. */
bool sim_disk_flip_cached(struct sim_disk *disk, uint64_t number, uint64_t bit);
uint64_t sim_disk_reads_now(const struct sim_disk *disk);     /* calls of read_now so far */
#endif
