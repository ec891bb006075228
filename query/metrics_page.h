/* metrics_page: the metrics of the process and of its directory, as Prometheus reads them.
 *
 * Most metrics are counted where something happens.  The gauges of what the store, the disk and the
 * process have are set here, when they are asked for. */
#ifndef DAYBOOK_QUERY_METRICS_PAGE_H
#define DAYBOOK_QUERY_METRICS_PAGE_H

#include "base/buffer.h"
#include "query/query.h"

void metrics_page_write(const struct query *query, struct buffer *text);
#endif
