/* producer_rows: see the header.
 *
 * What must hold: a producer is dropped from memory only after the deletion of its rows was
 * applied.  If a client uses the dropped id again, the new rows are never in an earlier frame than
 * the deletion.  So no crash can keep the new rows and bring the deleted rows back.
 *
 * While the clock is in doubt, no producer counts as silent.  With a wrong clock all of them could
 * seem silent for PRODUCER_SILENT_DAYS and be dropped, and repeated batches would count again. */
#include "ingest/connection/producer_rows.h"

#include <string.h>

enum { DROPPED_MAX = 1024 };

#define DAY_US   INT64_C(86400000000)
#define SWEEP_US INT64_C(3600000000)

void producer_rows_add(struct write_batch *batch, const struct table *table,
                       const struct producer *producer, const struct producer_batch *known)
{
    uint8_t slot[4];

    store_u32_be(slot, (uint32_t)(known->sequence % PRODUCER_WINDOW));
    struct column_value values[] = {
        {PRODUCER_ID, false, bytes_of(producer->id, UUID_SIZE)},
        {PRODUCER_SLOT, false, bytes_of(slot, sizeof slot)},
        {PRODUCER_EPOCH, false, write_batch_bigint(batch, (int64_t)producer->epoch)},
        {PRODUCER_SEQUENCE, false, write_batch_bigint(batch, (int64_t)known->sequence)},
        {PRODUCER_HASH, false, bytes_of(&known->hash, 16)},
        {PRODUCER_ACCEPTED, false, write_batch_bigint(batch, (int64_t)known->accepted)},
        {PRODUCER_REJECTED, false, write_batch_bigint(batch, (int64_t)known->rejected)},
    };

    write_batch_insert(batch, table, values, sizeof values / sizeof values[0]);
}

static bool row_number(const struct table *table, const struct page_row *row, uint32_t column_id,
                       uint64_t *number_out)
{
    struct bytes value;

    if (!store_row_value(table, row, column_id, &value) || value.size != 8)
        return false;
    *number_out = load_u64_be(value.data);
    return true;
}

int producer_rows_read(const struct table *table, const struct page_row *row,
                       uint8_t id_out[UUID_SIZE], uint64_t *epoch_out,
                       struct producer_batch *batch_out, struct error *err)
{
    struct producer_batch batch = {.applied_us = row->row.marker.timestamp_us, .is_durable = true};
    struct bytes id;
    struct bytes hash;

    if (!store_row_value(table, row, PRODUCER_ID, &id) || id.size != UUID_SIZE ||
        !store_row_value(table, row, PRODUCER_HASH, &hash) || hash.size != 16 ||
        !row_number(table, row, PRODUCER_EPOCH, epoch_out) ||
        !row_number(table, row, PRODUCER_SEQUENCE, &batch.sequence) || batch.sequence == 0 ||
        !row_number(table, row, PRODUCER_ACCEPTED, &batch.accepted) ||
        !row_number(table, row, PRODUCER_REJECTED, &batch.rejected))
        return error_set(err, ERROR_CORRUPT, "a row of daybook_system.producer is damaged");
    batch.hash = (struct hash128){load_u64(hash.data), load_u64(hash.data + 8)};
    memcpy(id_out, id.data, UUID_SIZE);
    *batch_out = batch;
    return 0;
}

int producer_rows_take(struct producer_table *producers, const struct table *table,
                       const struct page_row *row, struct error *err)
{
    struct producer_batch batch;
    uint8_t id[UUID_SIZE];
    uint64_t epoch = 0;
    int rc = producer_rows_read(table, row, id, &epoch, &batch, err);

    if (rc != 0)
        return rc;
    struct producer *producer = producer_find(producers, id);
    if (producer == NULL)
        producer = producer_add(producers, id, epoch);
    if (producer == NULL)
        return error_set(err, ERROR_LIMIT, "more than %d producers are known", PRODUCERS_MAX);
    if (epoch > producer->epoch)
        producer->epoch = epoch;
    producer_record(producer, &batch);
    return 0;
}

void producer_rows_tell(struct ingest *ingest)
{
    const struct producer_table *producers = ingest->producers;

    ingest_memory_count_producers(&ingest->memory,
                                  producers != NULL ? producer_table_bytes(producers) : 0);
    if (producers != NULL)
        ingest->metrics.producers->value = producer_table_count(producers);
}

/* ---- dropping ---- */

int producer_rows_drop(struct ingest *ingest, struct producer *const *producers, uint32_t count,
                       store_done done, void *context, struct error *err)
{
    struct store *store = ingest->options.store;
    const struct table *table = schema_table(store_schema(store), TABLE_PRODUCER);
    struct write_batch *batch = ingest->batch;

    write_batch_clear(batch);
    for (uint32_t i = 0; i < count; i++) {
        struct column_value id = {PRODUCER_ID, false, bytes_of(producers[i]->id, UUID_SIZE)};

        write_batch_delete(batch, table, &id, 1);
    }
    int rc = store_apply(store, batch, done, context, err);
    if (rc != 0)
        return rc;
    for (uint32_t i = 0; i < count; i++)
        producer_forget(ingest->producers, producers[i]);
    producer_rows_tell(ingest);
    ingest->metrics.forgotten->value += count;
    return 0;
}

/* If the store refuses the write, none is dropped. */
static void drop_silent(struct ingest *ingest, int64_t now_us)
{
    struct producer *silent[DROPPED_MAX];
    struct error err;

    if (now_us < ingest->producers_due_us)
        return;
    uint32_t count = producer_list_silent(ingest->producers, now_us - PRODUCER_SILENT_DAYS * DAY_US,
                                          silent, DROPPED_MAX);
    if (count > 0 && producer_rows_drop(ingest, silent, count, NULL, NULL, &err) != 0)
        return;
    if (count < DROPPED_MAX)
        ingest->producers_due_us = now_us + SWEEP_US;
}

/* One message may report many evictions, because clients can cause any number of them. */
static void log_evicted(struct ingest *ingest, const uint8_t id[UUID_SIZE])
{
    char text[UUID_TEXT_SIZE + 1];
    uint64_t count;

    if (!log_group_admit(&ingest->evictions, world_monotonic_us(ingest->options.world), &count))
        return;
    uuid_format(id, text);
    log_event(LOG_WARNING, "producers_full", log_number("producers_max", PRODUCERS_MAX),
              log_text("evicted", text), log_number("evicted_count", (int64_t)count));
}

int producer_rows_make_room(struct ingest *ingest, bool is_load, struct error *err)
{
    uint32_t kept = is_load ? 0 : PRODUCERS_KEPT;
    const struct store_clock clock = store_clock(ingest->options.store);
    /* At time 0 no producer is silent. */
    int64_t now_us = clock.is_in_doubt ? 0 : clock.wall_us;
    uint8_t id[UUID_SIZE];

    drop_silent(ingest, now_us);
    if (!producer_table_is_full(ingest->producers, kept))
        return 0;
    struct producer *evicted = producer_evictable(ingest->producers, now_us);
    if (evicted == NULL)
        return error_set(err, ERROR_LIMIT, "all places of producers are taken");
    memcpy(id, evicted->id, UUID_SIZE);
    int rc = producer_rows_drop(ingest, &evicted, 1, NULL, NULL, err);
    if (rc != 0)
        return rc;
    producer_mark_evicted(ingest->producers, id);
    producer_rows_tell(ingest);
    log_evicted(ingest, id);
    return 0;
}
