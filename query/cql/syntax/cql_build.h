/* cql_build: the functions by which the actions of the grammar make the tree.
 *
 * cql_build_check.c refuses what the grammar allows but CQL does not, such as a column set twice.
 * The first error stops the parser.
 *
 * Its specification is tests/unit/test_cql_parse.c. */
#ifndef DAYBOOK_QUERY_CQL_SYNTAX_CQL_BUILD_H
#define DAYBOOK_QUERY_CQL_SYNTAX_CQL_BUILD_H

#include "base/arena.h"
#include "query/cql/syntax/cql_ast.h"
#include "query/cql/syntax/cql_lexer.h"

/* A list of nodes that are linked by `next`. */
#define CQL_LIST(item)                                                                             \
    struct item##_list {                                                                           \
        struct item *first;                                                                        \
        struct item *last;                                                                         \
        uint32_t count;                                                                            \
    }

/* Both macros evaluate `item` once. */
#define CQL_LIST_START(list, item)                                                                 \
    do {                                                                                           \
        (list)->first = (list)->last = (item);                                                     \
        (list)->count = 1;                                                                         \
    } while (0)

#define CQL_LIST_APPEND(list, item)                                                                \
    do {                                                                                           \
        if ((list)->last == NULL)                                                                  \
            (list)->last = (list)->first = (item);                                                 \
        else                                                                                       \
            (list)->last = (list)->last->next = (item);                                            \
        (list)->count++;                                                                           \
    } while (0)

CQL_LIST(cql_name);
CQL_LIST(cql_type);
CQL_LIST(cql_term);
CQL_LIST(cql_relation);
CQL_LIST(cql_property);
CQL_LIST(cql_definition);
CQL_LIST(cql_ordering);
CQL_LIST(cql_selector);
CQL_LIST(cql_assignment);
CQL_LIST(cql_deletion);
CQL_LIST(cql_rename);
CQL_LIST(cql_index_target);
CQL_LIST(cql_role_option);
CQL_LIST(cql_statement);

struct cql_builder {
    struct arena *arena;
    struct cql_lexer *lexer;
    uint32_t depth_max;
    struct cql_name_list markers;        /* names of the markers; the name of ? is empty */
    struct cql_statement *statement;
    int failure;                         /* 0, or the code of the first cql_build_fail */
    struct error *err;
};

struct cql_table_parts {
    struct cql_definition_list columns;
    struct cql_primary_key key;
};

struct cql_table_options {
    struct cql_property_list properties;
    struct cql_ordering_list clustering_order;
    bool compact_storage;
};

/* The memory is zeroed. */
void *cql_build_new(struct cql_builder *builder, size_t size);
#define CQL_BUILD_NEW(builder, node, ...)                                                          \
    ((struct node *)arena_copy_item((builder)->arena, &(struct node){__VA_ARGS__},                 \
                                    sizeof(struct node)))

/* Set the error of the statement; later calls change nothing. */
void cql_build_fail(struct cql_builder *builder, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fail with Cassandra's error for `token`, which is the lexer's last token or one shortly before.
 * `expected` is the only kind of token that would fit, or negative if several kinds would. */
void cql_build_fail_token(struct cql_builder *builder, const struct cql_token *token,
                          int expected);

struct cql_name *cql_build_name(struct cql_builder *builder, struct cql_token token);

/* ---- types ---- */

struct cql_type *cql_build_type_named(struct cql_builder *builder, struct cql_token token);
struct cql_type *cql_build_type_qualified(struct cql_builder *builder, struct cql_token keyspace,
                                          struct cql_token name);
/* name<arguments>; `dimension` is a vector's, or NULL. */
struct cql_type *cql_build_type_generic(struct cql_builder *builder, struct cql_token name,
                                        struct cql_type_list arguments,
                                        const struct cql_token *dimension);

/* ---- terms ---- */

struct cql_term *cql_build_literal(struct cql_builder *builder, enum cql_term_kind kind,
                                   struct cql_token token);
/* NaN or Infinity in upper or lower case, with or without a minus. */
struct cql_term *cql_build_named_float(struct cql_builder *builder, struct cql_token token);
/* `name` is empty for ?. */
struct cql_term *cql_build_marker(struct cql_builder *builder, struct bytes name);
struct cql_term *cql_build_elements(struct cql_builder *builder, enum cql_term_kind kind,
                                    struct cql_term_list elements);
struct cql_term *cql_build_operation(struct cql_builder *builder, struct cql_token operation,
                                     struct cql_term *left, struct cql_term *right);
struct cql_term *cql_build_around(struct cql_builder *builder, enum cql_term_kind kind,
                                  struct cql_term *of);
struct cql_term *cql_build_field(struct cql_builder *builder, struct cql_token column,
                                 struct cql_token field);
struct cql_term *cql_build_subscript(struct cql_builder *builder, enum cql_term_kind kind,
                                     struct cql_term *of, struct cql_term *from,
                                     struct cql_term *until);
struct cql_term *cql_build_hint(struct cql_builder *builder, struct cql_type *type,
                                struct cql_term *of);
struct cql_term *cql_build_single(struct cql_builder *builder, struct cql_term *only);
/* {key: value} in a selector: a UDT if all keys are names, otherwise a map. */
struct cql_term *cql_build_pairs(struct cql_builder *builder, struct cql_term_list pairs);
/* `keyspace` may be NULL.  In a selector writetime, maxwritetime and ttl get their own kinds. */
struct cql_term *cql_build_function(struct cql_builder *builder, const struct cql_token *keyspace,
                                    struct cql_token name, struct cql_term_list arguments,
                                    bool in_selector);
struct cql_term *cql_build_count_rows(struct cql_builder *builder, struct cql_token name);
struct cql_term *cql_build_cast(struct cql_builder *builder, struct cql_token name,
                                struct cql_term *of, struct cql_type *type);

/* ---- parts of statements ---- */


/* Make a relation without its left side. */
struct cql_relation *cql_build_comparison(struct cql_builder *builder, enum cql_operator operator,
                                          struct cql_term *values, uint32_t count);
struct cql_relation *cql_build_in_marker(struct cql_builder *builder, enum cql_operator operator,
                                         struct cql_term *marker);
struct cql_relation *cql_build_between(struct cql_builder *builder, struct cql_term *from,
                                       struct cql_term *until);
/* Set the relation's left side. */
struct cql_relation *cql_build_relation(struct cql_relation *relation, enum cql_relation_kind kind,
                                        struct cql_name_list columns);
struct cql_relation *cql_build_column_relation(struct cql_builder *builder,
                                               struct cql_relation *relation,
                                               struct cql_token column);

struct cql_assignment *cql_build_assignment(struct cql_builder *builder,
                                            enum cql_assignment_kind kind, struct cql_token column,
                                            struct cql_term *value);
/* Fail unless `column` and `other` are the same column. */
void cql_build_check_same(struct cql_builder *builder, struct cql_token column,
                          struct cql_token other, const char *form);
/* Fail if a column that is assigned as a whole is assigned again, or a field is assigned twice. */
void cql_build_check_assignments(struct cql_builder *builder, struct cql_assignment_list list);

/* A bare word as a value: as in Cassandra, it must be an unreserved keyword or a built-in type. */
struct cql_term *cql_build_word(struct cql_builder *builder, struct cql_token token);
/* Fail if a key or a value is not a literal, or if a key is repeated. */
void cql_build_check_map(struct cql_builder *builder, const struct cql_term *map);
void cql_build_check_properties(struct cql_builder *builder, struct cql_property_list list);

void cql_build_join_parts(struct cql_table_parts *parts, struct cql_table_parts more);
void cql_build_join_options(struct cql_table_options *options, struct cql_table_options more);
/* Fail for COMPACT STORAGE, which no materialized view may have, and for repeated properties. */
void cql_build_check_view(struct cql_builder *builder, struct cql_table_options options);
/* Fail if the name, written without quotes, is reserved or names a built-in type. */
void cql_build_check_type_name(struct cql_builder *builder, struct cql_token name);

void cql_build_check_role(struct cql_builder *builder, struct cql_role_option_list list);
void cql_build_check_user(struct cql_builder *builder, struct cql_token name);

void cql_build_finish(struct cql_builder *builder, struct cql_statement *statement);

/* Returns 0, or the error's code; its text is in `builder->err`. */
must_check int cql_grammar_run(struct cql_builder *builder, uint32_t tokens_max);
#endif
