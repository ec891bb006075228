/* md5: RFC 1321, for identifiers that other programs compute as well; never for secrets. */
#ifndef DAYBOOK_BASE_MD5_H
#define DAYBOOK_BASE_MD5_H

#include <stddef.h>
#include <stdint.h>

enum { MD5_SIZE = 16 };

void md5(const void *data, size_t size, uint8_t out[MD5_SIZE]);
#endif
