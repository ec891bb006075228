/* cql_by_time: makes the rows of clicks_by_hour and clicks_by_minute, which are not stored.
 *
 * The rows are computed from the clicks, one (reseller, day) at a time (rollup/days/day_times.h).
 *
 * Its specification is tests/cql/hours.cql. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_BY_TIME_H
#define DAYBOOK_QUERY_CQL_READ_CQL_BY_TIME_H

#include "query/cql/common/cql_private.h"

struct cql_by_time;

/* `table` is clicks_by_hour or clicks_by_minute. */
struct cql_by_time *cql_by_time_new(struct cql_execution *execution, const struct table *table);
/* No read may be under way.  NULL: nothing is done. */
void cql_by_time_free(struct cql_by_time *by_time);

/* Reads as store_read does, but a page has rows of one partition only, and may have no rows even if
 * another page follows.  `page` is called once, perhaps before this function returns.  A negative
 * status without an error: the execution has its fault. */
void cql_by_time_read(struct cql_by_time *by_time, const struct read_request *request,
                      store_page page, void *context);
#endif
