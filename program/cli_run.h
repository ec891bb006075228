/* cli_run: runs one command of the command line, in a server or in this process. */
#ifndef DAYBOOK_PROGRAM_CLI_RUN_H
#define DAYBOOK_PROGRAM_CLI_RUN_H

#include "program/control/control.h"
#include "base/cli/command_parse.h"

enum { CLI_RUN_INPUT_MAX = CONTROL_MESSAGE_MAX - (1 << 20) };

struct cli_call {
    const struct command *command;
    const void *options;
    const struct command_common *common;
    int word_count;
    char **words;                      /* as given, the command's name first */
};

/* An output that notes when the command has finished.  Its `finish` is cli_run_finish. */
struct cli_answer {
    struct command_output output;      /* must be first: cli_run_finish casts it to the answer */
    int exit_status;
    bool is_finished;
};
void cli_run_finish(struct command_output *answer, int exit_status);

int cli_run_command(const struct cli_call *call);

/* The name of the user who runs the process.  The caller frees it with memory_free. */
char *cli_run_actor(void);
/* The words as one line, quoted for a shell.  The caller frees it with memory_free. */
char *cli_run_text(int word_count, char *const *words);
#endif
