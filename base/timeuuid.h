/* timeuuid: uuids that contain a time (RFC 9562 version 1).
 *
 * The caller gives the time, because libuuid would read the system's clock, and might reveal the
 * MAC address. */
#ifndef DAYBOOK_BASE_TIMEUUID_H
#define DAYBOOK_BASE_TIMEUUID_H

#include <stdint.h>

#include "base/uuid.h"

struct random;

/* `us` is microseconds since 1970. */
void timeuuid_make(int64_t us, struct random *random, uint8_t out[UUID_SIZE]);
/* `maker` is random bytes, the same in all calls of one caller.  That caller must not make two
 * uuids of the same microsecond. */
enum { TIMEUUID_MAKER_SIZE = 8 };
void timeuuid_make_as(int64_t us, const uint8_t maker[TIMEUUID_MAKER_SIZE], uint8_t out[UUID_SIZE]);
/* Returns the time of a uuid, in microseconds since 1970. */
int64_t timeuuid_us(const uint8_t uuid[UUID_SIZE]);
#endif
