#include "storage/engine/memtable_set.h"

#include "base/memory.h"
#include "base/world/thread.h"

enum {
    NEEDED_SHARE = 32, /* more than a 32nd of the limit is not touched ahead */
    FROZEN_SHARE = 3   /* one memtable may have a third of the share of all */
};

void memtable_set_init(struct memtable_set *set, struct engine_env *env,
                       const struct memory_account *account, struct schema *schema)
{
    *set = (struct memtable_set){.env = env,
                                 .account = account,
                                 .schema = schema_ref(schema),
                                 .schema_frozen = schema_version(schema),
                                 .supply = arena_supply_new(MEMTABLE_CHUNK)};
}

void memtable_set_release(struct memtable_set *set)
{
    for (uint32_t i = 0; i < set->frozen_count; i++)
        memtable_unref(set->frozen[i]);
    memtable_unref(set->open);
    schema_unref(set->schema);
    memory_free(set->frozen);
    arena_supply_free(set->supply);
}

/* ---- the open memtable ---- */

void memtable_set_begin(struct memtable_set *set, uint64_t frame_first)
{
    memtable_unref(set->open);
    set->open = memtable_new(set->schema, frame_first, set->supply);
}

void memtable_set_begin_schema(struct memtable_set *set, struct schema *schema,
                               uint64_t frame_first)
{
    schema_unref(set->schema);
    set->schema = schema;
    memtable_set_begin(set, frame_first);
}

bool memtable_set_open_is_empty(const struct memtable_set *set)
{
    return memtable_is_empty(set->open) && schema_version(set->open->schema) <= set->schema_frozen;
}

void memtable_set_end_waits(struct memtable_set *set, int status)
{
    struct freeze_waiter *waiter = set->waiters;
    set->waiters = NULL;
    while (waiter != NULL) {
        struct freeze_waiter *next = waiter->next;
        waiter->resume(waiter, status);
        waiter = next;
    }
}

void memtable_set_freeze(struct memtable_set *set, uint64_t frame_last, int64_t given_us)
{
    struct memtable *memtable = set->open;
    if (memtable_set_open_is_empty(set)) {
        /* The memtable has nothing of the frames up to frame_last. */
        memtable->frame_first = frame_last + 1;
    } else {
        memtable_freeze(memtable, frame_last);
        memtable->given_us = given_us;
        set->frozen =
            memory_resize(set->frozen, (set->frozen_count + 1) * sizeof(struct memtable *));
        set->frozen[set->frozen_count++] = memtable;
        set->schema_frozen = schema_version(memtable->schema);
        set->open = memtable_new(set->schema, frame_last + 1, set->supply);
    }
    memtable_set_end_waits(set, 0);
    set->on_frozen(set->context);
}

void memtable_set_drop_oldest(struct memtable_set *set)
{
    check(set->frozen_count > 0);
    set->frozen_count--;
    for (uint32_t i = 0; i < set->frozen_count; i++)
        set->frozen[i] = set->frozen[i + 1];
}

void memtable_set_await_freeze(struct memtable_set *set, struct freeze_waiter *waiter)
{
    waiter->next = set->waiters;
    set->waiters = waiter;
}

/* ---- contents ---- */

bool memtable_set_open_has_table(const struct memtable_set *set, uint32_t table_id)
{
    return memtable_columnar(set->open, table_id) != NULL ||
           row_memtable_has_table(set->open->rows, table_id);
}

bool memtable_set_meets_overwrites(const struct memtable_set *set, const struct write_batch *batch)
{
    for (uint32_t i = 0; i < batch->mutation_count; i++) {
        const struct mutation *mutation = &batch->mutations[i];
        struct columnar_memtable *columnar;
        if (memtable_find(set->open, mutation->table_id, mutation->key, &columnar) != UINT32_MAX)
            return true;
    }
    return false;
}

bool memtable_set_may_have_overwrites(const struct memtable_set *set, const struct table *table)
{
    for (uint32_t i = 0; i <= set->frozen_count; i++)
        if (row_memtable_has_table(memtable_set_at(set, i)->rows, table->id))
            return true;
    return false;
}

bool memtable_set_has_overwrites(const struct memtable_set *set, const struct table *table,
                                 int64_t token, struct bytes key)
{
    for (uint32_t i = 0; i <= set->frozen_count; i++)
        if (row_memtable_has(memtable_set_at(set, i)->rows, table->id, token, key))
            return true;
    return false;
}

/* ---- the share of memory ---- */

uint64_t memtable_set_bytes(const struct memtable_set *set)
{
    uint64_t bytes = set->giving_bytes;
    for (uint32_t i = 0; i <= set->frozen_count; i++)
        bytes += memtable_bytes(memtable_set_at(set, i));
    return bytes;
}

/* The bytes that the supply may still keep: in all, as much as one memtable may have. */
static uint64_t spare_room(const struct memtable_set *set)
{
    uint64_t room = memory_account_memtables_share(set->account) / FROZEN_SHARE;
    uint64_t spare = arena_supply_bytes(set->supply);
    return spare < room ? room - spare : 0;
}

bool memtable_set_open_is_full(const struct memtable_set *set)
{
    const struct engine_options *options = &set->env->options;
    if (set->open->columnar_rows >= options->memtable_rows_max ||
        memtable_bytes(set->open) >= memory_account_memtables_share(set->account) / FROZEN_SHARE)
        return true;
    return set->log != NULL && set->frozen_count == 0 &&
           commit_log_unflushed_bytes(set->log) >= options->unflushed_log_max;
}

bool memtable_set_is_full(const struct memtable_set *set)
{
    uint64_t bytes = memtable_set_bytes(set) + arena_supply_bytes(set->supply);
    return set->frozen_count > 0 && (bytes >= memory_account_memtables_share(set->account) ||
                                     (set->frozen_count > 1 && memtable_set_open_is_full(set)));
}

/* ---- memory made ready ---- */

struct memory_job {
    struct job job;
    struct memtable_set *set;
    struct arena_range needed; /* size 0: make a chunk instead */
    struct arena_chunk *chunk;
};

static void memory_run(struct job *job)
{
    struct memory_job *memory = (struct memory_job *)(void *)job;
    struct arena_range left = memory->needed;
    thread_yield();
    if (left.size == 0)
        memory->chunk = arena_chunk_make(MEMTABLE_CHUNK);
    while (left.size > 0) {
        left = arena_range_touch(left);
        thread_yield();
    }
}

static void memory_done(struct job *job)
{
    struct memory_job *memory = (struct memory_job *)(void *)job;
    struct memtable_set *set = memory->set;
    if (memory->chunk != NULL)
        arena_supply_add(set->supply, memory->chunk);
    set->is_memory_coming = false;
    memory_free(memory);
    engine_env_job_done(set->env);
}

/* The kernel clears memory when it is first touched, which takes longer than writing the data.  So
 * another thread touches it first. */
void memtable_set_make_ready(struct memtable_set *set)
{
    if (set->is_memory_coming)
        return;
    struct arena_range needed = arena_supply_needed(set->supply);
    if (needed.size > set->env->options.memory_limit / NEEDED_SHARE)
        needed.size = 0;
    if (needed.size == 0 && !arena_supply_wants(set->supply))
        return;
    struct memory_job *memory = memory_zeroed(1, sizeof(*memory));
    memory->needed = needed;
    memory->set = set;
    set->is_memory_coming = true;
    engine_env_submit(set->env, LANE_COMPUTE, &memory->job, memory_run, memory_done);
}

/* ---- memory freed, or kept ---- */

struct giving_job {
    struct job job;
    struct memtable_set *set;
    struct memtable *memtable; /* NULL: `arena` is only shrunk */
    uint64_t bytes;            /* in memtable_set.giving_bytes until the job is done */
    uint64_t kept_bytes;       /* kept for the next memtable */
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
    struct memtable_set *set = giving->set;
    set->giving_bytes -= giving->bytes;
    arena_supply_keep(set->supply, giving->arena);
    memory_free(giving);
    set->on_given(set->context);
    engine_env_job_done(set->env);
}

static void giving_start(struct memtable_set *set, struct giving_job *giving)
{
    giving->set = set;
    set->giving_bytes += giving->bytes;
    engine_env_submit(set->env, LANE_BACKGROUND, &giving->job, giving_run, giving_done);
}

/* A job frees the memory, because freeing ten thousand partitions takes milliseconds. */
void memtable_set_give_back(struct memtable_set *set, struct memtable *memtable)
{
    struct memtable *last = memtable_let_go(memtable);
    if (last == NULL)
        return;
    struct giving_job *giving = memory_zeroed(1, sizeof(*giving));
    giving->memtable = last;
    giving->bytes = memtable_bytes(last);
    giving->kept_bytes = spare_room(set);
    giving_start(set, giving);
}

void memtable_set_return_memory(struct memtable_set *set, bool at_once)
{
    struct arena *arena = arena_supply_spare(set->supply, at_once);
    if (arena == NULL)
        return;
    struct giving_job *giving = memory_zeroed(1, sizeof(*giving));
    giving->arena = arena;
    giving->bytes = arena_held(arena);
    giving_start(set, giving);
}
