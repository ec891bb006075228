/* uuid: random uuids (RFC 9562 version 4), and the text of all uuids.
 *
 * libuuid parses and prints the text and makes random uuids; only uuid.c includes its header.
 * base/timeuuid.h makes uuids that contain a time. */
#ifndef DAYBOOK_BASE_UUID_H
#define DAYBOOK_BASE_UUID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct random;

enum { UUID_SIZE = 16, UUID_TEXT_SIZE = 36 };

/* Make a version 4 uuid: by libuuid if `random` is the system, else of bytes from `random`. */
void uuid_make(struct random *random, uint8_t out[UUID_SIZE]);

/* Write 36 lowercase characters and a NUL. */
void uuid_format(const uint8_t uuid[UUID_SIZE], char text[UUID_TEXT_SIZE + 1]);
/* Parse exactly 36 characters, of either case.  False: the text is no uuid. */
bool uuid_from_text(struct bytes text, uint8_t uuid_out[UUID_SIZE]);
#endif
