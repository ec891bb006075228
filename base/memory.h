/* memory: functions like malloc that abort when memory is out.
 *
 * Memory that grows with data and requests has limits (quota.h, arena.h), so callers need not
 * handle a lack of memory.  Only client/ calls malloc itself, as it must not end the program. */
#ifndef DAYBOOK_BASE_MEMORY_H
#define DAYBOOK_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* The caller frees the memory by memory_free; size 0 gives a valid pointer. */
void *memory_alloc(size_t size);
void *memory_zeroed(size_t count, size_t size);      /* aborts when the product overflows */
void *memory_resize(void *old, size_t size);
/* Make room for one more item in an array of `count` items of `size` bytes, with room for
 * `*capacity` items.  Returns the array, which may have moved. */
void *memory_make_room(void *items, uint32_t count, uint32_t *capacity, size_t size);
/* The new capacity of an array for `capacity` items that needs room for `needed` items: twice
 * `capacity`, or `needed` if that is more. */
uint32_t memory_grown(uint32_t capacity, uint32_t needed);
void *memory_copy(const void *source, size_t size);
char *memory_string(const char *source);             /* must not be NULL */
void memory_free(void *pointer);                     /* NULL is fine */

/* Aligned to 4096 bytes, for O_DIRECT. */
void *memory_aligned(size_t size);
/* Have at least `size` such bytes in `*bytes`.  If there are fewer, their content is lost. */
void memory_aligned_reserve(uint8_t **bytes, size_t *capacity, size_t size);

enum { MEMORY_HEAPS = 16 }; /* threads beyond this number share heaps and their locks */

/* Configure malloc for a process that may use `limit` bytes.  Call this before making a thread.
 *
 * Freed blocks of 2 MiB and more return to the system; malloc by default keeps blocks up to 32 MiB.
 * Each heap keeps up to 8 MiB of free memory.  With a small limit both sizes are smaller. */
void memory_return_large(size_t limit);

/* Return free memory to the system.  This takes milliseconds, during which other threads may wait
 * for malloc. */
void memory_return_free(void);
/* The resident set of the process in bytes; 0: unknown. */
size_t memory_resident(void);
#endif
