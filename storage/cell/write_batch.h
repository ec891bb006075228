/* write_batch: the writes that one call gives to the store.  All of them become part of one frame,
 * or none of them does.
 *
 * A batch has blocks (appended rows of an event table), mutations (any other write), packed rows
 * (very many INSERTs), counter increments, counting rules, and a schema change.  They are applied
 * in this order: schema, blocks with their rules, mutations, packed rows, increments. */
#ifndef DAYBOOK_STORAGE_CELL_WRITE_BATCH_H
#define DAYBOOK_STORAGE_CELL_WRITE_BATCH_H

#include "base/arena.h"
#include "storage/cell/block.h"
#include "storage/cell/packed_rows.h"

/* Limits of a serialized batch; a larger batch gets ERROR_LIMIT. */
enum {
    WRITE_BATCH_BYTES_MAX = 24 << 20,
    WRITE_BATCH_MUTATION_BYTES = 512,             /* counted for a mutation's head */
    WRITE_BATCH_MUTATIONS_MAX = WRITE_BATCH_BYTES_MAX / WRITE_BATCH_MUTATION_BYTES
};

struct store_write_lock;

/* Each row of block `block` adds 1 to column `counter_column_id` of counter table
 * `counter_table_id`.  The counter's key is the row's value of text column `column_id`; rows
 * without a value are not counted.  If `column_id` is 0, the key is component `component` of the
 * row's partition key. */
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
    COUNTER_SET = 1,                              /* to `value`, whatever it was before */
    COUNTER_DELETE = 2                            /* a later increment makes the counter again */
};

struct counter_increment {
    uint32_t table_id;
    uint32_t column_id;
    struct bytes key;
    struct bytes clustering;                      /* packed; empty without clustering columns */
    enum counter_change change;
    int64_t value;
};

struct write_batch {
    struct arena *arena;
    bool arena_is_lent;                           /* owned by the caller */
    struct block **blocks;                        /* borrowed until store_apply returns */
    uint32_t block_count, block_capacity;
    struct counting_rule *rules;
    uint32_t rule_count, rule_capacity;
    struct mutation *mutations;
    uint32_t mutation_count, mutation_capacity;
    struct packed_rows rows;                      /* the store's hooks add none */
    struct counter_increment *increments;
    uint32_t increment_count, increment_capacity;
    struct schema *schema;                        /* a schema change; borrowed; NULL: none */
    const struct store_write_lock *write_lock;    /* held by the writer; NULL: none */
    /* The writer applies another batch directly after this one: the frame is not sealed in
     * between. */
    bool is_followed;
    /* The frame is sealed at the end of the loop turn, not for this batch alone. */
    bool joins_loop_turn;
};

struct write_batch *write_batch_new(void);
/* The arena must outlive the batch, and is not reset by write_batch_clear. */
struct write_batch *write_batch_new_in(struct arena *arena);
void write_batch_free(struct write_batch *batch);
void write_batch_clear(struct write_batch *batch);            /* keeps the memory */
bool write_batch_is_empty(const struct write_batch *batch);

/* The bytes of an added part are borrowed until store_apply returns. */
void write_batch_add_block(struct write_batch *batch, struct block *block);
void write_batch_add_rule(struct write_batch *batch, const struct counting_rule *rule);
void write_batch_add_mutation(struct write_batch *batch, const struct mutation *mutation);
void write_batch_add_increment(struct write_batch *batch,
                               const struct counter_increment *increment);

/* Add a mutation of mutation_insert (with a marker) or mutation_delete. */
void write_batch_insert(struct write_batch *batch, const struct table *table,
                        const struct column_value *values, uint32_t count);
void write_batch_delete(struct write_batch *batch, const struct table *table,
                        const struct column_value *values, uint32_t count);

/* Serialized values in the batch's arena, for struct column_value. */
struct bytes write_batch_bigint(struct write_batch *batch, int64_t value);
struct bytes write_batch_boolean(struct write_batch *batch, bool value);
struct bytes write_batch_decimal(struct write_batch *batch, struct decimal value);
struct bytes write_batch_day(struct write_batch *batch, int32_t day);       /* as text */

/* Serialize the batch's mutations so far into `sections`, of which the result is a view. */
struct packed_mutations {
    struct bytes sections;
    uint32_t count;
};
struct packed_mutations write_batch_pack(const struct write_batch *batch, struct buffer *sections);

/* Append the batch as sections of a frame's payload: docs/FORMATS.md "Frame payload".  `packed` has
 * the first mutations of this batch; NULL: none. */
void write_batch_serialize(const struct write_batch *batch, const struct packed_mutations *packed,
                           struct buffer *payload);
/* Whether the next batch of a payload has nothing but a schema; *serialized_out is a view. */
bool write_batch_is_schema(struct reader *payload, struct bytes *serialized_out);
/* ERROR_INVALID: write_batch_deserialize would refuse the batch with `schema`, or with the batch's
 * own schema.  Rules, packed rows, blocks that are marked as checked, and mutations and increments
 * before the given indexes are not checked. */
must_check int write_batch_check(const struct write_batch *batch, const struct schema *schema,
                                 uint32_t mutation_first, uint32_t increment_first,
                                 struct error *err);
/* Read one batch of a frame's payload into `batch`; its timestamp must have been read.  Mutations
 * and increments are views of the payload.  Also after an error, the caller frees the blocks by
 * write_batch_free_blocks.  A schema in the batch replaces *schema, a reference that the caller
 * owns.  `salvage` (mutation.h) may be NULL. */
must_check int write_batch_deserialize(struct reader *payload, struct schema **schema,
                                       const struct cell_salvage *salvage,
                                       struct write_batch *batch, struct error *err);
void write_batch_free_blocks(struct write_batch *batch);
#endif
