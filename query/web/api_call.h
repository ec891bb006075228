/* api_call: a request for an address of api_endpoints.h, from its parameters to its answer. */
#ifndef DAYBOOK_QUERY_WEB_API_CALL_H
#define DAYBOOK_QUERY_WEB_API_CALL_H

#include "query/web/api.h"
#include "query/web/api_endpoints.h"

/* Answers the exchange, now or later.  `is_csv`: the address ends with .csv. */
void api_call_begin(const struct api_options *options, const struct api_endpoint *endpoint,
                    bool is_csv, struct http_exchange *exchange);

/* Take the form that is the body of a POST, and has all of its parameters.  Returns NULL, or why it
 * is refused; the caller releases `form` in both cases. */
const struct http_refusal *api_call_take_form(const struct http_request *request,
                                              struct http_parameters *form);
#endif
