/* table_print: rows of named columns as an aligned table, CSV, JSON or Markdown.
 *
 * Text is appended to the caller's buffer, which the caller may write out and clear between two
 * calls:
 *
 *     struct table_print *print = table_print_new(TABLE_CSV, columns, 3, &text);
 *     table_print_row(print, cells);           for each row
 *     table_print_finish(print);               frees `print`
 *
 * The columns of an aligned table are as wide as the widest cells of its first TABLE_ROWS_HELD
 * rows.  Those rows are kept in memory before they are printed; wider cells of later rows are not
 * aligned.  The other formats keep no rows. */
#ifndef DAYBOOK_BASE_CLI_TABLE_PRINT_H
#define DAYBOOK_BASE_CLI_TABLE_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* TABLE_CSV_SAFE is TABLE_CSV for programs that read a cell which begins with = + - @ as a formula.
 * An apostrophe is put before text that begins with one of these, a tab or an end of line.  Numbers
 * stay as they are. */
enum table_format { TABLE_ALIGNED, TABLE_CSV, TABLE_CSV_SAFE, TABLE_JSON, TABLE_MARKDOWN };

/* Parse "table", "csv", "csv-safe", "json" or "md".  False: `name` is none of these. */
bool table_print_format_parse(const char *name, enum table_format *format_out);

/* On which side the cells of a column are aligned, and what a cell is in JSON. */
enum table_cell_kind {
    TABLE_TEXT,                /* left; a string */
    TABLE_DECIMAL,             /* right; a string, because JSON numbers are read as doubles */
    TABLE_NUMBER,              /* right; a number as it is */
    TABLE_BOOLEAN,             /* left; true or false as it is */
    TABLE_LIST                 /* left; items separated by a space, an array of strings */
};

struct table_column {
    const char *name;
    enum table_cell_kind kind;
};

enum { TABLE_ROWS_HELD = 5000, TABLE_COLUMNS_MAX = 64 };

struct table_print;

/* `columns` and `text` outlive the struct.  CSV and Markdown append their header in this call. */
struct table_print *table_print_new(enum table_format format, const struct table_column *columns,
                                    uint32_t column_count, struct buffer *text);

/* Print a row: one cell per column, in UTF-8.  A cell whose data is NULL is null: it is printed as
 * null in JSON, and as no text in the other formats. */
void table_print_row(struct table_print *print, const struct bytes *cells);

/* The cells of a row, written one after the other into one text.  With all members zero the row has
 * no cells. */
struct table_cells {
    struct buffer text;
    uint32_t count;
    size_t starts[TABLE_COLUMNS_MAX];
    bool is_null[TABLE_COLUMNS_MAX];
};

/* Begin the next cell.  Its text is appended to the buffer that is returned, unless it is null. */
struct buffer *table_print_cell(struct table_cells *cells, bool is_null);
/* Print the row; `cells` then has no cells and no memory. */
void table_print_cells(struct table_print *print, struct table_cells *cells);

/* Print the rows that are held back, or the end of the JSON array, and free `print`. */
void table_print_finish(struct table_print *print);
/* Free without printing anything more. */
void table_print_abandon(struct table_print *print);

/* Append one CSV field, quoted where RFC 4180 requires that.  An empty field is quoted, too,
 * because nothing between two commas means null; and so is a field that begins with #, because
 * ingest takes a line that begins with # for a control line. */
void table_print_csv_field(struct buffer *text, struct bytes field);
/* Append a JSON string, with its quotes. */
void table_print_json_string(struct buffer *text, struct bytes string);
#endif
