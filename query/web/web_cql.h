/* web_cql: runs one CQL statement for an HTTP request, and returns a page of its rows.
 *
 * The statement has the same limits of memory and time as a statement of the CQL door, but needs no
 * password of that door.  If rows are large, a page has fewer rows than were requested. */
#ifndef DAYBOOK_QUERY_WEB_WEB_CQL_H
#define DAYBOOK_QUERY_WEB_WEB_CQL_H

#include <stdbool.h>
#include <stdint.h>

#include "door/http_response.h"
#include "query/cql/common/cql_session.h"

enum {
    WEB_CQL_LARGE = 1 << 20,           /* bytes of cells; a larger page is read again, shorter */
    WEB_CQL_CELLS_MAX = 4 << 20        /* bytes of cells; a larger page is refused */
};

struct cql;
struct web_cql;
struct web_cql_run;

/* The texts outlive the run. */
struct web_cql_statement {
    struct bytes text;
    struct bytes keyspace;             /* of names without a keyspace; empty: there is none */
    struct bytes page;                 /* which page, by web_cql_put_page; empty: the first */
    uint32_t rows_max;                 /* rows of a page */
    bool may_change;                   /* false: SELECT, USE and DESCRIBE only */
};

struct web_cql_answer {
    const struct cql_result *result;   /* NULL: the statement was refused */
    const struct http_refusal *refusal;
    /* The place of the wrong token: the line from 1, and the column from 0.  Line 0: the place is
     * not known. */
    uint32_t line, column;
};

/* `cql` outlives the struct. */
struct web_cql *web_cql_open(struct cql *cql);
/* Free the struct and call `closed` when no statement is under way.  No further statement may be
 * begun. */
void web_cql_close(struct web_cql *cql, void (*closed)(void *context), void *context);

/* Run the statement.  `done` is called once, perhaps before this function returns; its answer is
 * valid during the call.  Returns the run, or NULL after `done` was called. */
struct web_cql_run *web_cql_run(struct web_cql *cql, const struct web_cql_statement *statement,
                                void (*done)(void *context, const struct web_cql_answer *answer),
                                void *context);
/* Call this if the answer is no longer needed: the statement is ended soon, and `done` is
 * called. */
void web_cql_leave(struct web_cql_run *run);

/* Append the page that follows these rows, in hexadecimal.  False: no rows follow. */
bool web_cql_put_page(const struct cql_result *result, struct buffer *text);
#endif
