/* cql_restrict: finds out from a WHERE which partitions and slices are read, and which relations
 * filter rows.
 *
 *   WHERE r = 'x' AND day IN ('1','2') AND time > 5 AND amount = 3 ALLOW FILTERING
 *         └──── two keys ────────────┘ └ a slice ┘ └── a filter ──┘
 *
 * cql_restrict.c resolves the relations; cql_restrict_bind.c computes keys, slices and filters from
 * bound values.
 *
 * Its specification is tests/cql/cassandra/read_restrictions.cql. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_RESTRICT_H
#define DAYBOOK_QUERY_CQL_READ_CQL_RESTRICT_H

#include "query/cql/expression/cql_expression.h"
#include "query/cql/index/cql_index.h"

/* A relation, or a condition after IF. */
struct cql_restriction {
    const struct cql_relation *relation;
    enum cql_relation_kind kind;
    enum cql_operator operator;
    const struct column **columns;
    uint32_t column_count;
    struct cql_expression *key;          /* c[key] */
    uint32_t field;                      /* c.field */
    /* Values of `type`; with `in_marker`, one list of such values. */
    struct cql_expression **values;
    uint32_t value_count;
    bool in_marker;
    const struct type *type;             /* of a single value */
    const char *name;                    /* for markers and errors */
    bool is_filter;
    struct cql_restriction *next;
};

static inline bool cql_restrict_is_equal(const struct cql_restriction *restriction)
{
    return restriction->operator == CQL_EQ || restriction->operator == CQL_IN;
}

enum cql_restrict_for { CQL_FOR_SELECT, CQL_FOR_UPDATE, CQL_FOR_DELETE };

struct cql_index_use {
    const struct cql_index *index;       /* NULL: rows are read from the table */
    struct cql_restriction *indexed;
};

struct cql_restrict_plan {
    const struct table *table;
    struct cql_restriction *all;
    struct cql_restriction **partition;  /* by position: = or IN; NULL: none */
    bool has_keys;                       /* all partition columns have = or IN only */
    struct cql_restriction *tokens[2];   /* lower and upper bound; = is in both */
    struct cql_restriction **clustering; /* by position: =, IN or a range; a relation on a tuple is
                                          * at each of its columns */
    struct cql_restriction **clustering_end;    /* by position: a second relation, the upper
                                                 * bound */
    uint32_t clustering_used;            /* the first clustering columns, which give slices */
    bool has_clustering;
    bool has_static_only;                /* no clustering or regular column has a relation */
    bool needs_filtering;
    bool is_multi_key;                   /* IN of several values or IN ? on the partition key */
    const struct cql_index *indexes;     /* of the table; NULL: not listed yet */
    uint32_t index_count;
    struct cql_index_use use;
};

/* The use of the column's index of kind `of`; its `index` is NULL if none answers a relation. */
struct cql_index_use cql_restrict_use_of(const struct cql_restrict_plan *plan, uint32_t column_id,
                                         enum cql_index_of of);

int cql_restrict_compile(struct cql_scope *scope, const struct table *table,
                         const struct cql_relation *where, enum cql_restrict_for what,
                         bool allow_filtering, struct cql_restrict_plan *plan_out);

/* Refuse the plan because columns of `kind` have no relation; the error names these columns. */
int cql_restrict_refuse_missing(struct cql_scope *scope, const struct cql_restrict_plan *plan,
                                enum column_kind kind);

/* Find for each partition column the marker of its =, or with `allows_lists` the last marker in the
 * list of its IN; the marker of IN ? never counts.  Returns the number of these columns, or 0 if a
 * column has no such marker. */
uint32_t cql_restrict_key_markers(const struct cql_restrict_plan *plan, bool allows_lists,
                                  struct arena *arena, const uint16_t **indexes_out);

int cql_restrict_resolve(struct cql_scope *scope, const struct table *table,
                            const struct cql_relation *relation,
                            struct cql_restriction **restriction_out);

/* ---- with values ---- */

/* A restriction with its values; the values of IN ? are the elements of the bound list.  Unless the
 * restriction is on a tuple, the values of IN are sorted, and each occurs once. */
struct cql_filter {
    const struct cql_restriction *restriction;
    struct bytes *values;
    uint32_t value_count;
    struct bytes key;
};

struct cql_restrict_bound {
    struct bytes *keys;                  /* in the order of the answer */
    uint32_t key_count;
    bool is_scan;
    int64_t token_first;
    int64_t token_last;
    struct bytes index_key;              /* partition key in the index, if rows are read by an
                                          * index */
    struct slice *slices;                /* in clustering order, disjoint */
    uint32_t slice_count;
    struct cql_filter *filters;
    uint32_t filter_count;
};

/* ERROR_INVALID with the fault: a value is not allowed, such as null or unset. */
int cql_restrict_bind(const struct cql_restrict_plan *plan, const struct cql_context *context,
                      struct cql_restrict_bound *bound_out);
/* Set bound->index_key to the partition key that the wanted value has in the index. */
int cql_restrict_bind_index(const struct cql_index_use *use, const struct cql_context *context,
                            struct cql_restrict_bound *bound);
#endif
