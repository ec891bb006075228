/* command: the interface of a subcommand of the program.
 *
 * A command runs in the server that has the directory open, which sends the answer over the unix
 * socket (program/control/), or in the calling process, on a directory that no server has open; it
 * is the same code.  The calling process parses the options first, so that --help and wrong usage
 * need no directory; a server gets the words of the command line and parses them again. */
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
    EXIT_DATA_SAYS_NO = 1,             /* verify found a difference; --strict, and refused */
    EXIT_WRONG_USAGE = 2,
    EXIT_SYSTEM_FAILED = 3
};

/* COMMAND_TERMINAL: control sequences on standard error; they must not contain data. */
enum command_stream { COMMAND_OUT = 1, COMMAND_ERR = 2, COMMAND_TERMINAL = 3 };

/* Receives an answer.  Engine thread; `write` copies or sends the bytes before it returns. */
struct command_output {
    void (*write)(struct command_output *output, enum command_stream stream, struct bytes bytes);
    /* Whether so many bytes wait for their reader that the command should pause until `drained`. */
    bool (*is_full)(struct command_output *output);
    /* See command_keep; NULL: memory is not limited. */
    bool (*keep)(struct command_output *output, int64_t change_bytes);
    /* Called once by the command, last; `output` is then freed. */
    void (*finish)(struct command_output *output, int exit_status);
    /* Set by a command that waits for queued bytes to leave. */
    void (*drained)(void *context);
    void *drained_context;
};

void command_printf(struct command_output *output, enum command_stream stream, const char *format,
                    ...) __attribute__((format(printf, 3, 4)));
/* "daybook: text" on the error stream, then finish. */
void command_fail(struct command_output *output, int exit_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether the command should pause because output waits for its reader; if so, `drained` is called
 * once, when all output was sent. */
bool command_must_wait(struct command_output *output, void (*drained)(void *context),
                       void *context);
/* Charge or give back `change_bytes` of memory that the command keeps while it runs and that grows
 * with the data, such as an entry for each ad.  False: the limit is reached and nothing was
 * charged; the command then needs less memory, or fails with COMMAND_NO_ROOM.  When the command
 * ends, all its bytes are given back. */
bool command_keep(struct command_output *output, int64_t change_bytes);
#define COMMAND_NO_ROOM                                                                            \
    "there is no room for it in the server's memory for commands (--memory); ask for less at a "   \
    "time, or when other commands have ended"
/* The index of `word` among `words`, entries of which may be NULL; `count` when it is not there. */
uint32_t command_word(const char *word, const char *const *words, uint32_t count);
/* Whether a text is a number in decimal digits, from `min` to `max`. */
bool command_number(const char *text, uint32_t min, uint32_t max, uint32_t *number_out);
/* For an argp parser: the value of --format; 0, or EINVAL after argp_error. */
int command_format(struct argp_state *state, const char *argument, enum table_format *format_out);
/* For an argp parser: argp_error with a format and its arguments, and EINVAL. */
#define command_refuse(state, ...) (argp_error(state, __VA_ARGS__), EINVAL)
/* For an argp parser: argp_error with the text of `err`, and EINVAL. */
int command_usage(struct argp_state *state, const struct error *err);
/* The exit status for an error code: ERROR_USAGE, ERROR_INVALID 2, else 3. */
int command_exit_of(int code);
/* The exit status of a command that ends with `status`: EXIT_DONE for 0, else command_exit_of, and
 * "daybook: text" on the error stream with the text of `err`, or of the code where that is NULL. */
int command_report(struct command_output *output, int status, const struct error *err);

struct command_request {
    const void *options;               /* what the command's argp filled */
    struct bytes input;                /* the content of the file input_file named, else empty */
    bool is_terminal;                  /* the output is a terminal: colour, aligned columns */
    bool is_read_only;                 /* the directory was opened with a shared lock */
    const char *door;                  /* "command" or "socket" */
    const char *actor;                 /* the system user who ran the command */
    const char *text;                  /* the command line as given, for the change table */
    const char *folder;                /* the caller's working directory; "" or NULL: unknown */
};

struct command {
    const char *name;                  /* "report" */
    const char *summary;               /* one line for `daybook --help` */
    const struct argp *argp;           /* fills options_size zeroed bytes; must not print or exit by
                                        * itself other than through argp's own state functions */
    size_t options_size;
    /* True when it writes: an exclusive lock, and an empty directory is made first.  NULL: it never
     * does. */
    bool (*writes)(const void *options);
    /* It ends within `run`, with a short answer, so a server runs it however busy it is. */
    bool is_brief;
    /* The name of a file whose content becomes `input` ("-" is standard input); NULL: none. */
    const char *(*input_file)(const void *options);
    /* Start the command.  `output->finish` may be called before or after `run` returns; `request`
     * and its options are valid until then. */
    void (*run)(void *room, const struct command_request *request, struct command_output *output);
};
#endif
