/* loaded_file: see the header. */
#include "ingest/connection/loaded_file.h"

#include <inttypes.h>
#include <string.h>

#include "ingest/connection/answer.h"
#include "ingest/ingest_tables.h"
#include "storage/engine/store_rows.h"

/* ---- writing ---- */

void loaded_file_add(struct ingest_connection *connection, uint64_t sequence)
{
    struct ingest *ingest = connection->ingest;
    struct write_batch *batch = ingest->batch;
    const struct loaded_file *file = &connection->file;
    struct column_value values[] = {
        {LOADED_FILE_KEY, false, bytes_of(file->key, 16)},
        {LOADED_FILE_PRODUCER, false, bytes_of(connection->producer->id, UUID_SIZE)},
        {LOADED_FILE_BATCH, false, write_batch_bigint(batch, (int64_t)sequence)},
        {LOADED_FILE_BYTES, false, write_batch_bigint(batch, (int64_t)file->bytes)},
        {LOADED_FILE_HASH, false, bytes_of(file->hash, 16)},
        {LOADED_FILE_LINES, false, write_batch_bigint(batch, (int64_t)file->lines)},
        {LOADED_FILE_ENDS_LINE, false, write_batch_boolean(batch, file->ends_line)},
    };

    write_batch_insert(batch, schema_table(store_schema(ingest->options.store), TABLE_LOADED_FILE),
                       values, sizeof values / sizeof values[0]);
}

bool loaded_file_name(struct ingest_connection *connection, const struct control_words *words)
{
    struct loaded_file *file = &connection->file;

    file->is_named = words->count == 6 && control_line_hash(words->words[1], file->key) &&
                     control_line_number(words->words[2], &file->bytes) &&
                     control_line_hash(words->words[3], file->hash) &&
                     control_line_number(words->words[4], &file->lines) &&
                     (control_line_is_word(words->words[5], "lf") ||
                      control_line_is_word(words->words[5], "cut"));
    file->ends_line = file->is_named && control_line_is_word(words->words[5], "lf");
    return file->is_named;
}

/* ---- reading ---- */

struct lookup {
    struct reply reply; /* must be first: freeing it frees the lookup */
    struct ingest *ingest;
};

static void append_hex(struct buffer *buffer, struct bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        buffer_printf(buffer, "%02x", bytes.data[i]);
}

/* Set id_out to the producer of the file's next batches, and *batch to the batch before them.  Both
 * are as in the row, unless the row's producer was dropped: then its successor begins after batch
 * 0. */
static void file_continue(const struct ingest *ingest, struct bytes producer, int64_t *batch,
                          uint8_t id_out[UUID_SIZE])
{
    memcpy(id_out, producer.data, UUID_SIZE);
    if (producer_find(ingest->producers, id_out) == NULL) {
        producer_successor(producer.data, (uint64_t)*batch, id_out);
        *batch = 0;
    }
}

/* A damaged row is skipped. */
static int append_row(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    static const uint32_t numbers[] = {LOADED_FILE_BATCH, LOADED_FILE_BYTES, LOADED_FILE_LINES};
    struct lookup *lookup = context;
    struct buffer *buffer = &lookup->reply.text;
    int64_t values[3] = {0};
    struct bytes producer;
    struct bytes hash;
    struct bytes ends_line;
    uint8_t id[UUID_SIZE];
    char text[UUID_TEXT_SIZE + 1];

    (void)err;
    if (!store_row_value(table, row, LOADED_FILE_PRODUCER, &producer) ||
        producer.size != UUID_SIZE || !store_row_value(table, row, LOADED_FILE_HASH, &hash) ||
        !store_row_value(table, row, LOADED_FILE_ENDS_LINE, &ends_line))
        return 0;
    for (int i = 0; i < 3; i++) {
        struct bytes value;

        if (!store_row_value(table, row, numbers[i], &value))
            return 0;
        values[i] = type_value_bigint(value);
    }
    file_continue(lookup->ingest, producer, &values[0], id);
    uuid_format(id, text);
    buffer_printf(buffer, "file %s %" PRId64 " %" PRId64 " ", text, values[0], values[1]);
    append_hex(buffer, hash);
    buffer_printf(buffer, " %" PRId64 " %s\n", values[2],
                  type_value_boolean(ends_line) ? "lf" : "cut");
    return 0;
}

static void lookup_done(void *context, int status, const struct error *err)
{
    struct lookup *lookup = context;
    struct ingest *ingest = lookup->ingest;
    struct ingest_connection *connection = answer_connection(&lookup->reply);

    if (status == 0) {
        buffer_append_text(&lookup->reply.text, "files\n");
        reply_queue_ready(&lookup->reply);
    } else {
        answer_fail(&lookup->reply, 0, "store_failed", err->text);
    }
    if (connection != NULL) {
        connection->file.is_asking = false;
        ingest_connection_wake(connection);
    }
    ingest_called_back(ingest);
}

/* ---- keys ---- */

/* The other connection that holds the key; NULL: none.  A key has one holder, because two loads of
 * one file at the same time would count its clicks twice. */
static const struct ingest_connection *key_holder(const struct ingest_connection *connection,
                                                  const uint8_t key[16])
{
    const struct ingest_connection *other;

    LIST_FOREACH (other, &connection->ingest->connections, link)
        if (other != connection && other->file.holds_key &&
            memcmp(other->file.held_key, key, sizeof other->file.held_key) == 0)
            return other;
    return NULL;
}

void loaded_file_leave(struct ingest_connection *connection)
{
    struct loaded_file *file = &connection->file;
    struct ingest_connection *other;

    if (!file->holds_key)
        return;
    file->holds_key = false;
    LIST_FOREACH (other, &connection->ingest->connections, link)
        if (other->file.is_waiting &&
            memcmp(other->file.wanted_key, file->held_key, sizeof file->held_key) == 0)
            ingest_connection_wake(other);
}

static void files_ask(struct ingest_connection *connection)
{
    struct loaded_file *file = &connection->file;
    const struct bytes partition = bytes_of(file->wanted_key, sizeof file->wanted_key);
    struct read_request request = store_rows_request(TABLE_LOADED_FILE, &partition, READ_DURABLE);
    struct ingest *ingest = connection->ingest;

    loaded_file_leave(connection);
    file->holds_key = true;
    memcpy(file->held_key, file->wanted_key, sizeof file->held_key);
    struct lookup *lookup = reply_queue_add(&connection->replies, sizeof *lookup);
    lookup->ingest = ingest;
    file->is_asking = true;
    ingest->calls++;
    store_rows_read(ingest->options.store, &request, append_row, lookup_done, lookup);
}

void loaded_file_retry(struct ingest_connection *connection)
{
    struct loaded_file *file = &connection->file;
    const struct ingest_connection *holder = key_holder(connection, file->wanted_key);

    file->is_waiting = false;
    if (holder != NULL && !holder->has_ended && !holder->is_closing) {
        answer_refuse(connection, 0, "file_busy", NULL);
    } else if (holder != NULL || file->in_flight > 0 || file->is_asking) {
        /* The connection waits until the holder's last batches, or its own, are durable, or for its
         * own lookup: one at a time bounds the memory of answers.  While it waits for the holder,
         * it releases its own key, so that no two connections wait for each other. */
        if (file->in_flight == 0 && holder != NULL)
            loaded_file_leave(connection);
        file->is_waiting = true;
        connection->state = INGEST_BLOCKED;
    } else {
        files_ask(connection);
    }
}

bool loaded_file_list(struct ingest_connection *connection, const struct control_words *words)
{
    if (words->count != 2 || !control_line_hash(words->words[1], connection->file.wanted_key))
        return false;
    loaded_file_retry(connection);
    return true;
}
