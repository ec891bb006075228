/* notes: see the header. */
#include "ingest/connection/notes.h"

#include <inttypes.h>

#include "ingest/connection/answer.h"

static void note_send(struct ingest_connection *connection)
{
    const struct store_waiting *waiting = &connection->ingest->waiting;

    if (!connection->wants_notes || connection->state == INGEST_REFUSED ||
        connection->has_finished || connection->is_closing)
        return;
    if (waiting->stops_writes)
        answer_say(connection, "note waiting %s %" PRIu64 "\n",
                   store_shortage_name(waiting->shortage), waiting->needed_bytes);
    else
        answer_say(connection, "note goes_on\n");
}

void notes_begin(struct ingest_connection *connection)
{
    connection->wants_notes = true;
    if (connection->ingest->waiting.stops_writes)
        note_send(connection);
}

void notes_waiting(void *context, const struct store_waiting *waiting)
{
    struct ingest *ingest = context;
    struct ingest_connection *connection;
    bool is_news = waiting->stops_writes || ingest->waiting.stops_writes;

    ingest->waiting = *waiting;
    if (!is_news)
        return;
    /* No connection is removed from the list before a later turn of the event loop. */
    LIST_FOREACH (connection, &ingest->connections, link)
        note_send(connection);
}
