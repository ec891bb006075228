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
 * The statement only reads unless the page's token is there (web_cql.h). */
#ifndef DAYBOOK_QUERY_WEB_API_CQL_H
#define DAYBOOK_QUERY_WEB_API_CQL_H

#include "query/web/api.h"

/* Add the address to the door, which `options` outlive. */
void api_cql_add(struct http_door *door, struct api_options *options);
#endif
