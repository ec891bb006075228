/* text_reply: see text_reply.h. */
#include "ingest/connection/text_reply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "ingest/connection/binary_door.h"
#include "ingest/connection/text_door.h"
#include "base/memory.h"

struct text_reply *text_reply_new(struct text_connection *connection)
{
    struct text_reply *reply = memory_zeroed(1, sizeof *reply);

    reply->ingest = connection->ingest;
    reply->connection = connection;
    *connection->replies_end = reply;
    connection->replies_end = &reply->next;
    connection->reply_count++;
    return reply;
}

void text_reply_count(struct text_reply *reply)
{
    size_t bytes = sizeof *reply + reply->text.capacity;

    if (reply->connection == NULL)
        return;
    reply->connection->reply_bytes += bytes - reply->counted;
    reply->counted = bytes;
}

static void text_reply_free(struct text_reply *reply)
{
    buffer_release(&reply->text);
    memory_free(reply);
}

static void text_reply_pop(struct text_connection *connection)
{
    struct text_reply *reply = connection->replies;

    connection->replies = reply->next;
    if (connection->replies == NULL)
        connection->replies_end = &connection->replies;
    connection->reply_count--;
    connection->reply_bytes -= reply->counted;
    text_reply_free(reply);
}

static void text_reply_send(struct text_connection *connection, struct bytes text)
{
    struct buffer frames = {0};

    if (connection->binary == NULL) {
        network_write(connection->connection, text);
        return;
    }
    binary_door_wrap(text, &frames);
    network_write(connection->connection, buffer_view(&frames));
    buffer_release(&frames);
}

void text_reply_flush(struct text_connection *connection)
{
    struct buffer out = {0};
    bool is_last = false;

    while (connection->replies != NULL && connection->replies->is_ready && !is_last) {
        is_last = connection->replies->is_last;
        buffer_append_bytes(&out, buffer_view(&connection->replies->text));
        text_reply_pop(connection);
    }
    if (!connection->is_closing && !connection->has_finished) {
        text_reply_send(connection, buffer_view(&out));
        connection->has_finished = is_last;
        if (is_last)
            network_finish(connection->connection);
    }
    buffer_release(&out);
    text_door_update(connection);
}

void text_reply_ready(struct text_reply *reply)
{
    reply->is_ready = true;
    text_reply_count(reply);
    if (reply->connection == NULL)
        text_reply_free(reply);
    else if (reply == reply->connection->replies)
        text_door_wake(reply->connection);
}

void text_reply_cancel(struct text_reply *reply)
{
    struct text_connection *connection = reply->connection;
    struct text_reply **link = &connection->replies;

    while (*link != reply)
        link = &(*link)->next;
    check(reply->next == NULL);
    *link = NULL;
    connection->replies_end = link;
    connection->reply_count--;
    connection->reply_bytes -= reply->counted;
    text_reply_free(reply);
}

void text_reply_say(struct text_connection *connection, const char *format, ...)
{
    struct text_reply *reply = text_reply_new(connection);
    char line[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    buffer_append_text(&reply->text, line);
    text_reply_ready(reply);
}

static void append_error(struct buffer *buffer, uint64_t sequence, const char *word,
                         const char *text)
{
    buffer_append_text(buffer, "error ");
    if (sequence == 0)
        buffer_put_u8(buffer, '-');
    else
        buffer_printf(buffer, "%" PRIu64, sequence);
    buffer_printf(buffer, text == NULL ? " %s%s\n" : " %s %s\n", word, text == NULL ? "" : text);
}

void text_reply_refuse(struct text_connection *connection, uint64_t sequence, const char *word,
                       const char *text)
{
    struct text_reply *reply;

    if (connection->state == TEXT_REFUSED)
        return;
    connection->state = TEXT_REFUSED;
    connection->ingest->metrics.refused->value++;
    row_parts_clear(&connection->rows, &connection->ingest->parts);
    reply = text_reply_new(connection);
    append_error(&reply->text, sequence, word, text);
    reply->is_last = true;
    text_reply_ready(reply);
}

void text_reply_fail(struct text_reply *reply, const char *word, const char *text)
{
    buffer_clear(&reply->text);
    append_error(&reply->text, reply->sequence, word, text);
    reply->is_last = true;
    if (reply->connection != NULL)
        reply->connection->state = TEXT_REFUSED;
    text_reply_ready(reply);
}

void text_reply_abandon(struct text_connection *connection)
{
    while (connection->replies != NULL) {
        struct text_reply *reply = connection->replies;

        if (reply->is_ready) {
            text_reply_pop(connection);
            continue;
        }
        connection->replies = reply->next;
        reply->connection = NULL;
        reply->next = NULL;
    }
    connection->replies_end = &connection->replies;
    connection->reply_count = 0;
    connection->reply_bytes = 0;
}
