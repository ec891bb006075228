/* line_parser: parses CSV lines into rows of a row_builder.
 *
 * Fields are separated by commas and may be quoted (RFC 4180).  LF or CRLF always ends a line, even
 * within quotes. */
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
    /* The index of each field in a line, by enum record_field.  LINE_FIELD_NONE: the lines do not
     * have the field, which is FIELD_DAY or FIELD_CLICK_ID. */
    uint8_t line_field[RECORD_FIELDS_MAX];
    uint8_t field_count;
};

struct line_parser {
    struct line_order order;
    uint64_t line;
    bool is_exact;                     /* never use the shortcut for common lines; for tests */
    /* private */
    delimiter_index index;
    struct buffer unquoted;
};
enum { LINE_FIELD_NONE = 255 };

void line_parser_init(struct line_parser *parser);
/* Set the number of fields of lines for which no header was given: RECORD_FIELDS, or
 * RECORD_FIELDS_MAX with click ids. */
void line_parser_fields(struct line_parser *parser, uint8_t field_count);
void line_parser_release(struct line_parser *parser);

/* A stream's column names, by enum record_field.  Without click ids, FIELD_CLICK_ID has an empty
 * name. */
struct line_columns {
    struct bytes names[RECORD_FIELDS_MAX];
};
uint8_t line_parser_column_count(const struct line_columns *columns);

bool line_parser_is_header(struct bytes line, const struct line_columns *columns);
/* Set the order of columns from `header`.  ERROR_INVALID: the text of `err` begins with the
 * protocol's word for the error (unknown_column, missing_column, duplicate_column, bad_quote). */
must_check int line_parser_header(struct line_parser *parser, struct bytes header,
                                  const struct line_columns *columns, struct error *err);

/* Parse whole lines from the start of `text` on, at most `lines_max`, up to a line that begins with
 * '#' or has no end.  `text` and `lines_max` must be so small that builder->block gets at most
 * BLOCK_ROWS_MAX rows.  Returns the bytes of the lines, and adds their number to parser->line. */
size_t line_parser_run(struct line_parser *parser, struct row_builder *builder, struct bytes text,
                       uint64_t lines_max);

void line_parser_line(struct line_parser *parser, struct row_builder *builder, struct bytes line);
#endif
