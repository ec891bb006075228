/* text_commit: see text_commit.h.
 *
 * What decides correctness: a batch's number is taken (producer_record) before the store is asked,
 * because the store may answer before it returns, and given back when it refuses.  Between being
 * applied and being durable a batch is known but not answered: copies of it queue up at its entry.
 *
 * A batch waits for the one 64 before it to be durable, whose place in the window it takes.
 *
 * The write batch is made anew for each attempt: the commit hook adds to it.
 *
 * A bundle is several batches in one write batch.  Nothing of it is taken before the store has
 * said yes, so whatever is in its way, its lines still lie there, to be taken batch by batch. */
#include "ingest/connection/text_commit.h"

#include <inttypes.h>
#include <stdio.h>

#include "ingest/connection/producer_rows.h"
#include "ingest/connection/rejects.h"
#include "ingest/connection/text_control.h"
#include "ingest/connection/text_door.h"
#include "ingest/connection/text_reply.h"

/* ---- rows of daybook's own tables ---- */

/* The batch is of a file. */
static void commit_add_file(struct text_connection *connection, uint64_t sequence)
{
    struct ingest *ingest = connection->ingest;
    struct write_batch *batch = ingest->batch;
    const struct text_file *file = &connection->file;
    const uint8_t *producer = connection->producer->id;
    struct column_value values[] = {
        {LOADED_FILE_KEY, false, write_batch_copy(batch, bytes_of(file->key, 16))},
        {LOADED_FILE_PRODUCER, false, write_batch_copy(batch, bytes_of(producer, UUID_SIZE))},
        {LOADED_FILE_BATCH, false, write_batch_bigint(batch, (int64_t)sequence)},
        {LOADED_FILE_BYTES, false, write_batch_bigint(batch, (int64_t)file->bytes)},
        {LOADED_FILE_HASH, false, write_batch_copy(batch, bytes_of(file->hash, 16))},
        {LOADED_FILE_LINES, false, write_batch_bigint(batch, (int64_t)file->lines)},
        {LOADED_FILE_ENDS_LINE, false, write_batch_boolean(batch, file->ends_line)},
    };

    write_batch_insert(batch, schema_table(store_schema(ingest->options.store), TABLE_LOADED_FILE),
                       values, sizeof values / sizeof values[0]);
}

/* ---- clicks with ids ---- */

static void commit_judged(void *context)
{
    struct text_connection *connection = context;

    connection->jobs--;
    if (connection->is_closing)
        text_door_release(connection);
    else
        text_door_wake(connection);
}

/* Whether it is known which of the connection's rows, which are finished, are new.  If not it is
 * being found out, and text_commit_retry comes back; or the connection is REFUSED. */
static bool commit_is_judged(struct text_connection *connection)
{
    struct keyed *keyed = connection->keyed;

    if (keyed == NULL || keyed_state(keyed) == KEYED_JUDGED)
        return true;
    if (keyed_state(keyed) == KEYED_FAILED) {
        text_reply_refuse(connection, connection->batch.sequence, "store_failed",
                          keyed_error(keyed)->text);
        return false;
    }
    connection->state = TEXT_BLOCKED;
    connection->jobs++;
    keyed_judge(keyed, connection->rows.builder->block, commit_judged, connection);
    return false;
}

/* What a batch or group has come to. */
struct commit_counts {
    const struct reject_list *rejects; /* those of clicks that differ included */
    uint64_t accepted;
    uint64_t duplicates; /* of the accepted ones */
};

static struct commit_counts commit_count_rows(struct text_connection *connection,
                                              const struct reject_list *rejects)
{
    struct commit_counts counts = {rejects, row_parts_accepted(&connection->rows), 0};
    struct reject_list *all = &connection->ingest->keyed_rejects;

    if (connection->keyed == NULL)
        return counts;
    reject_list_clear(all);
    reject_list_append(all, rejects);
    keyed_add_rejects(connection->keyed, all);
    reject_list_sort(all);
    counts.rejects = all;
    counts.accepted -= keyed_different(connection->keyed);
    counts.duplicates = keyed_duplicates(connection->keyed);
    return counts;
}

/* ok NUMBER accepted A rejected R [duplicates D] */
static void append_ok(struct buffer *text, const char *number, uint64_t accepted, uint64_t rejected,
                      uint64_t duplicates)
{
    buffer_printf(text, "ok %s accepted %" PRIu64 " rejected %" PRIu64, number, accepted, rejected);
    if (duplicates > 0)
        buffer_printf(text, " duplicates %" PRIu64, duplicates);
    buffer_put_u8(text, '\n');
}

/* `rejects`, of a batch of a producer's or of neither, to the write batch. */
static void commit_add_rejects(struct text_connection *connection,
                               const struct reject_list *rejects, const uint8_t *producer,
                               uint64_t sequence)
{
    struct ingest *ingest = connection->ingest;
    struct store *store = ingest->options.store;
    struct reject_origin origin = {
        .now_us = store_now_us(store),
        .door = connection->binary != NULL ? "binary" : "text",
        .producer = producer,
        .batch = sequence,
    };

    rejects_add(ingest->batch, schema_table(store_schema(store), TABLE_REJECT), rejects, &origin,
                ingest->options.world->random);
}

/* The connection's rows, which are finished, and `rejects` as a write batch. */
static struct write_batch *commit_begin(struct text_connection *connection,
                                        const struct reject_list *rejects, const uint8_t *producer,
                                        uint64_t sequence)
{
    struct ingest *ingest = connection->ingest;

    write_batch_clear(ingest->batch);
    if (connection->keyed != NULL)
        keyed_add_rows(connection->keyed, ingest->batch);
    else
        row_parts_add_blocks(&connection->rows, ingest->batch);
    commit_add_rejects(connection, rejects, producer, sequence);
    return ingest->batch;
}

/* ---- answers ---- */

/* Lines for the rejects of a batch (`sequence`) or outside of one (0); at most `lines_max` with
 * those that were sent before, the others are summed up. */
static void append_rejects(struct buffer *text, const struct reject_list *list, uint64_t sequence,
                           uint64_t lines_max, uint64_t *lines_sent,
                           uint64_t sums[REJECT_CODE_COUNT])
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct reject *reject = &list->items[i];

        if (*lines_sent >= lines_max) {
            sums[reject->code]++;
            continue;
        }
        ++*lines_sent;
        if (sequence == 0)
            buffer_append_text(text, "reject -");
        else
            buffer_printf(text, "reject %" PRIu64, sequence);
        buffer_printf(text, " %" PRIu64 " %s ", reject->line, reject_name(reject->code));
        reject_append_json(text, reject_text(list, reject));
        buffer_put_u8(text, '\n');
    }
}

static void append_reject_sums(struct buffer *text, uint64_t sequence,
                               const uint64_t sums[REJECT_CODE_COUNT])
{
    for (uint32_t code = 0; code < REJECT_CODE_COUNT; code++) {
        if (sums[code] == 0)
            continue;
        if (sequence == 0)
            buffer_append_text(text, "rejects -");
        else
            buffer_printf(text, "rejects %" PRIu64, sequence);
        buffer_printf(text, " %s %" PRIu64 "\n", reject_name(code), sums[code]);
    }
}

/* What the metrics will count once the reply is true. */
static void reply_count_rows(struct text_reply *reply, uint64_t accepted,
                             const struct reject_list *rejects, uint64_t bytes)
{
    reply->bytes = bytes;
    reply->accepted = accepted;
    for (uint32_t code = 0; code < REJECT_CODE_COUNT; code++)
        reply->reject_counts[code] = (uint32_t)rejects->counts[code];
}

/* ---- the store's answer ---- */

/* The batch is durable, or never will be: tell those that sent copies meanwhile. */
static void commit_tell_waiting(struct text_reply *waiting, int status, const char *why)
{
    while (waiting != NULL) {
        struct text_reply *next = waiting->next_waiting;

        waiting->ingest->metrics.duplicates->value++;
        if (status == 0)
            text_reply_ready(waiting);
        else
            text_reply_fail(waiting, "store_failed", why);
        waiting = next;
    }
}

static void commit_count(const struct text_reply *reply)
{
    struct ingest_metrics *metrics = &reply->ingest->metrics;

    metrics->clicks->value += (int64_t)reply->accepted;
    metrics->bytes->value += (int64_t)reply->bytes;
    metrics->batches->value += reply->producer != NULL;
    for (uint32_t code = 0; code < REJECT_CODE_COUNT; code++)
        metrics->rejects[code]->value += reply->reject_counts[code];
}

/* Of a batch or group. */
static void commit_tell(struct text_reply *reply, int status, const char *why)
{
    struct text_connection *connection = reply->connection;
    struct text_connection *owner = reply->producer == NULL ? NULL : reply->producer->owner;
    struct text_reply *waiting = NULL;

    if (status == 0)
        commit_count(reply);
    if (reply->producer != NULL) {
        struct producer_batch *known = producer_batch_of(reply->producer, reply->sequence);

        waiting = known->waiting;
        known->waiting = NULL;
        if (status == 0)
            producer_durable(reply->producer, reply->sequence,
                             store_now_us(reply->ingest->options.store));
    }
    if (reply->is_group && connection != NULL)
        connection->group.in_flight--;
    if (status == 0 && connection != NULL && reply->accepted > 0)
        input_room_prove(&reply->ingest->room, &connection->member);
    if (status == 0)
        text_reply_ready(reply);
    else
        text_reply_fail(reply, "store_failed", why);
    commit_tell_waiting(waiting, status, why);
    /* Another connection may have taken over, and be waiting for this place in the window. */
    if (owner != NULL)
        text_door_wake(owner);
    if (connection != NULL)
        text_door_wake(connection);
}

/* `context` is the first reply of what was applied. */
static void commit_done(void *context, int status, const struct error *err)
{
    struct text_reply *reply = context;
    struct ingest *ingest = reply->ingest;
    const char *why = status == 0 ? NULL : err == NULL ? error_text(status) : err->text;

    while (reply != NULL) {
        struct text_reply *next = reply->next_applied;

        commit_tell(reply, status, why);
        reply = next;
    }
    ingest_called_back(ingest);
}

/* Hand `batch` to the store.  0, or why not, with the reply taken back. */
static int commit_apply(struct text_connection *connection, struct write_batch *batch,
                        struct text_reply *reply, struct error *err)
{
    struct ingest *ingest = connection->ingest;
    struct store *store = ingest->options.store;
    struct keyed *keyed = connection->keyed;
    uint32_t count;
    int rc;

    ingest->calls++;
    if (keyed == NULL) {
        rc = store_apply(store, batch, commit_done, reply, err);
    } else {
        const struct store_expectation *expectations = keyed_expectations(keyed, &count);

        rc = store_apply_if(store, batch, expectations, count, commit_done, reply, err);
        if (rc != ERROR_FULL)
            keyed_clear(keyed);
    }
    if (rc == 0) {
        row_parts_clear(&connection->rows, &ingest->parts);
        return 0;
    }
    ingest->calls--;
    text_reply_cancel(reply);
    /* Somebody wrote to one of the days meanwhile: what is there is read again. */
    if (rc == ERROR_CONFLICT)
        (void)commit_is_judged(connection);
    if (rc == ERROR_FULL) {
        connection->state = TEXT_BLOCKED;
        ingest->metrics.waits->value++;
    }
    return rc;
}

/* ---- batches ---- */

void text_commit_open(struct text_connection *connection, uint64_t sequence, uint64_t lines,
                      struct hash128_stream *hash)
{
    connection->batch = (struct text_batch){
        .is_open = true,
        .sequence = sequence,
        .lines = lines,
        .verdict = producer_verdict_of(connection->producer, sequence),
        .hash = hash,
    };
    connection->group.was_answered = true;
}

static void batch_close(struct text_connection *connection)
{
    hash128_stream_free(connection->batch.hash);
    connection->batch = (struct text_batch){0};
    connection->file.is_named = false;
}

static void batch_answer_known(struct text_connection *connection, struct hash128 hash)
{
    uint64_t sequence = connection->batch.sequence;
    struct producer_batch *known = producer_batch_of(connection->producer, sequence);
    struct text_reply *reply;

    row_parts_clear(&connection->rows, &connection->ingest->parts);
    batch_close(connection);
    if (known == NULL) {
        /* More than 64 batches ago by now, or a row of the window that was never written. */
        connection->ingest->metrics.duplicates->value++;
        text_reply_say(connection, "ok %" PRIu64 " duplicate\n", sequence);
        return;
    }
    if (known->hash.low != hash.low || known->hash.high != hash.high) {
        text_reply_refuse(connection, sequence, "batch_differs", NULL);
        return;
    }
    reply = text_reply_new(connection);
    reply->sequence = sequence;
    buffer_printf(&reply->text,
                  "ok %" PRIu64 " accepted %" PRIu64 " rejected %" PRIu64 " duplicate\n", sequence,
                  known->accepted, known->rejected);
    if (known->is_durable) {
        connection->ingest->metrics.duplicates->value++;
        text_reply_ready(reply);
        return;
    }
    reply->next_waiting = known->waiting;
    known->waiting = reply;
}

/* The batch's entry with its producer, its row, and its reply, which is returned. */
static struct text_reply *batch_enter(struct text_connection *connection,
                                      const struct producer_batch *known,
                                      const struct commit_counts *counts, uint64_t bytes)
{
    struct ingest *ingest = connection->ingest;
    struct store *store = ingest->options.store;
    struct producer *producer = connection->producer;
    struct text_reply *reply = text_reply_new(connection);
    uint64_t sums[REJECT_CODE_COUNT] = {0};
    uint64_t reject_lines = 0;
    char number[24];

    reply->producer = producer;
    reply->sequence = known->sequence;
    reply_count_rows(reply, known->accepted, counts->rejects, bytes);
    append_rejects(&reply->text, counts->rejects, known->sequence,
                   connection->file.is_named ? UINT64_MAX : TEXT_REJECT_LINES_MAX, &reject_lines,
                   sums);
    append_reject_sums(&reply->text, known->sequence, sums);
    (void)snprintf(number, sizeof number, "%" PRIu64, known->sequence);
    append_ok(&reply->text, number, known->accepted, known->rejected, counts->duplicates);
    producer_rows_add(ingest->batch, schema_table(store_schema(store), TABLE_PRODUCER), producer,
                      known);
    producer_record(producer, known);
    text_reply_count(reply);
    return reply;
}

static void batch_apply(struct text_connection *connection, struct hash128 hash,
                        const struct reject_list *finished)
{
    struct store *store = connection->ingest->options.store;
    struct producer *producer = connection->producer;
    struct commit_counts counts = commit_count_rows(connection, finished);
    uint64_t sequence = connection->batch.sequence;
    struct producer_batch known = {
        .sequence = sequence,
        .hash = hash,
        .accepted = counts.accepted,
        .rejected = counts.rejects->count,
        .applied_us = store_now_us(store),
    };
    struct write_batch *batch = commit_begin(connection, counts.rejects, producer->id, sequence);
    struct text_reply *reply = batch_enter(connection, &known, &counts, connection->batch.bytes);
    struct error err = {0};
    int rc;

    if (connection->file.is_named)
        commit_add_file(connection, sequence);
    ingest_tell_producers(connection->ingest);
    rc = commit_apply(connection, batch, reply, &err);
    if (rc == 0) {
        batch_close(connection);
        return;
    }
    producer_retract(producer, sequence);
    connection->batch.is_kept_waiting = true;
    if (rc == ERROR_LIMIT)
        text_reply_refuse(connection, sequence, "batch_too_large", NULL);
    else if (rc != ERROR_FULL && rc != ERROR_CONFLICT)
        text_reply_refuse(connection, sequence, "store_failed", err.text);
}

/* Whether the place in the window that a batch would take is still being made durable. */
static bool batch_place_is_taken(struct producer *producer, uint64_t sequence)
{
    const struct producer_batch *known;

    if (sequence <= PRODUCER_WINDOW)
        return false;
    known = producer_batch_of(producer, sequence - PRODUCER_WINDOW);
    return known != NULL && !known->is_durable;
}

void text_commit_batch(struct text_connection *connection)
{
    struct text_batch *batch = &connection->batch;
    struct hash128 hash = hash128_stream_digest(batch->hash);

    if (batch->verdict != PRODUCER_NEXT) {
        batch_answer_known(connection, hash);
    } else if (batch_place_is_taken(connection->producer, batch->sequence)) {
        connection->state = TEXT_BLOCKED;
        batch->is_kept_waiting = true;
    } else {
        const struct reject_list *finished;

        /* One that has had no lines yet gives its builder back when memory is scarce. */
        if (!text_door_prepare(connection))
            return;
        finished = row_parts_finish(&connection->rows);
        if (commit_is_judged(connection))
            batch_apply(connection, hash, finished);
        else
            batch->is_kept_waiting = true;
    }
}

/* ---- bundles ---- */

/* What the batch brings besides its rows; returns its reply. */
static struct text_reply *bundle_enter(struct text_connection *connection,
                                       const struct batch_group *bundle, uint32_t index)
{
    const struct batch_group_member *batch = &bundle->batches[index];
    uint32_t first;
    struct reject_list rejects = batch_group_rejects(bundle, index);
    struct commit_counts counts = {&rejects, batch_group_rows(bundle, index, &first), 0};
    struct producer_batch known = {
        .sequence = batch->sequence,
        .hash = batch->hash,
        .accepted = counts.accepted,
        .rejected = rejects.count,
        .applied_us = store_now_us(connection->ingest->options.store),
    };

    commit_add_rejects(connection, &rejects, connection->producer->id, batch->sequence);
    return batch_enter(connection, &known, &counts, batch->bytes);
}

static void bundle_leave(struct text_connection *connection, struct text_reply **replies,
                         uint32_t count)
{
    while (count-- > 0) {
        producer_retract(connection->producer, replies[count]->sequence);
        text_reply_cancel(replies[count]);
    }
}

static int bundle_apply(struct text_connection *connection, const struct batch_group *bundle)
{
    struct text_reply *replies[BATCH_GROUP_MAX];
    struct ingest *ingest = connection->ingest;
    struct error err = {0};
    int rc;

    write_batch_clear(ingest->batch);
    if (bundle->part->block->rows > 0)
        write_batch_add_block(ingest->batch, bundle->part->block);
    for (uint32_t i = 0; i < bundle->count; i++) {
        replies[i] = bundle_enter(connection, bundle, i);
        if (i > 0)
            replies[i - 1]->next_applied = replies[i];
    }
    if (connection->file.is_named)
        commit_add_file(connection, replies[0]->sequence);
    ingest_tell_producers(ingest);
    ingest->calls++;
    rc = store_apply(ingest->options.store, ingest->batch, commit_done, replies[0], &err);
    if (rc == 0)
        return 0;
    ingest->calls--;
    bundle_leave(connection, replies, bundle->count);
    return rc;
}

enum text_group_result text_commit_bundle(struct text_connection *connection,
                                          const struct batch_group *bundle)
{
    struct ingest *ingest = connection->ingest;
    const struct batch_group_member *batches = bundle->batches;
    struct producer *producer = connection->producer;
    int rc;

    check(!connection->batch.is_open && connection->group.lines == 0);
    if (producer == NULL || (connection->file.is_named && bundle->count > 1) ||
        producer_verdict_of(producer, batches[0].sequence) != PRODUCER_NEXT)
        return TEXT_GROUP_SPLIT;
    /* They become durable in order, so the last one's place is free when all are. */
    if (batch_place_is_taken(producer, batches[bundle->count - 1].sequence)) {
        connection->state = TEXT_BLOCKED;
        return TEXT_GROUP_LATER;
    }
    rc = bundle_apply(connection, bundle);
    if (rc == ERROR_FULL) {
        connection->state = TEXT_BLOCKED;
        ingest->metrics.waits->value++;
        return TEXT_GROUP_LATER;
    }
    if (rc != 0)
        return TEXT_GROUP_SPLIT;
    connection->group.was_answered = true;
    connection->file.is_named = false;
    return TEXT_GROUP_TAKEN;
}

/* ---- lines outside of batches ---- */

bool text_commit_group(struct text_connection *connection)
{
    struct text_group *group = &connection->group;
    const struct reject_list *rejects;
    struct commit_counts counts;
    uint64_t rejected;
    uint64_t lines_sent = group->reject_lines;
    uint64_t sums[REJECT_CODE_COUNT];
    struct text_reply *reply;
    struct error err = {0};
    int rc;

    if (group->lines == 0)
        return true;
    rejects = row_parts_finish(&connection->rows);
    if (!commit_is_judged(connection))
        return false;
    counts = commit_count_rows(connection, rejects);
    rejects = counts.rejects;
    rejected = rejects->count;
    memcpy(sums, group->reject_sums, sizeof sums);
    reply = text_reply_new(connection);
    reply->is_group = true;
    reply_count_rows(reply, counts.accepted, rejects, group->bytes);
    append_rejects(&reply->text, rejects, 0, TEXT_REJECT_LINES_MAX, &lines_sent, sums);
    text_reply_count(reply);
    group->in_flight++;
    rc = commit_apply(connection, commit_begin(connection, rejects, NULL, 0), reply, &err);
    if (rc != 0) {
        group->in_flight--;
        if (rc != ERROR_FULL && rc != ERROR_CONFLICT)
            text_reply_refuse(connection, 0, "store_failed", err.text);
        return false;
    }
    group->lines = 0;
    group->bytes = 0;
    group->accepted += counts.accepted;
    group->duplicates += counts.duplicates;
    group->rejected += rejected;
    group->reject_lines = lines_sent;
    memcpy(group->reject_sums, sums, sizeof sums);
    return connection->state != TEXT_REFUSED;
}

void text_commit_answer(struct text_connection *connection)
{
    struct text_group *group = &connection->group;
    struct text_reply *reply = text_reply_new(connection);

    append_reject_sums(&reply->text, 0, group->reject_sums);
    append_ok(&reply->text, "-", group->accepted, group->rejected, group->duplicates);
    group->is_answer_due = false;
    group->was_answered = true;
    group->accepted = 0;
    group->duplicates = 0;
    group->rejected = 0;
    group->reject_lines = 0;
    memset(group->reject_sums, 0, sizeof group->reject_sums);
    text_reply_ready(reply);
}

void text_commit_retry(struct text_connection *connection)
{
    if (connection->state != TEXT_BLOCKED || connection->is_closing ||
        (connection->keyed != NULL && keyed_state(connection->keyed) == KEYED_READING))
        return;
    connection->state = TEXT_RECORDS;
    /* The store may answer at once, and what it applies is cleared only when it returns. */
    connection->is_running = true;
    if (connection->wanted.is_waiting) {
        text_control_retry(connection);
    } else if (connection->batch.is_kept_waiting) {
        connection->batch.is_kept_waiting = false;
        text_commit_batch(connection);
    } else {
        (void)text_commit_group(connection);
    }
    connection->is_running = false;
    text_door_run(connection);
}
