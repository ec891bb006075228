/* arena: an allocator that frees all its memory together.  Large chunks are on huge pages.
 *
 * A memtable, a batch or a query owns one arena.  The first write to a fresh page is expensive, so
 * an arena can be reset and used again (docs/decisions/26-one-account-of-memory.md). */
#ifndef DAYBOOK_BASE_ARENA_H
#define DAYBOOK_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

struct arena;

/* Chunks have `chunk_size` bytes, at least 4096.  If that is a multiple of 2 MiB, they use huge
 * pages. */
struct arena *arena_new(size_t chunk_size);
void arena_free(struct arena *arena);                          /* NULL is fine */

/* A supply holds chunks for arenas of one thread and one chunk size.  Another thread makes chunks
 * ahead, because the kernel takes time to clear a page at its first use. */
struct arena_supply;
struct arena_chunk;

struct arena_supply *arena_supply_new(size_t chunk_size);
void arena_supply_free(struct arena_supply *supply);           /* NULL is fine */
/* The supply outlives the arena. */
struct arena *arena_new_supplied(struct arena_supply *supply);
bool arena_supply_wants(const struct arena_supply *supply);    /* that a chunk is made ahead */
/* Any thread may call this. */
struct arena_chunk *arena_chunk_make(size_t chunk_size);
void arena_supply_add(struct arena_supply *supply, struct arena_chunk *chunk);
/* Free an arena of the supply's chunk size; the supply may keep the arena's chunks. */
void arena_supply_keep(struct arena_supply *supply, struct arena *arena);
/* Remove the ready chunks that exceed the number made ahead, and return them in an arena that any
 * thread may free.  NULL: there are none, or an arena took a ready chunk since the last call and
 * `at_once` is false. */
struct arena *arena_supply_spare(struct arena_supply *supply, bool at_once);
size_t arena_supply_bytes(const struct arena_supply *supply);  /* ready chunks only */

/* Note an allocation that the owner will soon write to.  No effect without a supply. */
void arena_need_soon(struct arena *arena, void *data, size_t size);
/* Return the range that arena_need_soon noted last, and forget it; size 0: none. */
struct arena_range {
    void *data;
    size_t size;
};
struct arena_range arena_supply_needed(struct arena_supply *supply);
/* Have the kernel make the first 2 MiB ready for use, and return the rest of the range.  Any thread
 * may call this while the owner uses or frees the memory: the contents do not change, and the
 * kernel ignores freed memory. */
struct arena_range arena_range_touch(struct arena_range range);

/* Allocate memory that is not zeroed.  `alignment` is a power of two, at most 64.  The result is
 * never NULL. */
void *arena_alloc(struct arena *arena, size_t size, size_t alignment);
/* The array is aligned for any type. */
static inline void *arena_array(struct arena *arena, size_t count, size_t size)
{
    return arena_alloc(arena, count * size, _Alignof(max_align_t));
}
/* Return `size` bytes that begin with the contents of `old`, an allocation of `old_size` bytes or
 * NULL.  `size` must not be below `old_size`.  A moved allocation is aligned to 16.  The caller
 * must not use `old` afterwards. */
void *arena_resize(struct arena *arena, void *old, size_t old_size, size_t size);
/* Make room for one more item in an array of `count` items of `size` bytes, with room for
 * `*capacity` items.  Returns the array, which may have moved. */
void *arena_make_room(struct arena *arena, void *items, uint32_t count, uint32_t *capacity,
                      size_t size);
void *arena_alloc_zeroed(struct arena *arena, size_t size, size_t alignment);
struct bytes arena_copy(struct arena *arena, struct bytes bytes);
static inline void *arena_copy_item(struct arena *arena, const void *item, size_t size)
{
    return memcpy(arena_array(arena, 1, size), item, size);
}

/* End all allocations.  The chunks are kept and used again, except those that were made for one
 * allocation each. */
void arena_reset(struct arena *arena);
/* Reset the arena, and keep at most `bytes` bytes of chunks. */
void arena_shrink(struct arena *arena, size_t bytes);

struct arena_budget {
    /* Charges bytes of chunks.  To end the work that needs a chunk, `take` may call longjmp
     * (query/cql/common/cql_guard.h); the chunk is then not made. */
    void (*take)(struct arena_budget *budget, size_t bytes);
    void (*give)(struct arena_budget *budget, size_t bytes);
    /* Called after each ARENA_LOOK_ITEMS items; may call longjmp as well. */
    void (*look)(struct arena_budget *budget);
    size_t items;                        /* since `look` was last called */
};

enum { ARENA_LOOK_ITEMS = 4096 };

/* Charge all chunks, including present ones, to `budget`; NULL: to no budget. */
void arena_set_budget(struct arena *arena, struct arena_budget *budget);
/* Every loop over data that a client sent or stored must call this, so that the budget can end the
 * loop. */
void arena_count(struct arena *arena, size_t items);

size_t arena_used(const struct arena *arena);                  /* bytes of allocations */
size_t arena_held(const struct arena *arena);                  /* bytes of all chunks */
#endif
