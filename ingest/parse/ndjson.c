/* ndjson: see ndjson.h.
 *
 * yajl reads all lines of a connection as one sequence of values, so that its parser is allocated
 * once.  After an invalid line the parser is freed, so that the line has no effect on the next.
 *
 * yajl turns half of a surrogate pair into '?', which could make different ids equal.  So lines
 * with such a half are refused before yajl reads them. */
#include "ingest/parse/ndjson.h"

#include <yajl/yajl_parse.h>

#include "base/memory.h"

struct ndjson {
    const struct line_columns *columns;
    yajl_handle parser;
    struct buffer values; /* copies, because yajl overwrites its own */
    struct {
        size_t offset, size;
        bool is_present;
    } fields[RECORD_FIELDS_MAX];
    int field;
    uint32_t objects;
    bool is_open;
    enum reject_code code; /* why a callback stopped the parser */
    struct buffer text;
};

/* ---- callbacks of yajl; 0 stops the parser ---- */

static int ndjson_refuse(struct ndjson *ndjson, enum reject_code code, struct bytes text)
{
    ndjson->code = code;
    buffer_clear(&ndjson->text);
    buffer_append_bytes(&ndjson->text, text);
    return 0;
}

static int ndjson_value(void *context, const char *data, size_t size)
{
    struct ndjson *ndjson = context;

    if (!ndjson->is_open)
        return 0;
    ndjson->fields[ndjson->field].offset = ndjson->values.size;
    ndjson->fields[ndjson->field].size = size;
    buffer_append(&ndjson->values, data, size);
    return 1;
}

static int ndjson_string(void *context, const unsigned char *data, size_t size)
{
    return ndjson_value(context, (const char *)data, size);
}

static int ndjson_null(void *context)
{
    return ndjson_value(context, "", 0);
}

static int ndjson_boolean(void *context, int value)
{
    (void)context;
    (void)value;
    return 0;
}

static int ndjson_key(void *context, const unsigned char *data, size_t size)
{
    struct ndjson *ndjson = context;
    struct bytes name = bytes_of(data, size);
    int fields = line_parser_column_count(ndjson->columns);
    int field = 0;

    while (field < fields && !bytes_equal(ndjson->columns->names[field], name))
        field++;
    if (field == fields)
        return ndjson_refuse(ndjson, REJECT_UNKNOWN_FIELD, name);
    if (ndjson->fields[field].is_present)
        return ndjson_refuse(ndjson, REJECT_BAD_JSON, name);
    ndjson->fields[field].is_present = true;
    ndjson->field = field;
    return 1;
}

static int ndjson_object_start(void *context)
{
    struct ndjson *ndjson = context;

    if (ndjson->is_open || ndjson->objects > 0)
        return 0;
    ndjson->is_open = true;
    return 1;
}

static int ndjson_object_end(void *context)
{
    struct ndjson *ndjson = context;

    ndjson->is_open = false;
    ndjson->objects++;
    return 1;
}

static int ndjson_array(void *context)
{
    (void)context;
    return 0;
}

static const yajl_callbacks ndjson_callbacks = {
    .yajl_null = ndjson_null,
    .yajl_boolean = ndjson_boolean,
    .yajl_number = ndjson_value,
    .yajl_string = ndjson_string,
    .yajl_start_map = ndjson_object_start,
    .yajl_map_key = ndjson_key,
    .yajl_end_map = ndjson_object_end,
    .yajl_start_array = ndjson_array,
    .yajl_end_array = ndjson_array,
};

/* ---- life ---- */

struct ndjson *ndjson_new(const struct line_columns *columns)
{
    struct ndjson *ndjson = memory_zeroed(1, sizeof *ndjson);

    ndjson->columns = columns;
    return ndjson;
}

static void ndjson_drop_parser(struct ndjson *ndjson)
{
    if (ndjson->parser != NULL)
        yajl_free(ndjson->parser);
    ndjson->parser = NULL;
}

void ndjson_free(struct ndjson *ndjson)
{
    if (ndjson == NULL)
        return;
    ndjson_drop_parser(ndjson);
    buffer_release(&ndjson->values);
    buffer_release(&ndjson->text);
    memory_free(ndjson);
}

static void ndjson_make_parser(struct ndjson *ndjson)
{
    if (ndjson->parser != NULL)
        return;
    ndjson->parser = yajl_alloc(&ndjson_callbacks, NULL, ndjson);
    check(ndjson->parser != NULL);
    yajl_config(ndjson->parser, yajl_allow_multiple_values, 1);
    /* The row builder validates strings. */
    yajl_config(ndjson->parser, yajl_dont_validate_strings, 1);
}

/* ---- lines ---- */

static int escaped_unit(struct bytes line, size_t at)
{
    int unit = 0;

    if (line.size < 6 || at > line.size - 6 || line.data[at] != '\\' || line.data[at + 1] != 'u')
        return -1;
    for (size_t i = at + 2; i < at + 6; i++) {
        uint8_t byte = line.data[i];
        uint8_t lower = byte | 0x20;

        if (byte >= '0' && byte <= '9')
            unit = unit * 16 + byte - '0';
        else if (lower >= 'a' && lower <= 'f')
            unit = unit * 16 + lower - 'a' + 10;
        else
            return -1;
    }
    return unit;
}

static bool has_lone_surrogate(struct bytes line)
{
    const uint8_t *found = line.size == 0 ? NULL : memchr(line.data, '\\', line.size);
    size_t at = found == NULL ? line.size : (size_t)(found - line.data);

    while (at < line.size) {
        if (line.data[at] != '\\') {
            at++;
            continue;
        }
        int unit = escaped_unit(line, at);
        if (unit >= 0xDC00 && unit <= 0xDFFF)
            return true;
        if (unit >= 0xD800 && unit <= 0xDBFF) {
            unit = escaped_unit(line, at + 6);
            if (unit < 0xDC00 || unit > 0xDFFF)
                return true;
            at += 6;
        }
        at += unit < 0 ? 2 : 6;
    }
    return false;
}

static bool ndjson_read(struct ndjson *ndjson, struct bytes line)
{
    buffer_clear(&ndjson->values);
    memset(ndjson->fields, 0, sizeof ndjson->fields);
    ndjson->objects = 0;
    ndjson->is_open = false;
    (void)ndjson_refuse(ndjson, REJECT_BAD_JSON, line);
    if (has_lone_surrogate(line))
        return false;
    ndjson_make_parser(ndjson);
    /* yajl knows the end of a number outside an object only after the line end. */
    if (yajl_parse(ndjson->parser, line.data, line.size) == yajl_status_ok &&
        yajl_parse(ndjson->parser, (const unsigned char *)"\n", 1) == yajl_status_ok &&
        ndjson->objects == 1 && !ndjson->is_open)
        return true;
    ndjson_drop_parser(ndjson);
    return false;
}

void ndjson_line(struct ndjson *ndjson, struct row_builder *builder, struct bytes line,
                 uint64_t number)
{
    struct record record;

    if (!row_builder_takes_line(builder, number, &line))
        return;
    if (!ndjson_read(ndjson, line)) {
        reject_list_add(&builder->rejects, number, ndjson->code, buffer_view(&ndjson->text), line);
        return;
    }
    const char *start = ndjson->values.data == NULL ? "" : (const char *)ndjson->values.data;
    for (int i = 0; i < RECORD_FIELDS_MAX; i++)
        record.fields[i] = bytes_of(start + ndjson->fields[i].offset, ndjson->fields[i].size);
    row_builder_add(builder, &record, number, line);
}
