/* crc32c: the checksum of the log, of the manifest and of frames on the wire.
 *
 * The client library uses this header, so this header includes no other header of the program. */
#ifndef DAYBOOK_BASE_CRC32C_H
#define DAYBOOK_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli).  `seed` is 0, or the CRC of the bytes that precede `data`. */
uint32_t crc32c(uint32_t seed, const void *data, size_t size);
uint32_t crc32c_by_table(uint32_t seed, const void *data, size_t size);   /* by software */
#endif
