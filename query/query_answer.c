/* query_answer: see the header. */
#include "query/query_answer.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    PIECE = 64 * 1024 /* bytes; from this size on the text is written to the output */
};

/* ---- answers ---- */

void query_answer_begin(struct query_answer *answer, struct command_output *output,
                        enum table_format format, const struct table_column *columns,
                        uint32_t column_count)
{
    *answer = (struct query_answer){.output = output};
    answer->print = table_print_new(format, columns, column_count, &answer->text);
}

static void answer_hand_over(struct query_answer *answer)
{
    if (answer->text.size > 0) {
        answer->output->write(answer->output, COMMAND_OUT, buffer_view(&answer->text));
        buffer_clear(&answer->text);
    }
}

bool query_answer_has_room(const struct query_answer *answer)
{
    return !command_is_full(answer->output);
}

bool query_answer_row(struct query_answer *answer, const struct bytes *cells)
{
    check(answer->print != NULL);
    table_print_row(answer->print, cells);
    if (answer->text.size < PIECE)
        return true;
    answer_hand_over(answer);
    return query_answer_has_room(answer);
}

void query_answer_wait(struct query_answer *answer, void (*drained)(void *context), void *context)
{
    if (!command_must_wait(answer->output, drained, context))
        drained(context);
}

void query_answer_end(struct query_answer *answer)
{
    if (answer->print != NULL)
        table_print_finish(answer->print);
    answer->print = NULL;
    answer_hand_over(answer);
}

void query_answer_release(struct query_answer *answer)
{
    if (answer->print != NULL)
        table_print_abandon(answer->print);
    buffer_release(&answer->text);
}

/* ---- options, cells ---- */

int query_answer_format(const char *name, enum table_format *format_out, struct argp_state *state)
{
    return table_print_format_parse(name, format_out)
               ? 0
               : command_refuse(state,
                                "--format is table, csv, csv-safe, json or md; '%s' is not in this "
                                "version",
                                name);
}

struct bytes query_answer_number(uint64_t value, char text[24])
{
    int length = snprintf(text, 24, "%" PRIu64, value);
    return bytes_of(text, (size_t)length);
}
