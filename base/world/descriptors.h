/* descriptors: reserves some of the process's file descriptors for files, so that connections
 * cannot take them all.
 *
 * If connections took every descriptor, a server could not write its log.  So a new connection is
 * closed if its descriptor is not in the range for its kind:
 *
 *     0 .. limit - reserved                   files and all connections
 *          .. limit - reserved / 2            files, and commands at the control socket
 *          .. limit                           files only
 *
 * A new descriptor gets the lowest free number, so its number shows about how many are taken. */
#ifndef DAYBOOK_BASE_WORLD_DESCRIPTORS_H
#define DAYBOOK_BASE_WORLD_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

struct descriptors {
    uint32_t limit;            /* RLIMIT_NOFILE */
    uint32_t reserved;
    uint32_t taken;            /* the lowest free number; the limit if none is free */
};

struct descriptors descriptors_look(void);
/* How many descriptors are open; UINT64_MAX: unknown, as before Linux 6.2. */
uint64_t descriptors_open_count(void);
void descriptors_raise_limit(void);
/* Whether a connection may keep `descriptor`: enough descriptors must be left for files. */
bool descriptors_admit(const struct descriptors *descriptors, int descriptor, bool is_command);
/* How many descriptors are left for connections. */
uint32_t descriptors_left(const struct descriptors *descriptors);
#endif
