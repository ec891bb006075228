/* murmur3: see the header.
 *
 * Cassandra reads the bytes after the last whole block of 16 as signed, so its hash differs from
 * the published MurmurHash3. */
#include "base/murmur3.h"

#include "base/bytes.h"

#define MURMUR3_C1 UINT64_C(0x87c37b91114253d5)
#define MURMUR3_C2 UINT64_C(0x4cf5ad432745937f)

static uint64_t murmur3_rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t murmur3_finish(uint64_t value)
{
    value ^= value >> 33;
    value *= UINT64_C(0xff51afd7ed558ccd);
    value ^= value >> 33;
    value *= UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ value >> 33;
}

static uint64_t murmur3_tail(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value ^= (uint64_t)(int64_t)(int8_t)at[i] << (8 * i);
    return value;
}

static uint64_t murmur3_mix_low(uint64_t k)
{
    return murmur3_rotate(k * MURMUR3_C1, 31) * MURMUR3_C2;
}

static uint64_t murmur3_mix_high(uint64_t k)
{
    return murmur3_rotate(k * MURMUR3_C2, 33) * MURMUR3_C1;
}

int64_t murmur3_token(const void *key, size_t size)
{
    if (size == 0)
        return INT64_MIN;
    const uint8_t *at = key;
    uint64_t low = 0;
    uint64_t high = 0;
    size_t left = size;
    for (; left >= 16; left -= 16, at += 16) {
        low ^= murmur3_mix_low(load_u64(at));
        low = (murmur3_rotate(low, 27) + high) * 5 + 0x52dce729;
        high ^= murmur3_mix_high(load_u64(at + 8));
        high = (murmur3_rotate(high, 31) + low) * 5 + 0x38495ab5;
    }
    if (left > 8)
        high ^= murmur3_mix_high(murmur3_tail(at + 8, left - 8));
    if (left > 0)
        low ^= murmur3_mix_low(murmur3_tail(at, left < 8 ? left : 8));
    low ^= size;
    high ^= size;
    low += high;
    high += low;
    low = murmur3_finish(low) + murmur3_finish(high);
    return low == UINT64_C(1) << 63 ? INT64_MAX : (int64_t)low;
}
