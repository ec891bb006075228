/* cql_filter: decides whether a row fulfils a relation of a WHERE, or a condition after IF.
 *
 * Its specification is tests/cql/cassandra/read_restrictions.cql and
 * tests/cql/cassandra/write_conditions.cql. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_FILTER_H
#define DAYBOOK_QUERY_CQL_READ_CQL_FILTER_H

#include "query/cql/read/cql_restrict.h"

/* Evaluate the values of one restriction.  ERROR_INVALID and a fault: a value is unset; the key of
 * c[key] or a list after IN is null; or another value is null although `allows_null` is
 * false.  Conditions after IF allow null. */
int cql_filter_bind(const struct cql_restriction *restriction, const struct cql_context *context,
                    bool allows_null, struct cql_filter *filter_out);
/* Whether the row fulfils the filter's relation. */
bool cql_filter_matches(const struct cql_filter *filter, const struct cql_row *row,
                        struct arena *arena);
#endif
