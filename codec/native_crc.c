/* native_crc: see the header.
 *
 * A header has at most five bytes, so CRC24 needs no table. */
#include "codec/native_crc.h"

#include <zlib.h>

enum { CRC24_BEGIN = 0x875060, CRC24_POLYNOMIAL = 0x1974F0B, CRC24_OVERFLOW = 0x1000000 };

uint32_t native_crc_24(const uint8_t *data, size_t size)
{
    uint32_t crc = CRC24_BEGIN;

    for (size_t i = 0; i < size; i++) {
        crc ^= (uint32_t)data[i] << 16;
        for (int bit = 0; bit < 8; bit++) {
            crc <<= 1;
            if ((crc & CRC24_OVERFLOW) != 0)
                crc ^= CRC24_POLYNOMIAL;
        }
    }
    return crc;
}

uint32_t native_crc_32(const void *data, size_t size)
{
    static const uint8_t primer[] = {0xFA, 0x2D, 0x55, 0xCA};
    uLong crc = crc32(0, primer, sizeof primer);

    return (uint32_t)crc32_z(crc, data, size);
}
