/* query_answer: prints the rows of a command's answer, no faster than the client reads them. */
#ifndef DAYBOOK_QUERY_QUERY_ANSWER_H
#define DAYBOOK_QUERY_QUERY_ANSWER_H

#include "base/cli/command.h"

/* The command owns the struct, and calls query_answer_release in the end. */
struct query_answer {
    struct command_output *output;
    struct table_print *print;         /* NULL: not begun, or ended */
    struct buffer text;
};

void query_answer_begin(struct query_answer *answer, struct command_output *output,
                        enum table_format format, const struct table_column *columns,
                        uint32_t column_count);
/* Add a row, between query_answer_begin and query_answer_end.  False: the output is full; add no
 * more rows before query_answer_wait calls `drained`. */
bool query_answer_row(struct query_answer *answer, const struct bytes *cells);
bool query_answer_has_room(const struct query_answer *answer);
/* If the output is full, call `drained` when all output has been sent; otherwise call `drained`
 * before this function returns. */
void query_answer_wait(struct query_answer *answer, void (*drained)(void *context), void *context);
/* Print the buffered rows and the end of the table.  The caller then calls `output->finish`. */
void query_answer_end(struct query_answer *answer);
void query_answer_release(struct query_answer *answer);

/* Parse the value of --format.  Returns 0, or EINVAL after it has reported an argp error. */
int query_answer_format(const char *name, enum table_format *format_out, struct argp_state *state);

/* The result points into `text`. */
struct bytes query_answer_number(uint64_t value, char text[24]);
#endif
