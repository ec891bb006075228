/* ingest_control: see the header.
 *
 * A known control line with wrong arguments ends the connection, because the meaning of later lines
 * would be unknown. */
#include "ingest/connection/ingest_control.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ingest/connection/answer.h"
#include "ingest/connection/ingest_commit.h"
#include "ingest/connection/ingest_rows.h"
#include "ingest/connection/loaded_file.h"
#include "ingest/connection/notes.h"
#include "ingest/connection/producer_rows.h"
#include "ingest/parse/batch_hash.h"
#include "ingest/parse/control_line.h"

/* ---- producers ---- */

void ingest_control_leave(struct ingest_connection *connection)
{
    struct producer *producer = connection->producer;

    connection->producer = NULL;
    if (producer == NULL || producer->owner != connection)
        return;
    producer_own(producer, NULL, store_now_us(connection->ingest->options.store));
    /* No batch of the producer was applied, so its client will begin with `new` again. */
    if (producer->last == 0)
        producer_forget(connection->ingest->producers, producer);
    producer_rows_tell(connection->ingest);
}

static void control_take_over(struct ingest_connection *connection, struct producer *producer,
                              uint64_t epoch)
{
    struct ingest_connection *older = producer->owner;

    producer->epoch = epoch;
    producer_own(producer, connection, store_now_us(connection->ingest->options.store));
    connection->producer = producer;
    if (older != NULL && older != connection) {
        older->producer = NULL;
        answer_refuse(older, 0, "taken_over", NULL);
        ingest_connection_wake(older);
    }
}

/* Make room for one more producer.  False: the connection was REFUSED, or is BLOCKED until the
 * store accepts writes. */
static bool control_make_room(struct ingest_connection *connection, const uint8_t id[UUID_SIZE],
                              uint64_t epoch)
{
    struct error err = {0};
    int rc = producer_rows_make_room(connection->ingest, connection->is_load, &err);

    if (rc == ERROR_LIMIT) {
        answer_refuse(connection, 0, "too_many_producers", NULL);
    } else if (rc == ERROR_FULL) {
        connection->wanted = (struct producer_wanted){.is_waiting = true, .epoch = epoch};
        memcpy(connection->wanted.id, id, UUID_SIZE);
        connection->state = INGEST_BLOCKED;
        connection->ingest->metrics.waits->value++;
    } else if (rc != 0) {
        answer_refuse(connection, 0, "store_failed", err.text);
    }
    return rc == 0;
}

static void producer_choose(struct ingest_connection *connection, const uint8_t id[UUID_SIZE],
                            uint64_t epoch, bool is_new)
{
    struct ingest *ingest = connection->ingest;
    struct producer *producer = producer_find(ingest->producers, id);
    char text[64];

    if (producer == NULL && (!is_new || producer_was_evicted(ingest->producers, id))) {
        answer_refuse(connection, 0, "unknown_producer", NULL);
        return;
    }
    if (producer != NULL && epoch < producer->epoch) {
        (void)snprintf(text, sizeof text, "current %" PRIu64, producer->epoch);
        answer_refuse(connection, 0, "wrong_epoch", text);
        return;
    }
    if (connection->producer != producer)
        ingest_control_leave(connection);
    if (producer == NULL) {
        if (!control_make_room(connection, id, epoch))
            return;
        producer = producer_add(ingest->producers, id, epoch);
        producer_rows_tell(ingest);
    }
    control_take_over(connection, producer, epoch);
}

void ingest_control_retry(struct ingest_connection *connection)
{
    struct producer_wanted wanted = connection->wanted;

    if (!wanted.is_waiting) {
        loaded_file_retry(connection);
        return;
    }
    connection->wanted.is_waiting = false;
    producer_choose(connection, wanted.id, wanted.epoch, true);
}

static bool control_producer(struct ingest_connection *connection,
                             const struct control_words *words)
{
    uint8_t id[UUID_SIZE];
    uint64_t epoch;
    bool is_new = words->count == 4 && control_line_is_word(words->words[3], "new");

    if (words->count != (is_new ? 4 : 3) || !uuid_from_text(words->words[1], id) ||
        !control_line_number(words->words[2], &epoch))
        return false;
    producer_choose(connection, id, epoch, is_new);
    return true;
}

/* ---- batches ---- */

static void batch_open(struct ingest_connection *connection, uint64_t sequence, uint64_t lines)
{
    const struct line_order *order = &connection->rows.parser.order;

    ingest_commit_open(connection, sequence, lines,
                       batch_hash_new(connection->rows.stream,
                                      bytes_of(order->line_field, line_parser_column_count(
                                                                      &connection->rows.columns))));
    if (lines == 0)
        ingest_commit_batch(connection);
}

bool ingest_control_admits(struct ingest_connection *connection, uint64_t sequence)
{
    struct producer *producer = connection->producer;
    char text[64];

    if (producer == NULL) {
        answer_refuse(connection, sequence, "no_producer", NULL);
        return false;
    }
    if (producer_verdict_of(producer, sequence) == PRODUCER_GAP) {
        (void)snprintf(text, sizeof text, "expected %" PRIu64, producer->last + 1);
        answer_refuse(connection, sequence, "sequence_gap", text);
        return false;
    }
    return true;
}

static bool control_batch(struct ingest_connection *connection, const struct control_words *words)
{
    uint64_t sequence;
    uint64_t lines;

    if (!control_line_batch(words, &sequence, &lines))
        return false;
    if (!ingest_control_admits(connection, sequence))
        return true;
    if (lines > BLOCK_ROWS_MAX)
        answer_refuse(connection, sequence, "batch_too_large", NULL);
    else if (ingest_rows_prepare(connection))
        batch_open(connection, sequence, lines);
    return true;
}

/* ---- streams ---- */

static bool control_stream(struct ingest_connection *connection, const struct control_words *words)
{
    const struct ingest_options *options = &connection->ingest->options;

    if (words->count == 1) {
        ingest_rows_choose(connection, &options->streams[0]);
        return true;
    }
    if (words->count != 2)
        return false;
    for (uint32_t i = 0; i < options->stream_count; i++) {
        if (control_line_is_word(words->words[1], options->streams[i].name)) {
            ingest_rows_choose(connection, &options->streams[i]);
            return true;
        }
    }
    answer_refuse_quoting(connection, "unknown_stream", words->words[1]);
    return true;
}

static bool control_columns(struct ingest_connection *connection, const struct control_words *words)
{
    if (words->count != 1)
        return false;
    struct reply *reply = reply_queue_add(&connection->replies, sizeof *reply);
    buffer_append_text(&reply->text, "columns ");
    for (int i = 0; i < line_parser_column_count(&connection->rows.columns); i++) {
        if (i > 0)
            buffer_put_u8(&reply->text, ',');
        buffer_append_bytes(&reply->text, connection->rows.columns.names[i]);
    }
    buffer_put_u8(&reply->text, '\n');
    reply_queue_ready(reply);
    return true;
}

static bool control_notes(struct ingest_connection *connection, const struct control_words *words)
{
    if (words->count != 1)
        return false;
    notes_begin(connection);
    return true;
}

static bool control_sync(struct ingest_connection *connection, const struct control_words *words)
{
    if (words->count != 1)
        return false;
    ingest_commit_answer(connection);
    return true;
}

/* ---- the words ---- */

/* False: the arguments are wrong. */
typedef bool control_function(struct ingest_connection *connection,
                              const struct control_words *words);

static control_function *const control_list[] = {
    [CONTROL_PRODUCER] = control_producer, [CONTROL_BATCH] = control_batch,
    [CONTROL_STREAM] = control_stream,     [CONTROL_SYNC] = control_sync,
    [CONTROL_FILE] = loaded_file_name,     [CONTROL_FILES] = loaded_file_list,
    [CONTROL_COLUMNS] = control_columns,   [CONTROL_NOTES] = control_notes,
};

enum ingest_control_result ingest_control_line(struct ingest_connection *connection,
                                               struct bytes line)
{
    enum control_kind kind = control_line_kind(line);
    struct control_words words;

    if (kind == CONTROL_UNKNOWN)
        return INGEST_CONTROL_UNKNOWN;
    if (!ingest_commit_unnumbered(connection))
        return INGEST_CONTROL_LATER;
    control_line_split(line, &words);
    if (!control_list[kind](connection, &words))
        answer_refuse_quoting(connection, "bad_control", line);
    return INGEST_CONTROL_DONE;
}
