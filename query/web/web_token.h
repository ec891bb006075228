/* web_token: the word by which a request that changes something shows where it comes from.
 *
 * It is drawn at each start of the server, and pages of this server have it.  A page of another
 * site can send requests here, but cannot read an answer, and so does not know the word.  It is
 * sent as the header X-Daybook-Token, or as the field `token` of a form. */
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
/* Whether the request may change something.  Returns NULL, or why not. */
const struct http_refusal *web_token_check(const struct web_token *token,
                                           const struct http_exchange *exchange,
                                           const struct http_parameters *form);
#endif
