/* timeuuid: uuids that contain a time (RFC 9562 version 1).
 *
 * The caller gives the time.  libuuid would read the system's clock, which differs from the store's
 * and from that of a simulated world, and might put the machine's MAC address into the uuid. */
#ifndef DAYBOOK_BASE_TIMEUUID_H
#define DAYBOOK_BASE_TIMEUUID_H

#include <stdint.h>

#include "base/uuid.h"

struct random;

/* Make a version 1 uuid of the time `us` (microseconds since 1970).  Clock sequence, node and the
 * tenths of a microsecond are random, so that two uuids of one time differ. */
void timeuuid_make(int64_t us, struct random *random, uint8_t out[UUID_SIZE]);
/* The same with `maker` as clock sequence and node: random bytes that the caller made once, so that
 * its many uuids differ in few bytes.  The caller never makes two uuids of one microsecond. */
enum { TIMEUUID_MAKER_SIZE = 8 };
void timeuuid_make_as(int64_t us, const uint8_t maker[TIMEUUID_MAKER_SIZE], uint8_t out[UUID_SIZE]);
/* The time of a version 1 uuid, in microseconds since 1970. */
int64_t timeuuid_us(const uint8_t uuid[UUID_SIZE]);
#endif
