/* command_parse: parses the words of a command line into options, for client and server. */
#ifndef DAYBOOK_BASE_CLI_COMMAND_PARSE_H
#define DAYBOOK_BASE_CLI_COMMAND_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cli/command.h"

enum { COMMAND_WAIT_MS_DEFAULT = 10000 };

/* The options of every command; the texts point into the words. */
struct command_common {
    const char *directory;
    const char *stream;
    int64_t wait_ms;
};

/* Parse `words` (the command's name first) into options that the caller frees with memory_free.
 * The words are reordered, and must outlive the options.  With `prints`, --help and wrong usage
 * print a text and end the process.  Otherwise wrong usage returns ERROR_USAGE, and `err` says what
 * is wrong.  `common_out` may be NULL. */
must_check int command_parse(const struct command *command, int word_count, char **words,
                             bool prints, struct command_common *common_out, void **options_out,
                             struct error *err);
#endif
