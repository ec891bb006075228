/* command: helpers by which subcommands parse options and answer. */
#include "base/cli/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/error.h"

static void __attribute__((format(printf, 3, 0)))
write_formatted(struct command_output *output, enum command_stream stream, const char *format,
                va_list arguments)
{
    struct buffer text = {0};
    buffer_vprintf(&text, format, arguments);
    output->write(output, stream, buffer_view(&text));
    buffer_release(&text);
}

void command_printf(struct command_output *output, enum command_stream stream, const char *format,
                    ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_formatted(output, stream, format, arguments);
    va_end(arguments);
}

void command_fail(struct command_output *output, int exit_status, const char *format, ...)
{
    va_list arguments;
    output->write(output, COMMAND_ERR, bytes_text("daybook: "));
    va_start(arguments, format);
    write_formatted(output, COMMAND_ERR, format, arguments);
    va_end(arguments);
    output->write(output, COMMAND_ERR, bytes_text("\n"));
    output->finish(output, exit_status);
}

bool command_is_full(struct command_output *output)
{
    return output->is_full != NULL && output->is_full(output);
}

bool command_must_wait(struct command_output *output, void (*drained)(void *context), void *context)
{
    if (!command_is_full(output))
        return false;
    output->drained_context = context;
    output->drained = drained;
    return true;
}

bool command_has_enough(struct command_output *output)
{
    return output->has_enough != NULL && output->has_enough(output);
}

bool command_keep(struct command_output *output, int64_t change_bytes)
{
    return output->keep == NULL || output->keep(output, change_bytes);
}

uint32_t command_word(const char *word, const char *const *words, uint32_t count)
{
    uint32_t place = 0;
    while (place < count && (words[place] == NULL || strcmp(word, words[place]) != 0))
        place++;
    return place;
}

bool command_number(const char *text, uint32_t min, uint32_t max, uint32_t *number_out)
{
    char *end;
    long number = strtol(text, &end, 10);
    *number_out = (uint32_t)number;
    return end != text && *end == '\0' && number >= min && number <= max;
}

int command_format(struct argp_state *state, const char *argument, enum table_format *format_out)
{
    if (table_print_format_parse(argument, format_out))
        return 0;
    return command_refuse(state, "'%s' is no format: table, csv, csv-safe, json or md", argument);
}

int command_report(struct command_output *output, int status, const struct error *err)
{
    if (status == 0)
        return EXIT_DONE;
    command_printf(output, COMMAND_ERR, "daybook: %s\n",
                   err != NULL ? err->text : error_text(status));
    return command_exit_of(status);
}

int command_exit_of(int code)
{
    return code == ERROR_USAGE || code == ERROR_INVALID ? EXIT_WRONG_USAGE : EXIT_SYSTEM_FAILED;
}

const struct command_entry *command_find(const struct command_entry *entries, uint32_t count,
                                         const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(entries[i].command->name, name) == 0)
            return &entries[i];
    return NULL;
}
