/* query_commands: see the header. */
#include "query/query_commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    PIECE = 64 * 1024 /* bytes handed over at once */
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
    return !answer->output->is_full(answer->output);
}

bool query_answer_row(struct query_answer *answer, const struct bytes *cells)
{
    table_print_row(answer->print, cells);
    if (answer->text.size < PIECE)
        return true;
    answer_hand_over(answer);
    return query_answer_has_room(answer);
}

void query_answer_wait(struct query_answer *answer, void (*drained)(void *context), void *context)
{
    if (query_answer_has_room(answer)) {
        drained(context);
        return;
    }
    answer->output->drained_context = context;
    answer->output->drained = drained;
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

void query_figures_go_on(struct query_figures *figures)
{
    struct figure_reading *reading = figures->reading;
    figures->reading = NULL;
    if (*figures->status == 0)
        rollup_figures_go_on(reading);
    else
        rollup_figures_stop(reading);
}

static void figures_drained(void *context)
{
    struct query_figures *figures = context;
    figures->answer->output->drained = NULL;
    query_figures_go_on(figures);
}

void query_figures_wait(struct query_figures *figures)
{
    query_answer_wait(figures->answer, figures_drained, figures);
}

/* ---- options, cells ---- */

bool query_format_parse(const char *name, enum table_format *format_out, struct argp_state *state)
{
    if (table_format_parse(name, format_out))
        return true;
    argp_error(state, "--format is table, csv, csv-safe, json or md; '%s' is not in this version",
               name);
    return false;
}

struct bytes query_number(uint64_t value, char text[24])
{
    int length = snprintf(text, 24, "%" PRIu64, value);
    return bytes_of(text, (size_t)length);
}

/* ---- the commands ---- */

static bool never_writes(const void *options)
{
    (void)options;
    return false;
}

static bool always_writes(const void *options)
{
    (void)options;
    return true;
}

static const struct command commands[] = {
    {.name = "report",
     .summary = "print clicks, gross and amount by day, month, reseller or ad",
     .argp = &report_argp,
     .options_size = sizeof(struct report_options),
     .writes = never_writes,
     .run = report_run},
    {.name = "counters",
     .summary = "print clicks per ad, per reseller, per reseller and day",
     .argp = &counters_argp,
     .options_size = sizeof(struct counters_options),
     .writes = never_writes,
     .run = counters_run},
    {.name = "status",
     .summary = "say who holds the directory, and whether all is well",
     .argp = &status_argp,
     .options_size = sizeof(struct status_options),
     .writes = never_writes,
     .is_brief = true,
     .run = status_run},
    {.name = "inspect",
     .summary = "print tables, segments and their sizes",
     .argp = &inspect_argp,
     .options_size = sizeof(struct inspect_options),
     .writes = never_writes,
     .run = inspect_run},
    {.name = "compact",
     .summary = "merge segments now, until done",
     .argp = &compact_argp,
     .writes = always_writes,
     .run = compact_run},
    {.name = "clock",
     .summary = "say whether the machine's clock is believed, or that it is right",
     .argp = &clock_command_argp,
     .options_size = sizeof(struct clock_command_options),
     .writes = clock_command_writes,
     .run = clock_command_run},
    {.name = "backup",
     .summary = "copy the directory as of now to another place, or keep doing so",
     .argp = &backup_command_argp,
     .options_size = sizeof(struct backup_command_options),
     .writes = never_writes,
     .run = backup_command_run},
};

const struct command *query_commands(uint32_t *count_out)
{
    *count_out = sizeof(commands) / sizeof(commands[0]);
    return commands;
}

const struct command *query_command(const char *name)
{
    const struct command *command = commands;
    while (strcmp(command->name, name) != 0)
        command++;
    return command;
}
