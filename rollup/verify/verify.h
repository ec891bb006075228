/* verify: recompute everything that follows from clicks and rates, and compare (verify_steps.c). */
#ifndef DAYBOOK_ROLLUP_VERIFY_VERIFY_H
#define DAYBOOK_ROLLUP_VERIFY_VERIFY_H

#include "base/cli/command.h"
#include "rollup/days/rollup.h"

/* What is to be verified, and how; copied.  All that it points to outlives the verification. */
struct verify_order {
    struct rollup *rollup;             /* entered (rollup_enter); left at the end */
    struct command_output *output;     /* for differences, progress and what was compared */
    bool is_quiet;                     /* no progress */
    bool is_read_only;                 /* the store is: days are not worked off before */
    bool repairs;                      /* differences are repaired, and all is compared again */
    struct change_row change;          /* of the repairs; its id and time are filled later */
};

/* Verify, and finish the output with an exit status, perhaps before the call returns: EXIT_DONE,
 * EXIT_DATA_SAYS_NO for a difference, EXIT_SYSTEM_FAILED where the verification could not go on.
 * Engine thread. */
void verify_start(const struct verify_order *order);
#endif
