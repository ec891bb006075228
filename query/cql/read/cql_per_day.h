/* cql_per_day: makes the rows of the table clicks_per_reseller_per_day from the days' figures.  The
 * table itself is not stored.
 *
 * Its specification is tests/cql/daybook.cql. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_PER_DAY_H
#define DAYBOOK_QUERY_CQL_READ_CQL_PER_DAY_H

#include "query/cql/common/cql_private.h"

/* Make the rows, in (token, key) order and in the execution's arena.  `ready` is called once,
 * possibly before this returns, with 0, or with a negative status and the execution's fault
 * filled. */
void cql_per_day_rows(struct cql_execution *execution,
                      void (*ready)(void *context, int status, const struct page_row *rows,
                                    uint32_t count),
                      void *context);
#endif
