/* hash64: XXH3 of 64 bits, for hash tables and as the checksum of pages. */
#ifndef DAYBOOK_BASE_HASH64_H
#define DAYBOOK_BASE_HASH64_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash64(const void *data, size_t size);                /* seed 0 */
#endif
