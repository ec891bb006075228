/* arena: chunks in a list, filled from the front.
 *
 * Chunks of a multiple of 2 MiB are aligned to 2 MiB, as huge pages require.  An allocation larger
 * than a chunk gets a chunk of its own on another list. */
#include "base/arena.h"

#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/memory.h"

#define HUGE_PAGE_SIZE ((size_t)2 << 20)

enum {
    ARENA_ALIGNMENT_MAX = 64,
    ARENA_CHUNK_SIZE_MIN = 4096,
    ARENA_PAGE_SIZE = 4096,
    ARENA_ITEMS_FIRST = 4,
    ARENA_SUPPLY_CHUNKS = 4
};

struct arena_chunk {
    struct arena_chunk *next;
    uint8_t *data; /* aligned to ARENA_ALIGNMENT_MAX */
    size_t size;
    size_t used;
};

struct arena {
    size_t chunk_size;
    struct arena_supply *supply;
    struct arena_chunk *first;
    struct arena_chunk *current; /* NULL: `first` is filled next */
    struct arena_chunk *large;   /* chunks for one allocation each */
    struct arena_budget *budget;
    size_t used;
    size_t held;
};

struct arena_supply {
    size_t chunk_size;
    struct arena_chunk *ready;
    uint32_t count;
    bool is_used;
    bool was_taken;
    struct arena_range needed;
};

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

static struct arena_chunk *chunk_new(size_t size, bool is_huge)
{
    bool is_mapped = size % HUGE_PAGE_SIZE == 0;
    size_t behind = is_mapped ? 0 : size + ARENA_ALIGNMENT_MAX;
    check(behind <= SIZE_MAX - sizeof(struct arena_chunk));
    struct arena_chunk *chunk = memory_alloc(sizeof *chunk + behind);
    *chunk = (struct arena_chunk){.size = size};
    if (is_mapped) {
        chunk->data = arena_map(size, HUGE_PAGE_SIZE);
        check(chunk->data != NULL);
        if (is_huge)
            (void)madvise(chunk->data, size, MADV_HUGEPAGE);
    } else {
        uint8_t *data = (uint8_t *)(chunk + 1);
        chunk->data = data + (-(uintptr_t)data & (ARENA_ALIGNMENT_MAX - 1));
    }
    return chunk;
}

static void chunk_free(struct arena_chunk *chunk)
{
    if (chunk->size % HUGE_PAGE_SIZE == 0)
        munmap(chunk->data, chunk->size);
    memory_free(chunk);
}

static void arena_take(struct arena *arena, size_t bytes)
{
    if (arena->budget != NULL)
        arena->budget->take(arena->budget, bytes);
    arena->held += bytes;
}

static void arena_give(struct arena *arena, size_t bytes)
{
    if (arena->budget != NULL)
        arena->budget->give(arena->budget, bytes);
    arena->held -= bytes;
}

static void arena_list_free(struct arena *arena, struct arena_chunk *chunk)
{
    while (chunk != NULL) {
        struct arena_chunk *next = chunk->next;
        arena_give(arena, chunk->size);
        chunk_free(chunk);
        chunk = next;
    }
}

/* ---- the supply ---- */

struct arena_supply *arena_supply_new(size_t chunk_size)
{
    struct arena_supply *supply = memory_zeroed(1, sizeof *supply);
    supply->chunk_size = chunk_size;
    return supply;
}

void arena_supply_free(struct arena_supply *supply)
{
    if (supply == NULL)
        return;
    while (supply->ready != NULL) {
        struct arena_chunk *next = supply->ready->next;
        chunk_free(supply->ready);
        supply->ready = next;
    }
    memory_free(supply);
}

bool arena_supply_wants(const struct arena_supply *supply)
{
    return supply->is_used && supply->count < ARENA_SUPPLY_CHUNKS;
}

struct arena_chunk *arena_chunk_make(size_t chunk_size)
{
    struct arena_chunk *chunk = chunk_new(chunk_size, true);
    for (size_t at = 0; at < chunk_size; at += ARENA_PAGE_SIZE)
        ((volatile uint8_t *)chunk->data)[at] = 0;
    return chunk;
}

void arena_supply_add(struct arena_supply *supply, struct arena_chunk *chunk)
{
    check(chunk->size == supply->chunk_size);
    chunk->next = supply->ready;
    supply->ready = chunk;
    supply->count++;
}

void arena_supply_keep(struct arena_supply *supply, struct arena *arena)
{
    arena_reset(arena);
    while (supply->is_used && arena->first != NULL) {
        struct arena_chunk *next = arena->first->next;
        arena_supply_add(supply, arena->first);
        arena->first = next;
        arena->held -= supply->chunk_size;
    }
    arena_free(arena);
}

struct arena *arena_supply_spare(struct arena_supply *supply, bool at_once)
{
    bool is_needed = supply->was_taken && !at_once;
    supply->was_taken = false;
    if (is_needed || supply->count <= ARENA_SUPPLY_CHUNKS)
        return NULL;
    struct arena *arena = arena_new(supply->chunk_size);
    for (; supply->count > ARENA_SUPPLY_CHUNKS; supply->count--) {
        struct arena_chunk *chunk = supply->ready;
        supply->ready = chunk->next;
        chunk->next = arena->first;
        arena->first = chunk;
        arena->held += chunk->size;
    }
    return arena;
}

size_t arena_supply_bytes(const struct arena_supply *supply)
{
    return supply->count * supply->chunk_size;
}

void arena_need_soon(struct arena *arena, void *data, size_t size)
{
    if (arena->supply != NULL)
        arena->supply->needed = (struct arena_range){data, size};
}

struct arena_range arena_supply_needed(struct arena_supply *supply)
{
    struct arena_range needed = supply->needed;
    supply->needed = (struct arena_range){0};
    return needed;
}

/* Linux before 5.14 lacks MADV_POPULATE_WRITE, and makes each page ready at its first use. */
struct arena_range arena_range_touch(struct arena_range range)
{
    size_t size = range.size < HUGE_PAGE_SIZE ? range.size : HUGE_PAGE_SIZE;
#ifdef MADV_POPULATE_WRITE
    (void)madvise(range.data, size, MADV_POPULATE_WRITE);
#endif
    return (struct arena_range){(uint8_t *)range.data + size, range.size - size};
}

/* To save memory, chunks have small pages until an arena of the supply needs a second chunk. */
static struct arena_chunk *supply_take(struct arena_supply *supply)
{
    struct arena_chunk *chunk = supply->ready;
    if (chunk == NULL)
        return chunk_new(supply->chunk_size, supply->is_used);
    supply->ready = chunk->next;
    supply->count--;
    supply->was_taken = true;
    chunk->next = NULL;
    return chunk;
}

/* ---- arenas ---- */

struct arena *arena_new(size_t chunk_size)
{
    struct arena *arena = memory_zeroed(1, sizeof *arena);
    arena->chunk_size = chunk_size > ARENA_CHUNK_SIZE_MIN ? chunk_size : ARENA_CHUNK_SIZE_MIN;
    return arena;
}

struct arena *arena_new_supplied(struct arena_supply *supply)
{
    struct arena *arena = arena_new(supply->chunk_size);
    arena->supply = supply;
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

static void arena_advance(struct arena *arena)
{
    struct arena_chunk **next = arena->current != NULL ? &arena->current->next : &arena->first;
    if (*next == NULL) {
        arena_take(arena, arena->chunk_size);
        if (arena->supply != NULL && arena->current != NULL)
            arena->supply->is_used = true;
        *next =
            arena->supply != NULL ? supply_take(arena->supply) : chunk_new(arena->chunk_size, true);
    }
    arena->current = *next;
}

void *arena_alloc(struct arena *arena, size_t size, size_t alignment)
{
    check(alignment > 0 && alignment <= ARENA_ALIGNMENT_MAX && (alignment & (alignment - 1)) == 0);
    arena->used += size;
    void *taken = arena->current != NULL && size <= arena->chunk_size
                      ? arena_chunk_take(arena->current, size, alignment)
                      : NULL;
    if (taken != NULL)
        return taken;
    if (size > arena->chunk_size) {
        arena_take(arena, size);
        struct arena_chunk *chunk = chunk_new(size, true);
        chunk->used = size;
        chunk->next = arena->large;
        arena->large = chunk;
        return chunk->data;
    }
    arena_advance(arena);
    void *memory = arena_chunk_take(arena->current, size, alignment);
    check(memory != NULL);
    return memory;
}

static struct arena_chunk **large_of(struct arena *arena, const void *data, size_t size)
{
    if (data == NULL || size <= arena->chunk_size)
        return NULL;
    struct arena_chunk **place = &arena->large;
    while (*place != NULL && (*place)->data != data)
        place = &(*place)->next;
    return *place != NULL ? place : NULL;
}

/* Only the growth is charged, since this call frees the old chunk. */
static void *resize_large(struct arena *arena, struct arena_chunk **place, size_t size)
{
    struct arena_chunk *old = *place;
    arena_take(arena, size - old->size);
    struct arena_chunk *chunk = chunk_new(size, true);
    memcpy(chunk->data, old->data, old->size);
    chunk->used = size;
    chunk->next = old->next;
    *place = chunk;
    arena->used += size - old->size;
    chunk_free(old);
    return chunk->data;
}

void *arena_resize(struct arena *arena, void *old, size_t old_size, size_t size)
{
    struct arena_chunk *current = arena->current;
    struct arena_chunk **large = large_of(arena, old, old_size);
    if (large != NULL)
        return resize_large(arena, large, size);
    bool is_last = old != NULL && current != NULL &&
                   (uint8_t *)old + old_size == current->data + current->used;
    if (is_last && size - old_size <= current->size - current->used) {
        current->used += size - old_size;
        arena->used += size - old_size;
        return old;
    }
    void *moved = arena_alloc(arena, size, 16);
    if (old_size > 0)
        memcpy(moved, old, old_size);
    return moved;
}

void *arena_make_room(struct arena *arena, void *items, uint32_t count, uint32_t *capacity,
                      size_t size)
{
    if (count < *capacity)
        return items;
    check(count <= UINT32_MAX / 2);
    *capacity = count == 0 ? ARENA_ITEMS_FIRST : count * 2;
    return arena_resize(arena, items, count * size, *capacity * size);
}

void *arena_alloc_zeroed(struct arena *arena, size_t size, size_t alignment)
{
    void *memory = arena_alloc(arena, size, alignment);
    /* A large chunk is new, and mmap returns zeroed pages. */
    bool is_cleared = size > arena->chunk_size && size % HUGE_PAGE_SIZE == 0;
    if (!is_cleared)
        memset(memory, 0, size);
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

void arena_shrink(struct arena *arena, size_t bytes)
{
    arena_reset(arena);
    struct arena_chunk **rest = &arena->first;
    size_t left = 0;
    while (*rest != NULL && left + (*rest)->size <= bytes) {
        left += (*rest)->size;
        rest = &(*rest)->next;
    }
    arena_list_free(arena, *rest);
    *rest = NULL;
    arena->current = arena->first;
}

void arena_set_budget(struct arena *arena, struct arena_budget *budget)
{
    size_t held = arena->held;
    if (budget == arena->budget)
        return;
    if (arena->budget != NULL)
        arena->budget->give(arena->budget, held);
    arena->budget = NULL;
    if (budget != NULL)
        budget->take(budget, held);
    arena->budget = budget;
}

void arena_count(struct arena *arena, size_t items)
{
    struct arena_budget *budget = arena->budget;
    if (budget == NULL || (budget->items += items) < ARENA_LOOK_ITEMS)
        return;
    budget->items = 0;
    budget->look(budget);
}

size_t arena_used(const struct arena *arena)
{
    return arena->used;
}

size_t arena_held(const struct arena *arena)
{
    return arena->held;
}
