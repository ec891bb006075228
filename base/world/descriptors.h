/* descriptors: reserves some of the process's file descriptors for files, so that connections
 * cannot take them all.
 *
 * If connections had taken every descriptor, a server could neither make the next file of its log
 * nor write a segment, and clicks would wait for ever.  So descriptors are used as follows:
 *
 *     0 .. limit - reserved                   files and all connections
 *          .. limit - reserved / 2            files, and commands at the control socket
 *          .. limit                           files only
 *
 * The system gives a new descriptor the lowest free number, so this number shows about how many
 * are taken.  A new connection whose descriptor is past its range is closed when it is accepted. */
#ifndef DAYBOOK_BASE_WORLD_DESCRIPTORS_H
#define DAYBOOK_BASE_WORLD_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

struct descriptors {
    uint32_t limit;            /* of the process (RLIMIT_NOFILE) */
    uint32_t reserved;         /* the part of the limit that is reserved for files */
    uint32_t taken;            /* the lowest free number, or the limit if none is free */
};

/* The process's limit, and how many descriptors are taken now. */
struct descriptors descriptors_look(void);
/* Raise the process's limit to the highest that the system allows. */
void descriptors_raise_limit(void);
/* Whether a new connection with this descriptor leaves enough descriptors for files. */
bool descriptors_admit(const struct descriptors *descriptors, int descriptor, bool is_command);
/* How many descriptors are left for connections, after the reserve and those that the program
 * itself needs. */
uint32_t descriptors_left(const struct descriptors *descriptors);
#endif
