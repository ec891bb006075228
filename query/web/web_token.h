/* web_token: the secret by which a request for a change proves that it comes from a page of this
 * server.
 *
 * The token is drawn at random at each start of the server, and the server's pages contain it.  A
 * page of another site can send requests to this server, but cannot read the answers, and so does
 * not know the token.  A request has the token in the header X-Daybook-Token, or in the field
 * `token` of a form. */
#ifndef DAYBOOK_QUERY_WEB_WEB_TOKEN_H
#define DAYBOOK_QUERY_WEB_WEB_TOKEN_H

#include "base/random.h"
#include "door/http_door.h"
#include "door/http_parameters.h"

enum { WEB_TOKEN_SIZE = 32 };

struct web_token {
    char text[WEB_TOKEN_SIZE + 1];
};

void web_token_make(struct random *random, struct web_token *token_out);
/* Returns NULL if the request may change something; otherwise the refusal. */
const struct http_refusal *web_token_check(const struct web_token *token,
                                           const struct http_exchange *exchange,
                                           const struct http_parameters *form);
#endif
