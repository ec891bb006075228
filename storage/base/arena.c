/* arena: chunks in a list, filled from the front.
 *
 * `current` is the chunk being filled; those before it are full and those behind it empty, so that
 * a reset is a matter of going back to the first.  Chunks of whole huge pages come from mmap at a
 * multiple of 2 MiB, else the kernel could not use huge pages at their ends.  A request larger than
 * a chunk gets one of its own on another list: the room left in the current one is not lost, and a
 * reset frees it, because what was made to measure rarely fits again. */
#include "storage/base/arena.h"

#include <string.h>
#include <sys/mman.h>

#include "storage/base/error.h"
#include "storage/base/memory.h"

#define HUGE_PAGE_SIZE ((size_t)2 << 20)

enum { ARENA_ALIGNMENT_MAX = 64, ARENA_CHUNK_SIZE_MIN = 4096 };

struct arena_chunk {
    struct arena_chunk *next;
    uint8_t *data; /* where memory is handed out, aligned to ARENA_ALIGNMENT_MAX */
    size_t size;
    size_t used;
};

struct arena {
    size_t chunk_size;
    struct arena_chunk *first;
    struct arena_chunk *current; /* NULL before the first request */
    struct arena_chunk *large;   /* those made to measure, newest first */
    size_t used;
    size_t held;
};

/* Map `size` bytes at a multiple of `alignment`, by mapping more and giving back both ends. */
static uint8_t *arena_map(size_t size, size_t alignment)
{
    size_t mapped = size + alignment;
    check(mapped > size);
    uint8_t *start = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t before = (alignment - (uintptr_t)start % alignment) % alignment;
    if (before > 0)
        munmap(start, before);
    size_t after = mapped - before - size;
    if (after > 0)
        munmap(start + before + size, after);
    return start + before;
}

static struct arena_chunk *arena_chunk_new(struct arena *arena, size_t size)
{
    struct arena_chunk *chunk = memory_zeroed(1, sizeof *chunk);
    if (size % HUGE_PAGE_SIZE == 0) {
        chunk->data = arena_map(size, HUGE_PAGE_SIZE);
        check(chunk->data != NULL);
        /* Advice: where the kernel has no huge pages, small ones do. */
        (void)madvise(chunk->data, size, MADV_HUGEPAGE);
    } else {
        chunk->data = memory_aligned(size);
    }
    chunk->size = size;
    arena->held += size;
    return chunk;
}

static void arena_chunk_free(struct arena *arena, struct arena_chunk *chunk)
{
    arena->held -= chunk->size;
    if (chunk->size % HUGE_PAGE_SIZE == 0)
        munmap(chunk->data, chunk->size);
    else
        memory_free(chunk->data);
    memory_free(chunk);
}

static void arena_list_free(struct arena *arena, struct arena_chunk *chunk)
{
    while (chunk != NULL) {
        struct arena_chunk *next = chunk->next;
        arena_chunk_free(arena, chunk);
        chunk = next;
    }
}

struct arena *arena_new(size_t chunk_size)
{
    struct arena *arena = memory_zeroed(1, sizeof *arena);
    arena->chunk_size = chunk_size > ARENA_CHUNK_SIZE_MIN ? chunk_size : ARENA_CHUNK_SIZE_MIN;
    return arena;
}

void arena_free(struct arena *arena)
{
    if (arena == NULL)
        return;
    arena_list_free(arena, arena->first);
    arena_list_free(arena, arena->large);
    memory_free(arena);
}

static void *arena_chunk_take(struct arena_chunk *chunk, size_t size, size_t alignment)
{
    size_t start = (chunk->used + alignment - 1) & ~(alignment - 1);
    if (start > chunk->size || chunk->size - start < size)
        return NULL;
    chunk->used = start + size;
    return chunk->data + start;
}

/* Go on to the next chunk, which is a kept one after a reset and else a new one. */
static void arena_advance(struct arena *arena)
{
    struct arena_chunk **next = arena->current != NULL ? &arena->current->next : &arena->first;
    if (*next == NULL)
        *next = arena_chunk_new(arena, arena->chunk_size);
    arena->current = *next;
}

void *arena_alloc(struct arena *arena, size_t size, size_t alignment)
{
    check(alignment > 0 && alignment <= ARENA_ALIGNMENT_MAX && (alignment & (alignment - 1)) == 0);
    arena->used += size;
    if (size > arena->chunk_size) {
        struct arena_chunk *chunk = arena_chunk_new(arena, size);
        chunk->used = size;
        chunk->next = arena->large;
        arena->large = chunk;
        return chunk->data;
    }
    if (arena->current == NULL)
        arena_advance(arena);
    void *memory = arena_chunk_take(arena->current, size, alignment);
    if (memory == NULL) {
        arena_advance(arena);
        memory = arena_chunk_take(arena->current, size, alignment);
    }
    check(memory != NULL);
    return memory;
}

struct bytes arena_copy(struct arena *arena, struct bytes bytes)
{
    uint8_t *copy = arena_alloc(arena, bytes.size, 1);
    if (bytes.size > 0)
        memcpy(copy, bytes.data, bytes.size);
    return bytes_of(copy, bytes.size);
}

void arena_reset(struct arena *arena)
{
    arena_list_free(arena, arena->large);
    arena->large = NULL;
    for (struct arena_chunk *chunk = arena->first; chunk != NULL; chunk = chunk->next)
        chunk->used = 0;
    arena->current = arena->first;
    arena->used = 0;
}

size_t arena_used(const struct arena *arena)
{
    return arena->used;
}

size_t arena_held(const struct arena *arena)
{
    return arena->held;
}
