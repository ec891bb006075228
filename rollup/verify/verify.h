/* verify: computes again everything that follows from clicks and rates, and compares it with the
 * tables (verify_steps.c). */
#ifndef DAYBOOK_ROLLUP_VERIFY_VERIFY_H
#define DAYBOOK_ROLLUP_VERIFY_VERIFY_H

#include "base/cli/command.h"
#include "rollup/days/rollup.h"

/* What to verify, and how.  The struct is copied; its pointers must be valid until the end. */
struct verify_order {
    struct rollup *rollup;             /* the caller has called rollup_enter; verify_start
                                        * calls rollup_leave at the end */
    struct command_output *output;     /* for differences, progress, and how much was compared */
    bool is_quiet;                     /* print no progress */
    bool is_read_only;                 /* the store is read only: dirty days stay dirty */
    bool repairs;                      /* repair differences, and compare everything again */
    struct change_row change;          /* of the repairs; id and time are filled later */
};

/* Verify, and finish the output with an exit status, perhaps before this function returns.
 * EXIT_DONE: all agrees; EXIT_DATA_SAYS_NO: there is a difference; EXIT_SYSTEM_FAILED: the
 * verification could not continue.  Engine thread. */
void verify_start(const struct verify_order *order);
#endif
