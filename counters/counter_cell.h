/* counter_cell: the value of a counter: a generation and a set of shards.
 *
 * A shard is (id, clock, value): the sum of some increments.  A merge of two cells keeps, for each
 * shard id, the entry with the higher clock.
 *
 * The generation is the write timestamp of the last SET or DELETE, and a shard's id is the write
 * timestamp from which the shard sums.  A merge takes the higher generation and drops every shard
 * that began before it.  So a SET need not read the counter.
 *
 * A shard begins with a memtable, or with a SET or DELETE in a memtable.  Its clock is the number
 * of the last frame that changed it.  So a replay of the log makes the same shard again.
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

/* The shard's id must not be below the generation. */
void counter_cell_write_single(struct buffer *buffer, int64_t generation,
                               struct counter_shard shard);

/* Append a cell without shards, which DELETE writes.  Its value is 0, and readers treat it as a
 * counter that was never incremented. */
void counter_cell_write_reset(struct buffer *buffer, int64_t generation);

/* ERROR_CORRUPT unless `cell` is a well-formed serialized cell. */
must_check int counter_cell_validate(struct bytes cell);

/* All functions below take validated cells only. */
int64_t counter_cell_generation(struct bytes cell);
int64_t counter_cell_value(struct bytes cell);
uint32_t counter_cell_shard_count(struct bytes cell);  /* 0: not incremented since DELETE */

/* A merge is commutative, associative and idempotent.  A result with more than COUNTER_SHARDS_MAX
 * shards must be folded before it is written. */
void counter_cell_merge(struct bytes a, struct bytes b, struct buffer *merged);

/* Fold all shards into one with the lowest id, the highest clock and the sum of the values.  No run
 * outside the caller's merge may have any of these shards, or it would count twice. */
void counter_cell_fold(struct bytes cell, struct buffer *folded);

/* Append a copy of `cell` in which `each` maps the generation and the ids.  `each` must be strictly
 * increasing. */
void counter_cell_restamp(struct bytes cell, int64_t (*each)(void *context, int64_t timestamp_us),
                          void *context, struct buffer *restamped);
#endif
