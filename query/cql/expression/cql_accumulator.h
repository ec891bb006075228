/* cql_accumulator: what an aggregate of a SELECT has taken in of a group's rows.
 *
 * Its specification is tests/cql/cassandra/read_aggregate.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_ACCUMULATOR_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_ACCUMULATOR_H

#include "query/cql/expression/cql_expression.h"
#include "storage/engine/store.h"

struct cql_accumulator;
struct cql_accumulator *cql_accumulator_new(const struct cql_aggregate *aggregate,
                                            struct arena *arena);
/* A row's value; CQL_NULL counts for count(*) only. */
int cql_accumulator_add(struct cql_accumulator *accumulator, struct bytes value,
                        struct cql_fault *fault);
/* What the store's stats of a partition say: its rows, how many have a value, and their exact sum.
 * For count(*), count and sum of the column that the stats are of. */
int cql_accumulator_add_stats(struct cql_accumulator *accumulator,
                              const struct partition_stats *stats, struct cql_fault *fault);
/* The result in `arena`, and back to nothing. */
void cql_accumulator_result(struct cql_accumulator *accumulator, struct arena *arena,
                            struct bytes *value_out);
#endif
