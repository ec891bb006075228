/* cql_tables: the definitions of the built-in tables of query/cql.
 *
 * Table and column numbers are written to disk and never change.
 *
 * tests/unit/test_cql_idempotency.c specifies the table. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_TABLES_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_TABLES_H

#include "storage/schema/schema.h"

enum cql_table {
    TABLE_REQUEST = 24                 /* recent writes that had an id */
};

enum request_column {
    REQUEST_ID = 1,
    REQUEST_CONTENT = 2,               /* 16 bytes: the hash of statements and values */
    REQUEST_ANSWER = 3                 /* of a conditional write (cql_idempotency.c) */
};

const struct table_definition *const *cql_tables(uint32_t *count_out);
#endif
