/* answer: see the header. */
#include "ingest/connection/answer.h"

#include <stdarg.h>

#include "ingest/connection/answer_text.h"
#include "ingest/connection/ingest_decoder.h"

void answer_say(struct ingest_connection *connection, const char *format, ...)
{
    struct reply *reply = reply_queue_add(&connection->replies, sizeof *reply);
    va_list arguments;

    va_start(arguments, format);
    buffer_vprintf(&reply->text, format, arguments);
    va_end(arguments);
    reply_queue_ready(reply);
}

/* Set the connection to REFUSED.  Its rows are kept, because the store or click_dedup may be
 * reading them. */
static void answer_end(struct ingest_connection *connection, const char *word, const char *text)
{
    if (connection->state == INGEST_REFUSED)
        return;
    connection->state = INGEST_REFUSED;
    door_log_refused(&connection->slot, word, text);
    connection->ingest->metrics.refused->value++;
}

void answer_refuse(struct ingest_connection *connection, uint64_t sequence, const char *word,
                   const char *text)
{
    if (connection->state == INGEST_REFUSED)
        return;
    answer_end(connection, word, text);
    struct reply *reply = reply_queue_add(&connection->replies, sizeof *reply);
    answer_text_error(&reply->text, sequence, word, text);
    reply->is_last = true;
    reply_queue_ready(reply);
}

void answer_refuse_quoting(struct ingest_connection *connection, const char *word,
                           struct bytes line)
{
    struct buffer quoted = {0};

    reject_append_json(&quoted, line);
    buffer_put_u8(&quoted, 0);
    answer_refuse(connection, 0, word, (const char *)quoted.data);
    buffer_release(&quoted);
}

void answer_fail(struct reply *reply, uint64_t sequence, const char *word, const char *text)
{
    struct ingest_connection *connection = answer_connection(reply);

    buffer_clear(&reply->text);
    answer_text_error(&reply->text, sequence, word, text);
    reply->is_last = true;
    if (connection != NULL)
        answer_end(connection, word, text);
    reply_queue_ready(reply);
}

static void answer_send(struct ingest_connection *connection, struct bytes text)
{
    struct buffer wrapped = {0};

    if (connection->decoder->wrap == NULL) {
        network_write(connection->network, text);
        return;
    }
    connection->decoder->wrap(text, &wrapped);
    network_write(connection->network, buffer_view(&wrapped));
    buffer_release(&wrapped);
}

void answer_flush(struct ingest_connection *connection)
{
    struct buffer text = {0};
    bool is_last = reply_queue_take(&connection->replies, &text);

    if (!connection->is_closing && !connection->has_finished) {
        answer_send(connection, buffer_view(&text));
        connection->has_finished = is_last;
        if (is_last)
            network_finish(connection->network);
    }
    buffer_release(&text);
}
