/* report_totals: adds up the rows of a report over all its resellers, for `report --total`.
 *
 * Rows are added reseller by reseller, so the totals are known only at the end.  Until then memory
 * has one row for each period of the report. */
#ifndef DAYBOOK_QUERY_REPORT_REPORT_TOTALS_H
#define DAYBOOK_QUERY_REPORT_REPORT_TOTALS_H

#include "base/cli/command.h"
#include "query/report/report_chart.h"

struct report_totals;

/* `output` outlives the result; memory is reserved by command_keep on it. */
struct report_totals *report_totals_new(struct command_output *output);
void report_totals_free(struct report_totals *totals);         /* NULL is fine */

/* Add a row to the total of its `period` and `at_ms`.  ERROR_LIMIT: command_keep grants no memory
 * for so many totals.  A code of decimal_add: a sum has too many digits. */
must_check int report_totals_add(struct report_totals *totals, const struct report_row *row,
                                 struct error *err);

/* Once all rows were added: the next row, periods and times descending, without a reseller and a
 * rate.  NULL: all were returned. */
const struct report_row *report_totals_next(struct report_totals *totals);
#endif
