/* web_command: runs subcommands of the program for requests of HTTP, and gives what they print.
 *
 * They are the commands that the control socket runs (program/control/), over the same data, so
 * what a page shows and what `daybook report` prints is one code.  What a command prints is kept in
 * memory, of which each run has WEB_OUT_MAX bytes, and all runs together the quota; or a sink takes
 * it as fast as its reader does.
 *
 * Commands for which there is no room wait in their order, except brief ones.  Those with a sink
 * have at most half of the room, and further ones are refused.  WEB_MS after a
 * command began the requester is answered; the command runs to its end all the same, and its output
 * is dropped. */
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
    WEB_NOTES_MAX = 64 << 10,          /* bytes for standard error */
    WEB_RUN_BYTES = 1 << 20            /* what each running command takes of the quota */
};

struct web_commands;
struct web_run;

struct web_commands_options {
    struct world *world;
    const struct command_entry *entries;       /* outlive the struct */
    uint32_t entry_count;
    size_t bytes_max;                  /* of all runs */
    /* Called with each change of the bytes of all runs; may be NULL. */
    void (*held)(void *context, int64_t change_bytes);
    void *held_context;
};

struct web_commands *web_command_open(const struct web_commands_options *options);
/* Start no more commands; free the struct and call `closed` when the last one has ended. */
void web_command_close(struct web_commands *commands, void (*closed)(void *context),
                        void *context);

enum web_outcome {
    WEB_ENDED,
    WEB_REFUSED,                       /* wrong usage: `notes` says what is wrong; it did not run */
    WEB_BUSY,                          /* too many wait, or too many have a sink; there was no room
                                        * for it in WEB_WAIT_MS, or not for what it needed */
    WEB_LARGE,                         /* it printed more than WEB_OUT_MAX */
    WEB_LATE                           /* it has not ended after WEB_MS */
};

/* The views are valid during the call. */
struct web_printed {
    enum web_outcome outcome;
    int exit_status;                   /* of WEB_ENDED */
    struct bytes out;                  /* or the rows that the window took */
    struct bytes notes;                /* lines for standard error, without "daybook: " */
    const struct row_window *window;   /* NULL: there was none */
};

/* Takes what a command prints, instead of memory. */
struct web_sink {
    void (*write)(void *context, struct bytes bytes);
    bool (*is_full)(void *context);    /* the command pauses until web_command_drained */
};

struct web_command {
    const char *const *words;          /* the name of one of the entries first */
    uint32_t word_count;
    const char *actor;                 /* for the table `change` */
    const struct row_window *window;   /* what to take of the table printed; NULL: everything */
    const struct web_sink *sink;       /* static; goes without a window, and without WEB_MS, as a
                                        * reader takes its time; NULL: `out` has what is printed */
};

/* ERROR_USAGE: the command would be refused, and why. */
must_check int web_command_check(const struct web_commands *commands,
                                 const struct web_command *command, struct error *err);
/* Run `command`, which is copied.  `done` is called once, perhaps before this function returns.
 * Returns the run, or NULL after `done` was called. */
struct web_run *web_command_run(struct web_commands *commands, const struct web_command *command,
                                void (*done)(void *context, const struct web_printed *printed),
                                void *context);
/* The sink has room again.  The run may end within this call. */
void web_command_drained(struct web_run *run);
/* Neither `done` nor the sink is called any more. */
void web_command_forget(struct web_run *run);
#endif
