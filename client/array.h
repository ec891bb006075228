/* array: grows arrays, and returns false when memory is out instead of ending the program.
 *
 * `array` is the address of the caller's pointer, which begins as NULL and is freed by the caller.
 * False: memory is out, and nothing changed. */
#ifndef DAYBOOK_CLIENT_ARRAY_H
#define DAYBOOK_CLIENT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

bool array_resize(void *array, size_t count, size_t item_size);
/* Make room for `needed` items.  A `*capacity` that is too small at least doubles. */
bool array_reserve(void *array, size_t *capacity, size_t needed, size_t item_size);
#endif
