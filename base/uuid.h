/* uuid: identifiers by time and by chance (RFC 9562 versions 1 and 4), and their text.
 *
 * libuuid reads text, prints it and draws what is random; no other file includes it.  Version 1 is
 * packed here from the caller's clock: libuuid would read the system's, which is not the store's
 * and not the simulated world's, and may put the machine's MAC address into an id that clients
 * see. */
#ifndef DAYBOOK_BASE_UUID_H
#define DAYBOOK_BASE_UUID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct random;

enum { UUID_SIZE = 16, UUID_TEXT_SIZE = 36 };

/* A version 1 uuid of the time `us` (microseconds since 1970): clock sequence, node and the tenths
 * of a microsecond are random, so two of one time differ. */
void timeuuid_make(int64_t us, struct random *random, uint8_t out[UUID_SIZE]);
/* The same of one maker who never makes two of the same microsecond: `maker` is his, drawn once, so
 * that many of his ids differ in a few bytes only. */
enum { TIMEUUID_MAKER_SIZE = 8 };
void timeuuid_make_as(int64_t us, const uint8_t maker[TIMEUUID_MAKER_SIZE], uint8_t out[UUID_SIZE]);
int64_t timeuuid_us(const uint8_t uuid[UUID_SIZE]);

/* A version 4 uuid: libuuid's, or of the bytes of a world whose bytes are not the system's. */
void uuid_make(struct random *random, uint8_t out[UUID_SIZE]);

/* 36 lowercase characters and a NUL. */
void uuid_format(const uint8_t uuid[UUID_SIZE], char text[UUID_TEXT_SIZE + 1]);
/* Exactly 36 characters, either case. */
bool uuid_from_text(struct bytes text, uint8_t uuid_out[UUID_SIZE]);
#endif
