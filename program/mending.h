/* mending: `daybook clock mend`: timestamps that are ahead of now come behind it again.
 *
 * It opens the store alone, with nothing on it, and closes it (storage/engine/engine_restamp.c). */
#ifndef DAYBOOK_PROGRAM_MENDING_H
#define DAYBOOK_PROGRAM_MENDING_H

#include "program/control/control_parse.h"

/* `clock` with the options that were parsed: with mend this, without it what every command does. */
int mending_run(const void *options, const struct control_common *common, int word_count,
                char **words);
#endif
