/* cql_condition: checks whether the conditions after IF hold for the rows that were read.
 *
 * All conditions of a batch are checked against the partition as it was before the batch.
 *
 * Its specification is tests/cql/conditions.cql and tests/cql/cassandra/write_conditions.cql. */
#ifndef DAYBOOK_QUERY_CQL_WRITE_CQL_CONDITION_H
#define DAYBOOK_QUERY_CQL_WRITE_CQL_CONDITION_H

#include "query/cql/write/cql_write.h"

/* Evaluate the values of the statement's conditions.  A value that cannot be compared is refused:
 * one that is unset, null with an operator such as <, or a null key of an element. */
int cql_condition_bind(struct cql_execution *execution, const struct cql_context *context,
                       struct cql_write_statement *statement);

/* Refuse a batch with conditions that covers several tables or partitions, that has an IN on
 * clustering columns, or that has different sorts of conditions (IF EXISTS, IF NOT EXISTS, values)
 * on one row.  `count` is not 0, and the statements must be bound. */
int cql_condition_check_batch(struct cql_execution *execution,
                              const struct cql_write_statement *statements, uint32_t count);

/* If `static_row`, whether the statement has a condition on the static row; otherwise, whether it
 * has a condition on its own row. */
bool cql_condition_is_of(const struct cql_write_plan *plan, bool static_row);

/* Whether there are conditions and all of them are on the static row.  If so, the answer that says
 * that the conditions do not hold shows the partition's first row, which is read only for it. */
bool cql_condition_shows_first(const struct cql_write_statement *statements, uint32_t count);

/* Whether all conditions of the statement hold for the row that was read; true if the statement has
 * no conditions. */
bool cql_condition_holds(const struct cql_write_statement *statement, struct arena *arena);
#endif
