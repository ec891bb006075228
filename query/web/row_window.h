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
 * first one is the header, and is always taken.  What is printed may come in pieces of any size. */
#ifndef DAYBOOK_QUERY_WEB_ROW_WINDOW_H
#define DAYBOOK_QUERY_WEB_ROW_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* The owner sets the first five members; the others begin as zeros. */
struct row_window {
    bool is_csv;
    bool is_open;                      /* what is behind the last row taken is not counted */
    uint64_t skipped;                  /* rows before the first that is taken */
    uint64_t rows_max;
    size_t bytes_max;                  /* the row that passes it is the last one */
    uint64_t rows;                     /* that were printed; in CSV with the header */
    uint64_t taken;                    /* without the header */
    size_t row_start;                  /* in what was taken */
    bool is_in_line;
    bool is_taken;                     /* the line, or row of CSV, is being taken */
    bool is_quoted;
};

/* Append the rows that are taken: of CSV with their LF, of JSON with ",\n" between them. */
void row_window_take(struct row_window *window, struct bytes printed, struct buffer *rows);
/* The number of rows that were printed, all of them when the command has ended. */
uint64_t row_window_total(const struct row_window *window);
/* Nothing that is still printed is of use. */
bool row_window_has_enough(const struct row_window *window);
#endif
