/* mending: runs `daybook clock mend`, which replaces write timestamps that are in the future.
 *
 * The store is opened alone, without the other parts of an instance.  The engine replaces the
 * timestamps while it opens (storage/engine/engine_restamp.c); then the store is closed. */
#ifndef DAYBOOK_PROGRAM_MENDING_H
#define DAYBOOK_PROGRAM_MENDING_H

#include "program/cli_run.h"

/* Run `daybook clock`; without `mend` it runs as other commands do. */
int mending_run(const struct cli_call *call);
#endif
