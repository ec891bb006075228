/* cql_accumulator: computes an aggregate of a SELECT over the rows of a group.
 *
 * Its specification is tests/cql/cassandra/read_aggregate.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_ACCUMULATOR_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_ACCUMULATOR_H

#include "query/cql/expression/cql_expression.h"
#include "storage/engine/store.h"

struct cql_accumulator;
struct cql_accumulator *cql_accumulator_new(const struct cql_aggregate *aggregate,
                                            struct arena *arena);
/* Add the value of a row.  CQL_NULL changes only count(*); an empty value changes no sum and no
 * average.  ERROR_INVALID with the fault: the value or the sum has over 256 bits. */
int cql_accumulator_add(struct cql_accumulator *accumulator, struct bytes value,
                        struct cql_fault *fault);
/* Add a whole partition by its statistics.  The aggregate must be count(*), or count or sum of the
 * column that the statistics sum. */
int cql_accumulator_add_stats(struct cql_accumulator *accumulator,
                              const struct partition_stats *stats, struct cql_fault *fault);
/* Set `*value_out` to the result, in `arena`, and empty the accumulator. */
void cql_accumulator_result(struct cql_accumulator *accumulator, struct arena *arena,
                            struct bytes *value_out);
#endif
