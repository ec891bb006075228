/* test_api_words: which words a command gets of the parameters of a request, and which parameters
 * are refused. */
#include "query/web/api_words.h"

#include <stdio.h>

#include <criterion/criterion.h>

#include "base/arena.h"
#include "query/web/api.h"
#include "query/web/openapi.h"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new(4096);
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(api_words, .init = setup, .fini = teardown);

static const struct api_endpoint *find_endpoint(const char *path)
{
    const struct api_endpoint *endpoint;
    uint32_t index = 0;

    while ((endpoint = api_endpoints_at(index++)) != NULL && strcmp(endpoint->path, path) != 0)
        continue;
    cr_assert(endpoint != NULL, "%s", path);
    return endpoint;
}

static void parse(const char *query, struct http_parameters *parameters)
{
    cr_assert(http_parameters_parse(bytes_text(query), parameters) == NULL);
}

static void expect_words(const char *path, uint32_t part, const char *query, const char *wanted)
{
    const struct api_endpoint *endpoint = find_endpoint(path);
    struct http_parameters parameters;
    struct api_words words;
    struct buffer line = {0};

    parse(query, &parameters);
    cr_assert(api_words_check(endpoint, &parameters, arena) == NULL, "%s", query);
    api_words_make(&endpoint->parts[part], &parameters, NULL, "--format=json", arena, &words);
    for (uint32_t i = 0; i < words.count; i++) {
        buffer_append_text(&line, i > 0 ? "|" : "");
        buffer_append_text(&line, words.items[i]);
    }
    buffer_put_u8(&line, 0);
    cr_expect_str_eq((const char *)line.data, wanted, "%s: %s", query, (const char *)line.data);
    buffer_release(&line);
    http_parameters_release(&parameters);
}

static void expect_refused(const char *path, const char *query, const char *where, const char *what)
{
    const struct api_endpoint *endpoint = find_endpoint(path);
    struct http_parameters parameters;
    struct api_page page;

    parse(query, &parameters);
    const struct http_refusal *refusal = api_words_check(endpoint, &parameters, arena);
    if (refusal == NULL)
        refusal = api_words_page(&parameters, false, arena, &page);
    cr_assert(refusal != NULL, "%s?%s", path, query);
    cr_expect(refusal->status == 400);
    cr_expect_str_eq(refusal->where, where);
    cr_expect_str_eq(refusal->what, what);
    http_parameters_release(&parameters);
}

Test(api_words, options_have_their_values)
{
    expect_words("/api/report", 0, "", "report|--format=json|--");
    expect_words("/api/report", 0, "by=month&reseller=R+1&limit=5&reseller=%C3%A9",
                 "report|--format=json|--reseller=R 1|--reseller=\xc3\xa9|--by=month|--");
    expect_words("/api/restatements", 0, "all=true&day=2013-11-28",
                 "restatements|--format=json|--day=2013-11-28|--all|--");
    expect_words("/api/restatements", 0, "all=false", "restatements|--format=json|--");
}

/* No value is taken for an option. */
Test(api_words, words_stand_behind_the_options)
{
    expect_words("/api/counters", 0,
                 "table=--help&key=-d&top=", "counters|--format=json|--key=-d|--top=|--|--help");
    expect_words("/api/rates", 0, "reseller=-d", "rate|list|--format=json|--|-d");
}

Test(api_words, a_parameter_goes_to_all_that_take_it)
{
    const char *query = "reseller=R1&day=2013-11-28";

    expect_words("/api/explain", 0, query,
                 "report|--format=json|--reseller=R1|--from=2013-11-28|--to=2013-11-28|--");
    expect_words("/api/explain", 1, query, "rate|list|--format=json|--day=2013-11-28|--|R1");
    expect_words("/api/explain", 2, query, "rate|list|--history|--format=json|--|R1");
    expect_words("/api/explain", 3, query,
                 "restatements|--all|--format=json|--reseller=R1|--day=2013-11-28|--");
    expect_words("/api/explain", 4, query,
                 "clicks|list|--format=json|--reseller=R1|--day=2013-11-28|--");
}

Test(api_words, refusals_name_the_parameter)
{
    expect_refused("/api/report", "directory=/etc", "parameter directory",
                   "there is no such parameter here");
    expect_refused("/api/report", "from=2013-11-28&from=2013-11-29", "parameter from",
                   "the parameter is given twice");
    expect_refused("/api/report", "limit=0", "parameter limit",
                   "the value is no number in its bounds");
    expect_refused("/api/report", "limit=10001", "parameter limit",
                   "the value is no number in its bounds");
    expect_refused("/api/report", "offset=-1", "parameter offset",
                   "the value is no number in its bounds");
    expect_refused("/api/report", "offset=99999999999999999999999", "parameter offset",
                   "the value is no number in its bounds");
    expect_refused("/api/status", "limit=1", "parameter limit", "there is no such parameter here");
    expect_refused("/api/restatements", "all=yes", "parameter all",
                   "the value is neither true nor false");
    expect_refused("/api/explain", "reseller=R1", "parameter day", "the parameter is needed");
}

Test(api_words, pages)
{
    struct http_parameters parameters;
    struct api_page page;

    parse("", &parameters);
    cr_assert(api_words_page(&parameters, false, arena, &page) == NULL);
    cr_expect(page.limit == API_ROWS_DEFAULT && page.offset == 0);
    cr_assert(api_words_page(&parameters, true, arena, &page) == NULL);
    cr_expect(page.limit == UINT64_MAX, "all rows of CSV, unless a limit is given");
    http_parameters_release(&parameters);
    parse("offset=4294967295&limit=10000", &parameters);
    cr_assert(api_words_page(&parameters, false, arena, &page) == NULL);
    cr_expect(page.limit == 10000 && page.offset == UINT32_MAX);
    http_parameters_release(&parameters);
}

/* The part of the description from `start` up to `end`; empty: it has no such part. */
static struct bytes described_from(const char *start, const char *end)
{
    const uint8_t *all_end = openapi_json + openapi_json_size;
    const uint8_t *first = memmem(openapi_json, openapi_json_size, start, strlen(start));

    if (first == NULL)
        return (struct bytes){0};
    first += strlen(start);
    const uint8_t *last = memmem(first, (size_t)(all_end - first), end, strlen(end));
    return bytes_of(first, (size_t)((last != NULL ? last : all_end) - first));
}

/* What is said about a path, with the parameters that it has in common with others. */
static void put_described(const char *path, struct buffer *text)
{
    static const char reference[] = "#/components/parameters/";
    char key[80];

    (void)snprintf(key, sizeof key, "\n    \"%s\": {", path);
    struct bytes left = described_from(key, "\n    \"/");
    cr_assert(left.size > 0, "%s is not described", path);
    buffer_append_bytes(text, left);
    const uint8_t *name;
    while ((name = memmem(left.data, left.size, reference, strlen(reference))) != NULL) {
        name += strlen(reference);
        left = bytes_of(name, left.size - (size_t)(name - left.data));
        size_t size = (size_t)((const uint8_t *)memchr(name, '"', left.size) - name);
        (void)snprintf(key, sizeof key, "\n      \"%.*s\": {", (int)size, (const char *)name);
        struct bytes shared = described_from(key, "\n      }");
        cr_assert(shared.size > 0, "%s is not described", key);
        buffer_append_bytes(text, shared);
    }
}

Test(api_words, all_parameters_are_described)
{
    const struct api_endpoint *endpoint;

    for (uint32_t i = 0; (endpoint = api_endpoints_at(i)) != NULL; i++) {
        struct buffer text = {.arena = arena};
        put_described(endpoint->path, &text);
        for (uint32_t part = 0; part < endpoint->part_count; part++) {
            const struct api_parameter *known = endpoint->parts[part].parameters;
            for (; known->kind != 0; known++) {
                char key[64];
                int size = endpoint->has_effects
                               ? snprintf(key, sizeof key, "\"%s\": {", known->name)
                               : snprintf(key, sizeof key, "\"name\": \"%s\"", known->name);
                cr_expect(memmem(text.data, text.size, key, (size_t)size) != NULL, "%s: %s",
                          endpoint->path, known->name);
            }
        }
    }
}
