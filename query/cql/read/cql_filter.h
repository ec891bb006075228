/* cql_filter: decides whether a row fulfils a relation of a WHERE, or a condition after IF.
 *
 * Its specification is tests/cql/cassandra/read_restrictions.cql and
 * tests/cql/cassandra/write_conditions.cql. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_FILTER_H
#define DAYBOOK_QUERY_CQL_READ_CQL_FILTER_H

#include "query/cql/read/cql_restrict.h"

/* Compute the values of a restriction.  ERROR_INVALID with the fault: a value is unset or null.
 * With `allows_null` a null is refused only as the k of column[k] and as the whole list after IN;
 * an unset value is always refused. */
int cql_filter_bind(const struct cql_restriction *restriction, const struct cql_context *context,
                    bool allows_null, struct cql_filter *filter_out);
bool cql_filter_matches(const struct cql_filter *filter, const struct cql_row *row,
                        struct arena *arena);
#endif
