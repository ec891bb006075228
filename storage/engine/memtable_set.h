/* memtable_set: the open memtable, the frozen ones that wait for their flush, and their memory.
 *
 *     batches ──▶ open ──freeze, between two frames──▶ frozen, oldest first ──flush──▶ given back
 *                  ▲                                                                     │
 *                  └──────── supply: memory made ready, or kept of those that are gone ◀─┘
 *
 * What must hold: a memtable is frozen between two frames only, so runs cover whole frames that
 * follow one another.  One memtable has one schema.
 *
 * An open memtable that has a third of the share of all (memory_account.h) is full, and while all
 * of the share is used batches wait for a flush.
 *
 * Engine thread; a job may read what is frozen, and `fill`. */
#ifndef DAYBOOK_STORAGE_ENGINE_MEMTABLE_SET_H
#define DAYBOOK_STORAGE_ENGINE_MEMTABLE_SET_H

#include <stdatomic.h>

#include "storage/engine/memory_account.h"
#include "storage/log/commit_log.h"
#include "storage/memtable/memtable.h"

/* A reader that needs the open memtable frozen first. */
struct freeze_waiter {
    void (*resume)(struct freeze_waiter *waiter, int status);
    struct freeze_waiter *next;
};

enum { MEMTABLE_FILL_WHOLE = 1024 };

struct memtable_set {
    struct engine_env *env;
    const struct memory_account *account;
    const struct commit_log *log;      /* NULL while opening */
    struct schema *schema;             /* referenced: the current one */
    uint32_t schema_frozen;            /* the newest version that is flushed or frozen */
    struct memtable *open;
    struct memtable **frozen;
    uint32_t frozen_count;
    int64_t oldest_us;                 /* of what was applied since memtable_set_watch_oldest */
    struct freeze_waiter *waiters;

    struct arena_supply *supply;       /* for memtables, */
    bool is_memory_coming;             /* and a job makes more of it ready */
    uint64_t giving_bytes;             /* of flushed memtables that a job frees */
    bool is_flush_awaited;             /* by somebody who asked for it */
    /* Of MEMTABLE_FILL_WHOLE.  Read by the flush: how soon the next one is to be done. */
    atomic_uint fill;

    void (*on_frozen)(void *context);  /* there may be something to flush */
    void (*on_given)(void *context);   /* memory has become free */
    void *context;                     /* of both */
};

/* No open memtable yet: memtable_set_begin.  References `schema`, which is the manifest's. */
void memtable_set_init(struct memtable_set *set, struct engine_env *env,
                       const struct memory_account *account, struct schema *schema);
void memtable_set_release(struct memtable_set *set);

/* An empty memtable of the current schema, for the frames from `frame_first` on, takes the place of
 * the open one, which has nothing that is needed. */
void memtable_set_begin(struct memtable_set *set, uint64_t frame_first);
/* The same with another schema, whose reference is taken. */
void memtable_set_begin_schema(struct memtable_set *set, struct schema *schema,
                               uint64_t frame_first);

/* The frozen ones, oldest first, and at `frozen_count` the open one. */
static inline struct memtable *memtable_set_at(const struct memtable_set *set, uint32_t i)
{
    return i < set->frozen_count ? set->frozen[i] : set->open;
}

/* Nothing of the open memtable's frames needs a flush: they have no rows, and no schema that only
 * the log has. */
bool memtable_set_open_is_empty(const struct memtable_set *set);
/* Between two frames: what is open covers the frames up to `frame_last`, and the last timestamp
 * that was given is `given_us` (0: none was).  Resumes who waits. */
void memtable_set_freeze(struct memtable_set *set, uint64_t frame_last, int64_t given_us);
/* The oldest frozen one is in segments now; its reference is the caller's. */
void memtable_set_drop_oldest(struct memtable_set *set);

/* Call `waiter->resume` after the next freeze, which is the caller's to have done. */
void memtable_set_await_freeze(struct memtable_set *set, struct freeze_waiter *waiter);
/* Resume all that wait with an error. */
void memtable_set_end_waits(struct memtable_set *set, int status);

/* Whether the open memtable, which other threads may not read, has anything of the table. */
bool memtable_set_open_has_table(const struct memtable_set *set, uint32_t table_id);
/* Whether a batch overwrites or deletes in a partition of which the open memtable has appended
 * rows. */
bool memtable_set_meets_overwrites(const struct memtable_set *set, const struct write_batch *batch);
/* Whether the partition has overwrites in any memtable; and whether any of the table may. */
bool memtable_set_has_overwrites(const struct memtable_set *set, const struct table *table,
                                 int64_t token, struct bytes key);
bool memtable_set_may_have_overwrites(const struct memtable_set *set, const struct table *table);

/* From now on `oldest_us` is that of the memtables' later writes. */
void memtable_set_watch_oldest(struct memtable_set *set);
/* A batch was applied. */
static inline void memtable_set_note_oldest(struct memtable_set *set)
{
    if (set->open->oldest_us < set->oldest_us)
        set->oldest_us = set->open->oldest_us;
}

/* ---- memory ---- */

uint64_t memtable_set_bytes(const struct memtable_set *set);
/* The open memtable is to be frozen. */
bool memtable_set_open_is_full(const struct memtable_set *set);
/* No batch may be applied before a memtable was flushed. */
bool memtable_set_is_full(const struct memtable_set *set);
/* Tell the flush how full the open memtable is; or that the flush is waited for, or memory is
 * short. */
void memtable_set_note_fill(struct memtable_set *set);
/* Have memory made ready by another thread, where more will be wanted soon. */
void memtable_set_make_ready(struct memtable_set *set);
/* Let go of a flushed memtable: another thread frees it, but for what the next ones get. */
void memtable_set_give_back(struct memtable_set *set, struct memtable *memtable);
/* What is kept for rows to come goes back to the system, if none needed any of it since the last
 * call, or `at_once`. */
void memtable_set_return_memory(struct memtable_set *set, bool at_once);
#endif
