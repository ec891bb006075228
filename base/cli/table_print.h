/* table_print: rows of named columns as an aligned table, CSV, JSON or Markdown.
 *
 * Text is appended to a buffer of the caller, who may write it out and clear it between two calls:
 *
 *     struct table_print *print = table_print_new(TABLE_CSV, columns, 3, &text);
 *     table_print_row(print, cells);           as often as there are rows
 *     table_print_finish(print);               and frees it
 *
 * The columns of an aligned table are as wide as the cells of its first TABLE_ROWS_HELD rows, which
 * are kept in memory until there are so many; wider cells of later rows are not aligned.  The other
 * formats keep no rows. */
#ifndef DAYBOOK_BASE_CLI_TABLE_PRINT_H
#define DAYBOOK_BASE_CLI_TABLE_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* TABLE_CSV_SAFE: as TABLE_CSV, for programs that take a cell that begins with = + - @ for a
 * formula: such text, and what begins with a tab or an end of line, has an apostrophe before it.
 * Numbers stay numbers. */
enum table_format { TABLE_ALIGNED, TABLE_CSV, TABLE_CSV_SAFE, TABLE_JSON, TABLE_MARKDOWN };

/* "table", "csv", "csv-safe", "json", "md". */
bool table_print_format_parse(const char *name, enum table_format *format_out);

/* How a cell's text is aligned, and what it is in JSON. */
enum table_cell_kind {
    TABLE_TEXT,                /* left; a string */
    TABLE_DECIMAL,             /* right; a string, because JSON numbers are read as doubles */
    TABLE_NUMBER,              /* right; a number as it is */
    TABLE_BOOLEAN,             /* left; true or false as it is */
    TABLE_LIST                 /* left; items apart by one space, an array of strings */
};

struct table_column {
    const char *name;
    enum table_cell_kind kind;
};

enum { TABLE_ROWS_HELD = 5000, TABLE_COLUMNS_MAX = 64 };

struct table_print;

/* `columns` and `text` outlive it.  CSV and Markdown print their header at once. */
struct table_print *table_print_new(enum table_format format, const struct table_column *columns,
                                    uint32_t column_count, struct buffer *text);

/* One cell per column, UTF-8; data NULL is null: nothing in CSV and tables, null in JSON. */
void table_print_row(struct table_print *print, const struct bytes *cells);

/* The cells of a row, written one after the other into one text.  All-zero is an empty row. */
struct table_cells {
    struct buffer text;
    uint32_t count;
    size_t starts[TABLE_COLUMNS_MAX];
    bool is_null[TABLE_COLUMNS_MAX];
};

/* Begin the next cell, which is null or has the text that is appended to the buffer returned. */
struct buffer *table_print_cell(struct table_cells *cells, bool is_null);
/* Print the row; an empty one is left, which owns no memory. */
void table_print_cells(struct table_print *print, struct table_cells *cells);

/* Print what is held back, close the JSON array, free. */
void table_print_finish(struct table_print *print);
/* Free without printing anything more. */
void table_print_abandon(struct table_print *print);

/* Append one CSV field (RFC 4180).  It is quoted where that is necessary, where it is empty, since
 * no text at all is null, and where it begins with #, which would make the line a control line of
 * ingest. */
void table_print_csv_field(struct buffer *text, struct bytes field);
/* Append a JSON string, with its quotes. */
void table_print_json_string(struct buffer *text, struct bytes string);
#endif
