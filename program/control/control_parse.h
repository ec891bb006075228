/* control_parse: the words of a command line as the options of its command, on both sides. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONTROL_PARSE_H
#define DAYBOOK_PROGRAM_CONTROL_CONTROL_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cli/command.h"

enum { CONTROL_WAIT_MS_DEFAULT = 10000 };

/* What every command takes besides its own options; the texts point into the words. */
struct control_common {
    const char *directory;             /* -d; NULL: not given */
    const char *stream;                /* --stream; NULL: not given */
    int64_t wait_ms;                   /* --wait: how long a directory that is held is waited for */
};

/* Parse `words` (the command's name first) into options that the caller frees with memory_free.
 * The words are reordered, and outlive the options, which may point into them.  `prints`: --help
 * and errors are printed and end the process, as a command line's do; else an error is
 * returned.  `common_out` may be NULL. */
must_check int control_parse(const struct command *command, int word_count, char **words,
                             bool prints, struct control_common *common_out, void **options_out,
                             struct error *err);
#endif
