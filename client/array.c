/* array: see the header. */
#include "client/array.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_MIN = 1024 };

bool array_resize(void *array, size_t count, size_t item_size)
{
    void *old;
    memcpy(&old, array, sizeof old);
    void *grown = realloc(old, count * item_size);
    if (grown == NULL)
        return false;
    memcpy(array, &grown, sizeof grown);
    return true;
}

bool array_reserve(void *array, size_t *capacity, size_t needed, size_t item_size)
{
    if (needed <= *capacity)
        return true;
    size_t count = *capacity == 0 ? BYTES_MIN / item_size : *capacity * 2;
    count = count < needed ? needed : count;
    if (!array_resize(array, count, item_size))
        return false;
    *capacity = count;
    return true;
}
