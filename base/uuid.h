/* uuid: makes random uuids (RFC 9562 version 4), and formats and parses uuids; by libuuid. */
#ifndef DAYBOOK_BASE_UUID_H
#define DAYBOOK_BASE_UUID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct random;

enum { UUID_SIZE = 16, UUID_TEXT_SIZE = 36 };

void uuid_make(struct random *random, uint8_t out[UUID_SIZE]);

/* Write lowercase characters and a NUL. */
void uuid_format(const uint8_t uuid[UUID_SIZE], char text[UUID_TEXT_SIZE + 1]);
/* Parse exactly 36 characters, of either case. */
bool uuid_from_text(struct bytes text, uint8_t uuid_out[UUID_SIZE]);
#endif
