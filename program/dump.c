/* dump: see the header. */
#include "program/dump.h"

void dump_write(void *context, struct buffer *text)
{
    const struct dump *dump = context;
    engine_dump(dump->store, text);
    streams_dump(dump->streams, text);
    ingest_dump(dump->ingest, text);
    if (dump->cql != NULL)
        native_door_dump(dump->cql, text);
    if (dump->http != NULL)
        http_door_dump(dump->http, text);
    if (dump->control != NULL)
        control_server_dump(dump->control, text);
}
