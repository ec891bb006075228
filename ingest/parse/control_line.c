/* control_line: see the header. */
#include "ingest/parse/control_line.h"

#include <string.h>

/* By enum control_kind. */
static const char *const names[] = {
    [CONTROL_PRODUCER] = "#producer", [CONTROL_BATCH] = "#batch", [CONTROL_STREAM] = "#stream",
    [CONTROL_SYNC] = "#sync",         [CONTROL_FILE] = "#file",   [CONTROL_FILES] = "#files",
    [CONTROL_COLUMNS] = "#columns",   [CONTROL_NOTES] = "#notes",
};

enum control_kind control_line_kind(struct bytes line)
{
    const uint8_t *space = memchr(line.data, ' ', line.size);
    struct bytes word =
        bytes_of(line.data, space == NULL ? line.size : (size_t)(space - line.data));

    if (line.size > CONTROL_LINE_MAX)
        return CONTROL_UNKNOWN;
    for (uint32_t kind = CONTROL_UNKNOWN + 1; kind < sizeof names / sizeof names[0]; kind++)
        if (control_line_is_word(word, names[kind]))
            return (enum control_kind)kind;
    return CONTROL_UNKNOWN;
}

void control_line_split(struct bytes line, struct control_words *words_out)
{
    size_t at = 0;

    words_out->count = 0;
    while (at <= line.size && words_out->count < CONTROL_WORDS_MAX) {
        const uint8_t *space = memchr(line.data + at, ' ', line.size - at);
        size_t end = space == NULL ? line.size : (size_t)(space - line.data);

        words_out->words[words_out->count++] = bytes_of(line.data + at, end - at);
        at = end + 1;
    }
}

bool control_line_keeps_stream(struct bytes line)
{
    enum control_kind kind = control_line_kind(line);

    return kind != CONTROL_UNKNOWN && kind != CONTROL_STREAM;
}

bool control_line_opens_batch(struct bytes line, uint64_t *sequence_out, uint64_t *lines_out)
{
    struct control_words words;

    if (control_line_kind(line) != CONTROL_BATCH)
        return false;
    control_line_split(line, &words);
    return control_line_batch(&words, sequence_out, lines_out);
}

bool control_line_batch(const struct control_words *words, uint64_t *sequence_out,
                        uint64_t *lines_out)
{
    return words->count == 3 && control_line_number(words->words[1], sequence_out) &&
           *sequence_out > 0 && control_line_number(words->words[2], lines_out);
}

bool control_line_is_word(struct bytes word, const char *text)
{
    return bytes_equal(word, bytes_text(text));
}

bool control_line_number(struct bytes word, uint64_t *number_out)
{
    uint64_t number = 0;

    if (word.size == 0 || word.size > 19 || (word.data[0] == '0' && word.size > 1))
        return false;
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] < '0' || word.data[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(word.data[i] - '0');
    }
    *number_out = number;
    return number <= INT64_MAX;
}

bool control_line_hash(struct bytes word, uint8_t hash_out[16])
{
    static const char digits[] = "0123456789abcdef";

    if (word.size != 32)
        return false;
    for (size_t i = 0; i < word.size; i++) {
        const char *digit = memchr(digits, word.data[i], 16);

        if (digit == NULL)
            return false;
        hash_out[i / 2] = (uint8_t)(hash_out[i / 2] << 4 | (digit - digits));
    }
    return true;
}
