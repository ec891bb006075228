/* write_batch: see the header.
 *
 * A batch that is read back must have the same effect on a memtable as the batch itself.
 * Increments of counting rules are not serialized, because a replay derives them again.
 *
 * A frame's payload is a sequence of batches, each:
 *   u64 timestamp_us, written by the engine
 *   sections, each: u8 kind, then its body (docs/FORMATS.md "Frame payload")
 *   u8 SECTION_END */
#include "storage/cell/write_batch.h"

#include <string.h>

#include "base/calendar.h"
#include "base/memory.h"

/* Written to disk: the numbers cannot change. */
enum section_kind {
    SECTION_END = 0,
    SECTION_BLOCK = 1,
    SECTION_RULE = 2,
    SECTION_MUTATION = 3,
    SECTION_INCREMENT = 4,
    SECTION_SCHEMA = 5
};

enum { ARENA_CHUNK = 256 * 1024 };

struct write_batch *write_batch_new(void)
{
    struct write_batch *batch = memory_zeroed(1, sizeof(*batch));
    batch->arena = arena_new(ARENA_CHUNK);
    return batch;
}

struct write_batch *write_batch_new_in(struct arena *arena)
{
    struct write_batch *batch = memory_zeroed(1, sizeof(*batch));
    batch->arena = arena;
    batch->arena_is_lent = true;
    return batch;
}

void write_batch_free(struct write_batch *batch)
{
    if (batch == NULL)
        return;
    if (!batch->arena_is_lent)
        arena_free(batch->arena);
    memory_free(batch->blocks);
    memory_free(batch->rules);
    memory_free(batch->mutations);
    packed_rows_release(&batch->rows);
    memory_free(batch->increments);
    memory_free(batch);
}

void write_batch_clear(struct write_batch *batch)
{
    if (!batch->arena_is_lent)
        arena_reset(batch->arena);
    batch->block_count = 0;
    batch->rule_count = 0;
    batch->mutation_count = 0;
    packed_rows_clear(&batch->rows);
    batch->increment_count = 0;
    batch->schema = NULL;
    batch->write_lock = NULL;
    batch->is_followed = false;
    batch->joins_loop_turn = false;
}

bool write_batch_is_empty(const struct write_batch *batch)
{
    return batch->block_count == 0 && batch->mutation_count == 0 && batch->rows.span_count == 0 &&
           batch->increment_count == 0 && batch->schema == NULL;
}

void write_batch_add_block(struct write_batch *batch, struct block *block)
{
    batch->blocks = memory_make_room(batch->blocks, batch->block_count, &batch->block_capacity,
                                     sizeof(struct block *));
    batch->blocks[batch->block_count++] = block;
}

void write_batch_add_rule(struct write_batch *batch, const struct counting_rule *rule)
{
    check(rule->block < batch->block_count);
    batch->rules = memory_make_room(batch->rules, batch->rule_count, &batch->rule_capacity,
                                    sizeof(struct counting_rule));
    batch->rules[batch->rule_count++] = *rule;
}

void write_batch_add_mutation(struct write_batch *batch, const struct mutation *mutation)
{
    batch->mutations = memory_make_room(batch->mutations, batch->mutation_count,
                                        &batch->mutation_capacity, sizeof(struct mutation));
    batch->mutations[batch->mutation_count++] = *mutation;
}

void write_batch_add_increment(struct write_batch *batch, const struct counter_increment *increment)
{
    batch->increments =
        memory_make_room(batch->increments, batch->increment_count, &batch->increment_capacity,
                         sizeof(struct counter_increment));
    batch->increments[batch->increment_count++] = *increment;
}

void write_batch_insert(struct write_batch *batch, const struct table *table,
                        const struct column_value *values, uint32_t count)
{
    struct mutation mutation;
    mutation_insert(table, values, count, true, batch->arena, &mutation);
    write_batch_add_mutation(batch, &mutation);
}

void write_batch_delete(struct write_batch *batch, const struct table *table,
                        const struct column_value *values, uint32_t count)
{
    struct mutation mutation;
    mutation_delete(table, values, count, batch->arena, &mutation);
    write_batch_add_mutation(batch, &mutation);
}

struct bytes write_batch_bigint(struct write_batch *batch, int64_t value)
{
    uint8_t serialized[8];
    store_u64_be(serialized, (uint64_t)value);
    return arena_copy(batch->arena, bytes_of(serialized, sizeof(serialized)));
}

struct bytes write_batch_boolean(struct write_batch *batch, bool value)
{
    uint8_t serialized = value ? 1 : 0;
    return arena_copy(batch->arena, bytes_of(&serialized, 1));
}

struct bytes write_batch_decimal(struct write_batch *batch, struct decimal value)
{
    uint8_t serialized[DECIMAL_SERIALIZED_MAX];
    size_t size = decimal_store(value, serialized);
    return arena_copy(batch->arena, bytes_of(serialized, size));
}

struct bytes write_batch_day(struct write_batch *batch, int32_t day)
{
    char text[DAY_TEXT_SIZE + 1];
    calendar_day_format(day, text);
    return arena_copy(batch->arena, bytes_of(text, DAY_TEXT_SIZE));
}

static void rule_serialize(const struct counting_rule *rule, struct buffer *payload)
{
    buffer_put_varint(payload, rule->block);
    buffer_put_varint(payload, rule->column_id);
    buffer_put_varint(payload, rule->component);
    buffer_put_varint(payload, rule->counter_table_id);
    buffer_put_varint(payload, rule->counter_column_id);
}

static void increment_serialize(const struct counter_increment *increment, struct buffer *payload)
{
    buffer_put_varint(payload, increment->table_id);
    buffer_put_varint(payload, increment->column_id);
    buffer_put_sized(payload, increment->key);
    buffer_put_sized(payload, increment->clustering);
    buffer_put_u8(payload, (uint8_t)increment->change);
    buffer_put_signed(payload, increment->value);
}

static void schema_section(const struct schema *schema, struct buffer *payload)
{
    struct buffer serialized = {0};
    schema_serialize(schema, &serialized);
    buffer_put_u8(payload, SECTION_SCHEMA);
    buffer_put_sized(payload, buffer_view(&serialized));
    buffer_release(&serialized);
}

static void pack_from(const struct write_batch *batch, uint32_t first, struct buffer *sections)
{
    for (uint32_t i = first; i < batch->mutation_count; i++) {
        buffer_put_u8(sections, SECTION_MUTATION);
        mutation_pack(&batch->mutations[i], sections);
    }
}

struct packed_mutations write_batch_pack(const struct write_batch *batch, struct buffer *sections)
{
    buffer_clear(sections);
    pack_from(batch, 0, sections);
    return (struct packed_mutations){buffer_view(sections), batch->mutation_count};
}

void write_batch_serialize(const struct write_batch *batch, const struct packed_mutations *packed,
                           struct buffer *payload)
{
    if (batch->schema != NULL)
        schema_section(batch->schema, payload);
    for (uint32_t i = 0; i < batch->block_count; i++) {
        buffer_put_u8(payload, SECTION_BLOCK);
        block_serialize(batch->blocks[i], payload);
    }
    for (uint32_t i = 0; i < batch->rule_count; i++) {
        buffer_put_u8(payload, SECTION_RULE);
        rule_serialize(&batch->rules[i], payload);
    }
    if (packed != NULL)
        buffer_append_bytes(payload, packed->sections);
    pack_from(batch, packed != NULL ? packed->count : 0, payload);
    for (uint32_t i = 0; i < batch->rows.span_count; i++) {
        buffer_put_u8(payload, SECTION_MUTATION);
        packed_rows_pack_span(&batch->rows, &batch->rows.spans[i], payload);
    }
    for (uint32_t i = 0; i < batch->increment_count; i++) {
        buffer_put_u8(payload, SECTION_INCREMENT);
        increment_serialize(&batch->increments[i], payload);
    }
    buffer_put_u8(payload, SECTION_END);
}

static bool is_counter(const struct schema *schema, uint32_t table_id, uint32_t column_id)
{
    const struct table *table = schema_table(schema, table_id);
    if (table == NULL || (table->flags & TABLE_COUNTER) == 0)
        return false;
    const struct column *column = schema_column(table, column_id);
    return column != NULL && column->type->kind == TYPE_COUNTER;
}

static int check_increment(const struct counter_increment *increment, const struct schema *schema,
                           struct error *err)
{
    return is_counter(schema, increment->table_id, increment->column_id) ||
                   schema_is_unread(schema, increment->table_id)
               ? 0
               : error_set(err, ERROR_CORRUPT, "increment of a counter there is not");
}

int write_batch_check(const struct write_batch *batch, const struct schema *schema,
                      uint32_t mutation_first, uint32_t increment_first, struct error *err)
{
    int rc = 0;
    if (batch->schema != NULL)
        schema = batch->schema;
    for (uint32_t i = 0; rc == 0 && i < batch->block_count; i++)
        if (!batch->blocks[i]->is_checked)
            rc = block_check(batch->blocks[i], schema, err);
    for (uint32_t i = mutation_first; rc == 0 && i < batch->mutation_count; i++)
        rc = mutation_check(&batch->mutations[i], schema, err);
    for (uint32_t i = increment_first; rc == 0 && i < batch->increment_count; i++)
        rc = check_increment(&batch->increments[i], schema, err);
    if (rc < 0 && err != NULL)
        err->code = ERROR_INVALID;
    return rc < 0 ? ERROR_INVALID : 0;
}

static int rule_read(struct reader *payload, const struct schema *schema, struct write_batch *batch,
                     struct error *err)
{
    struct counting_rule rule;
    rule.block = reader_varint32(payload);
    rule.column_id = reader_varint32(payload);
    rule.component = reader_varint32(payload);
    rule.counter_table_id = reader_varint32(payload);
    rule.counter_column_id = reader_varint32(payload);
    if (!payload->failed && schema_is_unread(schema, rule.counter_table_id))
        return 0;
    if (payload->failed || rule.block >= batch->block_count ||
        !is_counter(schema, rule.counter_table_id, rule.counter_column_id)) {
        return error_set(err, ERROR_CORRUPT, "counting rule names a block or counter there is not");
    }
    struct block *block = batch->blocks[rule.block];
    const struct table *table = schema_table(schema, block->table_id);
    const struct block_column *column =
        rule.column_id == 0 ? NULL : block_column_at(block, rule.column_id);
    if (rule.column_id == 0 ? rule.component >= table->partition_count
                            : column == NULL || column->kind != VECTOR_CODE) {
        return error_set(err, ERROR_CORRUPT, "counting rule names a column there is not");
    }
    write_batch_add_rule(batch, &rule);
    return 0;
}

static int increment_read(struct reader *payload, const struct schema *schema,
                          struct write_batch *batch, struct error *err)
{
    struct counter_increment increment;
    increment.table_id = reader_varint32(payload);
    increment.column_id = reader_varint32(payload);
    increment.key = reader_sized(payload);
    increment.clustering = reader_sized(payload);
    uint8_t change = reader_u8(payload);
    increment.change = (enum counter_change)change;
    increment.value = reader_signed(payload);
    if (payload->failed || change > COUNTER_DELETE)
        return error_set(err, ERROR_CORRUPT, "an increment is cut off or damaged");
    int rc = check_increment(&increment, schema, err);
    if (rc == 0)
        write_batch_add_increment(batch, &increment);
    return rc;
}

static int section_read(uint8_t kind, struct reader *payload, struct schema **schema,
                        const struct cell_salvage *salvage, struct write_batch *batch,
                        struct error *err)
{
    struct block *block = NULL;
    struct mutation mutation;
    struct schema *changed = NULL;
    int rc;
    switch (kind) {
    case SECTION_BLOCK:
        rc = block_deserialize(payload, *schema, &block, err);
        if (rc == 0)
            write_batch_add_block(batch, block);
        return rc;
    case SECTION_RULE:
        return rule_read(payload, *schema, batch, err);
    case SECTION_MUTATION:
        rc = mutation_unpack(payload, *schema, batch->arena, salvage, &mutation, err);
        if (rc == 0)
            write_batch_add_mutation(batch, &mutation);
        return rc;
    case SECTION_INCREMENT:
        return increment_read(payload, *schema, batch, err);
    case SECTION_SCHEMA:
        rc = schema_deserialize(reader_sized(payload), &changed, err);
        if (rc == 0) {
            schema_unref(*schema);
            *schema = changed;
        }
        return rc;
    default:
        return error_set(err, ERROR_CORRUPT, "unknown section %u in a frame", kind);
    }
}

bool write_batch_is_schema(struct reader *payload, struct bytes *serialized_out)
{
    bool has_schema = reader_u8(payload) == SECTION_SCHEMA;
    *serialized_out = reader_sized(payload);
    return has_schema && reader_u8(payload) == SECTION_END && !payload->failed;
}

int write_batch_deserialize(struct reader *payload, struct schema **schema,
                            const struct cell_salvage *salvage, struct write_batch *batch,
                            struct error *err)
{
    for (;;) {
        uint8_t kind = reader_u8(payload);
        if (payload->failed)
            return error_set(err, ERROR_CORRUPT, "a frame's payload ends within a batch");
        if (kind == SECTION_END)
            return 0;
        int rc = section_read(kind, payload, schema, salvage, batch, err);
        if (rc != 0)
            return rc;
    }
}

void write_batch_free_blocks(struct write_batch *batch)
{
    for (uint32_t i = 0; i < batch->block_count; i++)
        block_free(batch->blocks[i]);
    batch->block_count = 0;
    batch->rule_count = 0;
}
