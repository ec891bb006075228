/* hash: adapter of xxHash, CRC-32C by instruction or table, and Cassandra's Murmur3 token.
 *
 * CRC: the instruction takes 8 bytes in 3 cycles but can start anew every cycle, so three blocks
 * that lie one after the other run side by side and are joined at their end.  A CRC is a polynomial
 * remainder, hence for blocks A, B, C of n bits each
 *
 *     crc(A B C) = crc(A) * x^2n  +  crc(B) * x^n  +  crc(C)      (mod P)
 *
 * where x^n mod P is a constant.  One carry-less multiplication gives a 64-bit product of two
 * bit-reversed 32-bit factors, which is short by one place; the CRC instruction that reduces it
 * multiplies by x^32 besides; so the constants hold x^(n-33) mod P, bit-reversed.
 *
 * Token: Cassandra reads the bytes of the tail as signed, which differs from the published
 * MurmurHash3 for keys that are no multiple of 16 bytes and hold bytes from 80 up. */
#include "storage/base/hash.h"

#include <xxhash.h>

#include "storage/base/bytes.h"
#include "storage/base/memory.h"

/* ---- CRC-32C ---- */

/* Remainders of the 16 values of four bits, polynomial 82f63b78 (bit-reversed). */
static const uint32_t crc32c_nibbles[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t crc32c_by_table(uint32_t seed, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint32_t crc = ~seed;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        crc = (crc >> 4) ^ crc32c_nibbles[crc & 15];
        crc = (crc >> 4) ^ crc32c_nibbles[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>

#define CRC32C_TARGET __attribute__((target("sse4.2,pclmul")))

/* Three blocks of `block_size` bytes are taken at once; the constants move a CRC over one and over
 * two blocks. */
struct crc32c_stride {
    size_t block_size;
    uint32_t over_one;
    uint32_t over_two;
};

/* Long blocks make joining cheap, short ones serve what is left. */
static const struct crc32c_stride crc32c_strides[] = {
    {1024, 0x170076fa, 0xa51b6135},
    {128, 0x0d3b6092, 0xb9e02b86},
};

CRC32C_TARGET static uint64_t crc32c_move(uint64_t crc, uint32_t over)
{
    __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)crc), _mm_cvtsi32_si128((int32_t)over), 0);
    return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

CRC32C_TARGET static uint32_t crc32c_by_instruction(uint32_t seed, const uint8_t *at, size_t size)
{
    uint64_t crc = ~seed;
    for (size_t s = 0; s < sizeof crc32c_strides / sizeof crc32c_strides[0]; s++) {
        const struct crc32c_stride *stride = &crc32c_strides[s];
        size_t block = stride->block_size;
        for (; size >= 3 * block; size -= 3 * block, at += 3 * block) {
            uint64_t second = 0;
            uint64_t third = 0;
            for (size_t i = 0; i < block; i += 8) {
                crc = _mm_crc32_u64(crc, load_u64(at + i));
                second = _mm_crc32_u64(second, load_u64(at + block + i));
                third = _mm_crc32_u64(third, load_u64(at + 2 * block + i));
            }
            crc = crc32c_move(crc, stride->over_two);
            crc ^= crc32c_move(second, stride->over_one) ^ third;
        }
    }
    for (; size >= 8; size -= 8, at += 8)
        crc = _mm_crc32_u64(crc, load_u64(at));
    for (; size > 0; size--, at++)
        crc = _mm_crc32_u8((uint32_t)crc, *at);
    return ~(uint32_t)crc;
}

uint32_t crc32c(uint32_t seed, const void *data, size_t size)
{
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
        return crc32c_by_instruction(seed, data, size);
    return crc32c_by_table(seed, data, size);
}
#else
uint32_t crc32c(uint32_t seed, const void *data, size_t size)
{
    return crc32c_by_table(seed, data, size);
}
#endif

/* ---- XXH3 ---- */

struct hash128_stream {
    XXH3_state_t *state;
};

uint64_t hash64(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}

struct hash128 hash128(const void *data, size_t size)
{
    XXH128_hash_t hash = XXH3_128bits(data, size);
    return (struct hash128){.low = hash.low64, .high = hash.high64};
}

struct hash128_stream *hash128_stream_new(void)
{
    struct hash128_stream *stream = memory_alloc(sizeof *stream);
    stream->state = XXH3_createState();
    check(stream->state != NULL);
    check(XXH3_128bits_reset(stream->state) == XXH_OK);
    return stream;
}

void hash128_stream_add(struct hash128_stream *stream, const void *data, size_t size)
{
    if (size > 0)
        check(XXH3_128bits_update(stream->state, data, size) == XXH_OK);
}

struct hash128 hash128_stream_digest(const struct hash128_stream *stream)
{
    XXH128_hash_t hash = XXH3_128bits_digest(stream->state);
    return (struct hash128){.low = hash.low64, .high = hash.high64};
}

void hash128_stream_free(struct hash128_stream *stream)
{
    if (stream == NULL)
        return;
    XXH3_freeState(stream->state);
    memory_free(stream);
}

/* ---- Murmur3 ---- */

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

/* Up to 8 bytes of the tail, little-endian, each sign-extended before it is moved to its place. */
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
