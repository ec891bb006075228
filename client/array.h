/* array: grows arrays, and returns false when memory is out instead of ending the program.
 *
 * `array` is the address of the caller's pointer.  The pointer may have any type; it is NULL at
 * first.  The caller frees the memory.  Growing keeps the items.  False: memory is out, and nothing
 * changed. */
#ifndef DAYBOOK_CLIENT_ARRAY_H
#define DAYBOOK_CLIENT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Resize the array to `count` items of `item_size` bytes. */
bool array_resize(void *array, size_t count, size_t item_size);
/* Make room for `needed` items.  If *capacity is too small, it at least doubles. */
bool array_reserve(void *array, size_t *capacity, size_t needed, size_t item_size);
#endif
