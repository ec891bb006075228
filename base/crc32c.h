/* crc32c: the checksum of the log, of records and of frames on the wire.
 *
 * It includes no other header of the program, because the client library contains it, too. */
#ifndef DAYBOOK_BASE_CRC32C_H
#define DAYBOOK_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli), by the CPU's instruction where there is one, else by table: same result.
 * `seed` is 0 or the result over the bytes before. */
uint32_t crc32c(uint32_t seed, const void *data, size_t size);
uint32_t crc32c_by_table(uint32_t seed, const void *data, size_t size);   /* for any CPU */
#endif
