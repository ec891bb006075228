/* memtable_set: the open memtable, the frozen ones that wait for their flush, and their memory.
 *
 *     batches ──▶ open ──freeze, between two frames──▶ frozen, oldest first ──flush──▶ freed
 *                  ▲                                                                    │
 *                  └──────── supply: memory made ready, or kept of freed memtables ◀────┘
 *
 * What must hold: a memtable is frozen between two frames only, so that the frame at which replay
 * begins is not partly flushed.  One memtable has one schema, which its segments name.
 *
 * The open memtable is full when it has a third of the share of all memtables (memory_account.h),
 * or memtable_rows_max rows (engine.h).  While no memtable is frozen, it is also full when
 * unflushed_log_max bytes of the log are not flushed.  Batches wait for a flush while a memtable is
 * frozen and the whole share is used, or while two are frozen and the open one is full.
 *
 * Engine thread; jobs may read frozen memtables. */
#ifndef DAYBOOK_STORAGE_ENGINE_MEMTABLE_SET_H
#define DAYBOOK_STORAGE_ENGINE_MEMTABLE_SET_H

#include "storage/engine/memory_account.h"
#include "storage/log/commit_log.h"
#include "storage/memtable/memtable.h"

struct freeze_waiter {
    void (*resume)(struct freeze_waiter *waiter, int status);
    struct freeze_waiter *next;
};

struct memtable_set {
    struct engine_env *env;
    const struct memory_account *account;
    const struct commit_log *log;      /* NULL while opening */
    struct schema *schema;             /* referenced */
    uint32_t schema_frozen;            /* the newest version that is flushed or frozen */
    struct memtable *open;
    struct memtable **frozen;
    uint32_t frozen_count;
    int64_t oldest_us;                 /* all writes since the last merge of row runs began have
                                        * this timestamp or a later one */
    struct freeze_waiter *waiters;

    struct arena_supply *supply;
    bool is_memory_coming;
    uint64_t giving_bytes;             /* of flushed memtables that jobs free */

    void (*on_frozen)(void *context);
    void (*on_given)(void *context);   /* memory has become free */
    void *context;                     /* of both */
};

/* The set has no open memtable before memtable_set_begin.  The set references `schema`. */
void memtable_set_init(struct memtable_set *set, struct engine_env *env,
                       const struct memory_account *account, struct schema *schema);
void memtable_set_release(struct memtable_set *set);

/* Release the open memtable, if there is one, and begin an empty one of the current schema. */
void memtable_set_begin(struct memtable_set *set, uint64_t frame_first);
/* As memtable_set_begin, with another schema, whose reference is taken over. */
void memtable_set_begin_schema(struct memtable_set *set, struct schema *schema,
                               uint64_t frame_first);

/* The frozen memtables, oldest first; at `frozen_count`, the open one. */
static inline struct memtable *memtable_set_at(const struct memtable_set *set, uint32_t i)
{
    return i < set->frozen_count ? set->frozen[i] : set->open;
}

/* Whether the open memtable needs no flush: its frames have no rows, and no schema that only the
 * log has. */
bool memtable_set_open_is_empty(const struct memtable_set *set);
/* Freeze the open memtable between two frames.  It covers the frames up to `frame_last`; `given_us`
 * is the last timestamp given (0: none).  A memtable that needs no flush stays open, and begins
 * after `frame_last`. */
void memtable_set_freeze(struct memtable_set *set, uint64_t frame_last, int64_t given_us);
/* Remove the oldest frozen memtable from the set; the caller, which has its pointer, owns it. */
void memtable_set_drop_oldest(struct memtable_set *set);

/* Call `waiter->resume` after the next freeze.  The caller requests the freeze. */
void memtable_set_await_freeze(struct memtable_set *set, struct freeze_waiter *waiter);
/* Resume all waiters.  A waiter that is added meanwhile waits for the next freeze. */
void memtable_set_end_waits(struct memtable_set *set, int status);

/* Whether the open memtable has anything of the table, apart from counters. */
bool memtable_set_open_has_table(const struct memtable_set *set, uint32_t table_id);
/* Whether the batch overwrites or deletes in a partition with appended rows in the open
 * memtable. */
bool memtable_set_meets_overwrites(const struct memtable_set *set, const struct write_batch *batch);
/* Whether the partition has overwrites in any memtable; and whether any partition of the table may
 * have some. */
bool memtable_set_has_overwrites(const struct memtable_set *set, const struct table *table,
                                 int64_t token, struct bytes key);
bool memtable_set_may_have_overwrites(const struct memtable_set *set, const struct table *table);

/* ---- memory ---- */

uint64_t memtable_set_bytes(const struct memtable_set *set);
bool memtable_set_open_is_full(const struct memtable_set *set);
bool memtable_set_is_full(const struct memtable_set *set);
void memtable_set_make_ready(struct memtable_set *set);
/* Have another thread free a flushed memtable, except the memory that is kept for the next ones. */
void memtable_set_give_back(struct memtable_set *set, struct memtable *memtable);
/* As engine_return_memory. */
void memtable_set_return_memory(struct memtable_set *set, bool at_once);
#endif
