/* ingest_commit: see the header.
 *
 * What must hold: a batch is recorded with its producer (producer_record) before store_apply,
 * because store_apply may call back before it returns.  If copies of a batch arrive before the
 * batch is durable, their answers wait in its record (producer_batch.waiting).
 *
 * In the producer's window, a batch replaces the batch whose number is PRODUCER_WINDOW (64) less.
 * So a batch waits until the batch that it replaces is durable.
 *
 * The write batch is made again for each attempt, because the store's commit hook adds to it. */
#include "ingest/connection/ingest_commit.h"

#include <inttypes.h>

#include "ingest/connection/answer.h"
#include "ingest/connection/answer_text.h"
#include "ingest/connection/ingest_decoder.h"
#include "ingest/connection/ingest_rows.h"
#include "ingest/connection/loaded_file.h"
#include "ingest/connection/producer_rows.h"
#include "ingest/connection/rejects.h"

struct commit {
    struct reply reply; /* must be first: freeing it frees the commit */
    struct ingest *ingest;
    struct commit *next_waiting; /* the answer to another copy of the same batch */
    struct commit *next_applied; /* the commit of the next batch in the same write batch */
    struct producer *producer;   /* NULL: the rows are outside of batches */
    /* the connection whose file.in_flight counts this commit; it outlives the commit; NULL: the
     * batch belongs to no file */
    struct ingest_connection *loader;
    uint64_t sequence;
    /* added to the metrics when the rows are durable */
    uint64_t accepted;
    uint64_t bytes;
    uint32_t reject_counts[REJECT_CODE_COUNT];
};

static struct commit *commit_new(struct ingest_connection *connection, uint64_t sequence)
{
    struct commit *commit = reply_queue_add(&connection->replies, sizeof *commit);

    commit->ingest = connection->ingest;
    commit->sequence = sequence;
    return commit;
}

/* ---- clicks with ids ---- */

static void commit_judged(void *context)
{
    struct ingest_connection *connection = context;

    connection->jobs--;
    /* A closing connection must be woken, too, so that it is freed; ingest_connection_wake would
     * not wake it. */
    wake_queue_add(&connection->ingest->woken, &connection->wake);
}

/* Whether it is known which of the connection's finished rows are new (click_dedup.h).  False: the
 * connection is BLOCKED while the rows are looked up, or REFUSED. */
static bool commit_is_judged(struct ingest_connection *connection)
{
    struct click_dedup *dedup = connection->rows.dedup;

    if (dedup == NULL || click_dedup_state(dedup) == CLICK_DEDUP_JUDGED)
        return true;
    if (click_dedup_state(dedup) == CLICK_DEDUP_FAILED) {
        answer_refuse(connection, connection->batch.sequence, "store_failed",
                      click_dedup_error(dedup)->text);
        return false;
    }
    connection->state = INGEST_BLOCKED;
    connection->jobs++;
    click_dedup_judge(dedup, connection->rows.builder->block, commit_judged, connection);
    return false;
}

struct commit_counts {
    const struct reject_list *rejects;
    uint64_t accepted;
    uint64_t duplicates;
};

static struct commit_counts commit_count_rows(struct ingest_connection *connection,
                                              const struct reject_list *rejects)
{
    struct commit_counts counts = {rejects, stream_rows_accepted(&connection->rows), 0};
    struct reject_list *all = &connection->ingest->click_dedup_rejects;

    if (connection->rows.dedup == NULL)
        return counts;
    reject_list_clear(all);
    reject_list_append(all, rejects);
    click_dedup_add_rejects(connection->rows.dedup, all);
    reject_list_sort(all);
    counts.rejects = all;
    counts.accepted -= click_dedup_count(connection->rows.dedup, CLICK_DEDUP_DIFFERENT);
    counts.duplicates = click_dedup_count(connection->rows.dedup, CLICK_DEDUP_DUPLICATE);
    return counts;
}

static void commit_add_rejects(struct ingest_connection *connection,
                               const struct reject_list *rejects, const uint8_t *producer,
                               uint64_t sequence)
{
    struct ingest *ingest = connection->ingest;
    struct store *store = ingest->options.store;
    struct reject_origin origin = {
        .now_us = store_now_us(store),
        .door = connection->decoder->name,
        .producer = producer,
        .batch = sequence,
    };

    rejects_add(ingest->batch, schema_table(store_schema(store), TABLE_REJECT), rejects, &origin,
                ingest->options.world->random);
}

static void commit_begin(struct ingest_connection *connection)
{
    struct ingest *ingest = connection->ingest;

    write_batch_clear(ingest->batch);
    if (connection->rows.dedup != NULL)
        click_dedup_add_rows(connection->rows.dedup, ingest->batch);
    else
        stream_rows_add_blocks(&connection->rows, ingest->batch);
}

static void commit_note_rows(struct commit *commit, const struct commit_counts *counts,
                             uint64_t bytes)
{
    commit->bytes = bytes;
    commit->accepted = counts->accepted;
    for (uint32_t code = 0; code < REJECT_CODE_COUNT; code++)
        commit->reject_counts[code] = (uint32_t)counts->rejects->counts[code];
}

/* ---- callbacks of the store ---- */

static void commit_answer_copies(struct commit *waiting, int status, const char *why)
{
    while (waiting != NULL) {
        struct commit *next = waiting->next_waiting;

        waiting->ingest->metrics.duplicates->value++;
        if (status == 0)
            reply_queue_ready(&waiting->reply);
        else
            answer_fail(&waiting->reply, waiting->sequence, "store_failed", why);
        waiting = next;
    }
}

static void commit_count(const struct commit *commit)
{
    struct ingest_metrics *metrics = &commit->ingest->metrics;

    metrics->clicks->value += (int64_t)commit->accepted;
    if (commit->accepted > 0)
        metrics->last_click->value = world_wall_us(commit->ingest->options.world) / 1000000;
    metrics->bytes->value += (int64_t)commit->bytes;
    metrics->batches->value += commit->producer != NULL;
    for (uint32_t code = 0; code < REJECT_CODE_COUNT; code++)
        metrics->rejects[code]->value += commit->reject_counts[code];
}

static void commit_answer(struct commit *commit, int status, const char *why)
{
    struct ingest_connection *connection = answer_connection(&commit->reply);
    struct ingest_connection *owner = commit->producer == NULL ? NULL : commit->producer->owner;
    struct ingest_connection *loader = commit->loader;
    struct commit *waiting = NULL;

    if (status == 0)
        commit_count(commit);
    if (commit->producer != NULL) {
        struct producer_batch *known = producer_batch_of(commit->producer, commit->sequence);

        waiting = known->waiting;
        known->waiting = NULL;
        if (status == 0)
            producer_durable(commit->producer, commit->sequence,
                             store_now_us(commit->ingest->options.store));
    }
    if (commit->producer == NULL && connection != NULL)
        connection->unnumbered.in_flight--;
    if (status == 0 && connection != NULL && commit->accepted > 0)
        input_quota_mark_acked(&commit->ingest->memory.input, &connection->account.waiter);
    if (status == 0)
        reply_queue_ready(&commit->reply);
    else
        answer_fail(&commit->reply, commit->sequence, "store_failed", why);
    commit_answer_copies(waiting, status, why);
    /* The owner may be a connection that has taken over the producer and waits for a place in its
     * window. */
    if (owner != NULL)
        ingest_connection_wake(owner);
    if (connection != NULL)
        ingest_connection_wake(connection);
    if (loader != NULL) {
        loader->file.in_flight--;
        wake_queue_add(&loader->ingest->woken, &loader->wake);
    }
}

static void commit_done(void *context, int status, const struct error *err)
{
    struct commit *commit = context;
    struct ingest *ingest = commit->ingest;
    const char *why = status == 0 ? NULL : err == NULL ? error_text(status) : err->text;

    while (commit != NULL) {
        struct commit *next = commit->next_applied;

        commit_answer(commit, status, why);
        commit = next;
    }
    ingest_called_back(ingest);
}

/* Undo `commit` and the commits that follow it, the newest first. */
static void commit_cancel(struct ingest_connection *connection, struct commit *commit)
{
    if (commit->next_applied != NULL)
        commit_cancel(connection, commit->next_applied);
    if (commit->producer != NULL)
        producer_retract(commit->producer, commit->sequence);
    if (commit->loader != NULL)
        commit->loader->file.in_flight--;
    reply_queue_cancel(&connection->replies, &commit->reply);
}

/* Apply the write batch, for `commit` and the commits that follow it.  A failure undoes all of
 * them. */
static int commit_apply(struct ingest_connection *connection, struct commit *commit,
                        struct error *err)
{
    struct ingest *ingest = connection->ingest;
    struct store *store = ingest->options.store;
    struct click_dedup *dedup = connection->rows.dedup;

    ingest->calls++;
    int rc = dedup == NULL ? store_apply(store, ingest->batch, commit_done, commit, err)
                           : click_dedup_apply(dedup, ingest->batch, commit_done, commit, err);
    if (rc == 0)
        return 0;
    ingest->calls--;
    commit_cancel(connection, commit);
    if (rc == ERROR_CONFLICT)
        (void)commit_is_judged(connection);
    if (rc == ERROR_FULL) {
        connection->state = INGEST_BLOCKED;
        ingest->metrics.waits->value++;
    }
    return rc;
}

/* ---- batches ---- */

void ingest_commit_open(struct ingest_connection *connection, uint64_t sequence, uint64_t lines,
                        struct hash128_stream *hash)
{
    numbered_batch_open(&connection->batch, sequence, lines,
                        producer_verdict_of(connection->producer, sequence), hash);
    connection->unnumbered.was_answered = true;
}

static void batch_close(struct ingest_connection *connection)
{
    stream_rows_clear(&connection->rows);
    numbered_batch_close(&connection->batch);
    connection->file.is_named = false;
}

static void batch_answer_known(struct ingest_connection *connection, struct hash128 hash)
{
    uint64_t sequence = connection->batch.sequence;
    struct producer_batch *known = producer_batch_of(connection->producer, sequence);

    batch_close(connection);
    if (known == NULL) {
        /* The batch is older than the window, or its place there is empty. */
        connection->ingest->metrics.duplicates->value++;
        answer_say(connection, "ok %" PRIu64 " duplicate\n", sequence);
        return;
    }
    if (known->hash.low != hash.low || known->hash.high != hash.high) {
        answer_refuse(connection, sequence, "batch_differs", NULL);
        return;
    }
    struct commit *commit = commit_new(connection, sequence);
    buffer_printf(&commit->reply.text,
                  "ok %" PRIu64 " accepted %" PRIu64 " rejected %" PRIu64 " duplicate\n", sequence,
                  known->accepted, known->rejected);
    if (known->is_durable) {
        connection->ingest->metrics.duplicates->value++;
        reply_queue_ready(&commit->reply);
        return;
    }
    commit->next_waiting = known->waiting;
    known->waiting = commit;
}

static struct commit *batch_enter(struct ingest_connection *connection, uint64_t sequence,
                                  struct hash128 hash, const struct commit_counts *counts,
                                  uint64_t bytes)
{
    struct ingest *ingest = connection->ingest;
    struct store *store = ingest->options.store;
    struct producer *producer = connection->producer;
    const struct producer_batch known = {
        .sequence = sequence,
        .hash = hash,
        .accepted = counts->accepted,
        .rejected = counts->rejects->count,
        .applied_us = store_now_us(store),
    };
    struct commit *commit = commit_new(connection, sequence);
    uint64_t sums[REJECT_CODE_COUNT] = {0};
    uint64_t reject_lines = 0;

    commit->producer = producer;
    commit_note_rows(commit, counts, bytes);
    answer_text_rejects(&commit->reply.text, counts->rejects, sequence,
                        connection->file.is_named ? REJECT_FILE_LINES_MAX : INGEST_REJECT_LINES_MAX,
                        &reject_lines, sums);
    answer_text_reject_sums(&commit->reply.text, sequence, sums);
    answer_text_ok(&commit->reply.text, sequence, known.accepted, known.rejected,
                   counts->duplicates);
    commit_add_rejects(connection, counts->rejects, producer->id, sequence);
    producer_rows_add(ingest->batch, schema_table(store_schema(store), TABLE_PRODUCER), producer,
                      &known);
    producer_record(producer, &known);
    if (connection->file.is_named) {
        loaded_file_add(connection, sequence);
        commit->loader = connection;
        connection->file.in_flight++;
    }
    reply_queue_count(&commit->reply);
    return commit;
}

static void batch_apply(struct ingest_connection *connection, struct hash128 hash,
                        const struct reject_list *finished)
{
    uint64_t sequence = connection->batch.sequence;
    struct commit_counts counts = commit_count_rows(connection, finished);
    struct error err = {0};

    commit_begin(connection);
    struct commit *commit =
        batch_enter(connection, sequence, hash, &counts, connection->batch.bytes);
    producer_rows_tell(connection->ingest);
    int rc = commit_apply(connection, commit, &err);
    if (rc == 0) {
        batch_close(connection);
        return;
    }
    connection->batch.is_kept_waiting = true;
    if (rc == ERROR_LIMIT)
        answer_refuse(connection, sequence, "batch_too_large", NULL);
    else if (rc != ERROR_FULL && rc != ERROR_CONFLICT)
        answer_refuse(connection, sequence, "store_failed", err.text);
}

/* Whether the batch that `sequence` would replace in the window is not durable yet. */
static bool batch_place_is_taken(struct producer *producer, uint64_t sequence)
{
    if (sequence <= PRODUCER_WINDOW)
        return false;
    const struct producer_batch *known = producer_batch_of(producer, sequence - PRODUCER_WINDOW);
    return known != NULL && !known->is_durable;
}

void ingest_commit_batch(struct ingest_connection *connection)
{
    struct numbered_batch *batch = &connection->batch;
    struct hash128 hash = hash128_stream_digest(batch->hash);

    if (batch->verdict != PRODUCER_NEXT) {
        batch_answer_known(connection, hash);
    } else if (batch_place_is_taken(connection->producer, batch->sequence)) {
        connection->state = INGEST_BLOCKED;
        batch->is_kept_waiting = true;
    } else {
        /* If the batch has no rows, the builder may have been freed. */
        if (!ingest_rows_prepare(connection))
            return;
        const struct reject_list *finished = stream_rows_finish(&connection->rows);
        if (commit_is_judged(connection))
            batch_apply(connection, hash, finished);
        else
            batch->is_kept_waiting = true;
    }
}

/* ---- batch groups ---- */

static int group_apply(struct ingest_connection *connection, const struct batch_group *group)
{
    struct write_batch *batch = connection->ingest->batch;
    struct commit *first = NULL;
    struct commit **link = &first;
    struct error err = {0};

    write_batch_clear(batch);
    if (group->part->block->rows > 0)
        write_batch_add_block(batch, group->part->block);
    for (uint32_t i = 0; i < group->count; i++) {
        const struct batch_group_member *member = &group->batches[i];
        uint32_t row;
        struct reject_list rejects = batch_group_rejects(group, i);
        struct commit_counts counts = {&rejects, batch_group_rows(group, i, &row), 0};

        *link = batch_enter(connection, member->sequence, member->hash, &counts, member->bytes);
        link = &(*link)->next_applied;
    }
    producer_rows_tell(connection->ingest);
    return commit_apply(connection, first, &err);
}

bool ingest_commit_batch_group(struct ingest_connection *connection,
                               const struct batch_group *group)
{
    const struct batch_group_member *batches = group->batches;
    struct producer *producer = connection->producer;

    check(!connection->batch.is_open && connection->unnumbered.lines == 0);
    if (producer == NULL || (connection->file.is_named && group->count > 1) ||
        producer_verdict_of(producer, batches[0].sequence) != PRODUCER_NEXT)
        return false;
    /* Batches become durable in order, so if the last batch's place is free, all places of the
     * group are free. */
    if (batch_place_is_taken(producer, batches[group->count - 1].sequence)) {
        connection->state = INGEST_BLOCKED;
        return false;
    }
    if (group_apply(connection, group) != 0)
        return false;
    connection->unnumbered.was_answered = true;
    connection->file.is_named = false;
    return true;
}

/* ---- rows outside of batches ---- */

bool ingest_commit_unnumbered(struct ingest_connection *connection)
{
    struct unnumbered_rows *rows = &connection->unnumbered;
    struct error err = {0};

    if (rows->lines == 0)
        return true;
    const struct reject_list *finished = stream_rows_finish(&connection->rows);
    if (!commit_is_judged(connection))
        return false;
    const struct unnumbered_rows before = *rows;
    struct commit_counts counts = commit_count_rows(connection, finished);
    struct commit *commit = commit_new(connection, 0);
    commit_note_rows(commit, &counts, rows->bytes);
    answer_text_rejects(&commit->reply.text, counts.rejects, 0, INGEST_REJECT_LINES_MAX,
                        &rows->reject_lines, rows->reject_sums);
    reply_queue_count(&commit->reply);
    unnumbered_rows_applied(rows, counts.accepted, counts.duplicates, counts.rejects->count);
    rows->in_flight++;
    commit_begin(connection);
    commit_add_rejects(connection, counts.rejects, NULL, 0);
    int rc = commit_apply(connection, commit, &err);
    if (rc != 0) {
        /* in_flight is not restored, because earlier rows may have become durable meanwhile. */
        uint32_t in_flight = rows->in_flight - 1;

        *rows = before;
        rows->in_flight = in_flight;
        if (rc != ERROR_FULL && rc != ERROR_CONFLICT)
            answer_refuse(connection, 0, "store_failed", err.text);
        return false;
    }
    stream_rows_clear(&connection->rows);
    return connection->state != INGEST_REFUSED;
}

void ingest_commit_answer(struct ingest_connection *connection)
{
    struct reply *reply = reply_queue_add(&connection->replies, sizeof *reply);

    unnumbered_rows_answer(&connection->unnumbered, &reply->text);
    reply_queue_ready(reply);
}

void ingest_commit_last(struct ingest_connection *connection)
{
    if (!ingest_commit_unnumbered(connection))
        return;
    if (connection->unnumbered.is_answer_due || !connection->unnumbered.was_answered)
        ingest_commit_answer(connection);
    connection->state = INGEST_ENDING;
}

void ingest_commit_retry(struct ingest_connection *connection)
{
    if (!connection->batch.is_kept_waiting) {
        (void)ingest_commit_unnumbered(connection);
        return;
    }
    connection->batch.is_kept_waiting = false;
    ingest_commit_batch(connection);
}
