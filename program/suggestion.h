/* suggestion: guesses the command line that was meant by words that name no command. */
#ifndef DAYBOOK_PROGRAM_SUGGESTION_H
#define DAYBOOK_PROGRAM_SUGGESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* `name` returns the name of the program's command `index`; NULL after the last. */
struct suggestion_names {
    const char *(*name)(const void *context, uint32_t index);
    const void *context;
};

/* Append the likely command line, without "daybook": `-d data report` is `report -d data`, `reprot`
 * is `report`, `version` is `--version`.  False: no name is near. */
bool suggestion_make(const struct suggestion_names *names, int word_count, char *const *words,
                     struct buffer *text);
#endif
