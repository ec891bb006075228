/* memory: the control plane's allocator, which aborts when memory is out.
 *
 * Data on the hot path lives in arenas with a limit (arena.h) and is answered ERROR_FULL long
 * before memory is out; what is left are small objects for which no caller could do better than
 * stop.  No other file calls malloc. */
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

enum { MEMORY_HEAPS = 16 }; /* one for each of so many threads */

/* Before the first thread, of a process that runs for long and may take `limit` bytes: blocks of
 * 2 MiB and more go back to the system when they are freed, smaller ones are kept for the next.  By
 * itself malloc raises that bound to the largest block it has seen freed, up to 32 MiB, and then
 * holds on to what merges and answers needed once: a soak of an hour went from 60 to 145 MB, of
 * which a third was in use.  A much lower bound is dear: what connections and ticks take and give
 * back by the batch, some 260 KiB at a time, was then mapped, touched and unmapped each time, two
 * fifths of a turn of the loop.
 *
 * And each of MEMORY_HEAPS threads has a heap: who shares one waits for its lock, and sorts in his
 * next call what others have freed.  Merges and flushes free blocks by the hundred thousand, of
 * which the engine thread had pauses of milliseconds where all threads shared two heaps.
 *
 * Each heap keeps what is free at its end, up to 8 MiB.  A process that may take little keeps less,
 * and its bound for large blocks is lower: of 113 MiB that a server with 128 MiB had, heaps kept
 * more than half. */
void memory_return_large(size_t limit);

/* Now and then: whole pages between blocks in use go back too.  Takes milliseconds, during which
 * other threads may wait for malloc. */
void memory_return_free(void);
/* Bytes of the process that are in memory now; 0 where the system does not say. */
size_t memory_resident(void);
#endif
