/* uuid: random uuids (RFC 9562 version 4), and the text of all uuids.
 *
 * libuuid parses and prints the text and draws random uuids; no other file includes it.  Uuids of a
 * time are in base/timeuuid.h. */
#ifndef DAYBOOK_BASE_UUID_H
#define DAYBOOK_BASE_UUID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct random;

enum { UUID_SIZE = 16, UUID_TEXT_SIZE = 36 };

/* A version 4 uuid: libuuid's, or of the bytes of `random` where these are not the system's. */
void uuid_make(struct random *random, uint8_t out[UUID_SIZE]);

/* 36 lowercase characters and a NUL. */
void uuid_format(const uint8_t uuid[UUID_SIZE], char text[UUID_TEXT_SIZE + 1]);
/* Exactly 36 characters, either case. */
bool uuid_from_text(struct bytes text, uint8_t uuid_out[UUID_SIZE]);
#endif
