/* table_print: rows of named columns as an aligned table, CSV, JSON or Markdown.
 *
 * The caller may write out and clear its buffer between two calls:
 *
 *     struct table_print *print = table_print_new(TABLE_CSV, columns, 3, &text);
 *     table_print_row(print, cells);           for each row
 *     table_print_finish(print);               frees `print`
 *
 * The columns of an aligned table are as wide as the widest cells of its first TABLE_ROWS_HELD
 * rows, which are kept in memory. */
#ifndef DAYBOOK_BASE_CLI_TABLE_PRINT_H
#define DAYBOOK_BASE_CLI_TABLE_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* TABLE_CSV_SAFE puts an apostrophe before text that programs may read as a formula. */
enum table_format { TABLE_ALIGNED, TABLE_CSV, TABLE_CSV_SAFE, TABLE_JSON, TABLE_MARKDOWN };

bool table_print_format_parse(const char *name, enum table_format *format_out);

/* Each comment names the side in an aligned table, and the type in JSON. */
enum table_cell_kind {
    TABLE_TEXT,                /* left; a string */
    TABLE_DECIMAL,             /* right; a string, because JSON numbers may lose digits */
    TABLE_NUMBER,              /* right; a number */
    TABLE_BOOLEAN,             /* left; true or false */
    TABLE_LIST                 /* left; an array of items between spaces */
};

struct table_column {
    const char *name;
    enum table_cell_kind kind;
};

enum { TABLE_ROWS_HELD = 5000, TABLE_COLUMNS_MAX = 64 };

struct table_print;

/* `columns` and `text` outlive the struct. */
struct table_print *table_print_new(enum table_format format, const struct table_column *columns,
                                    uint32_t column_count, struct buffer *text);

/* Cells are UTF-8.  A cell whose data is NULL is null in JSON, and empty in other formats. */
void table_print_row(struct table_print *print, const struct bytes *cells);

/* Begins as zeros. */
struct table_cells {
    struct buffer text;
    uint32_t count;
    size_t starts[TABLE_COLUMNS_MAX];
    bool is_null[TABLE_COLUMNS_MAX];
};

/* The caller appends the cell's text to the returned buffer, unless the cell is null. */
struct buffer *table_print_cell(struct table_cells *cells, bool is_null);
/* Print the row, and empty `cells`. */
void table_print_cells(struct table_print *print, struct table_cells *cells);

/* Print the rows that are still in memory, and free `print`. */
void table_print_finish(struct table_print *print);
/* Free `print` without printing. */
void table_print_abandon(struct table_print *print);

/* Append one CSV field (RFC 4180).  An empty field is quoted, because null is not.  A field that
 * begins with # is quoted, because ingest would read it as a control line. */
void table_print_csv_field(struct buffer *text, struct bytes field);
#endif
