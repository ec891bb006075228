/* cql_condition: checks whether the conditions after IF hold for the rows that were read.
 *
 * All conditions of a batch are checked against the partition as it was before the batch.
 *
 * Its specification is tests/cql/conditions.cql and tests/cql/cassandra/write_conditions.cql. */
#ifndef DAYBOOK_QUERY_CQL_WRITE_CQL_CONDITION_H
#define DAYBOOK_QUERY_CQL_WRITE_CQL_CONDITION_H

#include "query/cql/write/cql_write.h"

/* Compute the values of the conditions.  Refuses unset values, null with an operator such as <, and
 * null keys of elements. */
int cql_condition_bind(struct cql_execution *execution, const struct cql_context *context,
                       struct cql_write_statement *statement);

/* Refuse conditions on several tables or partitions, conditions of different kinds on one row (the
 * kinds are IF EXISTS, IF NOT EXISTS and IF c = 1), and IN on clustering columns.  `count` is not
 * 0, and the statements must be bound. */
int cql_condition_check_batch(struct cql_execution *execution,
                              const struct cql_write_statement *statements, uint32_t count);

/* Whether the statement has a condition on the static row, or if `static_row` is false, on its own
 * row. */
bool cql_condition_is_of(const struct cql_write_plan *plan, bool static_row);

/* Whether the answer to failed conditions shows the partition's first row: if there are conditions,
 * and all of them are on the static row. */
bool cql_condition_shows_first(const struct cql_write_statement *statements, uint32_t count);

/* Whether all conditions hold for the rows that were read; true if there are no conditions. */
bool cql_condition_holds(const struct cql_write_statement *statement, struct arena *arena);
#endif
