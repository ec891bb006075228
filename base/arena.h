/* arena: memory that is handed out forward and freed all at once, on huge pages.
 *
 * A memtable generation, a batch or a query owns one arena.  First touch of fresh memory costs more
 * than parsing does, so a large arena asks for huge pages and can be reset and used again
 * instead of being freed (docs/decisions/26-one-account-of-memory.md). */
#ifndef DAYBOOK_BASE_ARENA_H
#define DAYBOOK_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

struct arena;

/* Chunks of `chunk_size` bytes (a multiple of 2 MiB asks for huge pages); a larger request gets a
 * chunk of its own. */
struct arena *arena_new(size_t chunk_size);
void arena_free(struct arena *arena);                          /* NULL is fine */

/* Chunks ahead of need, for arenas of one thread and one chunk size.  The kernel clears memory when
 * it is first touched, so another thread makes chunks meanwhile; and those of an arena that nobody
 * needs any more are kept for the next one, since memory that was given back for some seconds may
 * be dear to get again: where the machine is a virtual one that returns it to its host, 4.5 ms for
 * 2 MiB instead of 0.2. */
struct arena_supply;
struct arena_chunk;

struct arena_supply *arena_supply_new(size_t chunk_size);
void arena_supply_free(struct arena_supply *supply);           /* NULL is fine */
/* An arena of the supply's chunk size that takes chunks from it, which outlives it. */
struct arena *arena_new_supplied(struct arena_supply *supply);
/* Whether a chunk should be made: not before an arena has asked for its second. */
bool arena_supply_wants(const struct arena_supply *supply);
/* A chunk for arena_supply_add, its memory touched; on any thread. */
struct arena_chunk *arena_chunk_make(size_t chunk_size);
void arena_supply_add(struct arena_supply *supply, struct arena_chunk *chunk);
/* Keep the chunks of an arena of the supply's chunk size, unless no arena has asked for its second
 * yet, and free the rest of it. */
void arena_supply_keep(struct arena_supply *supply, struct arena *arena);
/* What is ready beyond what is made ahead, if nothing was taken since the last call, or `at_once`:
 * in an arena, for arena_free on any thread.  NULL: nothing is. */
struct arena *arena_supply_spare(struct arena_supply *supply, bool at_once);
size_t arena_supply_bytes(const struct arena_supply *supply);  /* of the chunks that are ready */

/* Large memory of an arena that its owner will need soon, all over: to be touched by another
 * thread, too.  Forgotten where there is no supply. */
void arena_need_soon(struct arena *arena, void *data, size_t size);
/* Take what was needed last; size 0: nothing is. */
struct arena_range {
    void *data;
    size_t size;
};
struct arena_range arena_supply_needed(struct arena_supply *supply);
/* Have the kernel make the first 2 MiB of the range ready, which is a fraction of a millisecond's
 * work; returns what is left of the range.  Any thread may call it, whatever the owner does with
 * the memory meanwhile: what is in the memory stays, and memory that is gone is left alone. */
struct arena_range arena_range_touch(struct arena_range range);

/* `alignment` is a power of two, at most 64.  Never fails (memory.h); not zeroed. */
void *arena_alloc(struct arena *arena, size_t size, size_t alignment);
/* The same for `count` items of `size` bytes each, aligned for any of them. */
static inline void *arena_array(struct arena *arena, size_t count, size_t size)
{
    return arena_alloc(arena, count * size, _Alignof(max_align_t));
}
/* A larger piece, aligned to 16, with what is in `old`, which is given up: NULL, or a piece of
 * `old_size` bytes.  One that was handed out last may grow where it is, and one larger than a chunk
 * is freed; of others the memory stays unused. */
void *arena_resize(struct arena *arena, void *old, size_t old_size, size_t size);
/* Room for one more item of `size` bytes in an array that has `count` items, and room for
 * `*capacity` (0 for NULL): the array, which may have moved.  A full one grows to twice the
 * room. */
void *arena_make_room(struct arena *arena, void *items, uint32_t count, uint32_t *capacity,
                      size_t size);
/* Zeroed; what is larger than a chunk and a multiple of 2 MiB is not touched for that, since the
 * kernel clears it piece by piece when it is used. */
void *arena_alloc_zeroed(struct arena *arena, size_t size, size_t alignment);
struct bytes arena_copy(struct arena *arena, struct bytes bytes);
/* A copy of an item of `size` bytes, aligned for any. */
static inline void *arena_copy_item(struct arena *arena, const void *item, size_t size)
{
    return memcpy(arena_array(arena, 1, size), item, size);
}

/* Forget everything handed out and keep the chunks for use again. */
void arena_reset(struct arena *arena);
/* The same, and free chunks until at most so many bytes of them are left. */
void arena_shrink(struct arena *arena, size_t bytes);

/* Whoever bounds the memory and the time of the work that arenas serve. */
struct arena_budget {
    /* A chunk of `bytes` is about to be made: the call may end the work instead, by not returning
     * (query/cql/common/cql_guard.h), and then nothing was made. */
    void (*take)(struct arena_budget *budget, size_t bytes);
    void (*give)(struct arena_budget *budget, size_t bytes);
    /* The work goes on: called once in so many items, and may not return either. */
    void (*look)(struct arena_budget *budget);
    size_t items;                        /* since it looked last */
};

enum { ARENA_LOOK_ITEMS = 4096 };

/* From now on `budget` pays for the arena's chunks, those that it has too; NULL: nothing does. */
void arena_set_budget(struct arena *arena, struct arena_budget *budget);
/* The work that the arena serves has looked at `items` things: said by every loop over what a
 * client sent or stored, so that its budget can end the work between any two of them. */
void arena_count(struct arena *arena, size_t items);

size_t arena_used(const struct arena *arena);                  /* bytes handed out */
size_t arena_held(const struct arena *arena);                  /* bytes of all chunks */
#endif
