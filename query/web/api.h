/* api: serves the addresses /api/... of the HTTP door: the output of subcommands, as JSON or CSV.
 *
 *     GET /api/report?by=month&reseller=supaboobs      {"rows": [{"reseller_id": "supaboobs", ...
 *     GET /api/report.csv?by=month                     reseller_id,month,clicks,gross,...
 *
 * A table in api_endpoints.c has an entry for each address, with its parameters and the words of
 * its command.  api_call.c runs the command and answers.  The rows are those that the command
 * prints with --format json or csv, with the same digits.  docs/API.md and query/web/openapi.json
 * describe the addresses for users. */
#ifndef DAYBOOK_QUERY_WEB_API_H
#define DAYBOOK_QUERY_WEB_API_H

#include "door/http_door.h"
#include "query/web/web_command.h"
#include "query/web/web_cql.h"
#include "query/web/web_token.h"

enum {
    API_ROWS_DEFAULT = 1000,           /* rows of a page of JSON */
    API_ROWS_MAX = 10000,
    API_PAGE_BYTES = 1 << 20,          /* a page of JSON ends after the row that passes this size */
    API_BODY_MAX = 1 << 20             /* bytes of the body of a POST */
};

struct api;

/* The objects that the pointers point to outlive the struct api. */
struct api_options {
    struct web_commands *commands;
    struct web_cql *cql;
    const struct web_token *token;     /* a request for a change must have it */
};

/* Add the addresses to the door. */
struct api *api_new(struct http_door *door, const struct api_options *options);
/* Call this after the door has closed. */
void api_free(struct api *api);
#endif
