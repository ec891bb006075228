/* suggestion: guesses the intended command line from one that names no command. */
#ifndef DAYBOOK_PROGRAM_SUGGESTION_H
#define DAYBOOK_PROGRAM_SUGGESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* `name` returns the name of command `index`, or NULL after the last. */
struct suggestion_names {
    const char *(*name)(const void *context, uint32_t index);
    const void *context;
};

/* Append the likely command line without "daybook": for `-d data report` it is `report -d data`,
 * for `reprot` it is `report`.  False: no name is near. */
bool suggestion_make(const struct suggestion_names *names, int word_count, char *const *words,
                     struct buffer *text);
#endif
