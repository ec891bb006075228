/* descriptors: how many files and connections may be open, and who gets the last ones.
 *
 * Files must never wait for connections: a server whose clients have taken every descriptor could
 * neither make the next file of its log nor write a segment, and clicks would wait for ever.  So
 * the last ones are reserved for files:
 *
 *     0 .. limit - reserved                   whoever comes first
 *          .. limit - reserved / 2            files, and commands at the control socket
 *          .. limit                           files alone
 *
 * The system gives the lowest free number, so the number of a new connection says how many are
 * taken: one that is past its end is closed at once. */
#ifndef DAYBOOK_BASE_WORLD_DESCRIPTORS_H
#define DAYBOOK_BASE_WORLD_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

struct descriptors {
    uint32_t limit;            /* of the process (RLIMIT_NOFILE) */
    uint32_t reserved;         /* of these, for files */
    uint32_t taken;            /* at least: the lowest free number; the limit if there is none */
};

struct descriptors descriptors_look(void);
/* Allow the process as many as the system lets it have. */
void descriptors_raise_limit(void);
/* Whether a new connection with this descriptor leaves files what they need. */
bool descriptors_admit(const struct descriptors *descriptors, int descriptor, bool is_command);
/* How many connections of clients there may be, beside what the program itself has open. */
uint32_t descriptors_left(const struct descriptors *descriptors);
#endif
