/* write_batch: what every door hands to the store: all of it becomes part of one frame, or none.
 *
 * A batch holds blocks (many appended rows of an event table), mutations (anything else), packed
 * rows (very many INSERTs, each a mutation of its run), counter increments, and counting rules, by
 * which a block's own rows say what they add to a counter table so that nothing need be logged for
 * it.  The engine applies them in this order: blocks and their counts, mutations, packed rows,
 * increments. */
#ifndef DAYBOOK_STORAGE_CELL_WRITE_BATCH_H
#define DAYBOOK_STORAGE_CELL_WRITE_BATCH_H

#include "base/arena.h"
#include "storage/cell/block.h"
#include "storage/cell/packed_rows.h"

enum { WRITE_BATCH_BYTES_MAX = 24 << 20 };        /* in the log, at most; more is ERROR_LIMIT */

struct store_write_lock;

/* Every row of block `block` adds 1 to `counter_column_id` of counter table `counter_table_id` in
 * the partition whose key is the row's value of a text column (`column_id`), or the component
 * `component` of its partition key when column_id is 0. */
struct counting_rule {
    uint32_t block;
    uint32_t column_id;
    uint32_t component;
    uint32_t counter_table_id;
    uint32_t counter_column_id;
};

/* Written to disk: the numbers cannot change. */
enum counter_change {
    COUNTER_ADD = 0,
    COUNTER_SET = 1,                              /* a new generation at `value` */
    COUNTER_DELETE = 2                            /* gone until it is incremented again */
};

struct counter_increment {
    uint32_t table_id;
    uint32_t column_id;
    struct bytes key;
    struct bytes clustering;                      /* packed; empty without clustering columns */
    enum counter_change change;
    int64_t value;                                /* the increment, or what it is set to */
};

struct write_batch {
    struct arena *arena;                          /* for whatever its parts point to */
    bool arena_is_lent;
    struct block **blocks;                        /* borrowed until store_apply returns */
    uint32_t block_count, block_capacity;
    struct counting_rule *rules;
    uint32_t rule_count, rule_capacity;
    struct mutation *mutations;
    uint32_t mutation_count, mutation_capacity;
    struct packed_rows rows;                      /* its writer's, who adds to it; no hook does */
    struct counter_increment *increments;
    uint32_t increment_count, increment_capacity;
    struct schema *schema;                        /* a schema change; NULL: none; borrowed */
    const struct store_write_lock *write_lock;    /* the writer's own (store_write_lock); NULL:
                                                   * none */
    /* Its writer applies another within a moment, and waits for both: one frame for the two, rather
     * than the second one's only after the first one's sync. */
    bool is_followed;
    /* Its writer is one of many that write little: its frame is sealed at the end of the loop's
     * turn, with all that came in it, rather than at once and for it alone. */
    bool joins_loop_turn;
};

struct write_batch *write_batch_new(void);
/* For a batch of few parts: in an arena that is the caller's, outlives it and is never reset by
 * it. */
struct write_batch *write_batch_new_in(struct arena *arena);
void write_batch_free(struct write_batch *batch);
void write_batch_clear(struct write_batch *batch);            /* for use again */
bool write_batch_is_empty(const struct write_batch *batch);

/* Views in what is added must live until store_apply returns; `batch->arena` is the place. */
void write_batch_add_block(struct write_batch *batch, struct block *block);
void write_batch_add_rule(struct write_batch *batch, const struct counting_rule *rule);
void write_batch_add_mutation(struct write_batch *batch, const struct mutation *mutation);
void write_batch_add_increment(struct write_batch *batch,
                               const struct counter_increment *increment);

/* Shorthands: mutation_insert and mutation_delete with the batch's arena; values are copied. */
void write_batch_insert(struct write_batch *batch, const struct table *table,
                        const struct column_value *values, uint32_t count);
void write_batch_delete(struct write_batch *batch, const struct table *table,
                        const struct column_value *values, uint32_t count);

/* Serialized values in the batch's arena, for column_value. */
struct bytes write_batch_copy(struct write_batch *batch, struct bytes bytes);
struct bytes write_batch_bigint(struct write_batch *batch, int64_t value);
struct bytes write_batch_boolean(struct write_batch *batch, bool value);
struct bytes write_batch_decimal(struct write_batch *batch, struct decimal value);

/* The mutations so far as they will be serialized, for one who has to know their size before the
 * batch is complete.  Views `sections`. */
struct packed_mutations {
    struct bytes sections;
    uint32_t count;
};
struct packed_mutations write_batch_pack(const struct write_batch *batch, struct buffer *sections);

/* Sections of a frame's payload: FORMATS.md "Frame payload".  `packed`: of this batch, so that its
 * mutations are not packed again; NULL: none are. */
void write_batch_serialize(const struct write_batch *batch, const struct packed_mutations *packed,
                           struct buffer *payload);
/* Whether the next batch of a payload has nothing but a schema: a view of its bytes. */
bool write_batch_is_schema(struct reader *payload, struct bytes *serialized_out);
/* Whether write_batch_deserialize will take it, by the schema that the batch has or changes to:
 * blocks that were not checked, mutations and increments from these numbers on.  ERROR_INVALID. */
must_check int write_batch_check(const struct write_batch *batch, const struct schema *schema,
                                 uint32_t mutation_first, uint32_t increment_first,
                                 struct error *err);
/* One batch from a frame's payload; `blocks` are then owned by the batch (freed by
 * write_batch_free_blocks).  A schema change in it replaces *schema (referenced).  `salvage`:
 * mutation.h; may be NULL. */
must_check int write_batch_deserialize(struct reader *payload, struct schema **schema,
                                       const struct cell_salvage *salvage,
                                       struct write_batch *batch, struct error *err);
void write_batch_free_blocks(struct write_batch *batch);
#endif
