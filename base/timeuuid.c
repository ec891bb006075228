/* timeuuid: the layout of a version 1 uuid.  It is big-endian; T is the time as a count of 100 ns
 * since 1582-10-15, in 60 bits.
 *
 *   byte 0..3    T, bits 0..31
 *   byte 4..5    T, bits 32..47
 *   byte 6..7    version 1 in the high 4 bits, bits 48..59 of T in the others
 *   byte 8..9    variant 10 in the high 2 bits, 14 bits of clock sequence
 *   byte 10..15  node; its multicast bit is set, as the RFC requires where the node is random */
#include "base/timeuuid.h"

#include "base/random.h"

#define EPOCH_TICKS INT64_C(0x01B21DD213814000)

enum { TICKS_PER_US = 10 };

/* `ticks` are units of 100 ns since 1970. */
static void put_timeuuid(uint64_t ticks, const uint8_t maker[TIMEUUID_MAKER_SIZE],
                         uint8_t out[UUID_SIZE])
{
    ticks += EPOCH_TICKS;
    store_u16_be(out, (uint16_t)(ticks >> 16));
    store_u16_be(out + 2, (uint16_t)ticks);
    store_u16_be(out + 4, (uint16_t)(ticks >> 32));
    store_u16_be(out + 6, (uint16_t)(0x1000 | ((ticks >> 48) & 0x0FFF)));
    memcpy(out + 8, maker, TIMEUUID_MAKER_SIZE);
    out[8] = (uint8_t)((out[8] & 0x3F) | 0x80);
    out[10] |= 1;
}

void timeuuid_make(int64_t us, struct random *random, uint8_t out[UUID_SIZE])
{
    uint8_t noise[TIMEUUID_MAKER_SIZE + 1];
    random->fill(random, noise, sizeof(noise));
    put_timeuuid((uint64_t)us * TICKS_PER_US + noise[TIMEUUID_MAKER_SIZE] % TICKS_PER_US, noise,
                 out);
}

void timeuuid_make_as(int64_t us, const uint8_t maker[TIMEUUID_MAKER_SIZE], uint8_t out[UUID_SIZE])
{
    put_timeuuid((uint64_t)us * TICKS_PER_US, maker, out);
}

int64_t timeuuid_us(const uint8_t uuid[UUID_SIZE])
{
    uint64_t ticks = (uint64_t)load_u32_be(uuid) | (uint64_t)load_u16_be(uuid + 4) << 32 |
                     (uint64_t)(load_u16_be(uuid + 6) & 0x0FFF) << 48;
    return ((int64_t)ticks - EPOCH_TICKS) / TICKS_PER_US;
}
