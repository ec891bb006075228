/* memtable: keeps in memory what one span of log frames wrote to all tables, until segments have
 * it.
 *
 * A memtable has a columnar memtable for each event table, one row memtable and the counters, all
 * on one arena.  The engine has one open memtable and any number of frozen ones; their spans of
 * frames follow one another.  Recovery applies batches by the same functions as writing does. */
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
    uint32_t references;               /* changed on the engine thread only */
    struct arena *arena;
    struct schema *schema;             /* a reference; the parts of the memtable point to tables in
                                        * it */
    struct columnar_part *columnar;
    uint32_t columnar_count;
    struct row_memtable *rows;
    struct counter_memtable *counters;
    struct counting_slots *slots;      /* counter slots by string code, one list per rule */
    uint32_t slots_count;
    uint64_t frame_first;              /* the memtable has nothing of an earlier frame; raised while
                                        * the memtable is empty */
    uint64_t frame_last;               /* set when it is frozen */
    int64_t timestamp_first_us;        /* of the first batch; also the id of the counters' shards */
    int64_t timestamp_max_us;          /* of the last write; INT64_MIN: there was none */
    int64_t given_us;                  /* the last timestamp that the store had given to any frame
                                        * when the memtable was frozen; 0: none */
    int64_t oldest_us;                 /* the least write timestamp in the memtable, given by a
                                        * client or the store; INT64_MAX: it is empty */
    uint64_t columnar_rows;            /* rows in all columnar memtables */
    bool is_frozen;
};

/* The memtable's arena takes chunks of MEMTABLE_CHUNK bytes from `supply`.  Takes a reference of
 * `schema`. */
struct memtable *memtable_new(struct schema *schema, uint64_t frame_first,
                              struct arena_supply *supply);
struct memtable *memtable_ref(struct memtable *memtable);
void memtable_unref(struct memtable *memtable);                  /* NULL is fine */
/* Give up a reference without freeing.  Returns NULL while there are other references, else the
 * memtable: the caller passes it to memtable_free on any thread, because freeing takes long. */
struct memtable *memtable_let_go(struct memtable *memtable);
/* Free all but the arena, and return the arena, which becomes the caller's.  Nothing in it is used
 * any more. */
struct arena *memtable_free(struct memtable *memtable);

/* Apply a batch as part of `frame`, after the commit hook.  Blocks get the timestamp
 * `timestamp_us`, and each other write, in order, one more than the write before it.  Returns the
 * first timestamp that was not used. */
int64_t memtable_apply(struct memtable *memtable, const struct write_batch *batch, uint64_t frame,
                       int64_t timestamp_us);

/* End all writes.  `frame_last` is the last frame of which a batch may have been applied. */
void memtable_freeze(struct memtable *memtable, uint64_t frame_last);

/* The columnar memtable of the table; NULL: there is none. */
struct columnar_memtable *memtable_columnar(const struct memtable *memtable, uint32_t table_id);
/* The number of the partition in the columnar memtable of the table; UINT32_MAX: there is none.
 * *columnar_out is that columnar memtable, or NULL. */
uint32_t memtable_find(const struct memtable *memtable, uint32_t table_id, struct bytes key,
                       struct columnar_memtable **columnar_out);
/* Find the first partition at or after (token, key), or if `after` only after it, among the table's
 * rows and counters.  Partitions of the columnar memtables are not searched.  False at the end. */
bool memtable_seek(const struct memtable *memtable, const struct table *table, int64_t token,
                   struct bytes key, bool after, int64_t *token_out, struct bytes *key_out);
/* Walk the tables that have rows or counters: returns the least table id above `after`; 0 at the
 * end. */
uint32_t memtable_next_table(const struct memtable *memtable, uint32_t after);
/* Open streams of the partition's rows and counters as of `frame`, at most two.  Returns how many.
 * The slice's bytes must outlive the streams.  `looked` NULL: no limit; else that of rows is
 * limited (row_memtable_stream_limit). */
uint32_t memtable_row_streams(const struct memtable *memtable, const struct table *table,
                              int64_t token, struct bytes key, const struct slice *slice,
                              uint64_t frame, uint32_t *looked, uint32_t looked_max,
                              struct stream **streams_out);
bool memtable_is_empty(const struct memtable *memtable);
size_t memtable_bytes(const struct memtable *memtable);        /* of memory */
#endif
