/* line_parser: parses CSV lines into rows of a row_builder.
 *
 * Fields are separated by commas and may be quoted (RFC 4180).  LF or CRLF always ends a line: a
 * quote that is open at the line's end is an error of this line only. */
#ifndef DAYBOOK_INGEST_PARSE_LINE_PARSER_H
#define DAYBOOK_INGEST_PARSE_LINE_PARSER_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/parse/delimiter_index.h"
#include "ingest/parse/row_builder.h"

enum {
    LINE_PARSER_PADDING = 64,          /* bytes that must be readable after the text */
    LINE_PARSER_WINDOW = 16384         /* bytes whose delimiters are found in one step */
};

/* The order of columns that a header gives. */
struct line_order {
    /* By enum record_field: the place of the field in a line.  FIELD_DAY may be LINE_FIELD_NONE;
     * FIELD_CLICK_ID is LINE_FIELD_NONE if the clicks have no ids. */
    uint8_t line_field[RECORD_FIELDS_MAX];
    uint8_t field_count;               /* fields of a line */
};

struct line_parser {
    struct line_order order;
    uint64_t line;                     /* number of the next line; set by the owner */
    bool is_exact;                     /* never use the plain way (line_parser.c); for tests */
    /* private */
    delimiter_index index;
    struct buffer unquoted;
};
enum { LINE_FIELD_NONE = 255 };

/* The columns are in the order that they have without a header. */
void line_parser_init(struct line_parser *parser);
/* Set the number of columns without a header: RECORD_FIELDS, or RECORD_FIELDS_MAX with click
 * ids. */
void line_parser_fields(struct line_parser *parser, uint8_t field_count);
void line_parser_release(struct line_parser *parser);

/* The names of a stream's columns, by enum record_field.  If clicks have no ids, the name of
 * FIELD_CLICK_ID is empty. */
struct line_columns {
    struct bytes names[RECORD_FIELDS_MAX];
};
/* How many fields a line has without a header. */
uint8_t line_parser_column_count(const struct line_columns *columns);

/* Whether the line (without its end) begins with a column's name, and so is a header. */
bool line_parser_is_header(struct bytes line, const struct line_columns *columns);
/* Set the order of columns from `header`.  ERROR_INVALID: the header is wrong; the text of `err`
 * begins with the protocol's word for the error (unknown_column, missing_column, duplicate_column,
 * bad_quote). */
must_check int line_parser_header(struct line_parser *parser, struct bytes header,
                                  const struct line_columns *columns, struct error *err);

/* Parse whole lines from the start of `text` on, at most `lines_max`, up to the first line that
 * begins with '#' or has no end yet.  The caller ensures that the block gets at most BLOCK_ROWS_MAX
 * rows.  Returns the bytes of these lines, and adds their number to parser->line. */
size_t line_parser_run(struct line_parser *parser, struct row_builder *builder, struct bytes text,
                       uint64_t lines_max);

/* Parse one line, given without its end. */
void line_parser_line(struct line_parser *parser, struct row_builder *builder, struct bytes line);
#endif
