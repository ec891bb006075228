/* engine_memory: one account of what is kept in memory, and what memtables get of the limit.
 *
 *     limit (--memory)
 *     ├─ kept       directories of open segments, sums by partition, what readers of segments leave
 *     │             for the next ones, and what rooms above hold by partition or client (enum
 *     │             store_holder): no flush makes it less
 *     ├─ work       a quarter of the limit, at least 28 MiB (of a small limit half) and at most
 *     │             64: what flushes, merges, reads and doors use while they work
 *     └─ memtables  what is left, at least a quarter: one open, others being flushed or freed, and
 *                   what is kept of those for the next, a third of it at most
 *
 * Correct means: nothing is ever refused for good, and nothing lost.  An open memtable of a third
 * of its share is frozen, and while all of the share is used batches wait for a flush (ERROR_FULL).
 * The share has a floor, so that there is always a memtable to flush and the wait ends.  What is
 * kept can thus push the whole over a limit that is too small for so many partitions;
 * docs/OPERATIONS.md says what one takes. */
#include "base/memory.h"
#include "base/world/thread.h"
#include "storage/engine/engine_private.h"

enum {
    NEEDED_SHARE = 32,     /* of the limit: more at once is left to who needs it, piece by piece */
    WORK_LEAST = 28 << 20, /* a merge of eight runs takes it, however little memory there is */
    WORK_MAX = 64 << 20,
    FROZEN_SHARE = 3,
    READERS_SHARE = 16,          /* of the limit, at most */
    READERS_BYTES_MAX = 32 << 20 /* of which a hundred segments find theirs again */
};

uint64_t engine_memtables_bytes(const struct engine *engine)
{
    uint64_t bytes = memtable_bytes(engine->open) + engine->giving_bytes;
    for (uint32_t i = 0; i < engine->frozen_count; i++)
        bytes += memtable_bytes(engine->frozen[i]);
    return bytes;
}

uint64_t engine_sums_bytes(const struct engine *engine)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < engine->index_count; i++)
        bytes += partition_index_bytes(engine->indexes[i]);
    return bytes;
}

uint64_t engine_kept_bytes(const struct engine *engine)
{
    uint64_t bytes =
        engine->segments_bytes + engine_sums_bytes(engine) + reader_pool_bytes(engine->readers);
    for (uint32_t i = 0; i < STORE_HOLDERS; i++)
        bytes += engine->held_bytes[i];
    return bytes;
}

static uint64_t smaller(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

size_t engine_readers_share(const struct engine *engine)
{
    return smaller(engine->env.options.memory_limit / READERS_SHARE, READERS_BYTES_MAX);
}

static uint64_t work_share(uint64_t limit)
{
    uint64_t quarter = limit / 4;
    return quarter < WORK_LEAST ? smaller(limit / 2, WORK_LEAST) : smaller(quarter, WORK_MAX);
}

/* What memtables may take together. */
static uint64_t memtables_share(const struct engine *engine)
{
    uint64_t limit = engine->env.options.memory_limit;
    uint64_t least = limit / 4;
    uint64_t taken = engine_kept_bytes(engine) + work_share(limit);
    return taken + least < limit ? limit - taken : least;
}

/* Of ENGINE_FILL_WHOLE. */
static uint32_t fill_of(uint64_t part, uint64_t whole)
{
    return part >= whole ? ENGINE_FILL_WHOLE : (uint32_t)(part * ENGINE_FILL_WHOLE / whole);
}

/* How much more memory of memtables that are gone is kept for the next: as much as that may take.
 * Its clicks take all of that before they take any other. */
static uint64_t spare_room(const struct engine *engine)
{
    uint64_t room = memtables_share(engine) / FROZEN_SHARE;
    uint64_t spare = arena_supply_bytes(engine->memory);
    return spare < room ? room - spare : 0;
}

/* How much of what an open memtable may have this one has. */
static uint32_t open_fill(const struct engine *engine)
{
    uint32_t rows = fill_of(engine->open->wide_rows, engine->env.options.memtable_rows_max);
    uint32_t bytes = fill_of(memtable_bytes(engine->open), memtables_share(engine) / FROZEN_SHARE);
    uint32_t fill = rows > bytes ? rows : bytes;
    if (engine->log == NULL || engine->frozen_count > 0)
        return fill;
    uint32_t log =
        fill_of(commit_log_unflushed_bytes(engine->log), engine->env.options.unflushed_log_max);
    return log > fill ? log : fill;
}

bool engine_open_is_full(const struct engine *engine)
{
    return open_fill(engine) == ENGINE_FILL_WHOLE;
}

void engine_note_fill(struct engine *engine)
{
    bool is_awaited = engine->frozen_count > 1 || engine->flush_waiters.count > 0 ||
                      engine_memtables_bytes(engine) >= memtables_share(engine) / 2;
    atomic_store_explicit(&engine->open_fill, is_awaited ? ENGINE_FILL_WHOLE : open_fill(engine),
                          memory_order_relaxed);
}

bool engine_memory_is_full(const struct engine *engine)
{
    uint64_t bytes = engine_memtables_bytes(engine) + arena_supply_bytes(engine->memory);
    return engine->frozen_count > 0 && (bytes >= memtables_share(engine) ||
                                        (engine->frozen_count > 1 && engine_open_is_full(engine)));
}

void engine_hold_memory_op(struct store *store, enum store_holder holder, int64_t change_bytes)
{
    struct engine *engine = (struct engine *)store;
    engine->held_bytes[holder] += (uint64_t)change_bytes;
}

/* ---- memory made ready ---- */

struct memory_job {
    struct job job;
    struct engine *engine;
    struct arena_range needed; /* or, size 0, a chunk is made */
    struct arena_chunk *chunk;
};

static void memory_run(struct job *job)
{
    struct memory_job *memory = (struct memory_job *)(void *)job;
    struct arena_range left = memory->needed;
    thread_give_way();
    if (left.size == 0)
        memory->chunk = arena_chunk_make(MEMTABLE_CHUNK);
    while (left.size > 0) {
        left = arena_range_touch(left);
        thread_give_way();
    }
}

static void memory_done(struct job *job)
{
    struct memory_job *memory = (struct memory_job *)(void *)job;
    struct engine *engine = memory->engine;
    if (memory->chunk != NULL)
        arena_supply_add(engine->memory, memory->chunk);
    engine->is_memory_coming = false;
    memory_free(memory);
    engine_env_job_done(&engine->env);
}

/* The kernel clears memory at its first touch, which costs more than what is written to it. */
void engine_make_memory_ready(struct engine *engine)
{
    if (engine->is_memory_coming)
        return;
    struct arena_range needed = arena_supply_needed(engine->memory);
    if (needed.size > engine->env.options.memory_limit / NEEDED_SHARE)
        needed.size = 0;
    if (needed.size == 0 && !arena_supply_wants(engine->memory))
        return;
    struct memory_job *memory = memory_zeroed(1, sizeof(*memory));
    memory->needed = needed;
    memory->job = (struct job){.run = memory_run, .done = memory_done};
    memory->engine = engine;
    engine->is_memory_coming = true;
    engine_env_submit(&engine->env, LANE_COMPUTE, &memory->job);
}

/* ---- and kept, or given back ---- */

struct giving_job {
    struct job job;
    struct engine *engine;
    struct memtable *memtable; /* NULL: the arena alone */
    uint64_t bytes;            /* that are counted until they are gone */
    uint64_t kept_bytes;       /* of it, for the next memtable */
    struct arena *arena;
};

static void giving_run(struct job *job)
{
    struct giving_job *giving = (struct giving_job *)(void *)job;
    if (giving->memtable != NULL)
        giving->arena = memtable_free(giving->memtable);
    arena_shrink(giving->arena, giving->kept_bytes);
}

static void giving_done(struct job *job)
{
    struct giving_job *giving = (struct giving_job *)(void *)job;
    struct engine *engine = giving->engine;
    engine->giving_bytes -= giving->bytes;
    arena_supply_keep(engine->memory, giving->arena);
    memory_free(giving);
    engine_drain(engine);
    engine_env_job_done(&engine->env);
}

static void giving_start(struct engine *engine, struct giving_job *giving)
{
    giving->job = (struct job){.run = giving_run, .done = giving_done};
    giving->engine = engine;
    engine->giving_bytes += giving->bytes;
    engine_env_submit(&engine->env, LANE_BACKGROUND, &giving->job);
}

/* To free what some ten thousand partitions have, and to unmap it, takes milliseconds.  It is
 * counted until it is gone, and goes before the next flush. */
void engine_give_back(struct engine *engine, struct memtable *memtable)
{
    struct memtable *last = memtable_let_go(memtable);
    if (last == NULL)
        return;
    struct giving_job *giving = memory_zeroed(1, sizeof(*giving));
    giving->memtable = last;
    giving->bytes = memtable_bytes(last);
    giving->kept_bytes = spare_room(engine);
    giving_start(engine, giving);
}

void engine_return_memory_op(struct store *store, bool at_once)
{
    struct engine *engine = (struct engine *)store;
    struct arena *arena = arena_supply_spare(engine->memory, at_once);
    if (arena == NULL)
        return;
    struct giving_job *giving = memory_zeroed(1, sizeof(*giving));
    giving->arena = arena;
    giving->bytes = arena_held(arena);
    giving_start(engine, giving);
}
