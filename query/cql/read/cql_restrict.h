/* cql_restrict: finds out from a WHERE which partitions are read, which of their slices, and which
 * relations each row is checked against.
 *
 *   WHERE r = 'x' AND day IN ('1','2') AND time > 5 AND amount = 3 ALLOW FILTERING
 *         └──── two keys ────────────┘ └ a slice ┘ └── a filter ──┘
 *
 * cql_restrict.c resolves the relations, cql_restrict_bind.c gives them values.
 *
 * Its specification is tests/cql/cassandra/read_restrictions.cql. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_RESTRICT_H
#define DAYBOOK_QUERY_CQL_READ_CQL_RESTRICT_H

#include "query/cql/expression/cql_expression.h"
#include "query/cql/index/cql_index.h"

/* A relation, or a condition after IF, whose names and types are known. */
struct cql_restriction {
    const struct cql_relation *relation; /* the relation in the syntax tree */
    enum cql_relation_kind kind;
    enum cql_operator operator;
    const struct column **columns;
    uint32_t column_count;
    struct cql_expression *key;          /* c[key] */
    uint32_t field;                      /* c.field */
    /* Values of `type`; with `in_marker`, one value, which is a list of such values. */
    struct cql_expression **values;
    uint32_t value_count;
    bool in_marker;
    const struct type *type;             /* of one value */
    const char *name;                    /* of the values, for markers and refusals */
    bool is_filter;                      /* each row is checked against it */
    struct cql_restriction *next;
};

/* Whether the relation is = or IN, not a range. */
static inline bool cql_restrict_is_equal(const struct cql_restriction *restriction)
{
    return restriction->operator == CQL_EQ || restriction->operator == CQL_IN;
}

enum cql_restrict_for { CQL_FOR_SELECT, CQL_FOR_UPDATE, CQL_FOR_DELETE };

/* An index and the relation that it answers; without an index rows are read from the table. */
struct cql_index_use {
    const struct cql_index *index;       /* NULL: none */
    struct cql_restriction *indexed;
};

struct cql_restrict_plan {
    const struct table *table;
    struct cql_restriction *all;
    struct cql_restriction **partition;  /* by position: = or IN; NULL: none */
    bool has_keys;                       /* every partition column has = or IN, and none has
                                          * another relation */
    struct cql_restriction *tokens[2];   /* of token(): lower and upper; = is both */
    struct cql_restriction **clustering; /* by position: the relation (=, IN or a range) on the
                                          * clustering column; a relation on a tuple is at the
                                          * position of each of its columns */
    struct cql_restriction **clustering_end;    /* a second relation: the upper bound */
    uint32_t clustering_used;            /* columns that the slices use */
    bool has_clustering;                 /* any relation on a clustering column */
    bool has_static_only;                /* relations on the partition key and statics only */
    bool needs_filtering;
    bool is_multi_key;                   /* IN ?, or IN of several values, on the partition key */
    const struct cql_index *indexes;     /* of the table; NULL: no index was needed */
    uint32_t index_count;
    struct cql_index_use use;            /* the index to read rows by, if there is one */
};

/* Find the index of this kind on the column, if the index answers a relation of the plan. */
struct cql_index_use cql_restrict_use_of(const struct cql_restrict_plan *plan, uint32_t column_id,
                                         enum cql_index_of of);

int cql_restrict_compile(struct cql_scope *scope, const struct table *table,
                         const struct cql_relation *where, enum cql_restrict_for what,
                         bool allow_filtering, struct cql_restrict_plan *plan_out);

/* Refuse the plan because partition or clustering columns (`kind`) have no relation; the refusal
 * names these columns. */
int cql_restrict_refuse_missing(struct cql_scope *scope, const struct cql_restrict_plan *plan,
                                enum column_kind kind);

/* Find the markers that give the columns of the partition key.  Returns the number of columns, or 0
 * if one of the columns has no marker.  With `allows_lists`, a marker in the list of an IN counts
 * too (the last marker of the list); IN ? never counts. */
uint32_t cql_restrict_key_markers(const struct cql_restrict_plan *plan, bool allows_lists,
                                  struct arena *arena, const uint16_t **indexes_out);

/* Resolve one relation of a WHERE, or one condition after IF. */
int cql_restrict_resolve(struct cql_scope *scope, const struct table *table,
                            const struct cql_relation *relation,
                            struct cql_restriction **restriction_out);

/* ---- with values ---- */

/* A restriction with its values evaluated.  The values of IN ? are the elements of the list that
 * the marker stands for.  The values of IN are sorted and each occurs once, except in a relation on
 * a tuple of columns. */
struct cql_filter {
    const struct cql_restriction *restriction;
    struct bytes *values;
    uint32_t value_count;
    struct bytes key;
};

struct cql_restrict_bound {
    struct bytes *keys;                  /* serialized, in the order of the answer */
    uint32_t key_count;
    bool is_scan;
    int64_t token_first;
    int64_t token_last;
    struct bytes index_key;              /* the index's partition key, if rows are read by index */
    struct slice *slices;                /* in clustering order, disjoint */
    uint32_t slice_count;
    struct cql_filter *filters;
    uint32_t filter_count;
};

/* Evaluate the values of the plan.  ERROR_INVALID and a fault: a value is null, unset or otherwise
 * not allowed. */
int cql_restrict_bind(const struct cql_restrict_plan *plan, const struct cql_context *context,
                      struct cql_restrict_bound *bound_out);
/* If rows are read by an index: evaluate the value to look up and set bound->index_key. */
int cql_restrict_bind_index(const struct cql_index_use *use, const struct cql_context *context,
                            struct cql_restrict_bound *bound);
#endif
