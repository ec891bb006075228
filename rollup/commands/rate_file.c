/* rate_file: see the header.
 *
 * A record has three fields, which may be quoted as in RFC 4180.
 *
 * Two lines with the same reseller and day are an error even if their rates are equal, because the
 * file may have other mistakes. */
#include "rollup/commands/rate_file.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"

enum { FIELDS = 3, ARENA_CHUNK = 64 * 1024 };

static const char header[] = "reseller_id,effective_since,reward_percent";

struct rate_file {
    struct arena *arena;
    struct rate_edit *edits;
    uint32_t count;
    uint32_t capacity;
};

struct parser {
    struct bytes text;
    size_t at;
    uint32_t line;  /* the line where the present record begins, from 1 */
    uint32_t lines; /* lines that have ended so far */
    struct rate_file *file;
    struct rate_table *seen;
    struct buffer *errors;
    uint32_t error_count;
};

static void refuse(struct parser *parser, const char *text)
{
    if (parser->error_count++ < RATE_FILE_ERRORS_MAX)
        buffer_printf(parser->errors, "line %u: %s\n", parser->line, text);
}

static bool at_end(const struct parser *parser)
{
    return parser->at == parser->text.size;
}

static uint8_t peek(const struct parser *parser)
{
    return parser->text.data[parser->at];
}

/* False: the closing quote is missing. */
static bool read_quoted(struct parser *parser, struct buffer *field)
{
    for (parser->at++; !at_end(parser); parser->at++) {
        uint8_t c = peek(parser);
        parser->lines += c == '\n';
        if (c != '"') {
            buffer_put_u8(field, c);
            continue;
        }
        parser->at++;
        if (at_end(parser) || peek(parser) != '"')
            return true;
        buffer_put_u8(field, '"');
    }
    return false;
}

static bool read_field(struct parser *parser, struct buffer *field)
{
    buffer_clear(field);
    if (!at_end(parser) && peek(parser) == '"')
        return read_quoted(parser, field);
    while (!at_end(parser) && peek(parser) != ',' && peek(parser) != '\n')
        buffer_put_u8(field, parser->text.data[parser->at++]);
    if (field->size > 0 && field->data[field->size - 1] == '\r' &&
        (at_end(parser) || peek(parser) == '\n'))
        field->size--;
    return true;
}

static void skip_line(struct parser *parser)
{
    while (!at_end(parser) && parser->text.data[parser->at++] != '\n') {
    }
    parser->lines++;
}

static bool read_end(struct parser *parser)
{
    if (!at_end(parser) && peek(parser) == '\r')
        parser->at++;
    if (at_end(parser))
        return true;
    if (peek(parser) != '\n')
        return false;
    parser->at++;
    parser->lines++;
    return true;
}

/* False: the record was refused, and its line was skipped. */
static bool read_record(struct parser *parser, struct buffer fields[FIELDS])
{
    parser->line = parser->lines + 1;
    for (uint32_t i = 0; i < FIELDS; i++) {
        bool is_whole = read_field(parser, &fields[i]);
        bool has_comma = is_whole && !at_end(parser) && peek(parser) == ',';
        if (!is_whole || (i + 1 < FIELDS && !has_comma)) {
            refuse(parser, is_whole ? "three fields are needed: reseller_id,effective_since,"
                                      "reward_percent"
                                    : "a quote is not closed");
            skip_line(parser);
            return false;
        }
        parser->at += i + 1 < FIELDS;
    }
    if (read_end(parser))
        return true;
    refuse(parser, "more than three fields, or text after a quote");
    skip_line(parser);
    return false;
}

static void add_edit(struct parser *parser, const struct rate_edit *edit)
{
    struct rate_file *file = parser->file;
    const struct rate *same = rate_table_at(parser->seen, edit->reseller, edit->since);
    if (same != NULL && same->since == edit->since) {
        refuse(parser, "this reseller and day come twice");
        return;
    }
    if (file->count == RATE_FILE_EDITS_MAX) {
        refuse(parser, "over 50000 rates; split the file");
        parser->at = parser->text.size;
        return;
    }
    rate_table_set(parser->seen, edit->reseller, edit->since, edit->rate);
    file->edits = memory_make_room(file->edits, file->count, &file->capacity, sizeof(*file->edits));
    file->edits[file->count] = *edit;
    file->edits[file->count++].reseller = arena_copy(file->arena, edit->reseller);
}

static void take_record(struct parser *parser, const struct buffer fields[FIELDS])
{
    struct error err;
    struct rate_edit edit = {.reseller = buffer_view(&fields[0])};
    int rc = rate_check_reseller(edit.reseller, &err);
    if (rc == 0)
        rc = rate_parse_day(buffer_view(&fields[1]), &edit.since, &err);
    if (rc == 0)
        rc = rate_parse(buffer_view(&fields[2]), &edit.rate, &err);
    if (rc < 0)
        refuse(parser, err.text);
    else
        add_edit(parser, &edit);
}

/* The first line may end with CRLF and follow a byte order mark. */
static bool read_header(struct parser *parser)
{
    size_t size = sizeof(header) - 1;
    parser->line = 1;
    if (parser->text.size >= 3 && memcmp(parser->text.data, "\xEF\xBB\xBF", 3) == 0)
        parser->at = 3;
    bool is_right = parser->text.size - parser->at >= size &&
                    memcmp(parser->text.data + parser->at, header, size) == 0;
    if (is_right) {
        parser->at += size;
        is_right = read_end(parser);
    }
    if (!is_right)
        refuse(parser, "the header is needed: reseller_id,effective_since,reward_percent");
    return is_right;
}

static int compare_edits(const void *a, const void *b)
{
    const struct rate_edit *left = a;
    const struct rate_edit *right = b;
    int order = bytes_compare(left->reseller, right->reseller);
    return order != 0 ? order : (left->since < right->since) - (left->since > right->since);
}

struct rate_file *rate_file_parse(struct bytes text, struct buffer *errors)
{
    struct rate_file *file = memory_zeroed(1, sizeof(*file));
    struct parser parser = {.text = text, .file = file, .errors = errors};
    struct buffer fields[FIELDS] = {{0}};
    file->arena = arena_new(ARENA_CHUNK);
    parser.seen = rate_table_new();
    if (read_header(&parser)) {
        while (!at_end(&parser))
            if (read_record(&parser, fields))
                take_record(&parser, fields);
    }
    if (parser.error_count > RATE_FILE_ERRORS_MAX)
        buffer_printf(errors, "… and %u more\n", parser.error_count - RATE_FILE_ERRORS_MAX);
    for (uint32_t i = 0; i < FIELDS; i++)
        buffer_release(&fields[i]);
    rate_table_free(parser.seen);
    if (file->count > 0)
        qsort(file->edits, file->count, sizeof(*file->edits), compare_edits);
    if (parser.error_count == 0)
        return file;
    rate_file_free(file);
    return NULL;
}

void rate_file_free(struct rate_file *file)
{
    if (file == NULL)
        return;
    memory_free(file->edits);
    arena_free(file->arena);
    memory_free(file);
}

const struct rate_edit *rate_file_edits(const struct rate_file *file, uint32_t *count_out)
{
    *count_out = file->count;
    return file->edits;
}
