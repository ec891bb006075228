/* cql_per_day: makes the rows of clicks_per_reseller_per_day, which is not stored.
 *
 * Its specification is tests/cql/daybook.cql. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_PER_DAY_H
#define DAYBOOK_QUERY_CQL_READ_CQL_PER_DAY_H

#include "query/cql/common/cql_private.h"

/* The rows are in (token, key) order, in the execution's arena.  `ready` is called once, perhaps
 * before this function returns.  `status` is 0, or negative with the execution's fault. */
void cql_per_day_rows(struct cql_execution *execution,
                      void (*ready)(void *context, int status, const struct page_row *rows,
                                    uint32_t count),
                      void *context);
#endif
