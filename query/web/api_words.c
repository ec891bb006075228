/* api_words: see the header. */
#include "query/web/api_words.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "query/web/api.h"

enum { NUMBER_DIGITS_MAX = 10 };

/* ---- texts ---- */

const char *api_words_text(struct arena *arena, struct bytes text)
{
    char *to = arena_alloc(arena, text.size + 1, 1);

    if (text.size > 0)
        memcpy(to, text.data, text.size);
    to[text.size] = '\0';
    return to;
}

static const char *join(struct arena *arena, const char *first, const char *second)
{
    size_t size = strlen(first) + strlen(second) + 1;
    char *to = arena_alloc(arena, size, 1);

    (void)snprintf(to, size, "%s%s", first, second);
    return to;
}

const struct http_refusal *api_words_refuse(struct arena *arena, const char *name, const char *what,
                                            const char *todo)
{
    const struct http_refusal refusal = {400, "bad_parameter", what,
                                         join(arena, "parameter ", name), todo};

    return arena_copy_item(arena, &refusal, sizeof refusal);
}

/* ---- checks ---- */

static const struct api_parameter *find_known(const struct api_endpoint *endpoint,
                                              struct bytes name)
{
    for (uint32_t i = 0; i < endpoint->part_count; i++) {
        const struct api_parameter *known = endpoint->parts[i].parameters;
        for (; known->kind != 0; known++)
            if (bytes_equal(bytes_text(known->name), name))
                return known;
    }
    return NULL;
}

/* Whether the parameter is for the API itself, and not for the command. */
static bool is_of_api(const struct api_endpoint *endpoint, struct bytes name)
{
    bool is_of_page =
        bytes_equal(name, bytes_text("limit")) || bytes_equal(name, bytes_text("offset"));

    return (endpoint->form == API_TABLE && is_of_page) ||
           (endpoint->has_effects && bytes_equal(name, bytes_text("token")));
}

static bool is_first(const struct http_parameters *parameters, uint32_t number)
{
    for (uint32_t i = 0; i < number; i++)
        if (bytes_equal(parameters->items[i].name, parameters->items[number].name))
            return false;
    return true;
}

static bool is_true(struct bytes value)
{
    return bytes_equal(value, bytes_text("true"));
}

static const struct http_refusal *check_given(const struct api_endpoint *endpoint,
                                              const struct http_parameters *parameters,
                                              uint32_t number, struct arena *arena)
{
    const struct http_parameter *given = &parameters->items[number];
    const struct api_parameter *known = find_known(endpoint, given->name);
    const char *name = api_words_text(arena, given->name);

    if (known == NULL && !is_of_api(endpoint, given->name))
        return api_words_refuse(arena, name, "there is no such parameter here",
                                "/api/openapi.json lists the parameters");
    if ((known == NULL || !known->repeats) && !is_first(parameters, number))
        return api_words_refuse(arena, name, "the parameter is given twice", "give it once");
    if (known != NULL && known->kind == API_FLAG && !is_true(given->value) &&
        !bytes_equal(given->value, bytes_text("false")))
        return api_words_refuse(arena, name, "the value is neither true nor false",
                                "give one of them");
    return NULL;
}

static const struct http_refusal *check_needed(const struct api_part *part,
                                               const struct http_parameters *parameters,
                                               struct arena *arena)
{
    for (const struct api_parameter *known = part->parameters; known->kind != 0; known++)
        if (known->is_needed && http_parameters_find(parameters, known->name).size == 0)
            return api_words_refuse(arena, known->name, "the parameter is needed", "give it");
    return NULL;
}

const struct http_refusal *api_words_check(const struct api_endpoint *endpoint,
                                           const struct http_parameters *parameters,
                                           struct arena *arena)
{
    const struct http_refusal *refusal = NULL;

    for (uint32_t i = 0; i < parameters->count && refusal == NULL; i++)
        refusal = check_given(endpoint, parameters, i, arena);
    for (uint32_t i = 0; i < endpoint->part_count && refusal == NULL; i++)
        refusal = check_needed(&endpoint->parts[i], parameters, arena);
    return refusal;
}

/* ---- pages ---- */

static bool parse_number(struct bytes text, uint64_t *number_out)
{
    *number_out = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *number_out = 10 * *number_out + text.data[i] - '0';
    }
    return text.size > 0 && text.size <= NUMBER_DIGITS_MAX;
}

/* `*number` stays unchanged if the parameter is not given. */
static const struct http_refusal *take_number(const struct http_parameters *parameters,
                                              const char *name, uint64_t least, uint64_t most,
                                              struct arena *arena, uint64_t *number)
{
    struct bytes text = http_parameters_find(parameters, name);
    uint64_t given;
    char todo[64];

    if (text.data == NULL)
        return NULL;
    if (text.size <= NUMBER_DIGITS_MAX && parse_number(text, &given) && given >= least &&
        given <= most) {
        *number = given;
        return NULL;
    }
    (void)snprintf(todo, sizeof todo, "give a number from %" PRIu64 " to %" PRIu64, least, most);
    return api_words_refuse(arena, name, "the value is no number in its bounds",
                            api_words_text(arena, bytes_text(todo)));
}

const struct http_refusal *api_words_page(const struct http_parameters *parameters, bool is_csv,
                                          struct arena *arena, struct api_page *page_out)
{
    uint64_t most = is_csv ? UINT32_MAX : API_ROWS_MAX;

    *page_out = (struct api_page){.limit = is_csv ? UINT64_MAX : API_ROWS_DEFAULT};
    const struct http_refusal *refusal =
        take_number(parameters, "limit", 1, most, arena, &page_out->limit);
    return refusal != NULL
               ? refusal
               : take_number(parameters, "offset", 0, UINT32_MAX, arena, &page_out->offset);
}

/* ---- words ---- */

static void put_word(struct api_words *words, const char *word)
{
    check(words->count < API_WORDS_MAX);
    words->items[words->count++] = word;
}

static void put_given(const struct api_parameter *known, struct bytes value, struct arena *arena,
                      struct api_words *words)
{
    const char *text = api_words_text(arena, value);

    switch (known->kind) {
    case API_OPTION:
        put_word(words, join(arena, join(arena, known->option, "="), text));
        break;
    case API_FLAG:
        if (is_true(value))
            put_word(words, known->option);
        break;
    case API_WORD:
        put_word(words, text);
        break;
    }
}

static void put_all(const struct api_part *part, const struct http_parameters *parameters,
                    const struct http_parameter *only, bool are_words, struct arena *arena,
                    struct api_words *words)
{
    for (const struct api_parameter *known = part->parameters; known->kind != 0; known++) {
        for (uint32_t i = 0; i < parameters->count; i++) {
            const struct http_parameter *given = &parameters->items[i];
            if (are_words == (known->kind == API_WORD) && (only == NULL || only == given) &&
                bytes_equal(given->name, bytes_text(known->name)))
                put_given(known, given->value, arena, words);
        }
    }
}

void api_words_make(const struct api_part *part, const struct http_parameters *parameters,
                    const struct http_parameter *only, const char *format, struct arena *arena,
                    struct api_words *words_out)
{
    words_out->count = 0;
    for (size_t i = 0; i < sizeof part->words / sizeof part->words[0]; i++)
        if (part->words[i] != NULL)
            put_word(words_out, part->words[i]);
    put_word(words_out, format);
    put_all(part, parameters, only, false, arena, words_out);
    put_word(words_out, "--");
    put_all(part, parameters, only, true, arena, words_out);
}
