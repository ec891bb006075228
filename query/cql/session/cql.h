/* cql: the server of CQL: it takes requests with statements, and answers them.
 *
 * A server has one `struct cql`.  Each connection has a `struct cql_session`.  A request is
 * answered exactly once, on the engine thread, possibly before cql_run returns.
 *
 *     struct cql_request request = {.kind = CQL_QUERY, .text = bytes_text("SELECT ...")};
 *     cql_run(session, &request, answered, connection);
 *
 * The server keeps nothing between the pages of a SELECT.  The client keeps the paging state, which
 * has a checksum.  A paging state stays valid over a restart.  A paging state that is damaged or
 * belongs to another statement is refused.
 *
 * A schema change becomes visible only when it is durable. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_H

#include "query/cql/common/cql_edit.h"
#include "query/cql/common/cql_options.h"
#include "query/cql/common/cql_session.h"

struct cql;

struct cql *cql_new(const struct cql_options *options);
/* No request may be under way. */
void cql_free(struct cql *cql);
/* Limit the time of a client's request, from cql_run on; 0, the initial value: no limit.  A write
 * that has not reached the store by then is answered 0x1100 (write timeout) and never carried out.
 * A write that has reached the store, and a schema change that has begun, have no limit.  Any other
 * request that takes longer is answered 0x1200 (read timeout). */
void cql_set_statement_time(struct cql *cql, int64_t time_us);
/* From now on refuse the requests of clients.  Schema changes under way continue, and a request
 * that waits for the store continues until the store has answered it. */
void cql_stop(struct cql *cql);

/* `changed` is called with every change that became visible, before the request that made it is
 * answered.  At most one listener; NULL removes it. */
void cql_on_schema_change(struct cql *cql,
                          void (*changed)(void *context, const struct cql_schema_change *change),
                          void *context);

/* True from when requests take more than half of `work_bytes_max` until they take a quarter or
 * less.  A request for which other requests leave too little memory is answered 0x1001
 * (overloaded).  One that needs too much memory even alone is answered 0x2200 (invalid). */
bool cql_is_crowded(const struct cql *cql);
/* True: only the memory that is reserved for small requests is free. */
bool cql_is_full(const struct cql *cql);
/* `has_room` is called when the server is no longer crowded, and when it is no longer full.  At
 * most one listener; NULL removes it. */
void cql_on_room(struct cql *cql, void (*has_room)(void *context), void *context);

void cql_run(struct cql_session *session, const struct cql_request *request, cql_answer answer,
             void *context);
#endif
