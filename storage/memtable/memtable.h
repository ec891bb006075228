/* memtable: keeps in memory the rows that one span of log frames wrote to all tables, until
 * segments have them.
 *
 * A memtable has a columnar memtable for each event table, one row memtable and the counters, all
 * on one arena.  The engine has one open memtable and any number of frozen ones, with consecutive
 * spans of frames. */
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
    struct schema *schema;             /* a reference; parts of the memtable point to its tables */
    struct columnar_part *columnar;
    uint32_t columnar_count;
    struct row_memtable *rows;
    struct counter_memtable *counters;
    struct counting_slots *slots;
    uint32_t slots_count;
    uint64_t frame_first;              /* no write is of an earlier frame; raised while the memtable
                                        * is empty */
    uint64_t frame_last;
    int64_t timestamp_first_us;        /* of the first batch; also the id of the counters' shards */
    int64_t timestamp_max_us;          /* of the last write; INT64_MIN: there was none */
    int64_t given_us;                  /* the last timestamp that the store had given when the
                                        * memtable was frozen; 0: none */
    int64_t oldest_us;                 /* the least write timestamp, of a client or the store;
                                        * INT64_MAX: empty */
    uint64_t columnar_rows;
    bool is_frozen;
};

/* The memtable's arena takes chunks of MEMTABLE_CHUNK bytes from `supply`.  Takes a reference of
 * `schema`. */
struct memtable *memtable_new(struct schema *schema, uint64_t frame_first,
                              struct arena_supply *supply);
struct memtable *memtable_ref(struct memtable *memtable);
void memtable_unref(struct memtable *memtable);                  /* NULL is fine */
/* Returns NULL while there are other references, else the memtable.  The caller must pass the
 * memtable to memtable_free, on any thread. */
struct memtable *memtable_let_go(struct memtable *memtable);
/* Free all but the arena, and return the arena, which the caller owns. */
struct arena *memtable_free(struct memtable *memtable);

/* Blocks get the timestamp `timestamp_us`; each other write gets one more than the write before it.
 * Returns the first timestamp that was not used. */
int64_t memtable_apply(struct memtable *memtable, const struct write_batch *batch, uint64_t frame,
                       int64_t timestamp_us);

/* `frame_last` is the last frame whose batch may have been applied. */
void memtable_freeze(struct memtable *memtable, uint64_t frame_last);

/* NULL: the table has no columnar memtable. */
struct columnar_memtable *memtable_columnar(const struct memtable *memtable, uint32_t table_id);
/* The partition's number in the table's columnar memtable, or UINT32_MAX.  *columnar_out is that
 * memtable, or NULL. */
uint32_t memtable_find(const struct memtable *memtable, uint32_t table_id, struct bytes key,
                       struct columnar_memtable **columnar_out);
/* Find, among the table's rows and counters, the first partition at or after (token, key), or only
 * after it if `after`; false: there is none.  Columnar memtables are not searched. */
bool memtable_seek(const struct memtable *memtable, const struct table *table, int64_t token,
                   struct bytes key, bool after, int64_t *token_out, struct bytes *key_out);
/* Returns the least id above `after` of a table with rows or counters; 0: there is none. */
uint32_t memtable_next_table(const struct memtable *memtable, uint32_t after);
/* Open streams of the partition's rows and counters as of `frame`, at most two; returns how many.
 * The slice's bytes must outlive the streams.  The stream of rows counts what it reads in *looked,
 * and ends at `looked_max` (row_memtable_stream_limit); `looked` NULL: no limit. */
uint32_t memtable_row_streams(const struct memtable *memtable, const struct table *table,
                              int64_t token, struct bytes key, const struct slice *slice,
                              uint64_t frame, uint32_t *looked, uint32_t looked_max,
                              struct stream **streams_out);
bool memtable_is_empty(const struct memtable *memtable);
size_t memtable_bytes(const struct memtable *memtable);
#endif
