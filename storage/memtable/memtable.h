/* memtable: everything that one span of frames wrote, of all tables, until it is in segments.
 *
 * One generation: the columnar memtables of event tables, the row memtable, the counters, on one
 * arena.  The engine has one open and any number of frozen ones, whose frame spans follow one
 * another.  Applying a batch is all there is to recovery: replay does the same calls. */
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
    uint64_t frame_first;              /* nothing of an earlier one is in it; moves on while it is
                                        * empty */
    uint64_t frame_last;               /* set when it is frozen */
    int64_t timestamp_first_us;        /* of the first batch: where its counters' shards begin */
    int64_t timestamp_max_us;
    int64_t given_us;                  /* the last timestamp that the store gave when it was frozen,
                                        * to any frame; 0: none */
    int64_t oldest_us;                 /* nothing in it was written earlier, by whose clock ever;
                                        * INT64_MAX: it is empty */
    uint64_t columnar_rows;            /* of all event tables */
    bool is_frozen;
};

/* Of chunks of MEMTABLE_CHUNK bytes. */
struct memtable *memtable_new(struct schema *schema, uint64_t frame_first,
                              struct arena_supply *supply);
struct memtable *memtable_ref(struct memtable *memtable);
void memtable_unref(struct memtable *memtable);                  /* NULL is fine */
/* The same for who has much of it freed elsewhere: what nobody else has is returned, to be given to
 * memtable_free, on any thread; else NULL. */
struct memtable *memtable_let_go(struct memtable *memtable);
/* Returns the arena, the caller's now, of which nothing is used any more. */
struct arena *memtable_free(struct memtable *memtable);

/* Apply a batch as part of `frame`: mutation i gets `timestamp_us` + 1 + i, blocks timestamp_us.
 * The hook has seen the batch.  Returns the first timestamp not used. */
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
