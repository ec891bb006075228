/* rate_history: prints how rates were changed, when, by whom and why, for `rate list --history`.
 *
 * A change has a row in the table `change`, which names the rates that it changed
 * (rollup/days/change_lines.h):
 *
 *     keys  AA 2013-12-01      old  49%      new  50%      actor  root      note  agreed late
 *
 * A change of so many rates that the row could not name all leaves the others out. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_RATE_HISTORY_H
#define DAYBOOK_ROLLUP_COMMANDS_RATE_HISTORY_H

#include "base/cli/command.h"
#include "rollup/days/rollup.h"

/* Print the changes, oldest first, and finish `output`.  Leaves the rollup, which was entered.
 * `reseller` NULL: of all; it must be valid until then. */
void rate_history_run(struct rollup *rollup, const char *reseller, enum table_format format,
                      struct command_output *output);
#endif
