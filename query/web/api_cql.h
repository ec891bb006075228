/* api_cql: POST /api/cql: one CQL statement, and a page of its rows as JSON.
 *
 *     query=SELECT+ad_id,clicks+FROM+daybook.clicks_per_ad&limit=2
 *
 *     {"columns": [{"name": "ad_id", "type": "text"}, ...],
 *      "rows": [
 *     ["ad1", 3],
 *     ["ad2", 1]
 *     ], "next": "00a7…", "notes": []}
 *
 * `next` is the paging state of CQL, given back as the parameter `page`; a page may have fewer rows
 * than `limit`.  Decimals and varints are strings, and other values as SELECT JSON has them.
 *
 * The statement has the budget of memory and time that those of the CQL door have.  It only reads
 * unless the page's token is there. */
#ifndef DAYBOOK_QUERY_WEB_API_CQL_H
#define DAYBOOK_QUERY_WEB_API_CQL_H

#include "query/web/api.h"

enum {
    API_CQL_LARGE = 1 << 20,           /* bytes of cells for which a shorter page is read instead */
    API_CQL_CELLS_MAX = 4 << 20        /* of a page; more is refused */
};

struct api_cql;

struct api_cql *api_cql_new(struct http_door *door, const struct api_options *options);
/* After the door has closed: free it when no statement is under way, and call `closed`. */
void api_cql_close(struct api_cql *api, void (*closed)(void *context), void *context);
#endif
