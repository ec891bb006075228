/* cql_edit: a change of the schema by a command, which CQL has no words for. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_EDIT_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_EDIT_H

#include "codec/cql_request.h"
#include "storage/engine/store.h"

/* It is made as CREATE and DROP are: when no write by CQL is under way, with those that come
 * meanwhile waiting until it is answered.
 *
 *     prepare ─▶ ready ─▶ edit ─▶ durable ─▶ applied ─▶ ready ─▶ listener ─▶ answer             */
struct cql_edit {
    void (*prepare)(void *context, store_done ready, void *ready_context);     /* may be NULL */
    /* The copy of the schema, and rows for its frame.  The error's text is the answer's. */
    int (*edit)(void *context, struct schema *schema, struct write_batch *batch,
                struct error *err);
    void (*applied)(void *context, store_done ready, void *ready_context);     /* may be NULL */
    void *context;
    const struct cql_schema_change *changes;   /* for the listener */
    uint32_t change_count;
};
#endif
