/* cql_condition: IF of a statement, with its values, and asked of what was read.
 *
 * Conditions of a batch are all asked of the partition as it was before the batch.
 *
 * Its specification is tests/cql/conditions.cql and tests/cql/cassandra/write_conditions.cql. */
#ifndef DAYBOOK_QUERY_CQL_WRITE_CQL_CONDITION_H
#define DAYBOOK_QUERY_CQL_WRITE_CQL_CONDITION_H

#include "query/cql/write/cql_write.h"

/* Fills the statement's conditions; refuses values that nothing can be compared with. */
int cql_condition_bind(struct cql_execution *execution, const struct cql_context *context,
                       struct cql_write_statement *statement);

/* What a batch with conditions may not hold: more than a partition, or two sorts of conditions of
 * one row.  The statements are bound. */
int cql_condition_check_batch(struct cql_execution *execution,
                              const struct cql_write_statement *statements, uint32_t count);

/* Whether a condition is of the static row, or of the statement's own. */
bool cql_condition_is_of(const struct cql_write_plan *plan, bool static_row);

/* Whether every condition of the statements is of the static row: then what a refusal shows is the
 * partition's first row, which is read for it. */
bool cql_condition_shows_first(const struct cql_write_statement *statements, uint32_t count);

/* True where there is none. */
bool cql_condition_holds(const struct cql_write_statement *statement, struct arena *arena);
#endif
