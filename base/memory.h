/* memory: the control plane's allocator, which aborts when memory is out.
 *
 * Data on the hot path is in arenas with a limit (arena.h), which is reached long before memory is
 * out: requests are then refused with ERROR_FULL.  This allocator serves small objects, for which
 * no caller could do better than end the program.  No other file calls malloc. */
#ifndef DAYBOOK_BASE_MEMORY_H
#define DAYBOOK_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* All return memory that the caller frees with memory_free; sizes of 0 give a valid pointer. */
void *memory_alloc(size_t size);
void *memory_zeroed(size_t count, size_t size);      /* aborts when the product overflows */
void *memory_resize(void *old, size_t size);
/* Room for one more item of `size` bytes in an array that has `count` items, and room for
 * `*capacity` (0 for NULL): the array, which may have moved.  A full one grows to twice the
 * room. */
void *memory_make_room(void *items, uint32_t count, uint32_t *capacity, size_t size);
void *memory_copy(const void *source, size_t size);
char *memory_string(const char *source);             /* a copy; `source` must not be NULL */
void memory_free(void *pointer);                     /* NULL is fine */

/* Memory for O_DIRECT: aligned to 4096 bytes; freed by memory_free. */
void *memory_aligned(size_t size);

enum { MEMORY_HEAPS = 16 }; /* malloc's heaps: each of so many threads has one */

/* Configure malloc for a process that runs for long and may use `limit` bytes; called before the
 * first thread is made.
 *
 * Blocks of 2 MiB and more are returned to the system when they are freed, smaller ones are kept
 * and used again.  By default malloc raises that bound to the largest block that was ever freed, up
 * to 32 MiB, and then keeps what merges and answers needed once: within an hour's soak test the
 * process grew from 60 to 145 MB, of which a third was in use.  A much lower bound costs time:
 * blocks of some 260 KiB, which connections and ticks allocate and free with each batch, were then
 * mapped, cleared and unmapped each time, which took two fifths of a turn of the loop.
 *
 * Each of MEMORY_HEAPS threads has its own heap: a thread that shares a heap waits for the heap's
 * lock, and its next call sorts the blocks that other threads have freed.  Merges and flushes free
 * hundreds of thousands of blocks; where all threads shared two heaps, this stopped the engine
 * thread for milliseconds.
 *
 * Each heap keeps up to 8 MiB of free memory at its end.  A process with a small limit keeps less,
 * and its bound for large blocks is lower: of the 113 MiB of a server with a limit of 128 MiB, more
 * than half was free memory in heaps. */
void memory_return_large(size_t limit);

/* Return whole free pages between blocks that are in use to the system; called now and then.  Takes
 * milliseconds, during which other threads may wait for malloc. */
void memory_return_free(void);
/* The bytes of the process that are in memory now (its resident set); 0 where that is not known. */
size_t memory_resident(void);
#endif
