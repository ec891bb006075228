/* memtable: applies batches to its parts, and counts rows by counting rules. */
#include "storage/memtable/memtable.h"

#include "base/memory.h"
#include "counters/counter_slot.h"
#include "storage/cell/partition_index.h"
#include "storage/schema/schema.h"

enum { SLOT_UNKNOWN = UINT32_MAX, PREFETCH_AHEAD = 8, SLOTS_AT_ONCE = 64 };

/* The slots (counter_memtable.h) of the counters to which a rule adds, by code: the columnar
 * memtable's code of the string that is the counter's key or, for a rule on a key component, the
 * number of the partition. */
struct counting_slots {
    uint32_t table_id;
    struct counting_rule rule; /* `block` is not used */
    uint32_t *slots;           /* SLOT_UNKNOWN until first counted */
    uint32_t capacity;
    uint32_t *counts; /* scratch: number of rows for each code of a block; all zero between
                       * blocks */
    uint32_t counts_capacity;
};

struct memtable *memtable_new(struct schema *schema, uint64_t frame_first,
                              struct arena_supply *supply)
{
    struct memtable *memtable = memory_zeroed(1, sizeof(*memtable));
    memtable->references = 1;
    memtable->arena = arena_new_supplied(supply);
    memtable->schema = schema_ref(schema);
    memtable->rows = row_memtable_new(memtable->arena);
    memtable->counters = counter_memtable_new(memtable->arena);
    memtable->frame_first = frame_first;
    memtable->timestamp_max_us = INT64_MIN;
    memtable->oldest_us = INT64_MAX;
    return memtable;
}

struct memtable *memtable_ref(struct memtable *memtable)
{
    check(memtable->references > 0);
    memtable->references++;
    return memtable;
}

struct memtable *memtable_let_go(struct memtable *memtable)
{
    check(memtable->references > 0);
    if (--memtable->references > 0)
        return NULL;
    schema_unref(memtable->schema);
    memtable->schema = NULL;
    return memtable;
}

struct arena *memtable_free(struct memtable *memtable)
{
    struct arena *arena = memtable->arena;

    for (uint32_t i = 0; i < memtable->columnar_count; i++)
        columnar_memtable_free(memtable->columnar[i].rows);
    for (uint32_t i = 0; i < memtable->slots_count; i++) {
        memory_free(memtable->slots[i].slots);
        memory_free(memtable->slots[i].counts);
    }
    memory_free(memtable->columnar);
    memory_free(memtable->slots);
    row_memtable_free(memtable->rows);
    counter_memtable_free(memtable->counters);
    memory_free(memtable);
    return arena;
}

void memtable_unref(struct memtable *memtable)
{
    struct memtable *last = memtable == NULL ? NULL : memtable_let_go(memtable);
    if (last != NULL)
        arena_free(memtable_free(last));
}

struct columnar_memtable *memtable_columnar(const struct memtable *memtable, uint32_t table_id)
{
    for (uint32_t i = 0; i < memtable->columnar_count; i++)
        if (memtable->columnar[i].table_id == table_id)
            return memtable->columnar[i].rows;
    return NULL;
}

uint32_t memtable_find(const struct memtable *memtable, uint32_t table_id, struct bytes key,
                       struct columnar_memtable **columnar_out)
{
    *columnar_out = memtable_columnar(memtable, table_id);
    return *columnar_out == NULL ? UINT32_MAX : columnar_memtable_find(*columnar_out, key);
}

uint32_t memtable_row_streams(const struct memtable *memtable, const struct table *table,
                              int64_t token, struct bytes key, const struct slice *slice,
                              uint64_t frame, uint32_t *looked, uint32_t looked_max,
                              struct stream **streams_out)
{
    uint32_t count = 0;
    streams_out[count] = row_memtable_stream(memtable->rows, table, token, key, slice, frame, NULL);
    if (streams_out[count] != NULL && looked != NULL)
        row_memtable_stream_limit(streams_out[count], looked, looked_max);
    count += streams_out[count] != NULL;
    if ((table->flags & TABLE_COUNTER) == 0)
        return count;
    streams_out[count] = counter_memtable_stream(memtable->counters, table, key, slice, frame,
                                                 (uint64_t)memtable->timestamp_first_us);
    return count + (streams_out[count] != NULL);
}

static struct columnar_memtable *columnar_for(struct memtable *memtable, uint32_t table_id)
{
    struct columnar_memtable *found = memtable_columnar(memtable, table_id);
    if (found != NULL)
        return found;
    const struct table *table = schema_table(memtable->schema, table_id);
    check(table != NULL && (table->flags & TABLE_OF_EVENTS) != 0);
    memtable->columnar = memory_resize(memtable->columnar, (memtable->columnar_count + 1) *
                                                               sizeof(struct columnar_part));
    found = columnar_memtable_new(table, memtable->arena);
    memtable->columnar[memtable->columnar_count++] = (struct columnar_part){table_id, found};
    return found;
}

static struct counting_slots *slots_for(struct memtable *memtable, uint32_t table_id,
                                        const struct counting_rule *rule)
{
    for (uint32_t i = 0; i < memtable->slots_count; i++) {
        struct counting_slots *slots = &memtable->slots[i];
        if (slots->table_id == table_id && slots->rule.column_id == rule->column_id &&
            slots->rule.component == rule->component &&
            slots->rule.counter_table_id == rule->counter_table_id &&
            slots->rule.counter_column_id == rule->counter_column_id) {
            return slots;
        }
    }
    memtable->slots =
        memory_resize(memtable->slots, (memtable->slots_count + 1) * sizeof(struct counting_slots));
    struct counting_slots *slots = &memtable->slots[memtable->slots_count++];
    *slots = (struct counting_slots){.table_id = table_id, .rule = *rule};
    return slots;
}

static uint32_t *slot_entry(struct counting_slots *slots, uint32_t code)
{
    if (code >= slots->capacity) {
        uint32_t capacity = code < 512 ? 1024 : code * 2;
        slots->slots = memory_resize(slots->slots, capacity * sizeof(uint32_t));
        for (uint32_t i = slots->capacity; i < capacity; i++)
            slots->slots[i] = SLOT_UNKNOWN;
        slots->capacity = capacity;
    }
    return &slots->slots[code];
}

static uint32_t *counts_for(struct counting_slots *slots, uint32_t count)
{
    if (count > slots->counts_capacity) {
        uint32_t capacity = count < 2048 ? 4096 : count * 2;
        memory_free(slots->counts);
        slots->counts = memory_zeroed(capacity, sizeof(uint32_t));
        slots->counts_capacity = capacity;
    }
    return slots->counts;
}

static void prefetch_count(const struct memtable *memtable, const struct counting_slots *slots,
                           const uint32_t *mapped, uint32_t at, uint32_t count)
{
    if (at < count && mapped[at] < slots->capacity && slots->slots[mapped[at]] != SLOT_UNKNOWN)
        __builtin_prefetch(counter_memtable_at(memtable->counters, slots->slots[mapped[at]]), 1);
}

/* The key of the counter for rows with `key`, a string of the rule's column or a partition key. */
static struct bytes counter_key(const struct memtable *memtable, const struct counting_slots *slots,
                                struct bytes key)
{
    const struct table *table = schema_table(memtable->schema, slots->table_id);
    struct bytes component;
    if (slots->rule.column_id != 0)
        return key;
    int rc = type_key_component(key, table->partition_count, slots->rule.component, &component);
    check(rc == 0);
    return component;
}

static void find_slots(struct memtable *memtable, struct counting_slots *slots,
                       const struct block_dictionary *keys, const uint32_t *mapped)
{
    const struct counting_rule *rule = &slots->rule;
    struct bytes names[SLOTS_AT_ONCE];
    uint32_t codes[SLOTS_AT_ONCE];
    uint32_t found[SLOTS_AT_ONCE];
    uint32_t count = 0;
    const struct table *table = schema_table(memtable->schema, rule->counter_table_id);
    check(table != NULL);
    for (uint32_t i = 0; i < keys->count; i++) {
        if (slots->counts[i] > 0 && *slot_entry(slots, mapped[i]) == SLOT_UNKNOWN) {
            names[count] = counter_key(memtable, slots, block_dictionary_get(keys, i));
            codes[count++] = mapped[i];
        }
        if (count < SLOTS_AT_ONCE && (count == 0 || i + 1 < keys->count))
            continue;
        counter_memtable_slots(memtable->counters, table, names, count, rule->counter_column_id,
                               found);
        while (count > 0) {
            count--;
            slots->slots[codes[count]] = found[count];
        }
    }
}

static void count_codes(struct memtable *memtable, struct counting_slots *slots,
                        const struct block_dictionary *keys, const uint32_t *mapped, uint64_t frame)
{
    uint32_t *counts = slots->counts;
    find_slots(memtable, slots, keys, mapped);
    for (uint32_t i = 0; i < keys->count; i++) {
        prefetch_count(memtable, slots, mapped, i + PREFETCH_AHEAD, keys->count);
        if (counts[i] == 0)
            continue;
        counter_slot_add(counter_memtable_at(memtable->counters, slots->slots[mapped[i]]),
                         counts[i], frame);
        counts[i] = 0;
    }
}

static void apply_rule(struct memtable *memtable, struct block *block,
                       const struct counting_rule *rule, const struct columnar_memtable *columnar,
                       uint64_t frame)
{
    struct counting_slots *slots = slots_for(memtable, block->table_id, rule);
    const struct block_dictionary *keys = &block->partitions;
    const uint32_t *codes = block->partition_codes;
    const uint32_t *mapped = columnar_memtable_mapped_partitions(columnar);
    const uint8_t *absent = NULL;
    if (rule->column_id != 0) {
        struct block_column *column = block_column_at(block, rule->column_id);
        keys = &column->dictionary;
        codes = column->codes;
        absent = column->absent;
        mapped = columnar_memtable_mapped_codes(columnar, rule->column_id);
    }
    uint32_t *counts = counts_for(slots, keys->count);
    for (uint32_t i = 0; i < block->rows; i++)
        counts[codes[i]] += absent == NULL || absent[i] == 0;
    count_codes(memtable, slots, keys, mapped, frame);
}

static void apply_blocks(struct memtable *memtable, const struct write_batch *batch, uint64_t frame,
                         int64_t timestamp_us)
{
    for (uint32_t i = 0; i < batch->block_count; i++) {
        struct block *block = batch->blocks[i];
        if (block->rows == 0)
            continue;
        struct columnar_memtable *columnar = columnar_for(memtable, block->table_id);
        columnar_memtable_apply(columnar, block, frame, timestamp_us);
        memtable->columnar_rows += block->rows;
        for (uint32_t r = 0; r < batch->rule_count; r++)
            if (batch->rules[r].block == i)
                apply_rule(memtable, block, &batch->rules[r], columnar, frame);
    }
}

static void apply_increment(struct memtable *memtable, const struct counter_increment *increment,
                            uint64_t frame, int64_t timestamp_us)
{
    const struct table *table = schema_table(memtable->schema, increment->table_id);
    check(table != NULL);
    uint32_t number = counter_memtable_slot(memtable->counters, table, increment->key,
                                            increment->clustering, increment->column_id);
    struct counter_slot *slot = counter_memtable_at(memtable->counters, number);
    switch (increment->change) {
    case COUNTER_ADD:
        counter_slot_add(slot, increment->value, frame);
        return;
    case COUNTER_SET:
        counter_slot_set(slot, memtable->arena, increment->value, timestamp_us, frame);
        return;
    case COUNTER_DELETE:
        counter_slot_reset(slot, memtable->arena, timestamp_us, frame);
        return;
    }
}

/* A partition's place in the hash table is prefetched 2 * PREFETCH_AHEAD writes before the write to
 * the partition, and the partition itself PREFETCH_AHEAD writes before. */
static void apply_mutations(struct memtable *memtable, const struct write_batch *batch,
                            uint64_t frame, int64_t timestamp_us)
{
    const struct memtable_partitions *partitions = row_memtable_partitions(memtable->rows);
    for (uint32_t i = 0; i < batch->mutation_count; i++, timestamp_us++) {
        const struct mutation *mutation = &batch->mutations[i];
        if (batch->mutation_count - i > 2 * PREFETCH_AHEAD)
            memtable_partitions_prefetch_place(partitions, mutation[2 * PREFETCH_AHEAD].table_id,
                                               mutation[2 * PREFETCH_AHEAD].token);
        if (batch->mutation_count - i > PREFETCH_AHEAD)
            memtable_partitions_prefetch(partitions, mutation[PREFETCH_AHEAD].table_id,
                                         mutation[PREFETCH_AHEAD].token);
        const struct table *table = schema_table(memtable->schema, mutation->table_id);
        if (table == NULL) {
            check(schema_is_unread(memtable->schema, mutation->table_id));
            continue;
        }
        int64_t oldest_us = mutation_oldest_us(mutation);
        memtable->oldest_us = oldest_us < memtable->oldest_us ? oldest_us : memtable->oldest_us;
        row_memtable_apply(memtable->rows, table, mutation, frame, timestamp_us);
    }
}

static void apply_spans(struct memtable *memtable, const struct packed_rows *rows, uint64_t frame,
                        int64_t timestamp_us)
{
    const struct memtable_partitions *partitions = row_memtable_partitions(memtable->rows);
    for (uint32_t i = 0; i < rows->span_count; i++, timestamp_us++) {
        const struct packed_span *span = &rows->spans[i];
        if (rows->span_count - i > 2 * PREFETCH_AHEAD)
            memtable_partitions_prefetch_place(partitions, span[2 * PREFETCH_AHEAD].table_id,
                                               span[2 * PREFETCH_AHEAD].token);
        if (rows->span_count - i > PREFETCH_AHEAD)
            memtable_partitions_prefetch(partitions, span[PREFETCH_AHEAD].table_id,
                                         span[PREFETCH_AHEAD].token);
        const struct table *table = schema_table(memtable->schema, span->table_id);
        check(table != NULL);
        row_memtable_apply_rows(memtable->rows, table, rows, span, frame, timestamp_us);
    }
}

int64_t memtable_apply(struct memtable *memtable, const struct write_batch *batch, uint64_t frame,
                       int64_t timestamp_us)
{
    check(!memtable->is_frozen);
    if (memtable->timestamp_max_us == INT64_MIN)
        memtable->timestamp_first_us = timestamp_us;
    memtable->oldest_us = memtable->oldest_us < timestamp_us ? memtable->oldest_us : timestamp_us;
    apply_blocks(memtable, batch, frame, timestamp_us++);
    apply_mutations(memtable, batch, frame, timestamp_us);
    timestamp_us += batch->mutation_count;
    apply_spans(memtable, &batch->rows, frame, timestamp_us);
    timestamp_us += batch->rows.span_count;
    for (uint32_t i = 0; i < batch->increment_count; i++, timestamp_us++)
        if (!schema_is_unread(memtable->schema, batch->increments[i].table_id))
            apply_increment(memtable, &batch->increments[i], frame, timestamp_us);
    memtable->timestamp_max_us = timestamp_us - 1;
    return timestamp_us;
}

void memtable_freeze(struct memtable *memtable, uint64_t frame_last)
{
    check(!memtable->is_frozen && frame_last + 1 >= memtable->frame_first);
    memtable->is_frozen = true;
    memtable->frame_last = frame_last;
    for (uint32_t i = 0; i < memtable->columnar_count; i++)
        columnar_memtable_freeze(memtable->columnar[i].rows);
}

bool memtable_is_empty(const struct memtable *memtable)
{
    return memtable->columnar_rows == 0 && row_memtable_partitions(memtable->rows)->count == 0 &&
           counter_memtable_partitions(memtable->counters)->count == 0;
}

bool memtable_seek(const struct memtable *memtable, const struct table *table, int64_t token,
                   struct bytes key, bool after, int64_t *token_out, struct bytes *key_out)
{
    bool found = memtable_partitions_seek(row_memtable_partitions(memtable->rows), table->id, token,
                                          key, after, token_out, key_out);
    int64_t counter_token;
    struct bytes counter_key;
    if ((table->flags & TABLE_COUNTER) != 0 &&
        memtable_partitions_seek(counter_memtable_partitions(memtable->counters), table->id, token,
                                 key, after, &counter_token, &counter_key) &&
        (!found || partition_index_order(counter_token, counter_key, *token_out, *key_out) < 0)) {
        *token_out = counter_token;
        *key_out = counter_key;
        found = true;
    }
    return found;
}

uint32_t memtable_next_table(const struct memtable *memtable, uint32_t after)
{
    uint32_t rows = memtable_partitions_next_table(row_memtable_partitions(memtable->rows), after);
    uint32_t counters =
        memtable_partitions_next_table(counter_memtable_partitions(memtable->counters), after);
    if (rows == 0 || counters == 0)
        return rows == 0 ? counters : rows;
    return rows < counters ? rows : counters;
}

size_t memtable_bytes(const struct memtable *memtable)
{
    size_t bytes = arena_held(memtable->arena) +
                   memtable_partitions_bytes(row_memtable_partitions(memtable->rows)) +
                   counter_memtable_bytes(memtable->counters);
    for (uint32_t i = 0; i < memtable->columnar_count; i++)
        bytes += columnar_memtable_bytes(memtable->columnar[i].rows);
    for (uint32_t i = 0; i < memtable->slots_count; i++) {
        const struct counting_slots *slots = &memtable->slots[i];
        bytes += ((size_t)slots->capacity + slots->counts_capacity) * sizeof(uint32_t);
    }
    return bytes;
}
