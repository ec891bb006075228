/* ingest_rows: see the header. */
#include "ingest/connection/ingest_rows.h"

#include "ingest/connection/answer.h"

bool ingest_rows_prepare(struct ingest_connection *connection)
{
    if (connection->rows.builder != NULL)
        return true;
    struct error err = {0};
    if (stream_rows_prepare(&connection->rows, &err) == 0)
        return true;
    answer_refuse(connection, 0, "store_failed", err.text);
    return false;
}

void ingest_rows_choose(struct ingest_connection *connection, const struct ingest_stream *stream)
{
    if (!stream_rows_choose(&connection->rows, stream))
        answer_refuse(connection, 0, "store_failed", "the stream's table is not there");
}
