/* memtable: everything that one span of frames wrote, of all tables, until it is in segments.
 *
 * A memtable has a columnar memtable for each event table, one row memtable and the counters, all
 * on one arena.  The engine has one open memtable and any number of frozen ones, whose spans of
 * frames follow one another.  Recovery makes the same calls as writing does. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_MEMTABLE_H
#define DAYBOOK_STORAGE_MEMTABLE_MEMTABLE_H

#include "storage/cell/write_batch.h"
#include "storage/memtable/columnar_memtable.h"
#include "storage/memtable/counter_memtable.h"
#include "storage/memtable/row_memtable.h"

struct columnar_part {
    uint32_t table_id;
    struct columnar_memtable *rows;
};

struct counting_slots;

enum { MEMTABLE_CHUNK = 2 << 20 };

struct memtable {
    uint32_t references;               /* engine thread only: jobs' holders are there too */
    struct arena *arena;
    struct schema *schema;             /* referenced; what its tables point into */
    struct columnar_part *columnar;
    uint32_t columnar_count;
    struct row_memtable *rows;
    struct counter_memtable *counters;
    struct counting_slots *slots;      /* counter slots by string code, one list per rule */
    uint32_t slots_count;
    uint64_t frame_first;              /* nothing of an earlier frame is in it; moves on while the
                                        * memtable is empty */
    uint64_t frame_last;               /* set when it is frozen */
    int64_t timestamp_first_us;        /* of the first batch; the id of its counters' shards */
    int64_t timestamp_max_us;          /* of the last write; INT64_MIN: there was none */
    int64_t given_us;                  /* the last timestamp that the store had given to any frame
                                        * when the memtable was frozen; 0: none */
    int64_t oldest_us;                 /* the least write timestamp in it, be it a client's or the
                                        * store's; INT64_MAX: it is empty */
    uint64_t columnar_rows;            /* of all event tables */
    bool is_frozen;
};

/* Its arena takes chunks of MEMTABLE_CHUNK bytes from `supply`.  Takes a reference of `schema`. */
struct memtable *memtable_new(struct schema *schema, uint64_t frame_first,
                              struct arena_supply *supply);
struct memtable *memtable_ref(struct memtable *memtable);
void memtable_unref(struct memtable *memtable);                  /* NULL is fine */
/* Give up a reference without freeing: returns the memtable if that was the last one, to be given
 * to memtable_free on any thread, as freeing takes long; else NULL. */
struct memtable *memtable_let_go(struct memtable *memtable);
/* Free all but the arena, which is returned: it is the caller's, and nothing in it is used any
 * more. */
struct arena *memtable_free(struct memtable *memtable);

/* Apply a batch, which the commit hook has seen, as part of `frame`.  Blocks get the timestamp
 * `timestamp_us`, and each other write, in order, one more than the write before it.  Returns the
 * first timestamp that was not used. */
int64_t memtable_apply(struct memtable *memtable, const struct write_batch *batch, uint64_t frame,
                       int64_t timestamp_us);

/* No more writes; `frame_last` is the last frame that may have been applied. */
void memtable_freeze(struct memtable *memtable, uint64_t frame_last);

/* NULL when it has no rows of the table. */
struct columnar_memtable *memtable_columnar(const struct memtable *memtable, uint32_t table_id);
/* The number of the partition in the columnar memtable of the table; UINT32_MAX: there is none. */
uint32_t memtable_find(const struct memtable *memtable, uint32_t table_id, struct bytes key,
                       struct columnar_memtable **columnar_out);
/* The first partition at or after (token, key), or after it, of the table's rows and counters,
 * without those of its blocks.  False at the end. */
bool memtable_seek(const struct memtable *memtable, const struct table *table, int64_t token,
                   struct bytes key, bool after, int64_t *token_out, struct bytes *key_out);
/* The tables that have rows or counters in it: the least id above `after`; 0 at the end. */
uint32_t memtable_next_table(const struct memtable *memtable, uint32_t after);
/* The partition's streams as of `frame`, at most two; returns how many.  The slice's bytes outlive
 * them. */
uint32_t memtable_row_streams(const struct memtable *memtable, const struct table *table,
                              int64_t token, struct bytes key, const struct slice *slice,
                              uint64_t frame, struct stream **streams_out);
bool memtable_is_empty(const struct memtable *memtable);
size_t memtable_bytes(const struct memtable *memtable);        /* of memory */
#endif
