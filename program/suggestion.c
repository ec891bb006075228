/* suggestion: see the header.
 *
 * Words are compared by their restricted Damerau-Levenshtein distance. */
#include "program/suggestion.h"

#include <string.h>

enum { NAME_MAX_LENGTH = 24, DISTANCE_MAX = 2 };

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* rows[i][j] is the distance between the first i letters of `a` and the first j of `b`. */
static uint32_t distance(const char *a, const char *b)
{
    uint32_t rows[NAME_MAX_LENGTH + 2][NAME_MAX_LENGTH + 2];
    size_t a_size = strlen(a), b_size = strlen(b);
    if (a_size > NAME_MAX_LENGTH || b_size > NAME_MAX_LENGTH)
        return UINT32_MAX;
    for (uint32_t i = 0; i <= a_size; i++) {
        for (uint32_t j = 0; j <= b_size; j++) {
            rows[i][j] = i == 0 ? j : i;
            if (i == 0 || j == 0)
                continue;
            rows[i][j] = least(least(rows[i - 1][j], rows[i][j - 1]) + 1,
                               rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[i][j] = least(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[a_size][b_size];
}

static const char *nearest(const struct suggestion_names *names, const char *word)
{
    uint32_t best = DISTANCE_MAX + 1;
    const char *found = NULL;
    const char *name;
    for (uint32_t i = 0; (name = names->name(names->context, i)) != NULL; i++) {
        uint32_t far = distance(word, name);
        if (far < best && far * 2 < strlen(name)) {
            best = far;
            found = name;
        }
    }
    return found;
}

/* The index of the first word that names a command, or -1. */
static int find_name(const struct suggestion_names *names, int word_count, char *const *words)
{
    for (int at = 0; at < word_count; at++) {
        const char *name;
        for (uint32_t i = 0; (name = names->name(names->context, i)) != NULL; i++)
            if (strcmp(words[at], name) == 0)
                return at;
    }
    return -1;
}

static void append_others(int word_count, char *const *words, int without, struct buffer *text)
{
    for (int i = 0; i < word_count; i++)
        if (i != without)
            buffer_printf(text, " %s", words[i]);
}

bool suggestion_make(const struct suggestion_names *names, int word_count, char *const *words,
                     struct buffer *text)
{
    int at = words[0][0] == '-' ? find_name(names, word_count, words) : 0;
    if (at < 0)
        return false;
    const char *name = at > 0 ? words[at] : nearest(names, words[0]);
    if (name == NULL && strcmp(words[0], "version") == 0)
        name = "--version";
    if (name == NULL)
        return false;
    buffer_append_text(text, name);
    append_others(word_count, words, at, text);
    return true;
}
