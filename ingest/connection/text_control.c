/* text_control: see text_control.h.
 *
 *     #producer UUID EPOCH [new]      #batch SEQUENCE LINES      #stream [NAME]    #sync
 *     #columns      #files KEY      #file KEY BYTES HASH LINES lf|cut      #notes
 *
 * Words are apart by one space.  A known word with other arguments ends the connection, for nobody
 * could say what the lines behind it mean. */
#include "ingest/connection/text_control.h"

#include <inttypes.h>
#include <string.h>

#include "ingest/connection/producer_rows.h"
#include "ingest/connection/text_commit.h"
#include "ingest/connection/text_door.h"
#include "ingest/connection/text_notes.h"
#include "ingest/connection/text_reply.h"
#include "base/memory.h"
#include "ingest/parse/batch_hash.h"
#include "ingest/parse/control_line.h"

enum { FILES_PAGE_ROWS = 1000 };

/* ---- producers ---- */

void text_control_leave(struct text_connection *connection)
{
    struct producer *producer = connection->producer;

    connection->producer = NULL;
    if (producer == NULL || producer->owner != connection)
        return;
    producer_own(producer, NULL, store_now_us(connection->ingest->options.store));
    /* Never acknowledged: whoever it was will say `new` again. */
    if (producer->last == 0)
        producer_forget(connection->ingest->producers, producer);
    ingest_tell_producers(connection->ingest);
}

/* `producer` speaks on this connection from now on. */
static void control_take_over(struct text_connection *connection, struct producer *producer,
                              uint64_t epoch)
{
    struct text_connection *older = producer->owner;

    producer->epoch = epoch;
    producer_own(producer, connection, store_now_us(connection->ingest->options.store));
    connection->producer = producer;
    if (older != NULL && older != connection) {
        older->producer = NULL;
        text_reply_refuse(older, 0, "taken_over", NULL);
        text_door_update(older);
    }
}

/* False: there is no place, as the connection was told, or none yet, and it waits for one. */
static bool control_make_room(struct text_connection *connection, const uint8_t id[UUID_SIZE],
                              uint64_t epoch)
{
    struct error err = {0};
    int rc = producer_rows_make_room(connection->ingest, text_door_is_load(connection), &err);

    if (rc == ERROR_LIMIT) {
        text_reply_refuse(connection, 0, "too_many_producers", NULL);
    } else if (rc == ERROR_FULL) {
        connection->wanted = (struct text_wanted){.is_waiting = true, .epoch = epoch};
        memcpy(connection->wanted.id, id, UUID_SIZE);
        connection->state = TEXT_BLOCKED;
        connection->ingest->metrics.waits->value++;
    } else if (rc != 0) {
        text_reply_refuse(connection, 0, "store_failed", err.text);
    }
    return rc == 0;
}

static void producer_speaks(struct text_connection *connection, const uint8_t id[UUID_SIZE],
                            uint64_t epoch, bool is_new)
{
    struct ingest *ingest = connection->ingest;
    struct producer *producer = producer_find(ingest->producers, id);
    char text[64];

    if (producer == NULL && (!is_new || producer_was_evicted(ingest->producers, id))) {
        text_reply_refuse(connection, 0, "unknown_producer", NULL);
        return;
    }
    if (producer != NULL && epoch < producer->epoch) {
        (void)snprintf(text, sizeof text, "current %" PRIu64, producer->epoch);
        text_reply_refuse(connection, 0, "wrong_epoch", text);
        return;
    }
    if (connection->producer != producer)
        text_control_leave(connection);
    if (producer == NULL) {
        if (!control_make_room(connection, id, epoch))
            return;
        producer = producer_add(ingest->producers, id, epoch);
        ingest_tell_producers(ingest);
    }
    control_take_over(connection, producer, epoch);
}

void text_control_retry(struct text_connection *connection)
{
    struct text_wanted wanted = connection->wanted;

    connection->wanted.is_waiting = false;
    producer_speaks(connection, wanted.id, wanted.epoch, true);
}

static bool control_producer(struct text_connection *connection, const struct control_words *words)
{
    uint8_t id[UUID_SIZE];
    uint64_t epoch;
    bool is_new = words->count == 4 && control_line_is_word(words->words[3], "new");

    if (words->count != (is_new ? 4 : 3) || !uuid_from_text(words->words[1], id) ||
        !control_line_number(words->words[2], &epoch))
        return false;
    producer_speaks(connection, id, epoch, is_new);
    return true;
}

/* ---- batches ---- */

static void batch_open(struct text_connection *connection, uint64_t sequence, uint64_t lines)
{
    const struct line_order *order = &connection->parser.order;

    text_commit_open(connection, sequence, lines,
                     batch_hash_new(connection->stream,
                                    bytes_of(order->line_field,
                                             line_parser_column_count(&connection->columns))));
    connection->batch.lines_left = lines;
    if (lines == 0)
        text_commit_batch(connection);
}

bool text_control_admits(struct text_connection *connection, uint64_t sequence)
{
    struct producer *producer = connection->producer;
    char text[64];

    if (producer == NULL) {
        text_reply_refuse(connection, sequence, "no_producer", NULL);
        return false;
    }
    if (producer_verdict_of(producer, sequence) == PRODUCER_GAP) {
        (void)snprintf(text, sizeof text, "expected %" PRIu64, producer->last + 1);
        text_reply_refuse(connection, sequence, "sequence_gap", text);
        return false;
    }
    return true;
}

static bool control_batch(struct text_connection *connection, const struct control_words *words)
{
    uint64_t sequence;
    uint64_t lines;

    if (!control_line_batch(words, &sequence, &lines))
        return false;
    if (!text_control_admits(connection, sequence))
        return true;
    if (lines > BLOCK_ROWS_MAX)
        text_reply_refuse(connection, sequence, "batch_too_large", NULL);
    else if (text_door_prepare(connection))
        batch_open(connection, sequence, lines);
    return true;
}

/* ---- streams ---- */

static bool control_stream(struct text_connection *connection, const struct control_words *words)
{
    const struct ingest_options *options = &connection->ingest->options;
    struct buffer quoted = {0};

    if (words->count == 1) {
        text_door_choose(connection, &options->streams[0]);
        return true;
    }
    if (words->count != 2)
        return false;
    for (uint32_t i = 0; i < options->stream_count; i++) {
        if (control_line_is_word(words->words[1], options->streams[i].name)) {
            text_door_choose(connection, &options->streams[i]);
            return true;
        }
    }
    reject_append_json(&quoted, words->words[1]);
    buffer_put_u8(&quoted, 0);
    text_reply_refuse(connection, 0, "unknown_stream", (const char *)quoted.data);
    buffer_release(&quoted);
    return true;
}

static bool control_columns(struct text_connection *connection, const struct control_words *words)
{
    struct text_reply *reply;

    if (words->count != 1)
        return false;
    reply = text_reply_new(connection);
    buffer_append_text(&reply->text, "columns ");
    for (int i = 0; i < line_parser_column_count(&connection->columns); i++) {
        if (i > 0)
            buffer_put_u8(&reply->text, ',');
        buffer_append_bytes(&reply->text, connection->columns.names[i]);
    }
    buffer_put_u8(&reply->text, '\n');
    text_reply_ready(reply);
    return true;
}

static bool control_notes(struct text_connection *connection, const struct control_words *words)
{
    if (words->count != 1)
        return false;
    text_notes_begin(connection);
    return true;
}

static bool control_sync(struct text_connection *connection, const struct control_words *words)
{
    if (words->count != 1)
        return false;
    text_commit_answer(connection);
    return true;
}

/* ---- loaded files ---- */

static void append_hex(struct buffer *buffer, struct bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        buffer_printf(buffer, "%02x", bytes.data[i]);
}

/* Who the file's next batches are to come from, and behind which one: its producer, or from the
 * first batch on the successor of one that was forgotten. */
static void file_goes_on(const struct ingest *ingest, struct bytes producer, int64_t *batch,
                         uint8_t id_out[UUID_SIZE])
{
    memcpy(id_out, producer.data, UUID_SIZE);
    if (producer_find(ingest->producers, id_out) == NULL) {
        producer_successor(producer.data, (uint64_t)*batch, id_out);
        *batch = 0;
    }
}

/* file PRODUCER BATCH BYTES HASH LINES lf|cut */
static void append_file(const struct ingest *ingest, struct buffer *buffer,
                        const struct table *table, const struct page_row *row)
{
    static const uint32_t numbers[] = {LOADED_FILE_BATCH, LOADED_FILE_BYTES, LOADED_FILE_LINES};
    int64_t values[3] = {0};
    struct bytes producer;
    struct bytes hash;
    struct bytes ends_line;
    uint8_t id[UUID_SIZE];
    char text[UUID_TEXT_SIZE + 1];

    if (!page_row_value(table, row, LOADED_FILE_PRODUCER, &producer) ||
        producer.size != UUID_SIZE || !page_row_value(table, row, LOADED_FILE_HASH, &hash) ||
        !page_row_value(table, row, LOADED_FILE_ENDS_LINE, &ends_line))
        return;
    for (int i = 0; i < 3; i++) {
        struct bytes value;

        if (!page_row_value(table, row, numbers[i], &value))
            return;
        values[i] = value_bigint(value);
    }
    file_goes_on(ingest, producer, &values[0], id);
    uuid_format(id, text);
    buffer_printf(buffer, "file %s %" PRId64 " %" PRId64 " ", text, values[0], values[1]);
    append_hex(buffer, hash);
    buffer_printf(buffer, " %" PRId64 " %s\n", values[2], value_boolean(ends_line) ? "lf" : "cut");
}

static int files_read(struct text_reply *reply, struct bytes position, struct error *err);

static void files_page(void *context, int status, const struct error *err,
                       const struct read_page *page)
{
    struct text_reply *reply = context;
    struct ingest *ingest = reply->ingest;
    struct text_connection *connection = reply->connection;
    struct error next = {0};

    for (uint32_t i = 0; status == 0 && i < page->row_count; i++)
        append_file(ingest, &reply->text, page->table, &page->rows[i]);
    if (status == 0 && page->position.size > 0) {
        status = files_read(reply, page->position, &next);
        err = &next;
        if (status == 0) {
            ingest_called_back(ingest);
            return;
        }
    }
    if (status == 0) {
        buffer_append_text(&reply->text, "files\n");
        text_reply_ready(reply);
    } else {
        text_reply_fail(reply, "store_failed", err == NULL ? error_text(status) : err->text);
    }
    if (connection != NULL)
        text_door_run(connection);
    ingest_called_back(ingest);
}

static int files_read(struct text_reply *reply, struct bytes position, struct error *err)
{
    struct read_request request = {
        .table_id = TABLE_LOADED_FILE,
        .key = bytes_of(reply->key, sizeof reply->key),
        .slice = slice_all(),
        .position = position,
        .row_limit = FILES_PAGE_ROWS,
        .view = READ_DURABLE,
    };
    int rc;

    reply->ingest->calls++;
    rc = store_read(reply->ingest->options.store, &request, files_page, reply, err);
    if (rc != 0)
        reply->ingest->calls--;
    return rc;
}

/* Two loads of one file at the same time would both find it unknown, and count it twice. */
static bool key_is_held(const struct text_connection *connection, const uint8_t key[16])
{
    const struct text_connection *other;

    LIST_FOREACH (other, &connection->ingest->connections, link) {
        if (other != connection && other->holds_key && !other->has_ended &&
            memcmp(other->held_key, key, sizeof other->held_key) == 0)
            return true;
    }
    return false;
}

static bool control_files(struct text_connection *connection, const struct control_words *words)
{
    uint8_t key[16];
    struct text_reply *reply;
    struct error err = {0};

    if (words->count != 2 || !control_line_hash(words->words[1], key))
        return false;
    if (key_is_held(connection, key)) {
        text_reply_refuse(connection, 0, "file_busy", NULL);
        return true;
    }
    connection->holds_key = true;
    memcpy(connection->held_key, key, sizeof key);
    reply = text_reply_new(connection);
    memcpy(reply->key, key, sizeof key);
    if (files_read(reply, bytes_of(NULL, 0), &err) != 0)
        text_reply_fail(reply, "store_failed", err.text);
    return true;
}

static bool control_file(struct text_connection *connection, const struct control_words *words)
{
    struct text_file *file = &connection->file;

    file->is_named = words->count == 6 && control_line_hash(words->words[1], file->key) &&
                     control_line_number(words->words[2], &file->bytes) &&
                     control_line_hash(words->words[3], file->hash) &&
                     control_line_number(words->words[4], &file->lines) &&
                     (control_line_is_word(words->words[5], "lf") ||
                      control_line_is_word(words->words[5], "cut"));
    file->ends_line = file->is_named && control_line_is_word(words->words[5], "lf");
    return file->is_named;
}

/* ---- the words ---- */

/* By enum control_kind; false when the arguments are wrong. */
typedef bool control_obey(struct text_connection *connection, const struct control_words *words);

static control_obey *const control_list[] = {
    [CONTROL_PRODUCER] = control_producer, [CONTROL_BATCH] = control_batch,
    [CONTROL_STREAM] = control_stream,     [CONTROL_SYNC] = control_sync,
    [CONTROL_FILE] = control_file,         [CONTROL_FILES] = control_files,
    [CONTROL_COLUMNS] = control_columns,   [CONTROL_NOTES] = control_notes,
};

enum text_control_result text_control_line(struct text_connection *connection, struct bytes line)
{
    enum control_kind kind = control_line_kind(line);
    struct control_words words;
    struct buffer quoted = {0};

    if (kind == CONTROL_UNKNOWN)
        return TEXT_CONTROL_UNKNOWN;
    /* What came before it belongs to what was said before it. */
    if (!text_commit_group(connection))
        return TEXT_CONTROL_LATER;
    control_line_split(line, &words);
    if (!control_list[kind](connection, &words)) {
        reject_append_json(&quoted, line);
        buffer_put_u8(&quoted, 0);
        text_reply_refuse(connection, 0, "bad_control", (const char *)quoted.data);
        buffer_release(&quoted);
    }
    return TEXT_CONTROL_DONE;
}
