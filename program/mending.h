/* mending: runs `daybook clock mend`, which replaces write timestamps that are in the future.
 *
 * The engine replaces the timestamps while it opens the store (storage/engine/engine_restamp.c). */
#ifndef DAYBOOK_PROGRAM_MENDING_H
#define DAYBOOK_PROGRAM_MENDING_H

#include "program/cli_run.h"

/* Run `daybook clock`, with or without `mend`. */
int mending_run(const struct cli_call *call);
#endif
