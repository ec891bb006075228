/* http_stream: answers of the HTTP door that do not end; see http_door_private.h.
 *
 * Every other answer ends, and then its memory is free.  A stream would keep its memory for as long
 * as its client likes.  So all streams together have limits of their own, and over a limit a stream
 * is closed. */
#include "base/memory.h"
#include "door/http_door_private.h"

/* Give back both charges before is_endless changes, because is_endless selects the quotas.  The
 * next count then charges the other quotas. */
static void give_back(struct http_connection *connection)
{
    struct http_door *door = connection->door;
    bool is_endless = connection->is_endless;

    quota_charge(is_endless ? &door->endless_requests : &door->requests, &connection->input_bytes,
                 0);
    quota_charge(is_endless ? &door->endless_answers : &door->answers, &connection->output_bytes,
                 0);
}

void http_stream_begin(struct http_connection *connection)
{
    give_back(connection);
    connection->is_endless = true;
    TAILQ_INSERT_TAIL(&connection->door->endless, connection, of_endless);
}

static void set_stalled(struct http_connection *connection, bool is_stalled)
{
    if (connection->is_stalled == is_stalled)
        return;
    connection->is_stalled = is_stalled;
    if (is_stalled)
        TAILQ_INSERT_TAIL(&connection->door->stalled, connection, of_stalled);
    else
        TAILQ_REMOVE(&connection->door->stalled, connection, of_stalled);
}

void http_stream_end(struct http_connection *connection)
{
    if (!connection->is_endless)
        return;
    give_back(connection);
    set_stalled(connection, false);
    connection->is_endless = false;
    TAILQ_REMOVE(&connection->door->endless, connection, of_endless);
}

void http_stream_count(struct http_connection *connection)
{
    if (connection->is_endless)
        set_stalled(connection, connection->output_bytes > 0);
}

static void shed(struct http_connection *connection)
{
    connection->door->metrics.shed->value++;
    http_connection_close(connection);
}

void http_stream_shed(struct http_door *door)
{
    while (door->endless_answers.taken > door->endless_answers.limit)
        shed(TAILQ_FIRST(&door->stalled));
    while (door->endless_requests.taken > door->endless_requests.limit)
        shed(TAILQ_FIRST(&door->endless));
}
