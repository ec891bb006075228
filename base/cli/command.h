/* command: the interface of a subcommand of the program.
 *
 * If a server has the data directory open, the command runs in the server (program/control/), else
 * in the calling process.  The calling process parses the options first, so that --help and wrong
 * usage need no directory. */
#ifndef DAYBOOK_BASE_CLI_COMMAND_H
#define DAYBOOK_BASE_CLI_COMMAND_H

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cli/table_print.h"

enum command_exit {
    EXIT_DONE = 0,
    EXIT_DATA_SAYS_NO = 1,             /* for example, verify found a difference */
    EXIT_WRONG_USAGE = 2,
    EXIT_SYSTEM_FAILED = 3
};

/* COMMAND_TERMINAL: control sequences for standard error; they must not contain data. */
enum command_stream { COMMAND_OUT = 1, COMMAND_ERR = 2, COMMAND_TERMINAL = 3 };

/* Receives the answer of a command, on the engine thread.  `write` copies or sends the bytes before
 * it returns. */
struct command_output {
    void (*write)(struct command_output *output, enum command_stream stream, struct bytes bytes);
    /* Whether the command should pause until `drained`; NULL: never. */
    bool (*is_full)(struct command_output *output);
    /* Whether a listing may end before its last row; NULL: never. */
    bool (*has_enough)(struct command_output *output);
    /* See command_keep.  NULL: memory is not limited. */
    bool (*keep)(struct command_output *output, int64_t change_bytes);
    /* The command must call this once, and not use `output` afterwards. */
    void (*finish)(struct command_output *output, int exit_status);
    /* Called each time all bytes were sent, and when the connection is closed, until the command
     * sets this member to NULL. */
    void (*drained)(void *context);
    void *drained_context;
};

void command_printf(struct command_output *output, enum command_stream stream, const char *format,
                    ...) __attribute__((format(printf, 3, 4)));
/* Write "daybook: ", the text and an LF to the error stream, then call `finish`. */
void command_fail(struct command_output *output, int exit_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool command_is_full(struct command_output *output);
/* Whether the command should pause; if so, sets `drained` in `output`. */
bool command_must_wait(struct command_output *output, void (*drained)(void *context),
                       void *context);
/* Whether no further row is wanted.  A listing that can be long must call this between rows, and
 * then end as after its last row. */
bool command_has_enough(struct command_output *output);
/* Charge `change_bytes` of memory, or give them back if negative.  A command must charge memory
 * that grows with the data.  False: the limit is reached, and nothing was charged; the command has
 * to use less memory, or fail with COMMAND_NO_ROOM.  All bytes are given back when the command
 * ends. */
bool command_keep(struct command_output *output, int64_t change_bytes);
#define COMMAND_NO_ROOM                                                                            \
    "there is no room for it in the server's memory for commands (--memory); ask for less at a "   \
    "time, or when other commands have ended"
/* Returns the index of `word` in `words`, where NULLs are skipped; `count`: not found. */
uint32_t command_word(const char *word, const char *const *words, uint32_t count);
bool command_number(const char *text, uint32_t min, uint32_t max, uint32_t *number_out);
/* For an argp parser: parse the name of a format.  Returns 0, or EINVAL after argp_error. */
int command_format(struct argp_state *state, const char *argument, enum table_format *format_out);
/* For an argp parser: call argp_error, and give EINVAL. */
#define command_refuse(state, ...) (argp_error(state, __VA_ARGS__), EINVAL)
/* The exit status for an error code: EXIT_WRONG_USAGE for ERROR_USAGE and ERROR_INVALID, else
 * EXIT_SYSTEM_FAILED. */
int command_exit_of(int code);
/* Returns EXIT_DONE if `status` is 0.  Else writes the text of `err` (of `status` if NULL) to the
 * error stream, and returns command_exit_of(status). */
int command_report(struct command_output *output, int status, const struct error *err);

struct command_request {
    const void *options;
    struct bytes input;                /* the contents of input_file, or empty */
    bool is_terminal;                  /* standard output is a terminal */
    bool is_read_only;                 /* the directory has a shared lock */
    const char *door;                  /* "socket", "http", or "command" (without a server) */
    const char *actor;
    const char *text;
    const char *folder;                /* the caller's working directory; "" or NULL: unknown */
};

struct command {
    const char *name;
    const char *summary;               /* one line for `daybook --help` */
    const struct argp *argp;           /* fills options_size zeroed bytes; prints and exits only
                                        * through argp's functions for its state */
    size_t options_size;
    /* Whether the command needs the exclusive lock; NULL: never. */
    bool (*writes)(const void *options);
    /* The command ends within `run`, so a server runs it even when no further command may be
     * started. */
    bool is_brief;
    /* The file to read into `input` ("-": standard input); NULL, or a result of NULL: none. */
    const char *(*input_file)(const void *options);
    /* `room` is the context of the command's entry.  The command may call `output->finish` within
     * `run` or later; `request` and its options are valid until then. */
    void (*run)(void *room, const struct command_request *request, struct command_output *output);
};

struct command_entry {
    const struct command *command;
    void *context;                     /* the `room` of its `run` */
};
/* NULL: there is no such command. */
const struct command_entry *command_find(const struct command_entry *entries, uint32_t count,
                                         const char *name);
#endif
