/* cql_compiled: a statement whose names and types are resolved, with its plan.
 *
 * A prepared statement keeps its plan until the schema changes.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_COMPILED_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_COMPILED_H

#include "query/cql/common/cql_private.h"

struct cql_select_plan;
struct cql_write_plan;
struct cql_batch_plan;

struct cql_compiled {
    uint32_t references;
    struct arena *arena;
    bool is_kept;                        /* the arena is freed with this struct */
    struct schema *schema;               /* referenced */
    const struct cql_statement *statement;
    const char *keyspace;                /* at compile time; "": none */
    uint64_t hash;                       /* of keyspace and text */
    struct bytes request_id;             /* from a comment of the text (cql_idempotency.h); empty:
                                          * none */
    struct cql_column *markers;
    uint32_t marker_count;
    uint8_t bind_id[CQL_ID_SIZE];        /* of the markers, if prepared */
    uint8_t result_id[CQL_ID_SIZE];      /* of the result columns, if prepared or a SELECT */
    union {
        struct cql_select_plan *select;
        struct cql_write_plan *write;
        struct cql_batch_plan *batch;
    };
};

struct cql_compiled *cql_compiled_ref(struct cql_compiled *compiled);
void cql_compiled_unref(struct cql_compiled *compiled);
#endif
