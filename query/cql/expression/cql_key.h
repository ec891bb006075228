/* cql_key: makes partition keys from clients' values.
 *
 * Its specification is tests/cql/cassandra/read_restrictions.cql and
 * tests/cql/cassandra/write_long.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_KEY_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_KEY_H

#include "query/cql/expression/cql_expression.h"

/* Refuse values if their sizes and `more`, in bytes, together exceed KEY_SIZE_MAX. */
int cql_key_check(struct cql_fault *fault, const struct bytes *values, uint32_t count, size_t more);
/* Set `*key_out` to the partition key of `count` values, or refuse a key that is too long. */
int cql_key_of(uint32_t count, const struct bytes *values, const struct cql_context *context,
               struct bytes *key_out);
#endif
