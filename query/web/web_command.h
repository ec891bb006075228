/* web_command: runs subcommands of the program for HTTP requests, and returns their output.
 *
 * The commands are those that the control socket runs (program/control/), on the same data, so that
 * pages and `daybook report` share their code.  The output is kept in memory: at most WEB_OUT_MAX
 * bytes for a run, and at most the quota for all runs.  Instead, a sink may take the output as fast
 * as its reader reads.
 *
 * If WEB_RUNS_MAX commands run, or the quota has too little left, further commands wait in a queue;
 * brief commands (base/cli/command.h) never wait.  At most half of the runs may have a sink;
 * further ones are refused.  If a command has not ended WEB_MS after its start, the requester is
 * answered.  The command then runs to its end, and its output is dropped. */
#ifndef DAYBOOK_QUERY_WEB_WEB_COMMAND_H
#define DAYBOOK_QUERY_WEB_WEB_COMMAND_H

#include "base/cli/command.h"
#include "base/world/world.h"
#include "query/web/row_window.h"

enum {
    WEB_RUNS_MAX = 64,                 /* commands that run at a time; further ones wait */
    WEB_WAITING_MAX = 256,
    WEB_WAIT_MS = 10000,
    WEB_MS = 30000,
    WEB_OUT_MAX = 16 << 20,            /* bytes */
    WEB_NOTES_MAX = 64 << 10,          /* bytes of standard error */
    WEB_RUN_BYTES = 1 << 20            /* bytes of the quota that each running command takes */
};

struct web_commands;
struct web_run;

struct web_commands_options {
    struct world *world;
    const struct command_entry *entries;       /* outlive the struct */
    uint32_t entry_count;
    size_t bytes_max;                  /* of all runs: the quota */
    /* Called with each change of the bytes of all runs; may be NULL. */
    void (*held)(void *context, int64_t change_bytes);
    void *held_context;
};

struct web_commands *web_command_open(const struct web_commands_options *options);
/* Answer waiting and further runs with WEB_BUSY.  When the last command has ended, free the struct
 * and call `closed`. */
void web_command_close(struct web_commands *commands, void (*closed)(void *context),
                        void *context);

enum web_outcome {
    WEB_ENDED,
    WEB_REFUSED,                       /* wrong usage: the command did not run; `notes` says why */
    WEB_BUSY,                          /* too many runs wait or have a sink; or the command could
                                        * not begin within WEB_WAIT_MS; or the quota was used up
                                        * while it ran */
    WEB_LARGE,                         /* the command printed more than WEB_OUT_MAX */
    WEB_LATE                           /* the command has not ended after WEB_MS */
};

/* The views are valid during the call. */
struct web_printed {
    enum web_outcome outcome;
    int exit_status;                   /* of WEB_ENDED */
    struct bytes out;                  /* standard output, or the rows that the window took */
    struct bytes notes;                /* lines of standard error */
    const struct row_window *window;   /* NULL: there was none */
};

/* Takes a command's output, which is then not kept in memory. */
struct web_sink {
    void (*write)(void *context, struct bytes bytes);
    bool (*is_full)(void *context);    /* true: the command pauses until web_command_drained */
};

struct web_command {
    const char *const *words;          /* the first is the name of an entry */
    uint32_t word_count;
    const char *actor;                 /* for the table `change` */
    const struct row_window *window;   /* which rows of the printed table to take; NULL: all */
    const struct web_sink *sink;       /* static; needs `window` to be NULL; WEB_MS does not apply,
                                        * because a reader may be slow; NULL: `out` has the
                                        * output */
};

/* Check the words of a command.  ERROR_USAGE: the command would be refused; `err` says why. */
must_check int web_command_check(const struct web_commands *commands,
                                 const struct web_command *command, struct error *err);
/* Run `command`, which is copied.  `done` is called once, perhaps before this function returns.
 * Returns the run, or NULL after `done` was called. */
struct web_run *web_command_run(struct web_commands *commands, const struct web_command *command,
                                void (*done)(void *context, const struct web_printed *printed),
                                void *context);
/* Call this when the sink is no longer full.  The run may end within this call. */
void web_command_drained(struct web_run *run);
/* Call neither `done` nor the sink any more. */
void web_command_forget(struct web_run *run);
#endif
