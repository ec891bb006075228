/* cli_run: one command from the command line, wherever the data is. */
#ifndef DAYBOOK_PROGRAM_CLI_RUN_H
#define DAYBOOK_PROGRAM_CLI_RUN_H

#include "program/control/control.h"
#include "program/control/control_parse.h"

enum { CLI_RUN_INPUT_MAX = CONTROL_MESSAGE_MAX - (1 << 20) };  /* bytes of a command's file */

/* Parse `words` (the command's name first), run the command, and return the exit status.  --help
 * and wrong usage end the process. */
int cli_run_command(const struct command *command, int word_count, char **words);

/* The stream asked for is there: only the built-in one is.  Says so on standard error if not. */
bool cli_run_stream_is_known(const struct control_common *common);

/* The system user's name; the caller frees it with memory_free. */
char *cli_run_actor(void);
/* Words as one line, quoted where a shell would need it; the caller frees it. */
char *cli_run_text(int word_count, char *const *words);
#endif
