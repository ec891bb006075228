/* answer: see the header. */
#include "tests/lib/answer.h"

#include <argp.h>
#include <string.h>

#include "base/memory.h"
#include "rollup/commands/rollup_commands.h"

enum { WORDS_MAX = 12 };

static void take_text(struct command_output *output, enum command_stream stream, struct bytes bytes)
{
    (void)stream;
    buffer_append_bytes(&((struct answer *)output)->text, bytes);
}

static bool never_full(struct command_output *output)
{
    (void)output;
    return false;
}

static void take_exit(struct command_output *output, int exit_status)
{
    struct answer *answer = (struct answer *)output;
    answer->done = true;
    answer->exit_status = exit_status;
}

static int split(char *text, char *words[WORDS_MAX + 1])
{
    int count = 1;
    words[0] = text;
    for (char *c = text; *c != '\0'; c++) {
        if (*c == ' ' && count < WORDS_MAX) {
            *c = '\0';
            words[count++] = c + 1;
        }
    }
    return count;
}

void answer_start(struct rollup_fixture *fixture, struct answer *answer, const char *line,
                  const char *input)
{
    uint32_t number = 0;
    char *text = memory_string(line);
    char *words[WORDS_MAX + 1] = {0};
    int word_count = split(text, words);
    while (strcmp(rollup_commands_at(number)->name, words[0]) != 0)
        number++;
    const struct command *command = rollup_commands_at(number);
    void *options = memory_zeroed(1, command->options_size);
    *answer =
        (struct answer){.output = {.write = take_text, .is_full = never_full, .finish = take_exit}};
    error_t rc = argp_parse(command->argp, word_count, words,
                            ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, options);
    answer->options = options;
    answer->words = text;
    answer->request = (struct command_request){.options = options,
                                               .input = bytes_text(input),
                                               .is_read_only = fixture->is_read_only,
                                               .door = "command",
                                               .actor = "tester",
                                               .text = line};
    if (rc != 0)
        take_exit(&answer->output, EXIT_WRONG_USAGE);
    else
        command->run(fixture->streams, &answer->request, &answer->output);
}

void answer_end(struct answer *answer)
{
    buffer_put_u8(&answer->text, 0);
    memory_free(answer->options);
    memory_free(answer->words);
}

void answer_run(struct rollup_fixture *fixture, struct answer *answer, const char *line,
                const char *input)
{
    answer_start(fixture, answer, line, input);
    rollup_fixture_step_until(fixture, &answer->done);
    answer_end(answer);
}
