/* line_parser: parses CSV lines into rows of a row_builder.
 *
 * Fields are separated by commas and may be quoted (RFC 4180); LF or CRLF always ends a line, so a
 * quote that is open there is an error of that line and of no other. */
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
    /* Which field of a line a record's field is; FIELD_DAY may be LINE_FIELD_NONE, and so is
     * FIELD_CLICK_ID where clicks have no ids. */
    uint8_t line_field[RECORD_FIELDS_MAX];
    uint8_t field_count;               /* fields of a line */
};

struct line_parser {
    struct line_order order;
    uint64_t line;                     /* number of the next one; set by the owner */
    bool is_exact;                     /* never take the plain way: for tests, as their reference */
    /* private */
    delimiter_index index;
    struct buffer unquoted;
};
enum { LINE_FIELD_NONE = 255 };

void line_parser_init(struct line_parser *parser);     /* columns in the order without a header, */
void line_parser_fields(struct line_parser *parser, uint8_t field_count);  /* 5, or with an id 6 */
void line_parser_release(struct line_parser *parser);

/* The names of a stream's columns, by enum record_field; that of the click's id may be empty. */
struct line_columns {
    struct bytes names[RECORD_FIELDS_MAX];
};
/* How many fields a line has without a header. */
uint8_t line_parser_column_count(const struct line_columns *columns);

/* Whether the line (without its end) begins with a column's name, and so is a header. */
bool line_parser_is_header(struct bytes line, const struct line_columns *columns);
/* Take the columns in the order of `header`.  What is wrong is said in `err`, its code
 * ERROR_INVALID and its text beginning with the protocol's word (unknown_column, missing_column,
 * duplicate_column, bad_quote). */
must_check int line_parser_header(struct line_parser *parser, struct bytes header,
                                  const struct line_columns *columns, struct error *err);

/* Parse whole lines from the start of `text` on, at most `lines_max` (and no more than the block
 * has room for: BLOCK_ROWS_MAX), up to the first that begins with '#' (which is the caller's) or
 * has no end yet.  Returns the bytes of these lines and adds their number to parser->line. */
size_t line_parser_run(struct line_parser *parser, struct row_builder *builder, struct bytes text,
                       uint64_t lines_max);

/* One line of any form, without its end; for the last of a connection and lines of other ways. */
void line_parser_line(struct line_parser *parser, struct row_builder *builder, struct bytes line);
#endif
