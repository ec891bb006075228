/* Parses CQL type expressions.
 *
 *   type := name | "quoted name" | frozen < type > | list < type > | set < type >
 *         | map < type , type > | tuple < type {, type} >
 *
 * Within frozen<> everything is frozen, as in Cassandra; a tuple is always frozen.
 *
 * TYPE_DEPTH_MAX does not count frozen<>, because type_print writes it around every frozen type.
 * SPELLED_MAX bounds the recursion, and allows one frozen<> around each type. */
#include <ctype.h>

#include "base/arena.h"
#include "storage/schema/type_private.h"
#include "storage/schema/type_scan.h"

enum {
    TUPLE_FIELDS_MAX = 256,
    NAME_SIZE_MAX = 256,
    SPELLED_MAX = 2 * (TYPE_DEPTH_MAX + 1) /* types and frozen<> within each other */
};

struct type_parser {
    struct bytes text;
    struct scan scan;
    uint32_t depth;
    uint32_t spelled;
    struct arena *arena;
    const struct type *(*udt_find)(void *context, struct bytes name);
    void *context;
    struct error *err;
};

static int parse_type(struct type_parser *parser, bool in_frozen, const struct type **type_out);

static int parse_refuse(struct type_parser *parser, const char *why)
{
    return error_set(parser->err, ERROR_INVALID, "type %.*s: %s",
                     (int)(parser->text.size < 200 ? parser->text.size : 200),
                     (const char *)parser->text.data, why);
}

static void skip_space(struct scan *scan)
{
    while (scan->at < scan->end && isspace(*scan->at))
        scan->at++;
}

static bool parse_mark(struct type_parser *parser, char mark)
{
    skip_space(&parser->scan);
    return scan_char(&parser->scan, mark);
}

/* Copy a name to the arena, in lower case unless it is quoted.  `""` within quotes is a quote. */
static int parse_name(struct type_parser *parser, bool *quoted_out, struct bytes *name_out)
{
    *quoted_out = parse_mark(parser, '"');
    uint8_t name[NAME_SIZE_MAX];
    size_t size = 0;
    bool closed = !*quoted_out;
    struct scan *scan = &parser->scan;

    while (scan->at < scan->end) {
        uint8_t c = *scan->at;
        if (*quoted_out && scan_char(scan, '"')) {
            closed = scan->at == scan->end || *scan->at != '"';
            if (closed)
                break;
        } else if (!*quoted_out && !isalnum(c) && c != '_') {
            break;
        }
        if (size == NAME_SIZE_MAX)
            return parse_refuse(parser, "a name is too long");
        name[size++] = *quoted_out ? c : (uint8_t)tolower(c);
        scan->at++;
    }
    if (size == 0 || !closed)
        return parse_refuse(parser, "a type's name is missing");
    *name_out = arena_copy(parser->arena, bytes_of(name, size));
    return 0;
}

static int check_argument(struct type_parser *parser, const struct type *owner, uint32_t index)
{
    const struct type *argument = owner->arguments[index];

    if (type_is_complex(argument))
        return parse_refuse(parser, "collections and user types within others must be frozen");
    if (argument->kind == TYPE_COUNTER)
        return parse_refuse(parser, "counters are not allowed inside other types");
    bool is_key = owner->kind == TYPE_SET || (owner->kind == TYPE_MAP && index == 0);
    if (is_key && argument->kind == TYPE_DURATION)
        return parse_refuse(parser, "durations have no order and cannot be keys or set elements");
    return 0;
}

static int parse_arguments(struct type_parser *parser, struct type *type, uint32_t count_min,
                           uint32_t count_max)
{
    const struct type *arguments[TUPLE_FIELDS_MAX];
    uint32_t count = 0;

    if (!parse_mark(parser, '<'))
        return parse_refuse(parser, "'<' expected");
    if (parser->depth == TYPE_DEPTH_MAX)
        return parse_refuse(parser, "types are nested too deep");
    parser->depth++;
    do {
        if (count == count_max)
            return parse_refuse(parser, "too many types within");
        int rc = parse_type(parser, type->frozen, &arguments[count]);
        if (rc < 0)
            return rc;
        count++;
    } while (parse_mark(parser, ','));
    parser->depth--;
    if (!parse_mark(parser, '>'))
        return parse_refuse(parser, "'>' expected");
    if (count < count_min)
        return parse_refuse(parser, "too few types within");
    const struct type **copy = arena_array(parser->arena, count, sizeof(*copy));
    type->arguments = copy;
    type->argument_count = count;
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = arguments[i];
        int rc = check_argument(parser, type, i);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int parse_frozen(struct type_parser *parser, const struct type **type_out)
{
    if (!parse_mark(parser, '<'))
        return parse_refuse(parser, "'<' expected");
    int rc = parse_type(parser, true, type_out);
    if (rc < 0)
        return rc;
    if (!parse_mark(parser, '>'))
        return parse_refuse(parser, "'>' expected");
    if ((*type_out)->argument_count == 0)
        return parse_refuse(parser, "only collections, tuples and user types can be frozen");
    return 0;
}

static int parse_udt(struct type_parser *parser, struct bytes name, bool frozen,
                     const struct type **type_out)
{
    const struct type *found =
        parser->udt_find == NULL ? NULL : parser->udt_find(parser->context, name);

    if (found == NULL)
        return error_set(parser->err, ERROR_INVALID, "unknown type %.*s", (int)name.size,
                         (const char *)name.data);
    struct type *type = arena_copy_item(parser->arena, found, sizeof *found);
    type->frozen = frozen;
    *type_out = type;
    return 0;
}

static int parse_named(struct type_parser *parser, bool in_frozen, const struct type **type_out)
{
    static const struct {
        const char *name;
        enum type_kind kind;
        uint32_t argument_count_min;
        uint32_t argument_count_max;
    } generics[] = {
        {"list", TYPE_LIST, 1, 1},
        {"set", TYPE_SET, 1, 1},
        {"map", TYPE_MAP, 2, 2},
        {"tuple", TYPE_TUPLE, 1, TUPLE_FIELDS_MAX},
    };
    struct bytes name;
    bool quoted;
    int rc = parse_name(parser, &quoted, &name);

    if (rc < 0)
        return rc;
    if (quoted)
        return parse_udt(parser, name, in_frozen, type_out);
    if (bytes_equal(name, bytes_text("frozen")))
        return parse_frozen(parser, type_out);
    for (size_t i = 0; i < sizeof generics / sizeof generics[0]; i++) {
        if (!bytes_equal(name, bytes_text(generics[i].name)))
            continue;
        const struct type unfilled = {.kind = generics[i].kind,
                                      .frozen = in_frozen || generics[i].kind == TYPE_TUPLE};
        struct type *type = arena_copy_item(parser->arena, &unfilled, sizeof unfilled);
        *type_out = type;
        return parse_arguments(parser, type, generics[i].argument_count_min,
                               generics[i].argument_count_max);
    }
    *type_out = type_builtin_named(name);
    return *type_out != NULL ? 0 : parse_udt(parser, name, in_frozen, type_out);
}

static int parse_type(struct type_parser *parser, bool in_frozen, const struct type **type_out)
{
    if (parser->spelled == SPELLED_MAX)
        return parse_refuse(parser, "types are nested too deep");
    parser->spelled++;
    int rc = parse_named(parser, in_frozen, type_out);
    parser->spelled--;
    return rc;
}

int type_parse(struct bytes text, struct arena *arena,
               const struct type *(*udt_find)(void *context, struct bytes name), void *context,
               const struct type **type_out, struct error *err)
{
    struct type_parser parser = {.text = text,
                                 .scan = {text.data, text.data + text.size},
                                 .arena = arena,
                                 .udt_find = udt_find,
                                 .context = context,
                                 .err = err};
    int rc = parse_type(&parser, false, type_out);

    if (rc < 0)
        return rc;
    skip_space(&parser.scan);
    return parser.scan.at == parser.scan.end ? 0 : parse_refuse(&parser, "text after the type");
}
