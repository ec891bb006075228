/* api_words: makes the words of a command line from the parameters of a request.
 *
 *     GET /api/report?by=month&reseller=R1&limit=5
 *     report --format=json --reseller=R1 --by=month --
 *
 * Only parameters of the endpoint's table become words.  A value is the argument of an option, or
 * stands after "--"; therefore a value is never read as an option. */
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

/* The rows of a table that a request asks for. */
struct api_page {
    uint64_t offset;
    uint64_t limit;                    /* UINT64_MAX: all */
};

/* Check that the endpoint has all given parameters, and that all needed parameters are given.
 * Returns NULL, or a refusal whose texts are in the arena. */
const struct http_refusal *api_words_check(const struct api_endpoint *endpoint,
                                           const struct http_parameters *parameters,
                                           struct arena *arena);
/* Read the parameters `limit` and `offset`, which the command does not get. */
const struct http_refusal *api_words_page(const struct http_parameters *parameters, bool is_csv,
                                          struct arena *arena, struct api_page *page_out);

/* Make the words of a part's command, in the arena.  If `only` is not NULL, it is the only
 * parameter that is used.  `format` is a word such as "--format=csv". */
void api_words_make(const struct api_part *part, const struct http_parameters *parameters,
                    const struct http_parameter *only, const char *format, struct arena *arena,
                    struct api_words *words_out);

/* Returns a refusal of the parameter `name`, in the arena.  `what` and `todo` are not copied. */
const struct http_refusal *api_words_refuse(struct arena *arena, const char *name, const char *what,
                                            const char *todo);
/* Returns a copy of the text that ends with a NUL. */
const char *api_words_text(struct arena *arena, struct bytes text);
#endif
