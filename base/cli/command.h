/* command: the interface of a subcommand of the program.
 *
 * If a server has the data directory open, a command runs in the server, which sends the answer
 * over the unix socket (program/control/).  Otherwise it runs in the calling process.  Both
 * processes run the same code.  The calling process parses the options first, so that --help and
 * wrong usage need no directory; a server gets the words of the command line and parses them
 * again. */
#ifndef DAYBOOK_BASE_CLI_COMMAND_H
#define DAYBOOK_BASE_CLI_COMMAND_H

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cli/table_print.h"

/* Exit statuses of every subcommand. */
enum command_exit {
    EXIT_DONE = 0,
    EXIT_DATA_SAYS_NO = 1,             /* verify found a difference, for example, or the data
                                        * forbid the change */
    EXIT_WRONG_USAGE = 2,
    EXIT_SYSTEM_FAILED = 3
};

/* COMMAND_TERMINAL: control sequences, which go to standard error and must not contain data. */
enum command_stream { COMMAND_OUT = 1, COMMAND_ERR = 2, COMMAND_TERMINAL = 3 };

/* Receives the answer of a command, on the engine thread.  `write` copies or sends the bytes before
 * it returns. */
struct command_output {
    void (*write)(struct command_output *output, enum command_stream stream, struct bytes bytes);
    /* Whether so many bytes are not yet sent that the command should pause until `drained`; NULL:
     * never. */
    bool (*is_full)(struct command_output *output);
    /* Called by command_keep; NULL: memory is not limited. */
    bool (*keep)(struct command_output *output, int64_t change_bytes);
    /* The command calls this once, and does not use `output` afterwards. */
    void (*finish)(struct command_output *output, int exit_status);
    /* Set by command_must_wait.  Called each time all bytes were sent, and when the connection is
     * closed, until the command sets it to NULL. */
    void (*drained)(void *context);
    void *drained_context;
};

void command_printf(struct command_output *output, enum command_stream stream, const char *format,
                    ...) __attribute__((format(printf, 3, 4)));
/* Write "daybook: ", the text and an LF to the error stream, then call `finish`. */
void command_fail(struct command_output *output, int exit_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool command_is_full(struct command_output *output);
/* Whether the command should pause because too much output is not yet sent; if so, `drained` is set
 * in `output`. */
bool command_must_wait(struct command_output *output, void (*drained)(void *context),
                       void *context);
/* Charge `change_bytes` of memory, or give them back if negative.  A command charges memory that it
 * keeps and that grows with the data, such as an entry for each ad.  False: the limit is reached,
 * and nothing was charged; the command then has to use less memory, or fails with COMMAND_NO_ROOM.
 * All its bytes are given back when the command ends. */
bool command_keep(struct command_output *output, int64_t change_bytes);
#define COMMAND_NO_ROOM                                                                            \
    "there is no room for it in the server's memory for commands (--memory); ask for less at a "   \
    "time, or when other commands have ended"
/* The index of `word` in `words`, whose entries may be NULL; `count` if `word` is not there. */
uint32_t command_word(const char *word, const char *const *words, uint32_t count);
/* Whether `text` is a decimal number from `min` to `max`. */
bool command_number(const char *text, uint32_t min, uint32_t max, uint32_t *number_out);
/* For an argp parser: parse the value of --format.  0, or EINVAL after argp_error. */
int command_format(struct argp_state *state, const char *argument, enum table_format *format_out);
/* For an argp parser: call argp_error with a format and its arguments; gives EINVAL. */
#define command_refuse(state, ...) (argp_error(state, __VA_ARGS__), EINVAL)
/* The exit status for an error code: EXIT_WRONG_USAGE for ERROR_USAGE and ERROR_INVALID, else
 * EXIT_SYSTEM_FAILED. */
int command_exit_of(int code);
/* Report how a command ended.  If `status` is 0, this only returns EXIT_DONE.  Else it writes
 * "daybook: ", the text of `err` (of the code if `err` is NULL) and an LF to the error stream, and
 * returns command_exit_of(status). */
int command_report(struct command_output *output, int status, const struct error *err);

struct command_request {
    const void *options;               /* what the command's argp filled */
    struct bytes input;                /* the content of command.input_file's file, else empty */
    bool is_terminal;                  /* standard output is a terminal */
    bool is_read_only;                 /* the directory was opened with a shared lock */
    const char *door;                  /* "command" or "socket" */
    const char *actor;                 /* the system user who ran the command */
    const char *text;                  /* the command line as given; kept with the changes */
    const char *folder;                /* the caller's working directory; "" or NULL: unknown */
};

struct command {
    const char *name;                  /* "report" */
    const char *summary;               /* one line for `daybook --help` */
    const struct argp *argp;           /* fills options_size zeroed bytes; prints and exits only
                                        * through argp's functions for its state */
    size_t options_size;
    /* Whether the command writes: the directory is then locked exclusively, and made if there is
     * none.  NULL: it never writes. */
    bool (*writes)(const void *options);
    /* The command ends within `run` with a short answer, so a server runs it even when no further
     * command may be started. */
    bool is_brief;
    /* The name of the file to read into the request's `input` ("-": standard input).  NULL, or a
     * result of NULL: none. */
    const char *(*input_file)(const void *options);
    /* Start the command.  `room` is the context of its entry (program/control/control.h).  The
     * command may call `output->finish` within `run` or later; `request` and its options are valid
     * until then. */
    void (*run)(void *room, const struct command_request *request, struct command_output *output);
};
#endif
