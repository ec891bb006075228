/* cql_edit: a change of the schema for which CQL has no statement; a command makes it. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_EDIT_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_EDIT_H

#include "codec/cql_request.h"
#include "storage/engine/store.h"

/* The change waits until no CQL write is under way, and later requests wait until the change is
 * answered.  `prepare` and `applied` call `ready` when they are done.
 *
 *     prepare ─▶ ready ─▶ edit ─▶ durable ─▶ applied ─▶ ready ─▶ events ─▶ answer */
struct cql_edit {
    void (*prepare)(void *context, store_done ready, void *ready_context);     /* may be NULL */
    /* Change `schema`, a copy, and add rows to the batch that is logged with it.  On failure the
     * command is answered with the text of `err`. */
    int (*edit)(void *context, struct schema *schema, struct write_batch *batch,
                struct error *err);
    void (*applied)(void *context, store_done ready, void *ready_context);     /* may be NULL */
    void *context;
    const struct cql_schema_change *changes;    /* sent to clients as events */
    uint32_t change_count;
};
#endif
