/* checking: `daybook status --check`: whether a server is well, for whatever watches it.
 *
 *     0  it serves, and nothing is missing; nothing is printed
 *     1  it serves, but waits for something or is short of it, and goes on by itself; or it starts
 *        or stops: to restart it would mend nothing
 *     3  it has failed, is stuck, or is not there
 *
 * One line on standard output says what it is.  The answer comes within CHECKING_MS of the
 * command's own clock, whatever the server does; `--wait` makes it less. */
#ifndef DAYBOOK_PROGRAM_CHECKING_H
#define DAYBOOK_PROGRAM_CHECKING_H

#include "program/control/control_parse.h"

enum { CHECKING_MS = 5000 };

/* `status` with the options that were parsed: with --check this, without it what every command
 * does. */
int checking_run(const void *options, const struct control_common *common, int word_count,
                 char **words);
#endif
