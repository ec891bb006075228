/* Makes the nodes of the tree.
 *
 * The depth of terms and types is limited, because the functions that walk the tree recurse.  A
 * chain of additions also becomes a deep tree.
 *
 * Built-in types are not keywords: `int` means the type only where a type may stand.  count(*),
 * cast(x as t), writetime(c) and ttl(c) have the form of functions, and are recognized by their
 * names. */
#include "query/cql/syntax/cql_build.h"

#include "query/cql/syntax/cql_grammar.h"
#include "storage/schema/type.h"

void *cql_build_new(struct cql_builder *builder, size_t size)
{
    return arena_alloc_zeroed(builder->arena, size, _Alignof(max_align_t));
}

struct cql_name *cql_build_name(struct cql_builder *builder, struct cql_token token)
{
    return CQL_BUILD_NEW(builder, cql_name, .text = token.text);
}

static bool token_is(struct cql_token token, const char *word)
{
    return token.kind != CQL_TOKEN_QUOTED_NAME && bytes_equal(token.text, bytes_text(word));
}

static uint32_t check_depth(struct cql_builder *builder, uint32_t depth)
{
    if (depth > builder->depth_max)
        cql_build_fail(builder, ERROR_LIMIT, "a statement nested more than %u deep",
                       builder->depth_max);
    return depth;
}

/* ---- types ---- */

static struct cql_type *type_new(struct cql_builder *builder, struct cql_token token)
{
    return CQL_BUILD_NEW(builder, cql_type, .kind = CQL_TYPE_USER, .name.name = token.text,
                         .depth = 1);
}

static bool is_native_type(struct cql_token token)
{
    return token.kind != CQL_TOKEN_QUOTED_NAME && type_builtin_named(token.text) != NULL;
}

struct cql_type *cql_build_type_named(struct cql_builder *builder, struct cql_token token)
{
    struct cql_type *type = type_new(builder, token);

    if (is_native_type(token)) {
        type->kind = CQL_TYPE_NATIVE;
        if (token_is(token, "varchar"))
            type->name.name = bytes_text("text");
    }
    return type;
}

struct cql_type *cql_build_type_qualified(struct cql_builder *builder, struct cql_token keyspace,
                                          struct cql_token name)
{
    struct cql_type *type = type_new(builder, name);

    type->name.keyspace = keyspace.text;
    return type;
}

static const struct generic_type {
    const char *name;
    enum cql_type_kind kind;
    uint32_t count; /* of arguments; 0: any number */
} generic_types[] = {
    {"list", CQL_TYPE_LIST, 1},   {"set", CQL_TYPE_SET, 1},       {"map", CQL_TYPE_MAP, 2},
    {"tuple", CQL_TYPE_TUPLE, 0}, {"frozen", CQL_TYPE_FROZEN, 1}, {"vector", CQL_TYPE_VECTOR, 1},
};

struct cql_type *cql_build_type_generic(struct cql_builder *builder, struct cql_token name,
                                        struct cql_type_list arguments,
                                        const struct cql_token *dimension)
{
    struct cql_type *type = type_new(builder, name);
    const struct generic_type *generic = NULL;

    for (size_t i = 0; i < sizeof generic_types / sizeof generic_types[0]; i++)
        if (token_is(name, generic_types[i].name))
            generic = &generic_types[i];
    if (generic == NULL || (generic->count != 0 && generic->count != arguments.count) ||
        (generic->kind == CQL_TYPE_VECTOR) != (dimension != NULL)) {
        cql_build_fail_token(builder, &name, -1);
        return type;
    }
    type->kind = generic->kind;
    type->name.name = (struct bytes){0};
    type->arguments = arguments.first;
    for (const struct cql_type *of = arguments.first; of != NULL; of = of->next)
        if (type->depth <= of->depth)
            type->depth = of->depth + 1;
    check_depth(builder, type->depth);
    if (dimension != NULL)
        type->dimension = dimension->text;
    return type;
}

/* ---- terms ---- */

static void term_contain(struct cql_builder *builder, struct cql_term *term,
                         const struct cql_term *inner)
{
    if (inner != NULL && term->depth <= inner->depth)
        term->depth = check_depth(builder, inner->depth + 1);
}

struct cql_term *cql_build_literal(struct cql_builder *builder, enum cql_term_kind kind,
                                   struct cql_token token)
{
    return CQL_BUILD_NEW(builder, cql_term, .kind = kind, .text = token.text, .depth = 1);
}

struct cql_term *cql_build_named_float(struct cql_builder *builder, struct cql_token token)
{
    struct cql_term *term = cql_build_literal(builder, CQL_TERM_FLOAT, token);

    if (token.kind == CQL_TOKEN_NAN)
        term->text = bytes_text("NaN");
    else
        term->text = bytes_text(token.text.data[0] == '-' ? "-Infinity" : "Infinity");
    return term;
}

struct cql_term *cql_build_marker(struct cql_builder *builder, struct bytes name)
{
    struct cql_term *term = CQL_BUILD_NEW(builder, cql_term, .kind = CQL_TERM_MARKER, .text = name,
                                          .marker = builder->markers.count, .depth = 1);

    CQL_LIST_APPEND(&builder->markers, CQL_BUILD_NEW(builder, cql_name, .text = name));
    return term;
}

struct cql_term *cql_build_elements(struct cql_builder *builder, enum cql_term_kind kind,
                                    struct cql_term_list elements)
{
    struct cql_term *term =
        CQL_BUILD_NEW(builder, cql_term, .kind = kind, .arguments = elements.first,
                      .argument_count = elements.count, .depth = 1);

    for (const struct cql_term *of = elements.first; of != NULL; of = of->next)
        term_contain(builder, term, of);
    return term;
}

struct cql_term *cql_build_single(struct cql_builder *builder, struct cql_term *only)
{
    struct cql_term_list list = {0};

    CQL_LIST_APPEND(&list, only);
    return cql_build_elements(builder, CQL_TERM_TUPLE, list);
}

struct cql_term *cql_build_pairs(struct cql_builder *builder, struct cql_term_list pairs)
{
    enum cql_term_kind kind = CQL_TERM_UDT;

    for (const struct cql_term *key = pairs.first; key != NULL; key = key->next->next)
        if (key->kind != CQL_TERM_NAME)
            kind = CQL_TERM_MAP;
    return cql_build_elements(builder, kind, pairs);
}

struct cql_term *cql_build_operation(struct cql_builder *builder, struct cql_token operation,
                                     struct cql_term *left, struct cql_term *right)
{
    struct cql_term_list sides;

    CQL_LIST_START(&sides, left);
    CQL_LIST_APPEND(&sides, right);
    struct cql_term *term = cql_build_elements(builder, CQL_TERM_OPERATION, sides);
    term->operation = (char)operation.text.data[0];
    return term;
}

struct cql_term *cql_build_around(struct cql_builder *builder, enum cql_term_kind kind,
                                  struct cql_term *of)
{
    struct cql_term *term = CQL_BUILD_NEW(builder, cql_term, .kind = kind, .of = of, .depth = 1);

    term_contain(builder, term, of);
    return term;
}

struct cql_term *cql_build_field(struct cql_builder *builder, struct cql_token column,
                                 struct cql_token field)
{
    struct cql_term *of = cql_build_literal(builder, CQL_TERM_NAME, column);
    struct cql_term *term = cql_build_around(builder, CQL_TERM_FIELD, of);

    term->text = field.text;
    return term;
}

struct cql_term *cql_build_subscript(struct cql_builder *builder, enum cql_term_kind kind,
                                     struct cql_term *of, struct cql_term *from,
                                     struct cql_term *until)
{
    struct cql_term *term = cql_build_around(builder, kind, of);

    term->from = from;
    term->until = until;
    term_contain(builder, term, from);
    term_contain(builder, term, until);
    return term;
}

struct cql_term *cql_build_hint(struct cql_builder *builder, struct cql_type *type,
                                struct cql_term *of)
{
    struct cql_term *term = cql_build_around(builder, CQL_TERM_HINT, of);

    term->type = type;
    return term;
}

static bool term_is_column(const struct cql_term *term)
{
    while (term->kind == CQL_TERM_FIELD || term->kind == CQL_TERM_ELEMENT ||
           term->kind == CQL_TERM_SLICE)
        term = term->of;
    return term->kind == CQL_TERM_NAME;
}

/* writetime(c), maxwritetime(c) and ttl(c) take a cell and not its value, so they are not
 * functions.  Returns NULL for any other name. */
static struct cql_term *build_cell_function(struct cql_builder *builder, struct cql_token name,
                                            struct cql_term_list arguments)
{
    static const struct {
        const char *name;
        enum cql_term_kind kind;
    } functions[] = {
        {"writetime", CQL_TERM_WRITETIME},
        {"maxwritetime", CQL_TERM_MAXWRITETIME},
        {"ttl", CQL_TERM_TTL},
    };

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (!token_is(name, functions[i].name))
            continue;
        if (arguments.count != 1 || !term_is_column(arguments.first))
            cql_build_fail_token(builder, &name, -1);
        return cql_build_around(builder, functions[i].kind, arguments.first);
    }
    return NULL;
}

struct cql_term *cql_build_function(struct cql_builder *builder, const struct cql_token *keyspace,
                                    struct cql_token name, struct cql_term_list arguments,
                                    bool in_selector)
{
    struct cql_term *term = NULL;

    if (in_selector && keyspace == NULL && arguments.count > 0)
        term = build_cell_function(builder, name, arguments);
    if (term != NULL)
        return term;
    term = cql_build_elements(builder, CQL_TERM_FUNCTION, arguments);
    term->text = name.text;
    if (keyspace != NULL)
        term->keyspace = keyspace->text;
    return term;
}

struct cql_term *cql_build_count_rows(struct cql_builder *builder, struct cql_token name)
{
    if (!token_is(name, "count"))
        cql_build_fail_token(builder, &name, -1);
    return CQL_BUILD_NEW(builder, cql_term, .kind = CQL_TERM_COUNT_ROWS, .depth = 1);
}

struct cql_term *cql_build_cast(struct cql_builder *builder, struct cql_token name,
                                struct cql_term *of, struct cql_type *type)
{
    struct cql_term *term = cql_build_around(builder, CQL_TERM_CAST, of);

    if (!token_is(name, "cast") || type->kind != CQL_TYPE_NATIVE)
        cql_build_fail_token(builder, &name, -1);
    term->type = type;
    return term;
}

/* ---- relations ---- */

struct cql_relation *cql_build_comparison(struct cql_builder *builder, enum cql_operator operator,
                                          struct cql_term * values, uint32_t count)
{
    return CQL_BUILD_NEW(builder, cql_relation, .operator= operator, .values = values,
                         .value_count = count);
}

struct cql_relation *cql_build_in_marker(struct cql_builder *builder, enum cql_operator operator,
                                         struct cql_term * marker)
{
    struct cql_relation *relation = cql_build_comparison(builder, operator, marker, 1);

    relation->in_marker = true;
    return relation;
}

struct cql_relation *cql_build_between(struct cql_builder *builder, struct cql_term *from,
                                       struct cql_term *until)
{
    from->next = until;
    return cql_build_comparison(builder, CQL_BETWEEN, from, 2);
}

struct cql_relation *cql_build_relation(struct cql_relation *relation, enum cql_relation_kind kind,
                                        struct cql_name_list columns)
{
    relation->kind = kind;
    relation->columns = columns.first;
    relation->column_count = columns.count;
    return relation;
}

struct cql_relation *cql_build_column_relation(struct cql_builder *builder,
                                               struct cql_relation *relation,
                                               struct cql_token column)
{
    struct cql_name_list only;

    CQL_LIST_START(&only, cql_build_name(builder, column));
    return cql_build_relation(relation, CQL_RELATION_COLUMN, only);
}

/* ---- writes ---- */

struct cql_assignment *cql_build_assignment(struct cql_builder *builder,
                                            enum cql_assignment_kind kind, struct cql_token column,
                                            struct cql_term *value)
{
    return CQL_BUILD_NEW(builder, cql_assignment, .kind = kind, .column = column.text,
                         .value = value);
}

void cql_build_check_same(struct cql_builder *builder, struct cql_token column,
                          struct cql_token other, const char *form)
{
    if (!bytes_equal(column.text, other.text))
        cql_build_fail(builder, ERROR_INVALID, "Only expressions of the form X = %s are supported.",
                       form);
}

/* ---- statements and definitions ---- */

void cql_build_join_parts(struct cql_table_parts *parts, struct cql_table_parts more)
{
    if (more.columns.first != NULL)
        CQL_LIST_APPEND(&parts->columns, more.columns.first);
    more.key.count += parts->key.count;
    if (more.key.partition == NULL) {
        more.key.partition = parts->key.partition;
        more.key.clustering = parts->key.clustering;
    }
    parts->key = more.key;
}

void cql_build_join_options(struct cql_table_options *options, struct cql_table_options more)
{
    if (more.properties.first != NULL)
        CQL_LIST_APPEND(&options->properties, more.properties.first);
    if (more.clustering_order.first != NULL)
        options->clustering_order = more.clustering_order;
    options->compact_storage |= more.compact_storage;
}

struct cql_term *cql_build_word(struct cql_builder *builder, struct cql_token token)
{
    if (token.kind == CQL_TOKEN_QUOTED_NAME ||
        (token.kind == CQL_TOKEN_NAME && !is_native_type(token)))
        cql_build_fail_token(builder, &token, -1);
    return cql_build_literal(builder, CQL_TERM_NAME, token);
}

void cql_build_finish(struct cql_builder *builder, struct cql_statement *statement)
{
    struct bytes *names = cql_build_new(builder, builder->markers.count * sizeof *names);
    uint32_t count = 0;

    for (const struct cql_name *marker = builder->markers.first; marker != NULL;
         marker = marker->next)
        names[count++] = marker->text;
    statement->marker_names = names;
    statement->marker_count = count;
    builder->statement = statement;
}
