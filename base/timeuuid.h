/* timeuuid: identifiers by time (RFC 9562 version 1).
 *
 * They are packed here from the caller's clock: libuuid would read the system's, which is not the
 * store's and not the simulated world's, and may put the machine's MAC address into an id that
 * clients see. */
#ifndef DAYBOOK_BASE_TIMEUUID_H
#define DAYBOOK_BASE_TIMEUUID_H

#include <stdint.h>

#include "base/uuid.h"

struct random;

/* A version 1 uuid of the time `us` (microseconds since 1970): clock sequence, node and the tenths
 * of a microsecond are random, so two of one time differ. */
void timeuuid_make(int64_t us, struct random *random, uint8_t out[UUID_SIZE]);
/* The same of one maker who never makes two of the same microsecond: `maker` is his, drawn once, so
 * that many of his ids differ in a few bytes only. */
enum { TIMEUUID_MAKER_SIZE = 8 };
void timeuuid_make_as(int64_t us, const uint8_t maker[TIMEUUID_MAKER_SIZE], uint8_t out[UUID_SIZE]);
int64_t timeuuid_us(const uint8_t uuid[UUID_SIZE]);
#endif
