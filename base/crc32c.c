/* crc32c: computes the CRC by an instruction of the processor or by a table, with the same result.
 *
 * The instruction takes 3 cycles, but a new one can start in each cycle.  So the CRCs of three
 * adjacent blocks are computed at the same time and joined.  For blocks A, B, C of n bits each
 *
 *     crc(A B C) = crc(A) * x^2n  +  crc(B) * x^n  +  crc(C)      (mod P)
 *
 * A carry-less multiplication of two bit-reversed 32-bit factors gives, as 64 reversed bits, their
 * product times x.  The CRC instruction multiplies these bits by x^32 and reduces them mod P.  So
 * the constants are x^(n-33) and x^(2n-33) mod P, bit-reversed. */
#include "base/crc32c.h"

#include "base/bytes.h"

/* The CRC of each value of four bits; the polynomial is 82f63b78 (bit-reversed). */
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

/* `over_one` multiplies a CRC by x^n, as above, and `over_two` by x^2n. */
struct crc32c_stride {
    size_t block_size;
    uint32_t over_one;
    uint32_t over_two;
};

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
