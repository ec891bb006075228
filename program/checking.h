/* checking: runs `daybook status --check`, which gives a supervisor the state of a server as an
 * exit status.
 *
 *     0  the server serves, and has nothing to report; nothing is printed
 *     1  the server serves, but something needs attention, such as a full disk; or it starts or
 *        stops, or another command holds the directory.  A restart would not help
 *     3  the server has failed, is stuck, does not run, or this user may not connect to it
 *
 * With 1 and 3, one line gives the reason: on standard output, or, if the server refuses the
 * command, on standard error.  The command ends within CHECKING_MS; `--wait` can make this limit
 * shorter. */
#ifndef DAYBOOK_PROGRAM_CHECKING_H
#define DAYBOOK_PROGRAM_CHECKING_H

#include "program/cli_run.h"

enum { CHECKING_MS = 5000 };

/* Run `daybook status`.  Without --check, it runs like any other command. */
int checking_run(const struct cli_call *call);
#endif
