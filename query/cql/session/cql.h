/* cql: the server of CQL: a door hands it requests with statements, and gets results.
 *
 * A `struct cql` is one per server: prepared statements, virtual system tables, and the store
 * behind them.  A `struct cql_session` is one per connection and cheap.  A request is asynchronous
 * and answered exactly once, possibly before the call that made it returns, on the engine thread.
 *
 *     struct cql_request request = {.kind = CQL_QUERY, .text = bytes_text("SELECT ...")};
 *     cql_run(session, &request, answered, connection);
 *
 * The server keeps nothing between the pages of a SELECT: the paging state is bytes that say where
 * in the store the next page begins, what is left of the limits, and to which statement they
 * belong, with a checksum.  It survives a restart; one that is damaged or of another statement is
 * an error.
 *
 * Order of a schema change: durable, then visible, then the listener, then the answer. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_H

#include "query/cql/common/cql_edit.h"
#include "query/cql/common/cql_options.h"
#include "query/cql/common/cql_session.h"

struct cql;

struct cql *cql_new(const struct cql_options *options);
/* No request may be under way. */
void cql_free(struct cql *cql);
/* How long a request of a client may take, from cql_run on: then it is answered 0x1200, or 0x1100
 * if it is a write that the store does not have yet, and never will.  0, as at first: no limit. */
void cql_set_statement_time(struct cql *cql, int64_t time_us);
/* From now on requests of clients that are not with the store yet are refused. */
void cql_stop(struct cql *cql);

/* `changed` is called with every change that became visible, before the request that made it is
 * answered.  At most one listener; NULL removes it. */
void cql_on_schema_change(struct cql *cql,
                          void (*changed)(void *context, const struct cql_schema_change *change),
                          void *context);

/* True when requests under way take half of the memory that they may.  Then pages are short, and a
 * door starts no further request of a connection that has one, until `has_room` is called when they
 * take a quarter.  A request that finds no room is answered 0x1001, and one that alone would take
 * more than any request may, 0x2200.  At most one listener; NULL removes it. */
bool cql_is_crowded(const struct cql *cql);
/* Only the memory reserved for small requests is left: doors start no request. */
bool cql_is_full(const struct cql *cql);
void cql_on_room(struct cql *cql, void (*has_room)(void *context), void *context);

/* Carry a request out, and call `answer` once. */
void cql_run(struct cql_session *session, const struct cql_request *request, cql_answer answer,
             void *context);
#endif
