#include "storage/engine/sequencer_private.h"

enum {
    HOOK_BYTES = 12 << 10,     /* for a batch's fixed parts, and what the hook adds */
    OPEN_PAYLOAD_MAX = 8 << 20 /* bytes; with more, the open frame takes no batch */
};

static int expectations_hold(const struct sequencer *sequencer,
                             struct store_expectation *expectations, uint32_t count,
                             struct error *err)
{
    int rc = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct store_expectation *expected = &expectations[i];
        struct store_version now = sequencer_version(sequencer, expected->table_id, expected->key);
        expected->has_changed =
            now.writes != expected->version.writes ||
            (now.appended_rows != expected->version.appended_rows && !expected->allows_appended);
        if (expected->has_changed)
            rc = error_set(err, ERROR_CONFLICT, "the partition was changed after it was read");
    }
    return rc;
}

static int full(struct sequencer *sequencer, struct error *err)
{
    sequencer->drain_owed = true;
    return error_set(err, ERROR_FULL, "the store is busy writing; try again when it drains");
}

static int admit_now(struct sequencer *sequencer, const struct write_batch *batch,
                     struct error *err)
{
    int rc = engine_env_check_writable(sequencer->env, err);
    if (rc == 0 && sequencer->env->is_closing)
        rc = error_set(err, ERROR_CLOSED, "the store is closing");
    if (rc != 0 || write_batch_is_empty(batch))
        return rc;
    bool is_full = !write_lock_admits(&sequencer->lock, batch->write_lock) ||
                   sequencer->freeze_requested || sequencer->payload.size >= OPEN_PAYLOAD_MAX ||
                   (sequencer->refuses_clicks && batch->block_count > 0) ||
                   memtable_set_is_full(sequencer->memtables);
    return is_full ? full(sequencer, err) : 0;
}

/* A batch that changes the schema begins a memtable, so that one memtable has one schema.  A
 * memtable without rows needs no flush, because the new schema contains all earlier changes.  If
 * much of the log is not flushed, the memtable is frozen, to shorten the next replay. */
static int admit_schema(struct sequencer *sequencer, const struct write_batch *batch,
                        struct error *err)
{
    if (sequencer->payload.size > 0 || !memtable_is_empty(sequencer->memtables->open) ||
        commit_log_unflushed_bytes(sequencer->log) > SEQUENCER_REPLAY_BYTES)
        sequencer_request_freeze(sequencer);
    if (sequencer->freeze_requested)
        return full(sequencer, err);
    memtable_set_begin_schema(sequencer->memtables, schema_ref(batch->schema), sequencer->frame);
    return 0;
}

/* Appended rows are flushed with one timestamp for each partition and run: that of the newest row.
 * So no overwrite may have a timestamp between the timestamps of two of these rows.  Therefore a
 * batch that overwrites in a partition with appended rows in the open memtable begins a new
 * memtable. */
static int admit_overwrites(struct sequencer *sequencer, const struct write_batch *batch,
                            struct error *err)
{
    if (!memtable_set_meets_overwrites(sequencer->memtables, batch))
        return 0;
    sequencer_request_freeze(sequencer);
    return sequencer->freeze_requested ? full(sequencer, err) : 0;
}

/* After the hook it would be too late to refuse the batch, so the bytes that the hook may add are
 * included. */
static size_t batch_bytes_max(struct sequencer *sequencer, const struct write_batch *batch,
                              struct packed_mutations *packed_out)
{
    size_t bytes = HOOK_BYTES;
    for (uint32_t i = 0; i < batch->block_count; i++) {
        const struct block *block = batch->blocks[i];
        bytes += block_bytes_max(block) + 4 * block->partitions.text.size +
                 (size_t)256 * block->partitions.count;
    }
    if (batch->schema != NULL) {
        buffer_clear(&sequencer->scratch);
        schema_serialize(batch->schema, &sequencer->scratch);
        bytes += sequencer->scratch.size;
    }
    *packed_out = write_batch_pack(batch, &sequencer->scratch);
    for (uint32_t i = 0; i < batch->mutation_count; i++)
        bytes += WRITE_BATCH_MUTATION_BYTES + 4 * batch->mutations[i].key.size;
    for (uint32_t i = 0; i < batch->rows.span_count; i++)
        bytes += 1 + packed_rows_span_bytes(&batch->rows, &batch->rows.spans[i]);
    for (uint32_t i = 0; i < batch->increment_count; i++)
        bytes += 64 + batch->increments[i].key.size + batch->increments[i].clustering.size;
    return bytes + packed_out->sections.size;
}

static int admit_size(struct sequencer *sequencer, const struct write_batch *batch,
                      struct sequencer_admitted *admitted_out, struct error *err)
{
    size_t bytes = batch_bytes_max(sequencer, batch, &admitted_out->packed);
    admitted_out->bytes_max = bytes;
    if (bytes > WRITE_BATCH_BYTES_MAX) {
        return error_set(err, ERROR_LIMIT, "a batch of up to %zu bytes is over the limit of %d",
                         bytes, WRITE_BATCH_BYTES_MAX);
    }
    bool has_room = commit_log_has_room(sequencer->log, sequencer->payload.size + bytes);
    return has_room ? 0 : full(sequencer, err);
}

static int admit_readable(const struct write_batch *batch, struct error *err)
{
    struct buffer serialized = {0};

    schema_serialize(batch->schema, &serialized);
    int rc = schema_check_serialized(batch->schema, buffer_view(&serialized), err);
    buffer_release(&serialized);
    return rc;
}

static int admit_values(const struct sequencer *sequencer, const struct write_batch *batch,
                        struct error *err)
{
    int rc = write_batch_check(batch, sequencer->memtables->schema, 0, 0, err);
    if (rc == 0 && sequencer->hooks->refuses != NULL)
        rc = sequencer->hooks->refuses(sequencer->hooks->refuses_context, batch, err);
    return rc;
}

int sequencer_admit(struct sequencer *sequencer, const struct write_batch *batch,
                    struct store_expectation *expectations, uint32_t count,
                    struct sequencer_admitted *admitted_out, struct error *err)
{
    int rc = admit_now(sequencer, batch, err);
    if (rc == 0)
        rc = expectations_hold(sequencer, expectations, count, err);
    if (rc != 0 || write_batch_is_empty(batch))
        return rc;
    rc = admit_values(sequencer, batch, err);
    if (rc == 0)
        rc = admit_size(sequencer, batch, admitted_out, err);
    if (rc == 0 && batch->schema != NULL)
        rc = admit_readable(batch, err);
    if (rc == 0 && batch->schema != NULL)
        rc = admit_schema(sequencer, batch, err);
    return rc == 0 ? admit_overwrites(sequencer, batch, err) : rc;
}
