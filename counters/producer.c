/* producer: see the header.
 *
 * A producer's window grows with its batches, up to PRODUCER_WINDOW places, because many producers
 * send few batches and should take little memory. */
#include "counters/producer.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash64.h"
#include "base/memory.h"
#include "base/slot_table.h"

enum {
    FEW_BATCHES = 2, /* producers with fewer batches are displaced first */
    LOOKS_MAX = 2048 /* producers examined per call; more than there are connections */
};

#define DAY_US INT64_C(86400000000)

struct evicted_id {
    uint8_t id[UUID_SIZE];
    bool is_there;
};

struct producer_table {
    struct slot_table producers;
    size_t bytes;
    struct producer_list few;    /* with fewer than FEW_BATCHES batches, latest last */
    struct producer_list silent; /* others that may be removed, longest silent first */
    struct evicted_id *evicted;  /* at the hash of the id; NULL: none */
};

static uint64_t hash_of(const void *producer)
{
    return hash64(((const struct producer *)producer)->id, UUID_SIZE);
}

struct producer_table *producer_table_new(void)
{
    struct producer_table *table = memory_zeroed(1, sizeof *table);

    slot_table_init(&table->producers, hash_of);
    TAILQ_INIT(&table->few);
    TAILQ_INIT(&table->silent);
    return table;
}

size_t producer_table_bytes(const struct producer_table *table)
{
    size_t evicted = table->evicted != NULL ? PRODUCERS_EVICTED_MAX * sizeof *table->evicted : 0;

    return sizeof *table + slot_table_bytes(&table->producers) + table->bytes + evicted;
}

static void producer_free(struct producer *producer)
{
    producer->table->bytes -= sizeof *producer + producer->window_size * sizeof *producer->window;
    memory_free(producer->window);
    memory_free(producer);
}

void producer_table_free(struct producer_table *table)
{
    struct producer *producer;
    uint32_t at = 0;

    if (table == NULL)
        return;
    while ((producer = slot_table_each(&table->producers, &at)) != NULL)
        producer_free(producer);
    slot_table_release(&table->producers);
    memory_free(table->evicted);
    memory_free(table);
}

/* NULL: the id is not in the table.  `*at` is the producer's slot. */
static struct producer *find(const struct producer_table *table, const uint8_t id[UUID_SIZE],
                             uint32_t *at)
{
    struct producer *producer = slot_table_first(&table->producers, hash64(id, UUID_SIZE), at);

    while (producer != NULL && memcmp(producer->id, id, UUID_SIZE) != 0)
        producer = slot_table_next(&table->producers, at);
    return producer;
}

struct producer *producer_find(const struct producer_table *table, const uint8_t id[UUID_SIZE])
{
    uint32_t at;

    return find(table, id, &at);
}

struct producer *producer_add(struct producer_table *table, const uint8_t id[UUID_SIZE],
                              uint64_t epoch)
{
    if (table->producers.count == PRODUCERS_MAX)
        return NULL;
    check(producer_find(table, id) == NULL);
    struct producer *producer = memory_zeroed(1, sizeof *producer);
    producer->table = table;
    table->bytes += sizeof *producer;
    memcpy(producer->id, id, UUID_SIZE);
    producer->epoch = epoch;
    slot_table_add(&table->producers, producer);
    return producer;
}

bool producer_table_is_full(const struct producer_table *table, uint32_t kept)
{
    return table->producers.count >= PRODUCERS_MAX - kept;
}

uint32_t producer_table_count(const struct producer_table *table)
{
    return table->producers.count;
}

/* Batches become durable in order, so only the last one is checked. */
bool producer_may_go(struct producer *producer)
{
    const struct producer_batch *last = producer_batch_of(producer, producer->last);

    return producer->owner == NULL && (producer->last == 0 || last->is_durable);
}

static void producer_put(struct producer *producer, struct producer_list *list)
{
    if (producer->list != NULL)
        TAILQ_REMOVE(producer->list, producer, link);
    producer->list = list;
    if (list != NULL)
        TAILQ_INSERT_TAIL(list, producer, link);
}

void producer_forget(struct producer_table *table, struct producer *producer)
{
    uint32_t at;

    check(producer_may_go(producer));
    check(find(table, producer->id, &at) == producer);
    producer_put(producer, NULL);
    slot_table_remove(&table->producers, at);
    producer_free(producer);
}

/* ---- which producers may be removed ---- */

static void producer_sort(struct producer *producer)
{
    if (producer->last >= FEW_BATCHES)
        producer_put(producer, NULL);
}

static int64_t last_applied_us(struct producer *producer)
{
    const struct producer_batch *last = producer_batch_of(producer, producer->last);

    return last != NULL ? last->applied_us : INT64_MAX;
}

static void few_put(struct producer *producer)
{
    struct producer_list *few = &producer->table->few;
    struct producer *before = TAILQ_LAST(few, producer_list);

    for (uint32_t looks = 0;
         before != NULL && looks < LOOKS_MAX && last_applied_us(before) > last_applied_us(producer);
         looks++)
        before = TAILQ_PREV(before, producer_list, link);
    producer->list = few;
    if (before == NULL)
        TAILQ_INSERT_HEAD(few, producer, link);
    else
        TAILQ_INSERT_AFTER(few, before, producer, link);
}

/* A producer that is already in `few` keeps its position. */
static void producer_rest(struct producer *producer, int64_t now_us)
{
    struct producer_table *table = producer->table;

    if (!producer_may_go(producer))
        return;
    producer->silent_since_us = now_us;
    if (producer->last >= FEW_BATCHES)
        producer_put(producer, &table->silent);
    else if (producer->list == NULL)
        few_put(producer);
}

void producer_own(struct producer *producer, void *connection, int64_t now_us)
{
    producer->owner = connection;
    if (connection != NULL)
        producer_sort(producer);
    else
        producer_rest(producer, now_us);
}

void producer_durable(struct producer *producer, uint64_t sequence, int64_t now_us)
{
    producer_batch_of(producer, sequence)->is_durable = true;
    producer_rest(producer, now_us);
}

static int compare_applied(const void *a, const void *b)
{
    int64_t a_us = last_applied_us(*(struct producer *const *)a);
    int64_t b_us = last_applied_us(*(struct producer *const *)b);

    return (a_us > b_us) - (a_us < b_us);
}

void producer_table_opened(struct producer_table *table)
{
    struct producer **all = memory_zeroed((size_t)table->producers.count + 1, sizeof *all);
    uint32_t count = 0;
    uint32_t at = 0;

    while ((all[count] = slot_table_each(&table->producers, &at)) != NULL)
        count++;
    qsort(all, count, sizeof *all, compare_applied);
    for (uint32_t i = 0; i < count; i++) {
        producer_put(all[i], NULL);
        producer_rest(all[i], last_applied_us(all[i]));
    }
    memory_free(all);
}

uint32_t producer_list_silent(const struct producer_table *table, int64_t before_us,
                              struct producer **found, uint32_t capacity)
{
    struct producer *producer;
    uint32_t count = 0;

    TAILQ_FOREACH (producer, &table->silent, link) {
        if (producer->silent_since_us >= before_us || count == capacity)
            break;
        found[count++] = producer;
    }
    TAILQ_FOREACH (producer, &table->few, link) {
        if (last_applied_us(producer) >= before_us || count == capacity)
            break;
        if (producer_may_go(producer))
            found[count++] = producer;
    }
    return count;
}

static bool producer_is_active(struct producer *producer, int64_t now_us)
{
    const struct producer_batch *before = producer_batch_of(producer, producer->last - 1);

    return before != NULL && before->applied_us > now_us - DAY_US;
}

struct producer *producer_evictable(const struct producer_table *table, int64_t now_us)
{
    struct producer *producer;
    uint32_t looks = 0;

    /* Fewer than LOOKS_MAX producers in `few` cannot be removed, so the loop finds one that can be,
     * if there is one. */
    TAILQ_FOREACH_REVERSE(producer, &table->few, producer_list, link)
    {
        if (producer_may_go(producer))
            return producer;
        if (++looks == LOOKS_MAX)
            break;
    }
    looks = 0;
    TAILQ_FOREACH (producer, &table->silent, link) {
        if (!producer_is_active(producer, now_us))
            return producer;
        if (++looks == LOOKS_MAX)
            break;
    }
    return NULL;
}

void producer_mark_evicted(struct producer_table *table, const uint8_t id[UUID_SIZE])
{
    if (table->evicted == NULL)
        table->evicted = memory_zeroed(PRODUCERS_EVICTED_MAX, sizeof *table->evicted);
    struct evicted_id *place = &table->evicted[hash64(id, UUID_SIZE) % PRODUCERS_EVICTED_MAX];
    memcpy(place->id, id, UUID_SIZE);
    place->is_there = true;
}

bool producer_was_evicted(const struct producer_table *table, const uint8_t id[UUID_SIZE])
{
    if (table->evicted == NULL)
        return false;
    const struct evicted_id *place = &table->evicted[hash64(id, UUID_SIZE) % PRODUCERS_EVICTED_MAX];
    return place->is_there && memcmp(place->id, id, UUID_SIZE) == 0;
}

/* ---- ids and numbers ---- */

void producer_successor(const uint8_t id[UUID_SIZE], uint64_t last, uint8_t id_out[UUID_SIZE])
{
    uint8_t named[UUID_SIZE + 8];

    memcpy(named, id, UUID_SIZE);
    store_u64(named + UUID_SIZE, last);
    struct hash128 hash = hash128(named, sizeof named);
    store_u64(id_out, hash.low);
    store_u64(id_out + 8, hash.high);
    id_out[6] = (uint8_t)((id_out[6] & 0x0F) | 0x80); /* version 8 of RFC 9562 */
    id_out[8] = (uint8_t)((id_out[8] & 0x3F) | 0x80);
}

enum producer_verdict producer_verdict_of(const struct producer *producer, uint64_t sequence)
{
    if (sequence > producer->last)
        return sequence == producer->last + 1 ? PRODUCER_NEXT : PRODUCER_GAP;
    return producer->last - sequence < PRODUCER_WINDOW ? PRODUCER_KNOWN : PRODUCER_OLD;
}

struct producer_batch *producer_batch_of(struct producer *producer, uint64_t sequence)
{
    if (producer->window_size == 0 || sequence == 0)
        return NULL;
    struct producer_batch *batch = &producer->window[sequence & (producer->window_size - 1)];
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
    while (producer->window_size == 0 ||
           (producer->window_size < PRODUCER_WINDOW &&
            producer->window[batch->sequence & (producer->window_size - 1)].sequence != 0))
        window_grow(producer);
    struct producer_batch *place = &producer->window[batch->sequence & (producer->window_size - 1)];
    *place = *batch;
    if (batch->sequence > producer->last)
        producer->last = batch->sequence;
    producer_sort(producer);
    return place;
}

void producer_retract(struct producer *producer, uint64_t sequence)
{
    struct producer_batch *batch = producer_batch_of(producer, sequence);

    check(batch != NULL && producer->last == sequence);
    *batch = (struct producer_batch){0};
    producer->last--;
}
