/* rate_history: prints how rates were changed, when, by whom and why, for `rate list --history`.
 *
 * A change has a row in the table `change`, which names the rates that it changed
 * (rollup/days/change_lines.h):
 *
 *     keys  AA 2013-12-01      old  49%      new  50%      actor  root      note  agreed late
 *
 * If a change had more rates than its row could name, the others are not printed. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_RATE_HISTORY_H
#define DAYBOOK_ROLLUP_COMMANDS_RATE_HISTORY_H

#include "base/cli/command.h"
#include "rollup/days/rollup.h"

/* Print the changes, oldest first, and finish `output`.  Calls rollup_leave for the caller, who has
 * entered the rollup (streams_enter).  `reseller` NULL: of all; the text must be valid until
 * `output` is finished. */
void rate_history_run(struct rollup *rollup, const char *reseller, enum table_format format,
                      struct command_output *output);
#endif
