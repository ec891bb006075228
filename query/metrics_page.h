/* metrics_page: writes the metrics of the process and of its directory in Prometheus' format.
 *
 * Other modules count most metrics when the counted events happen.  This module sets the gauges of
 * store, disk and process each time that it writes the page. */
#ifndef DAYBOOK_QUERY_METRICS_PAGE_H
#define DAYBOOK_QUERY_METRICS_PAGE_H

#include "base/buffer.h"
#include "query/query.h"

void metrics_page_write(const struct query *query, struct buffer *text);
#endif
