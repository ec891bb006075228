/* row_window: takes some rows out of a table that a command prints as JSON or as CSV.
 *
 *     printed (base/cli/table_print.h)      taken: 1 row after the first
 *     [
 *       {"day": "2013-11-29", ...},
 *       {"day": "2013-11-28", ...},         {"day": "2013-11-28", ...}
 *       {"day": "2013-11-27", ...}
 *     ]
 *
 * The rows of JSON have a line each.  A row of CSV ends at the first LF outside of quotes; the
 * first row is the header, and is always taken.  The output may be passed in pieces of any size. */
#ifndef DAYBOOK_QUERY_WEB_ROW_WINDOW_H
#define DAYBOOK_QUERY_WEB_ROW_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* The owner sets the first five members; the others begin as zeros. */
struct row_window {
    bool is_csv;
    bool is_open;                      /* rows after the last taken row need not be counted */
    uint64_t skipped;                  /* rows before the first taken row */
    uint64_t rows_max;
    size_t bytes_max;                  /* the row that passes this size is the last */
    uint64_t rows;                     /* rows printed until now; for CSV, with the header */
    uint64_t taken;                    /* rows taken until now, without the header */
    size_t row_start;                  /* where the present row begins in the taken rows */
    bool is_in_line;
    bool is_taken;                     /* the present line, or row of CSV, is taken */
    bool is_quoted;
};

/* Read a piece of output, and append the rows that are taken to `rows`: rows of CSV with their LF,
 * rows of JSON with ",\n" between them. */
void row_window_take(struct row_window *window, struct bytes printed, struct buffer *rows);
/* Returns the number of rows printed until now, which is the number of all rows when the command
 * has ended. */
uint64_t row_window_total(const struct row_window *window);
/* Whether all further output can be ignored. */
bool row_window_has_enough(const struct row_window *window);
#endif
