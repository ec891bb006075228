/* verify: computes again everything that follows from clicks and rates, and compares it with the
 * tables. */
#ifndef DAYBOOK_ROLLUP_VERIFY_VERIFY_H
#define DAYBOOK_ROLLUP_VERIFY_VERIFY_H

#include "base/cli/command.h"
#include "rollup/days/rollup.h"

/* The struct is copied; its pointers are borrowed until the end. */
struct verify_order {
    struct rollup *rollup;             /* after rollup_enter; verify_start calls rollup_leave at the
                                        * end */
    struct command_output *output;
    bool is_quiet;
    bool is_read_only;                 /* dirty days stay dirty */
    bool repairs;
    struct change_row change;          /* of the repairs, without id and time */
};

/* Verify, and finish the output with an exit status, perhaps before this function returns.
 * EXIT_DONE: all agrees; EXIT_DATA_SAYS_NO: there is a difference; EXIT_SYSTEM_FAILED: the
 * verification could not continue.  All functions run on the engine thread. */
void verify_start(const struct verify_order *order);
#endif
