/* cql_number: a number of any numeric CQL type, in a form for computing.
 *
 * Integers wrap as in Java; decimals and varints are exact within 256 bits.
 *
 * Its specification is tests/cql/cassandra/function_number.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_NUMBER_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_NUMBER_H

#include "base/decimal.h"
#include "query/cql/common/cql_private.h"
#include "storage/schema/type.h"

struct cql_number {
    enum type_kind kind;
    int64_t integer;                     /* may be out of the range of `kind` */
    double real;
    struct decimal decimal;
};

bool cql_number_is_integer(enum type_kind kind);
bool cql_number_is_real(enum type_kind kind);
bool cql_number_is(enum type_kind kind);

/* The value must not be empty.  ERROR_LIMIT: the number has over 256 bits. */
must_check int cql_number_read(enum type_kind kind, struct bytes value,
                               struct cql_number *number_out);
/* Serialize the number into `arena`.  An integer out of range wraps. */
struct bytes cql_number_keep(const struct cql_number *number, struct arena *arena);

/* Conversion to an integer or a varint drops the digits after the point.  ERROR_INVALID: NaN or
 * infinity to a decimal or varint.  ERROR_LIMIT: the result has over 256 bits. */
must_check int cql_number_convert(const struct cql_number *from, enum type_kind kind,
                                  struct cql_number *to);
#endif
