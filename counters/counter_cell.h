/* counter_cell: the value of a counter: a generation and a set of shards.
 *
 * A shard is (id, clock, value): the sum of some increments.  Each new state of a shard has a
 * higher clock, so a merge of two cells keeps, for each shard id, the entry with the higher clock.
 * A cell that is read twice, replayed, or found in two runs then counts once.
 *
 * The generation is the write timestamp of the last SET or DELETE, and a shard's id is the write
 * timestamp from which it sums.  A merge takes the higher generation and drops every shard
 * that began before it.  So a SET needs no read, an increment does not depend on a SET in another
 * run, and no value from before a SET can come back.
 *
 * A shard begins with a memtable, or with a SET or DELETE in that memtable.  Its clock is the last
 * frame that changed it.  Its value is the SET's value, if any, plus the increments in the memtable
 * since the shard began.  So ingest never reads, and a log that is replayed makes the same shard
 * again.  Merges of runs fold shards (counter_cell_fold).
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

/* Append a cell without shards, which DELETE writes.  Its value is 0, and readers treat it as a
 * counter that was never incremented. */
void counter_cell_write_reset(struct buffer *buffer, int64_t generation);

/* ERROR_CORRUPT unless `cell` is a well-formed serialized cell. */
must_check int counter_cell_validate(struct bytes cell);

/* All functions below take validated cells only. */
int64_t counter_cell_generation(struct bytes cell);
int64_t counter_cell_value(struct bytes cell);
uint32_t counter_cell_shard_count(struct bytes cell);  /* 0: reset, and not incremented since */

/* Append the merge of two cells; merging is commutative, associative and idempotent.  The result
 * may have more than COUNTER_SHARDS_MAX shards.  Such a cell is not valid; a merge of runs folds
 * the merged cell before it writes it. */
void counter_cell_merge(struct bytes a, struct bytes b, struct buffer *merged);

/* Append `cell` with all its shards folded into one: lowest id, highest clock, sum of the values.
 * The caller makes sure that no run outside its merge has any of these shards. */
void counter_cell_fold(struct bytes cell, struct buffer *folded);

/* Append `cell` with its generation and the ids of its shards mapped by `each`, which is strictly
 * increasing. */
void counter_cell_restamp(struct bytes cell, int64_t (*each)(void *context, int64_t timestamp_us),
                          void *context, struct buffer *restamped);
#endif
