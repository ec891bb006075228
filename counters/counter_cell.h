/* counter_cell: the value of a counter: a generation and a set of shards; pure functions.
 *
 * A shard is (id, clock, value).  Only its owner writes it, always with a higher clock, so merging
 * two cells keeps per shard id the entry with the higher clock, and a cell read twice, replayed or
 * met in two runs counts once.  The generation is the write timestamp of the last SET or DELETE,
 * and a shard's id is the write timestamp from which on it sums: the merge takes the higher
 * generation and drops every shard that began before it.  So a SET needs no read, an increment
 * need not know of a SET in another run, and nothing from before a SET can come back.
 *
 * In the embedded engine a shard begins with its memtable, or with the SET within it; its clock is
 * the last frame folded in, and its value the sum of that memtable's increments since: ingest never
 * reads, and a replayed log builds the same shard again.  Compaction folds shards
 * (counter_cell_fold).
 *
 * Serialized form (little-endian):
 *   byte 0..7   generation, signed        (0: never set)
 *   byte 8..11  number of shards n, at most COUNTER_SHARDS_MAX, ids ascending, none below the
 *               generation
 *   then n x    id 8, clock 8, value 8 (signed)
 * The value is the sum of the shards, modulo 2^64 like Cassandra's. */
#ifndef DAYBOOK_COUNTERS_COUNTER_CELL_H
#define DAYBOOK_COUNTERS_COUNTER_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

enum { COUNTER_SHARDS_MAX = 4096 };

struct counter_shard {
    uint64_t id;
    uint64_t clock;
    int64_t value;
};

/* Append a cell of one shard, whose id is not below the generation. */
void counter_cell_write_single(struct buffer *buffer, int64_t generation,
                               struct counter_shard shard);

/* Append a cell without shards: what SET and DELETE begin a generation with.  Its value is 0, and a
 * reader takes it for a counter that was never incremented. */
void counter_cell_write_reset(struct buffer *buffer, int64_t generation);

/* ERROR_CORRUPT unless `cell` is a well-formed serialized cell. */
must_check int counter_cell_validate(struct bytes cell);

/* The rest take validated cells only. */
int64_t counter_cell_generation(struct bytes cell);
int64_t counter_cell_value(struct bytes cell);
uint32_t counter_cell_shard_count(struct bytes cell);  /* 0: reset, and not incremented since */

/* Append the merge of two cells: commutative, associative, idempotent.  Two full cells can give one
 * over COUNTER_SHARDS_MAX, which is not valid: the caller folds shards before there are so many. */
void counter_cell_merge(struct bytes a, struct bytes b, struct buffer *merged);

/* Append `cell` with all its shards folded into one: lowest id, highest clock, sum of the values.
 * Right only when no other live run holds any of these shards (a merge of all runs that do). */
void counter_cell_fold(struct bytes cell, struct buffer *folded);

/* Append `cell` with the generation and its shards' ids as `each`, which ascends, gives them. */
void counter_cell_restamp(struct bytes cell, int64_t (*each)(void *context, int64_t timestamp_us),
                          void *context, struct buffer *restamped);
#endif
