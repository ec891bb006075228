/* memory: the functions of malloc, but they abort when memory is out.
 *
 * The memory that grows with data and requests is limited (quota.h, arena.h), and at its limit
 * requests are refused long before memory is out.  So callers need not handle a lack of memory.
 * No other file calls malloc, except in client/, which must not end the program. */
#ifndef DAYBOOK_BASE_MEMORY_H
#define DAYBOOK_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* These functions return memory that the caller frees with memory_free; a size of 0 gives a valid
 * pointer, too. */
void *memory_alloc(size_t size);
void *memory_zeroed(size_t count, size_t size);      /* aborts when the product overflows */
void *memory_resize(void *old, size_t size);
/* Make room for one more item in an array of `count` items of `size` bytes, which has room for
 * `*capacity` items (0 where `items` is NULL).  Returns the array, which may have moved.  A full
 * array grows to room for twice as many. */
void *memory_make_room(void *items, uint32_t count, uint32_t *capacity, size_t size);
/* The capacity to which an array for `capacity` items grows if it needs room for `needed`: twice as
 * many, or `needed` if that is more. */
uint32_t memory_grown(uint32_t capacity, uint32_t needed);
void *memory_copy(const void *source, size_t size);
char *memory_string(const char *source);             /* a copy; `source` must not be NULL */
void memory_free(void *pointer);                     /* NULL is fine */

/* Memory for O_DIRECT: aligned to 4096 bytes; freed by memory_free. */
void *memory_aligned(size_t size);

enum { MEMORY_HEAPS = 16 }; /* heaps of malloc: so many threads have one each */

/* Configure malloc for a process that runs for long and may use `limit` bytes; called before the
 * first thread is made.
 *
 * Blocks of 2 MiB and more are returned to the system when they are freed; smaller ones are kept
 * and used again.  By default malloc raises this bound to the largest block that was ever freed, up
 * to 32 MiB, and then keeps the large blocks of merges and answers: in a test of an hour the
 * process grew from 60 to 145 MB, of which a third was in use.  A much lower bound costs time:
 * blocks of some 260 KiB, which are allocated and freed with each batch, were then mapped, cleared
 * and unmapped each time, which took two fifths of the time of a turn of the loop.
 *
 * MEMORY_HEAPS threads have a heap each.  A thread that shares a heap waits for the heap's lock,
 * and its next call sorts the blocks that other threads have freed.  Merges and flushes free
 * hundreds of thousands of blocks: when all threads shared two heaps, the engine thread stopped for
 * milliseconds.
 *
 * Each heap keeps up to 8 MiB of free memory at its end.  In a process with a small limit the heaps
 * keep less, and the bound for large blocks is lower.  Without that, a server with a limit of
 * 128 MiB took 113 MiB, and more than half of them were free memory in heaps. */
void memory_return_large(size_t limit);

/* Return to the system the whole free pages between blocks that are in use.  Takes milliseconds,
 * during which other threads may wait for malloc. */
void memory_return_free(void);
/* The bytes of the process that are in memory now (its resident set); 0 where that is not known. */
size_t memory_resident(void);
#endif
