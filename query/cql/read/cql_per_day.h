/* cql_per_day: the rows of clicks_per_reseller_per_day, which is no table of its own: they are made
 * from the figures.
 *
 * Its specification is tests/cql/daybook.cql. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_PER_DAY_H
#define DAYBOOK_QUERY_CQL_READ_CQL_PER_DAY_H

#include "query/cql/common/cql_private.h"

/* In (token, key) order and in the execution's arena.  `ready` is called once, possibly at once,
 * with 0 or a status whose fault is filled. */
void cql_per_day_rows(struct cql_execution *execution,
                      void (*ready)(void *context, int status, const struct page_row *rows,
                                    uint32_t count),
                      void *context);
#endif
