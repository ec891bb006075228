/* Parses a class name that may have arguments in parentheses, in one pass.
 *
 * Any class not listed here is refused, because a table with another order would give wrong slices
 * without an error. */
#include "query/model/marshal.h"

#define MARSHAL_PACKAGE "org.apache.cassandra.db.marshal."

struct parser {
    struct bytes text;
    size_t at;
    const char *bytes_as;
    struct arena *arena;
    struct marshal *marshal;
    struct error *err;
};

static const struct {
    const char *name;
    const char *cql;
} simple_types[] = {
    {"AsciiType", "ascii"},           {"BooleanType", "boolean"},   {"ByteType", "tinyint"},
    {"CounterColumnType", "counter"}, {"DateType", "timestamp"},    {"DecimalType", "decimal"},
    {"DoubleType", "double"},         {"DurationType", "duration"}, {"FloatType", "float"},
    {"InetAddressType", "inet"},      {"Int32Type", "int"},         {"IntegerType", "varint"},
    {"LexicalUUIDType", "uuid"},      {"LongType", "bigint"},       {"ShortType", "smallint"},
    {"SimpleDateType", "date"},       {"TimeType", "time"},         {"TimeUUIDType", "timeuuid"},
    {"TimestampType", "timestamp"},   {"UTF8Type", "text"},         {"UUIDType", "uuid"},
};

/* Simple types that sort their values in another order than the CQL type does. */
static const char *const other_orders[] = {"DateType", "LexicalUUIDType"};

/* `count` is the number of arguments. */
static const struct {
    const char *name;
    const char *cql;
    uint32_t count;
} outer_types[] = {
    {"FrozenType", "frozen", 1},
    {"ListType", "list", 1},
    {"MapType", "map", 2},
    {"SetType", "set", 1},
};

static void skip_blanks(struct parser *parser)
{
    while (parser->at < parser->text.size && parser->text.data[parser->at] <= ' ')
        parser->at++;
}

static bool take(struct parser *parser, char sign)
{
    skip_blanks(parser);
    if (parser->at == parser->text.size || parser->text.data[parser->at] != (uint8_t)sign)
        return false;
    parser->at++;
    return true;
}

static bool is_name_byte(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$';
}

/* A class name without the package of Cassandra's classes; empty: there is no name. */
static struct bytes take_name(struct parser *parser)
{
    const struct bytes package = bytes_text(MARSHAL_PACKAGE);

    skip_blanks(parser);
    struct bytes name = bytes_of(parser->text.data + parser->at, 0);
    while (parser->at < parser->text.size && is_name_byte(parser->text.data[parser->at])) {
        parser->at++;
        name.size++;
    }
    if (name.size > package.size && bytes_equal(bytes_of(name.data, package.size), package))
        name = bytes_of(name.data + package.size, name.size - package.size);
    return name;
}

static int refuse(struct parser *parser, const char *why, struct bytes what)
{
    int shown = what.size > 200 ? 200 : (int)what.size;

    return error_set(parser->err, ERROR_INVALID, "'%.*s' %s", shown, (const char *)what.data, why);
}

static int take_closing(struct parser *parser)
{
    return take(parser, ')')
               ? 0
               : refuse(parser, "has no closing parenthesis where it needs one", parser->text);
}

static const char *simple_type(const struct parser *parser, struct bytes name)
{
    if (bytes_equal(name, bytes_text("BytesType")))
        return parser->bytes_as;
    for (size_t i = 0; i < sizeof(simple_types) / sizeof(simple_types[0]); i++)
        if (bytes_equal(name, bytes_text(simple_types[i].name)))
            return simple_types[i].cql;
    return NULL;
}

static int put_type(struct parser *parser, unsigned depth, struct buffer *cql);

static int put_arguments(struct parser *parser, uint32_t count, unsigned depth, struct buffer *cql)
{
    int rc = 0;

    for (uint32_t i = 0; i < count && rc == 0; i++) {
        if (!take(parser, i == 0 ? '(' : ','))
            return refuse(parser, "has too few types in parentheses", parser->text);
        buffer_append_text(cql, i == 0 ? "<" : ", ");
        rc = put_type(parser, depth + 1, cql);
    }
    buffer_append_text(cql, ">");
    return rc == 0 ? take_closing(parser) : rc;
}

static int put_type(struct parser *parser, unsigned depth, struct buffer *cql)
{
    struct bytes name = take_name(parser);
    const char *simple = simple_type(parser, name);

    if (depth > TYPE_DEPTH_MAX)
        return refuse(parser, "has types too deep within types", parser->text);
    if (name.size == 0)
        return refuse(parser, "is no type", parser->text);
    for (size_t i = 0; i < sizeof(other_orders) / sizeof(other_orders[0]); i++)
        if (bytes_equal(name, bytes_text(other_orders[i])))
            parser->marshal->other_order = other_orders[i];
    if (simple != NULL) {
        buffer_append_text(cql, simple);
        return 0;
    }
    for (size_t i = 0; i < sizeof(outer_types) / sizeof(outer_types[0]); i++) {
        if (bytes_equal(name, bytes_text(outer_types[i].name))) {
            buffer_append_text(cql, outer_types[i].cql);
            return put_arguments(parser, outer_types[i].count, depth, cql);
        }
    }
    return refuse(parser, "is no type that CQL has: no column would sort as its class does", name);
}

/* `(reversed=...)` may follow any class in cassandra-cli. */
static int take_reversed(struct parser *parser, bool *descending)
{
    if (!take(parser, '('))
        return 0;
    if (!bytes_equal(take_name(parser), bytes_text("reversed")) || !take(parser, '='))
        return refuse(parser, "has an argument other than reversed=true", parser->text);
    struct bytes value = take_name(parser);
    bool is_true = bytes_equal(value, bytes_text("true"));
    if (!is_true && !bytes_equal(value, bytes_text("false")))
        return refuse(parser, "is neither true nor false", value);
    if (is_true)
        *descending = !*descending;
    return take_closing(parser);
}

static int add_part(struct parser *parser)
{
    struct marshal *marshal = parser->marshal;
    struct buffer cql = {.arena = parser->arena};
    bool descending = false;

    if (marshal->count == SCHEMA_CLUSTERING_MAX)
        return refuse(parser, "has too many parts", parser->text);
    size_t start = parser->at;
    if (bytes_equal(take_name(parser), bytes_text("ReversedType")) && take(parser, '('))
        descending = true;
    else
        parser->at = start;
    bool is_wrapped = descending;
    int rc = put_type(parser, 1, &cql);
    rc = rc == 0 ? take_reversed(parser, &descending) : rc;
    if (rc == 0 && is_wrapped)
        rc = take_closing(parser);
    if (rc == 0) {
        buffer_put_u8(&cql, '\0');
        marshal->parts[marshal->count++] =
            (struct marshal_part){(const char *)cql.data, descending};
    }
    return rc;
}

static int add_composite(struct parser *parser)
{
    int rc = 0;

    parser->marshal->is_composite = true;
    if (!take(parser, '('))
        return refuse(parser, "does not say of what", parser->text);
    do {
        rc = add_part(parser);
    } while (rc == 0 && take(parser, ','));
    return rc == 0 ? take_closing(parser) : rc;
}

int marshal_parse(struct bytes text, const char *bytes_as, struct arena *arena,
                  struct marshal *marshal_out, struct error *err)
{
    struct parser parser = {
        .text = text, .bytes_as = bytes_as, .arena = arena, .marshal = marshal_out, .err = err};

    *marshal_out = (struct marshal){0};
    bool is_composite = bytes_equal(take_name(&parser), bytes_text("CompositeType"));
    if (!is_composite)
        parser.at = 0;
    int rc = is_composite ? add_composite(&parser) : add_part(&parser);
    skip_blanks(&parser);
    if (rc == 0 && parser.at < text.size)
        rc = refuse(&parser, "goes on after its end", text);
    return rc;
}
