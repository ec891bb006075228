/* write_batch: the writes that a door gives to the store together.  All of them become part of one
 * frame, or none of them does.
 *
 * A batch has blocks (many appended rows of an event table), mutations (any other write), packed
 * rows (very many INSERTs, a mutation for each span), counter increments, and counting rules.  A
 * counting rule derives counter increments from the rows of a block, so that these increments need
 * not be logged.  The engine applies a batch in this order: blocks and the increments that rules
 * derive from them, mutations, packed rows, increments. */
#ifndef DAYBOOK_STORAGE_CELL_WRITE_BATCH_H
#define DAYBOOK_STORAGE_CELL_WRITE_BATCH_H

#include "base/arena.h"
#include "storage/cell/block.h"
#include "storage/cell/packed_rows.h"

/* Of a serialized batch; more is ERROR_LIMIT. */
enum {
    WRITE_BATCH_BYTES_MAX = 24 << 20,
    WRITE_BATCH_MUTATION_BYTES = 512,             /* that are reckoned for a mutation's head */
    WRITE_BATCH_MUTATIONS_MAX = WRITE_BATCH_BYTES_MAX / WRITE_BATCH_MUTATION_BYTES
};

struct store_write_lock;

/* Each row of block `block` adds 1 to column `counter_column_id` of counter table
 * `counter_table_id`.  The key of the counter's partition is the row's value of the text column
 * `column_id` (a row without a value is not counted) or, when `column_id` is 0, component
 * `component` of the row's partition key. */
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
    COUNTER_SET = 1,                              /* begin a new generation with `value` */
    COUNTER_DELETE = 2                            /* delete it; an increment makes it again */
};

struct counter_increment {
    uint32_t table_id;
    uint32_t column_id;
    struct bytes key;
    struct bytes clustering;                      /* packed; empty without clustering columns */
    enum counter_change change;
    int64_t value;                                /* the increment, or the counter's new value */
};

struct write_batch {
    struct arena *arena;                          /* for what the parts of the batch point to */
    bool arena_is_lent;                           /* it is the caller's */
    struct block **blocks;                        /* borrowed until store_apply returns */
    uint32_t block_count, block_capacity;
    struct counting_rule *rules;
    uint32_t rule_count, rule_capacity;
    struct mutation *mutations;
    uint32_t mutation_count, mutation_capacity;
    struct packed_rows rows;                      /* only the writer of the batch adds rows; the
                                                   * store's hooks do not */
    struct counter_increment *increments;
    uint32_t increment_count, increment_capacity;
    struct schema *schema;                        /* a schema change; NULL: none; borrowed */
    const struct store_write_lock *write_lock;    /* held by the writer (store_write_lock); NULL:
                                                   * none */
    /* The writer applies another batch directly after this one and waits for both, so the frame is
     * not sealed between the two: otherwise the second batch would wait for the sync of the
     * first. */
    bool is_followed;
    /* The writer is one of many that write little, so the frame is sealed at the end of the loop
     * turn, with all batches of that turn, and not for this batch alone. */
    bool joins_loop_turn;
};

struct write_batch *write_batch_new(void);
/* A batch of few parts that uses the caller's arena.  The arena must outlive the batch, and
 * write_batch_clear does not reset the arena. */
struct write_batch *write_batch_new_in(struct arena *arena);
void write_batch_free(struct write_batch *batch);
void write_batch_clear(struct write_batch *batch);            /* empty it, and keep its memory */
bool write_batch_is_empty(const struct write_batch *batch);

/* The bytes to which an added part points must stay valid until store_apply returns; bytes in
 * `batch->arena` do. */
void write_batch_add_block(struct write_batch *batch, struct block *block);
void write_batch_add_rule(struct write_batch *batch, const struct counting_rule *rule);
void write_batch_add_mutation(struct write_batch *batch, const struct mutation *mutation);
void write_batch_add_increment(struct write_batch *batch,
                               const struct counter_increment *increment);

/* Add the mutation that mutation_insert (with a marker) or mutation_delete makes; values are
 * copied. */
void write_batch_insert(struct write_batch *batch, const struct table *table,
                        const struct column_value *values, uint32_t count);
void write_batch_delete(struct write_batch *batch, const struct table *table,
                        const struct column_value *values, uint32_t count);

/* Serialized values in the batch's arena, for struct column_value. */
struct bytes write_batch_bigint(struct write_batch *batch, int64_t value);
struct bytes write_batch_boolean(struct write_batch *batch, bool value);
struct bytes write_batch_decimal(struct write_batch *batch, struct decimal value);
struct bytes write_batch_day(struct write_batch *batch, int32_t day);       /* a text */

/* Serialize the mutations that the batch has so far into `sections`, for a caller that needs their
 * size before the batch is complete.  The result is a view of `sections`. */
struct packed_mutations {
    struct bytes sections;
    uint32_t count;
};
struct packed_mutations write_batch_pack(const struct write_batch *batch, struct buffer *sections);

/* Append the batch as sections of a frame's payload: FORMATS.md "Frame payload".  `packed` has the
 * first mutations of this batch, which need not be packed again; NULL: none. */
void write_batch_serialize(const struct write_batch *batch, const struct packed_mutations *packed,
                           struct buffer *payload);
/* Whether the next batch of a payload has a schema and nothing else; gives a view of the serialized
 * schema. */
bool write_batch_is_schema(struct reader *payload, struct bytes *serialized_out);
/* ERROR_INVALID unless write_batch_deserialize will accept the batch with `schema`, or with the
 * batch's own schema if it has one.  Checks blocks that are not marked as checked, and mutations
 * and increments from the given indexes on; rules and packed rows are not checked. */
must_check int write_batch_check(const struct write_batch *batch, const struct schema *schema,
                                 uint32_t mutation_first, uint32_t increment_first,
                                 struct error *err);
/* Read one batch of a frame's payload, from behind its timestamp, into `batch`.  Mutations and
 * increments are views of the payload.  The batch owns its blocks, also after an error:
 * write_batch_free_blocks frees them.  A schema in the batch replaces *schema, to which the caller
 * holds a reference.  `salvage` is explained in mutation.h; it may be NULL. */
must_check int write_batch_deserialize(struct reader *payload, struct schema **schema,
                                       const struct cell_salvage *salvage,
                                       struct write_batch *batch, struct error *err);
void write_batch_free_blocks(struct write_batch *batch);
#endif
