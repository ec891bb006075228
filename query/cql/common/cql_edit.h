/* cql_edit: a change of the schema for which CQL has no statement; a command makes it. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_EDIT_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_EDIT_H

#include "codec/cql_request.h"
#include "storage/engine/store.h"

/* The change is carried out as CREATE and DROP are: it waits until no CQL write is under way, and
 * requests that come before the change is answered wait for the change.
 *
 *     prepare ─▶ ready ─▶ edit ─▶ durable ─▶ applied ─▶ ready ─▶ listener ─▶ answer             */
struct cql_edit {
    void (*prepare)(void *context, store_done ready, void *ready_context);     /* may be NULL */
    /* Change `schema`, a copy, and add rows to the batch that is logged together with the change.
     * If `edit` fails, the command is answered with the text of `err`. */
    int (*edit)(void *context, struct schema *schema, struct write_batch *batch,
                struct error *err);
    void (*applied)(void *context, store_done ready, void *ready_context);     /* may be NULL */
    void *context;
    const struct cql_schema_change *changes;   /* for cql_on_schema_change */
    uint32_t change_count;
};
#endif
