/* web_cql: runs one CQL statement for a request of HTTP, and gives a page of its rows.
 *
 * The statement has the budget of memory and time that those of the CQL door have, and the
 * passwords of that door are not asked for.  Of large rows a page has fewer than was asked for. */
#ifndef DAYBOOK_QUERY_WEB_WEB_CQL_H
#define DAYBOOK_QUERY_WEB_WEB_CQL_H

#include <stdbool.h>
#include <stdint.h>

#include "door/http_response.h"
#include "query/cql/common/cql_session.h"

enum {
    WEB_CQL_LARGE = 1 << 20,           /* bytes of cells for which a shorter page is read instead */
    WEB_CQL_CELLS_MAX = 4 << 20        /* of a page; more is refused */
};

struct cql;
struct web_cql;
struct web_cql_run;

/* The texts outlive the run. */
struct web_cql_statement {
    struct bytes text;
    struct bytes keyspace;             /* of names without one; empty: there is none */
    struct bytes page;                 /* by web_cql_put_page; empty: the first */
    uint32_t rows_max;                 /* of the page */
    bool may_change;                   /* false: SELECT, USE and DESCRIBE only */
};

struct web_cql_answer {
    const struct cql_result *result;   /* NULL: it was refused */
    const struct http_refusal *refusal;
    /* Of the token that was wrong: its line from 1, and the column from 0; 0: no place is known. */
    uint32_t line, column;
};

/* `cql` outlives the struct. */
struct web_cql *web_cql_open(struct cql *cql);
/* Free the struct and call `closed` when no statement is under way.  No more may be begun. */
void web_cql_close(struct web_cql *cql, void (*closed)(void *context), void *context);

/* Run the statement.  `done` is called once, perhaps before this function returns; its answer is
 * valid during the call.  Returns the run, or NULL after `done` was called. */
struct web_cql_run *web_cql_run(struct web_cql *cql, const struct web_cql_statement *statement,
                                void (*done)(void *context, const struct web_cql_answer *answer),
                                void *context);
/* Nobody waits for the answer: the statement ends soon, and `done` is called. */
void web_cql_leave(struct web_cql_run *run);

/* Append where the rows behind these begin, in hexadecimal.  False: these are the last. */
bool web_cql_put_page(const struct cql_result *result, struct buffer *text);
#endif
