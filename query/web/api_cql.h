/* api_cql: serves POST /api/cql: runs one CQL statement, and answers with a page of its rows as
 * JSON.
 *
 *     query=SELECT+ad_id,clicks+FROM+daybook.clicks_per_ad&limit=2
 *
 *     {"columns": [{"name": "ad_id", "type": "text"}, ...],
 *      "rows": [
 *     ["ad1", 3],
 *     ["ad2", 1]
 *     ], "next": "00a7…", "notes": []}
 *
 * `next` is CQL's paging state, which the request for the next page has as its parameter `page`.  A
 * page may have fewer rows than `limit`.  Decimals and varints are strings; other values are as in
 * SELECT JSON.
 *
 * A request without the token (web_token.h) may only read. */
#ifndef DAYBOOK_QUERY_WEB_API_CQL_H
#define DAYBOOK_QUERY_WEB_API_CQL_H

#include "query/web/api.h"

/* Add the address to the door.  `options` must outlive the door. */
void api_cql_add(struct http_door *door, struct api_options *options);
#endif
