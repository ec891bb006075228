/* producer: see producer.h.
 *
 * A batch lies in the window at its number modulo the window's size.  The window starts with one
 * place and doubles when the place is taken by a batch that must still be remembered, so that the
 * many producers with a handful of batches (`daybook load` makes one per file) stay small. */
#include "counters/producer.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash64.h"
#include "base/memory.h"

enum {
    TABLE_SLOTS_MIN = 64,
    FEW_BATCHES = 2, /* with less than this a producer may be one of a crowd */
    LOOKS_MAX = 2048 /* a bound of what one addition may cost; more than there are connections */
};

#define DAY_US INT64_C(86400000000)

struct evicted_id {
    uint8_t id[UUID_SIZE];
    bool is_there;
};

struct producer_table {
    struct producer **slots; /* open addressing by the id's hash; NULL: empty */
    uint32_t mask;
    uint32_t count;
    size_t bytes;                /* of producers and their windows */
    struct producer_list few;    /* of fewer batches than FEW_BATCHES, as they first could go */
    struct producer_list silent; /* of more, that may go, by how long they are silent */
    struct evicted_id *evicted;  /* each at its hash, in the place of an older one; NULL: none */
};

struct producer_table *producer_table_new(void)
{
    struct producer_table *table = memory_zeroed(1, sizeof *table);

    table->slots = memory_zeroed(TABLE_SLOTS_MIN, sizeof *table->slots);
    table->mask = TABLE_SLOTS_MIN - 1;
    TAILQ_INIT(&table->few);
    TAILQ_INIT(&table->silent);
    return table;
}

size_t producer_table_bytes(const struct producer_table *table)
{
    size_t evicted = table->evicted != NULL ? PRODUCERS_EVICTED_MAX * sizeof *table->evicted : 0;

    return sizeof *table + (table->mask + 1) * sizeof *table->slots + table->bytes + evicted;
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
    memory_free(table->evicted);
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

bool producer_table_is_full(const struct producer_table *table, uint32_t kept)
{
    return table->count >= PRODUCERS_MAX - kept;
}

uint32_t producer_table_count(const struct producer_table *table)
{
    return table->count;
}

/* Batches become durable in order, so the last one speaks for all. */
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
    uint32_t at = (uint32_t)(producer_slot(table, producer->id) - table->slots);

    check(producer_may_go(producer));
    producer_put(producer, NULL);
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

/* ---- who may go ---- */

/* It has another batch, or one less: it is not silent, and may be none of the few any more. */
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

/* Among the few, as their batches came: behind the last one, but of one that was connected since.
 */
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

/* One of the few keeps the place that it had first, though it may have a connection again. */
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
    struct producer **all = memory_zeroed((size_t)table->count + 1, sizeof *all);
    uint32_t count = 0;

    for (uint32_t i = 0; i <= table->mask; i++)
        if (table->slots[i] != NULL)
            all[count++] = table->slots[i];
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

/* Two batches or more within a day: it works. */
static bool producer_works(struct producer *producer, int64_t now_us)
{
    const struct producer_batch *before = producer_batch_of(producer, producer->last - 1);

    return before != NULL && before->applied_us > now_us - DAY_US;
}

struct producer *producer_evictable(const struct producer_table *table, int64_t now_us)
{
    struct producer *producer;
    uint32_t looks = 0;

    /* Some have a connection again; no more than there are connections. */
    TAILQ_FOREACH_REVERSE(producer, &table->few, producer_list, link)
    {
        if (producer_may_go(producer))
            return producer;
        if (++looks == LOOKS_MAX)
            break;
    }
    looks = 0;
    TAILQ_FOREACH (producer, &table->silent, link) {
        if (!producer_works(producer, now_us))
            return producer;
        if (++looks == LOOKS_MAX)
            break;
    }
    return NULL;
}

void producer_mark_evicted(struct producer_table *table, const uint8_t id[UUID_SIZE])
{
    struct evicted_id *place;

    if (table->evicted == NULL)
        table->evicted = memory_zeroed(PRODUCERS_EVICTED_MAX, sizeof *table->evicted);
    place = &table->evicted[hash64(id, UUID_SIZE) % PRODUCERS_EVICTED_MAX];
    memcpy(place->id, id, UUID_SIZE);
    place->is_there = true;
}

bool producer_was_evicted(const struct producer_table *table, const uint8_t id[UUID_SIZE])
{
    const struct evicted_id *place;

    if (table->evicted == NULL)
        return false;
    place = &table->evicted[hash64(id, UUID_SIZE) % PRODUCERS_EVICTED_MAX];
    return place->is_there && memcmp(place->id, id, UUID_SIZE) == 0;
}

/* ---- ids and numbers ---- */

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
    producer_sort(producer);
    return place;
}

void producer_retract(struct producer *producer, uint64_t sequence)
{
    struct producer_batch *batch = producer_batch_of(producer, sequence);

    check(batch != NULL && producer->last == sequence);
    *batch = (struct producer_batch){0};
    producer->last--;
    producer_sort(producer);
}
