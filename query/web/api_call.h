/* api_call: answers a request for an address of api_endpoints.h. */
#ifndef DAYBOOK_QUERY_WEB_API_CALL_H
#define DAYBOOK_QUERY_WEB_API_CALL_H

#include "query/web/api.h"
#include "query/web/api_endpoints.h"

/* Answer the exchange, now or later.  `is_csv`: the client wants CSV, by the address or by its
 * header Accept. */
void api_call_begin(const struct api_options *options, const struct api_endpoint *endpoint,
                    bool is_csv, struct http_exchange *exchange);

/* Parse the body of a POST, a form that must have all parameters of the request.  Returns NULL, or
 * the refusal; the caller releases `form` in both cases. */
const struct http_refusal *api_call_take_form(const struct http_request *request,
                                              struct http_parameters *form);
#endif
