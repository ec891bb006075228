/* What must hold: numbers keep their digits, and different strings stay different.  The parser
 * yajl reads half of a surrogate pair as '?', so a text with such a half is refused first. */
#include <yajl/yajl_parse.h>

#include "query/cql/expression/cql_json.h"
#include "base/arena.h"

struct json_reader {
    struct arena *arena;
    struct cql_json *open[CQL_JSON_DEPTH_MAX];
    struct cql_json *last[CQL_JSON_DEPTH_MAX]; /* NULL: no items yet */
    int depth;
    bool is_too_deep;
    struct bytes name;
    struct cql_json *root;
};

/* An item without a parent is the root; yajl allows only one. */
static struct cql_json *reader_add(struct json_reader *reader, enum cql_json_kind kind,
                                   struct bytes text)
{
    struct cql_json *json = arena_alloc(reader->arena, sizeof *json, _Alignof(struct cql_json));
    int parent = reader->depth - 1;

    *json = (struct cql_json){.kind = kind, .text = text};
    if (parent < 0) {
        reader->root = json;
        return json;
    }
    if (reader->open[parent]->kind == CQL_JSON_OBJECT)
        json->name = reader->name;
    if (reader->last[parent] == NULL)
        reader->open[parent]->items = json;
    else
        reader->last[parent]->next = json;
    reader->last[parent] = json;
    reader->open[parent]->count++;
    return json;
}

static struct bytes reader_copy(struct json_reader *reader, const void *data, size_t size)
{
    return arena_copy(reader->arena, bytes_of(data, size));
}

/* ---- yajl's callbacks: 0 stops the parser ---- */

static int on_null(void *context)
{
    reader_add(context, CQL_JSON_NULL, bytes_text("null"));
    return 1;
}

static int on_boolean(void *context, int value)
{
    reader_add(context, CQL_JSON_BOOLEAN, bytes_text(value ? "true" : "false"));
    return 1;
}

static int on_number(void *context, const char *data, size_t size)
{
    reader_add(context, CQL_JSON_NUMBER, reader_copy(context, data, size));
    return 1;
}

static int on_string(void *context, const unsigned char *data, size_t size)
{
    reader_add(context, CQL_JSON_STRING, reader_copy(context, data, size));
    return 1;
}

static int on_key(void *context, const unsigned char *data, size_t size)
{
    struct json_reader *reader = context;

    reader->name = reader_copy(reader, data, size);
    return 1;
}

static int reader_open(struct json_reader *reader, enum cql_json_kind kind)
{
    if (reader->depth == CQL_JSON_DEPTH_MAX) {
        reader->is_too_deep = true;
        return 0;
    }
    reader->open[reader->depth] = reader_add(reader, kind, (struct bytes){0});
    reader->last[reader->depth] = NULL;
    reader->depth++;
    return 1;
}

static int on_object(void *context)
{
    return reader_open(context, CQL_JSON_OBJECT);
}

static int on_array(void *context)
{
    return reader_open(context, CQL_JSON_ARRAY);
}

static int on_end(void *context)
{
    struct json_reader *reader = context;

    reader->depth--;
    return 1;
}

/* ---- yajl's memory, never freed: it is in the arena ---- */

static void *parser_alloc(void *arena, size_t size)
{
    size_t *block = arena_alloc(arena, sizeof(size_t) * 2 + size, _Alignof(max_align_t));

    *block = size;
    return block + 2;
}

static void *parser_resize(void *arena, void *old, size_t size)
{
    size_t held = old == NULL ? 0 : ((size_t *)old)[-2];
    void *moved = size <= held ? old : parser_alloc(arena, size);

    if (moved != old && held > 0)
        memcpy(moved, old, held);
    return moved;
}

static void parser_free(void *arena, void *block)
{
    (void)arena;
    (void)block;
}

/* ---- reading ---- */

/* Returns the UTF-16 unit of an escape; -1: the text does not begin with \u and four hex digits. */
static int escaped_unit(const uint8_t *at, const uint8_t *end)
{
    int unit = 0;

    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        int c = at[i] | 0x20;
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static bool surrogates_are_paired(struct bytes text)
{
    const uint8_t *end = text.data + text.size;

    for (const uint8_t *at = text.data; at < end; at++) {
        if (*at != '\\')
            continue;
        int unit = escaped_unit(at, end);
        at++;
        if (unit < 0xD800 || unit > 0xDFFF)
            continue;
        at += 5;
        unit = unit > 0xDBFF ? -1 : escaped_unit(at, end);
        if (unit < 0xDC00 || unit > 0xDFFF)
            return false;
        at += 5;
    }
    return true;
}

static int fail_syntax(yajl_handle parser, struct bytes text, struct error *err)
{
    return error_set(err, ERROR_INVALID, "not JSON at byte %zu",
                     text.size == 0 ? 0 : yajl_get_bytes_consumed(parser));
}

int cql_json_read(struct bytes text, struct arena *arena, const struct cql_json **json_out,
                  struct error *err)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_boolean,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_object,
        .yajl_map_key = on_key,
        .yajl_end_map = on_end,
        .yajl_start_array = on_array,
        .yajl_end_array = on_end,
    };
    yajl_alloc_funcs memory = {parser_alloc, parser_resize, parser_free, arena};
    struct json_reader reader = {.arena = arena};
    int rc = 0;

    *json_out = NULL;
    if (!surrogates_are_paired(text))
        return error_set(err, ERROR_INVALID, "half of a surrogate pair in a string");
    yajl_handle parser = yajl_alloc(&callbacks, &memory, &reader);
    check(parser != NULL);
    if (yajl_parse(parser, text.data, text.size) != yajl_status_ok ||
        yajl_complete_parse(parser) != yajl_status_ok || reader.root == NULL)
        rc = reader.is_too_deep
                 ? error_set(err, ERROR_LIMIT, "JSON nested more than %d deep", CQL_JSON_DEPTH_MAX)
                 : fail_syntax(parser, text, err);
    if (rc == 0)
        *json_out = reader.root;
    return rc;
}
