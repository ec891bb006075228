/* cql: the server of CQL: a door hands it requests with statements, and gets results.
 *
 * A server has one `struct cql`, with the prepared statements, the virtual system tables and the
 * store.  Each connection has a `struct cql_session`, which is cheap.  A request is asynchronous:
 * it is answered exactly once, on the engine thread, possibly before cql_run returns.
 *
 *     struct cql_request request = {.kind = CQL_QUERY, .text = bytes_text("SELECT ...")};
 *     cql_run(session, &request, answered, connection);
 *
 * The server keeps nothing between the pages of a SELECT.  The client keeps the paging state: bytes
 * with the place in the store where the next page begins, what is left of the limits, the
 * statement's hash, and a checksum.  A paging state stays valid over a restart; a damaged
 * paging state, or that of another statement, is refused.
 *
 * A schema change becomes durable and then visible.  Then the listener is called, and then the
 * request is answered. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_H

#include "query/cql/common/cql_edit.h"
#include "query/cql/common/cql_options.h"
#include "query/cql/common/cql_session.h"

struct cql;

struct cql *cql_new(const struct cql_options *options);
/* No request may be under way. */
void cql_free(struct cql *cql);
/* The time that a client's request may take, from cql_run on.  A write that was not given to the
 * store by then is answered 0x1100 and is not carried out later.  A change of the schema that has
 * begun has no limit.  Any other request that takes longer is answered 0x1200.  0, the initial
 * value: no limit. */
void cql_set_statement_time(struct cql *cql, int64_t time_us);
/* From now on refuse the requests of clients.  A request that waits for the store is not
 * interrupted. */
void cql_stop(struct cql *cql);

/* `changed` is called with every change that became visible, before the request that made it is
 * answered.  At most one listener; NULL removes it. */
void cql_on_schema_change(struct cql *cql,
                          void (*changed)(void *context, const struct cql_schema_change *change),
                          void *context);

/* True from the time when the requests under way take more than half of the memory for requests
 * until they take a quarter of it.  Meanwhile pages are short, and a door starts no further request
 * of a connection that has one under way.  A request for which other requests leave too little
 * memory is answered 0x1001.  A request that is too large even if it runs alone is answered
 * 0x2200. */
bool cql_is_crowded(const struct cql *cql);
/* Only the memory reserved for small requests is left: doors start no request. */
bool cql_is_full(const struct cql *cql);
/* `has_room` is called when the server is no longer crowded, and when it is no longer full.  At
 * most one listener; NULL removes it. */
void cql_on_room(struct cql *cql, void (*has_room)(void *context), void *context);

/* Carry a request out, and call `answer` once. */
void cql_run(struct cql_session *session, const struct cql_request *request, cql_answer answer,
             void *context);
#endif
