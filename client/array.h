/* array: memory that grows, for a library that may not end the program when memory is out.
 *
 * `array` points to the caller's pointer of any type, which is NULL at first; the caller frees the
 * memory.  Growing keeps the items that are there.  False: memory is out, and nothing changed. */
#ifndef DAYBOOK_CLIENT_ARRAY_H
#define DAYBOOK_CLIENT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Make it `count` items of `item_size` bytes. */
bool array_resize(void *array, size_t count, size_t item_size);
/* Have room for `needed` items: if there are fewer than that in `*capacity`, for at least twice as
 * many as before. */
bool array_reserve(void *array, size_t *capacity, size_t needed, size_t item_size);
#endif
