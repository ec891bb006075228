/* producer: see producer.h.
 *
 * A batch lies in the window at its number modulo the window's size.  The window starts with one
 * place and doubles when the place is taken by a batch that must still be remembered, so that the
 * many producers with a handful of batches (`daybook load` makes one per file) stay small. */
#include "ingest/producer.h"

#include <string.h>

#include "storage/base/error.h"
#include "storage/base/memory.h"

enum { TABLE_SLOTS_MIN = 64 };

struct producer_table {
    struct producer **slots; /* open addressing by the id's hash; NULL: empty */
    uint32_t mask;
    uint32_t count;
    size_t bytes; /* of producers and their windows */
};

struct producer_table *producer_table_new(void)
{
    struct producer_table *table = memory_zeroed(1, sizeof *table);

    table->slots = memory_zeroed(TABLE_SLOTS_MIN, sizeof *table->slots);
    table->mask = TABLE_SLOTS_MIN - 1;
    return table;
}

size_t producer_table_bytes(const struct producer_table *table)
{
    return sizeof *table + (table->mask + 1) * sizeof *table->slots + table->bytes;
}

static void producer_free(struct producer *producer)
{
    producer->table->bytes -= sizeof *producer + producer->window_size * sizeof *producer->window;
    memory_free(producer->window);
    memory_free(producer);
}

void producer_table_free(struct producer_table *table)
{
    if (table == NULL)
        return;
    for (uint32_t i = 0; i <= table->mask; i++)
        if (table->slots[i] != NULL)
            producer_free(table->slots[i]);
    memory_free(table->slots);
    memory_free(table);
}

/* Where the producer with this id is, or is to be. */
static struct producer **producer_slot(const struct producer_table *table,
                                       const uint8_t id[UUID_SIZE])
{
    uint32_t at = (uint32_t)hash64(id, UUID_SIZE) & table->mask;

    while (table->slots[at] != NULL && memcmp(table->slots[at]->id, id, UUID_SIZE) != 0)
        at = (at + 1) & table->mask;
    return &table->slots[at];
}

struct producer *producer_find(const struct producer_table *table, const uint8_t id[UUID_SIZE])
{
    return *producer_slot(table, id);
}

static void producers_grow(struct producer_table *table)
{
    struct producer **old = table->slots;
    uint32_t old_slots = table->mask + 1;

    table->slots = memory_zeroed((size_t)old_slots * 2, sizeof *table->slots);
    table->mask = old_slots * 2 - 1;
    for (uint32_t i = 0; i < old_slots; i++)
        if (old[i] != NULL)
            *producer_slot(table, old[i]->id) = old[i];
    memory_free(old);
}

struct producer *producer_add(struct producer_table *table, const uint8_t id[UUID_SIZE],
                              uint64_t epoch)
{
    struct producer *producer;

    if (table->count == PRODUCERS_MAX)
        return NULL;
    if (++table->count > table->mask / 2)
        producers_grow(table);
    producer = memory_zeroed(1, sizeof *producer);
    producer->table = table;
    table->bytes += sizeof *producer;
    memcpy(producer->id, id, UUID_SIZE);
    producer->epoch = epoch;
    check(*producer_slot(table, id) == NULL);
    *producer_slot(table, id) = producer;
    return producer;
}

bool producer_table_is_full(const struct producer_table *table)
{
    return table->count == PRODUCERS_MAX;
}

/* Batches become durable in order, so the last one speaks for all. */
static bool producer_may_go(struct producer *producer)
{
    const struct producer_batch *last = producer_batch_of(producer, producer->last);

    return producer->owner == NULL && (producer->last == 0 || last->is_durable);
}

void producer_forget(struct producer_table *table, struct producer *producer)
{
    uint32_t at = (uint32_t)(producer_slot(table, producer->id) - table->slots);

    check(producer_may_go(producer));
    table->slots[at] = NULL;
    table->count--;
    producer_free(producer);
    /* Those that stepped over this place are put where they are found again. */
    for (at = (at + 1) & table->mask; table->slots[at] != NULL; at = (at + 1) & table->mask) {
        struct producer *moved = table->slots[at];

        table->slots[at] = NULL;
        *producer_slot(table, moved->id) = moved;
    }
}

static bool producer_is_silent(struct producer *producer, int64_t before_us)
{
    return producer != NULL && producer->last > 0 && producer_may_go(producer) &&
           producer_batch_of(producer, producer->last)->applied_us < before_us;
}

uint32_t producer_list_silent(const struct producer_table *table, int64_t before_us,
                              struct producer **found, uint32_t capacity)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i <= table->mask && count < capacity; i++)
        if (producer_is_silent(table->slots[i], before_us))
            found[count++] = table->slots[i];
    return count;
}

struct producer *producer_longest_silent(const struct producer_table *table, int64_t before_us)
{
    struct producer *longest = NULL;

    for (uint32_t i = 0; i <= table->mask; i++) {
        if (producer_is_silent(table->slots[i], before_us)) {
            longest = table->slots[i];
            before_us = producer_batch_of(longest, longest->last)->applied_us;
        }
    }
    return longest;
}

void producer_successor(const uint8_t id[UUID_SIZE], uint64_t last, uint8_t id_out[UUID_SIZE])
{
    uint8_t named[UUID_SIZE + 8];
    struct hash128 hash;

    memcpy(named, id, UUID_SIZE);
    store_u64(named + UUID_SIZE, last);
    hash = hash128(named, sizeof named);
    store_u64(id_out, hash.low);
    store_u64(id_out + 8, hash.high);
    id_out[6] = (uint8_t)((id_out[6] & 0x0F) | 0x80); /* RFC 9562 version 8, */
    id_out[8] = (uint8_t)((id_out[8] & 0x3F) | 0x80); /* its variant */
}

enum producer_verdict producer_verdict_of(const struct producer *producer, uint64_t sequence)
{
    if (sequence > producer->last)
        return sequence == producer->last + 1 ? PRODUCER_NEXT : PRODUCER_GAP;
    return producer->last - sequence < PRODUCER_WINDOW ? PRODUCER_KNOWN : PRODUCER_OLD;
}

struct producer_batch *producer_batch_of(struct producer *producer, uint64_t sequence)
{
    struct producer_batch *batch;

    if (producer->window_size == 0)
        return NULL;
    batch = &producer->window[sequence & (producer->window_size - 1)];
    return batch->sequence == sequence ? batch : NULL;
}

static void window_grow(struct producer *producer)
{
    struct producer_batch *old = producer->window;
    uint32_t old_size = producer->window_size;

    producer->window_size = old_size == 0 ? 1 : old_size * 2;
    producer->window = memory_zeroed(producer->window_size, sizeof *producer->window);
    producer->table->bytes += (producer->window_size - old_size) * sizeof *producer->window;
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].sequence != 0)
            producer->window[old[i].sequence & (producer->window_size - 1)] = old[i];
    memory_free(old);
}

struct producer_batch *producer_record(struct producer *producer,
                                       const struct producer_batch *batch)
{
    struct producer_batch *place;

    while (producer->window_size == 0 ||
           (producer->window_size < PRODUCER_WINDOW &&
            producer->window[batch->sequence & (producer->window_size - 1)].sequence != 0))
        window_grow(producer);
    place = &producer->window[batch->sequence & (producer->window_size - 1)];
    *place = *batch;
    if (batch->sequence > producer->last)
        producer->last = batch->sequence;
    return place;
}

void producer_retract(struct producer *producer, uint64_t sequence)
{
    struct producer_batch *batch = producer_batch_of(producer, sequence);

    check(batch != NULL && producer->last == sequence);
    *batch = (struct producer_batch){0};
    producer->last--;
}
