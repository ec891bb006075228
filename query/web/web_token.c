/* web_token: see the header. */
#include "query/web/web_token.h"

#include <stdio.h>

void web_token_make(struct random *random, struct web_token *token_out)
{
    uint8_t drawn[WEB_TOKEN_SIZE / 2];

    random->fill(random, drawn, sizeof drawn);
    for (size_t i = 0; i < sizeof drawn; i++)
        (void)snprintf(token_out->text + 2 * i, 3, "%02x", drawn[i]);
}

/* Takes as long for a wrong token of the right size as for the right token. */
static bool is_token(const struct web_token *token, struct bytes word)
{
    uint8_t difference = 0;

    if (word.size != WEB_TOKEN_SIZE)
        return false;
    for (size_t i = 0; i < WEB_TOKEN_SIZE; i++)
        difference |= (uint8_t)(word.data[i] ^ (uint8_t)token->text[i]);
    return difference == 0;
}

const struct http_refusal *web_token_check(const struct web_token *token,
                                           const struct http_exchange *exchange,
                                           const struct http_parameters *form)
{
    static const struct http_refusal read_only = {
        403, "read_only", "nothing can be changed through this door", "server",
        "use the command line, or start the server without --http-readonly"};
    static const struct http_refusal no_token = {
        403, "bad_token", "the request has not the token of this server's page",
        "header X-Daybook-Token", "load the page again; a program uses the command line"};

    if (exchange->is_read_only)
        return &read_only;
    if (is_token(token, http_request_header(&exchange->request, "x-daybook-token")) ||
        is_token(token, http_parameters_find(form, "token")))
        return NULL;
    return &no_token;
}
