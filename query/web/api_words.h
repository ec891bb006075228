/* api_words: makes the words of a command of the parameters of a request.
 *
 *     GET /api/report?by=month&reseller=R1&limit=5
 *     report --format=json --reseller=R1 --by=month --
 *
 * Only parameters of the endpoint's table become words.  A value is the argument of an option, or
 * stands behind "--", so it is never taken for an option itself. */
#ifndef DAYBOOK_QUERY_WEB_API_WORDS_H
#define DAYBOOK_QUERY_WEB_API_WORDS_H

#include "door/http_parameters.h"
#include "query/web/api_endpoints.h"

struct arena;

enum { API_WORDS_MAX = 2 * HTTP_PARAMETERS_MAX + 8 };

struct api_words {
    const char *items[API_WORDS_MAX];
    uint32_t count;
};

/* Which rows of a table are asked for. */
struct api_page {
    uint64_t offset;
    uint64_t limit;                    /* UINT64_MAX: all */
};

/* Whether the endpoint has all of the parameters, and they have all that it needs.  Returns NULL,
 * or why not; the texts are in the arena. */
const struct http_refusal *api_words_check(const struct api_endpoint *endpoint,
                                           const struct http_parameters *parameters,
                                           struct arena *arena);
/* Take `limit` and `offset`, which are not the command's. */
const struct http_refusal *api_words_page(const struct http_parameters *parameters, bool is_csv,
                                          struct arena *arena, struct api_page *page_out);

/* `only`: take this one of the parameters; NULL: all.  `format`: a word such as "--format=csv".
 * The words are in the arena. */
void api_words_make(const struct api_part *part, const struct http_parameters *parameters,
                    const struct http_parameter *only, const char *format, struct arena *arena,
                    struct api_words *words_out);

/* A refusal of the parameter of that name; texts are not copied. */
const struct http_refusal *api_words_refuse(struct arena *arena, const char *name, const char *what,
                                            const char *todo);
/* NUL-terminated. */
const char *api_words_text(struct arena *arena, struct bytes text);
#endif
