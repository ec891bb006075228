/* query_flow: see the header. */
#include "query/model/query_flow.h"

#include "base/arena.h"

static int refuse(struct error *err, uint32_t line, const char *text)
{
    return error_set(err, ERROR_INVALID, "line %u: %s", line, text);
}

static struct bytes skip_blanks(struct bytes rest)
{
    while (rest.size > 0 && rest.data[0] <= ' ') {
        rest.data++;
        rest.size--;
    }
    return rest;
}

/* Remove the first word from `rest`, which then begins at the blank behind the word. */
static struct bytes take_word(struct bytes *rest)
{
    struct bytes word = skip_blanks(*rest);
    size_t size = 0;

    while (size < word.size && word.data[size] > ' ')
        size++;
    *rest = bytes_of(word.data + size, word.size - size);
    word.size = size;
    return word;
}

static struct bytes take_line(struct bytes *rest)
{
    struct bytes line = *rest;
    const uint8_t *end = memchr(rest->data, '\n', rest->size);
    size_t taken = end == NULL ? rest->size : (size_t)(end - rest->data) + 1;

    line.size = end == NULL ? rest->size : taken - 1;
    *rest = bytes_of(rest->data + taken, rest->size - taken);
    return line;
}

static int parse_line(struct bytes text, uint32_t number, struct query_flow_line *line,
                      struct error *err)
{
    const struct bytes arrow = bytes_text("->");

    *line = (struct query_flow_line){.line = number};
    line->name = take_word(&text);
    if (line->name.size > QUERY_FLOW_NAME_MAX)
        return refuse(err, number, "the query's name is over 16 bytes long");
    struct bytes word = take_word(&text);
    if (!bytes_equal(word, arrow)) {
        line->from = word;
        word = take_word(&text);
    }
    line->to = take_word(&text);
    if (!bytes_equal(word, arrow) || line->to.size == 0)
        return refuse(err, number, "a line is NAME [TABLE] -> TABLE [what it answers]");
    line->text = skip_blanks(text);
    while (line->text.size > 0 && line->text.data[line->text.size - 1] <= ' ')
        line->text.size--;
    if (line->text.size > QUERY_FLOW_TEXT_MAX)
        return refuse(err, number, "what the query answers is over 200 bytes long");
    return 0;
}

int query_flow_parse(struct bytes text, struct arena *arena, struct query_flow *flow_out,
                     struct error *err)
{
    struct query_flow_line *lines =
        arena_alloc(arena, QUERY_FLOW_LINES_MAX * sizeof(*lines), _Alignof(struct query_flow_line));
    uint32_t number = 0;

    *flow_out = (struct query_flow){.lines = lines};
    while (text.size > 0) {
        struct bytes line = skip_blanks(take_line(&text));
        number++;
        if (line.size == 0 || line.data[0] == '#')
            continue;
        if (!bytes_valid_utf8(line))
            return refuse(err, number, "the text is not UTF-8");
        if (flow_out->count == QUERY_FLOW_LINES_MAX)
            return refuse(err, number, "more than 1000 queries");
        int rc = parse_line(line, number, &lines[flow_out->count], err);
        if (rc < 0)
            return rc;
        flow_out->count++;
    }
    return 0;
}
