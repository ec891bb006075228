/* arena: an allocator whose memory is all freed together, on huge pages where it is large.
 *
 * A memtable, a batch or a query owns one arena.  The first write to a fresh page costs
 * more than parsing the bytes that it will hold, so a large arena requests huge pages, and can be
 * reset and used again instead of being freed (docs/decisions/26-one-account-of-memory.md). */
#ifndef DAYBOOK_BASE_ARENA_H
#define DAYBOOK_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

struct arena;

/* Make an arena of chunks of `chunk_size` bytes, at least 4096, on huge pages where the size is a
 * multiple of 2 MiB.  An allocation that is larger than a chunk gets a chunk of its own. */
struct arena *arena_new(size_t chunk_size);
void arena_free(struct arena *arena);                          /* NULL is fine */

/* A supply holds chunks that were made before an arena needs them, for the arenas of one thread and
 * one chunk size.  The kernel clears a page when it is first written to, so another thread makes
 * chunks and writes to each page.  The chunks of an arena that is no longer used are kept for the
 * next arena: getting 2 MiB takes 0.2 ms, and 4.5 ms on a virtual machine that has returned them to
 * its host. */
struct arena_supply;
struct arena_chunk;

struct arena_supply *arena_supply_new(size_t chunk_size);
void arena_supply_free(struct arena_supply *supply);           /* NULL is fine */
/* An arena of the supply's chunk size that takes its chunks from the supply, which outlives it. */
struct arena *arena_new_supplied(struct arena_supply *supply);
/* Whether another chunk should be made.  False until an arena has needed a second chunk. */
bool arena_supply_wants(const struct arena_supply *supply);
/* Make a chunk for arena_supply_add, and write to each of its pages.  Any thread may call it. */
struct arena_chunk *arena_chunk_make(size_t chunk_size);
void arena_supply_add(struct arena_supply *supply, struct arena_chunk *chunk);
/* Free an arena of the supply's chunk size.  If any arena has needed a second chunk, the supply
 * keeps the chunks of this arena. */
void arena_supply_keep(struct arena_supply *supply, struct arena *arena);
/* Remove from the supply the ready chunks beyond the number that is made ahead.  Without `at_once`,
 * remove chunks only if no arena has taken a chunk since the last call.  The chunks are returned in
 * an arena, which any thread may free by arena_free.  NULL: no chunk was removed. */
struct arena *arena_supply_spare(struct arena_supply *supply, bool at_once);
size_t arena_supply_bytes(const struct arena_supply *supply);  /* of the chunks that are ready */

/* Note a large allocation that the arena's owner will soon write to, so that another thread can
 * make its pages ready (arena_supply_needed).  No effect on an arena without a supply. */
void arena_need_soon(struct arena *arena, void *data, size_t size);
/* Take the allocation that was last noted by arena_need_soon; size 0: there is none. */
struct arena_range {
    void *data;
    size_t size;
};
struct arena_range arena_supply_needed(struct arena_supply *supply);
/* Have the kernel make the first 2 MiB of the range ready, which takes a fraction of a millisecond;
 * returns the rest of the range.  Any thread may call this function while the owner uses or frees
 * the memory: the contents do not change, and the kernel ignores memory that was freed. */
struct arena_range arena_range_touch(struct arena_range range);

/* Allocate memory that is not zeroed; `alignment` is a power of two, at most 64.  The call never
 * fails (memory.h). */
void *arena_alloc(struct arena *arena, size_t size, size_t alignment);
/* Allocate an array of `count` items of `size` bytes each, aligned for any type. */
static inline void *arena_array(struct arena *arena, size_t count, size_t size)
{
    return arena_alloc(arena, count * size, _Alignof(max_align_t));
}
/* Replace `old`, an allocation of `old_size` bytes or NULL, by one of `size` bytes with the same
 * contents.  `size` is not smaller.  The allocation that was made last may grow in place; any other
 * is moved, and aligned to 16.  An `old` that is larger than a chunk is freed.  Any other `old`
 * stays allocated, but must not be used. */
void *arena_resize(struct arena *arena, void *old, size_t old_size, size_t size);
/* Make room for one more item in an array of `count` items of `size` bytes, which has room for
 * `*capacity` items (0 where `items` is NULL).  Returns the array, which may have moved.  A full
 * array grows to room for twice as many. */
void *arena_make_room(struct arena *arena, void *items, uint32_t count, uint32_t *capacity,
                      size_t size);
/* Allocate zeroed memory.  If it is larger than a chunk and a multiple of 2 MiB, nothing is written
 * to it here: the kernel clears each of its pages when the page is first used. */
void *arena_alloc_zeroed(struct arena *arena, size_t size, size_t alignment);
struct bytes arena_copy(struct arena *arena, struct bytes bytes);
/* A copy of an item of `size` bytes, aligned for any type. */
static inline void *arena_copy_item(struct arena *arena, const void *item, size_t size)
{
    return memcpy(arena_array(arena, 1, size), item, size);
}

/* End all allocations.  The chunks are kept and used again, except those that were made for one
 * allocation each. */
void arena_reset(struct arena *arena);
/* As arena_reset; then free chunks until at most `bytes` bytes of them are left. */
void arena_shrink(struct arena *arena, size_t bytes);

/* A budget bounds the memory and the time of the work that its arenas serve. */
struct arena_budget {
    /* Called before `bytes` bytes of chunks are made, or charged by arena_set_budget.  It may end
     * the work by not returning (query/cql/common/cql_guard.h); no chunk is then made. */
    void (*take)(struct arena_budget *budget, size_t bytes);
    void (*give)(struct arena_budget *budget, size_t bytes);
    /* Called after each ARENA_LOOK_ITEMS items (arena_count); it may end the work, too. */
    void (*look)(struct arena_budget *budget);
    size_t items;                        /* since `look` was last called */
};

enum { ARENA_LOOK_ITEMS = 4096 };

/* From now on the arena's chunks are charged to `budget`, including those it has; NULL: to none. */
void arena_set_budget(struct arena *arena, struct arena_budget *budget);
/* The work that the arena serves has processed `items` items.  Every loop over what a client sent
 * or stored calls this function, so that the budget can end a long loop. */
void arena_count(struct arena *arena, size_t items);

size_t arena_used(const struct arena *arena);                  /* bytes allocated */
size_t arena_held(const struct arena *arena);                  /* bytes of all chunks */
#endif
