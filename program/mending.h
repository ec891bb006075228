/* mending: `daybook clock mend`: replaces write timestamps that lie in the future.
 *
 * It opens the store without the other parts, which restamps it, and closes it
 * (storage/engine/engine_restamp.c). */
#ifndef DAYBOOK_PROGRAM_MENDING_H
#define DAYBOOK_PROGRAM_MENDING_H

#include "program/cli_run.h"

/* `daybook clock`; without `mend` it runs as other commands do. */
int mending_run(const struct cli_call *call);
#endif
