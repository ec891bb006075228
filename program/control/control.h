/* control: the unix socket in the data directory, by which commands reach a running server.
 *
 * A client sends one request, the words of a command line; the server runs the command and streams
 * what it writes, then its exit status.  Or it asks for the ingest door and speaks the text door's
 * protocol from there on, so that `daybook load` needs no port.
 *
 * Every message is u32 size (of what follows, at most CONTROL_MESSAGE_MAX), u8 kind, body.  The
 * kinds and their bodies, by sender:
 *
 *   client   1 RUN      u8 is_terminal, sized actor, sized text, sized folder, varint count, count
 *                       sized words, u8 has_input, sized input
 *            2 INGEST   empty; after the server's OPEN the connection speaks the protocol of ingest
 *   server   3 OUT      bytes for standard output
 *            4 ERR      bytes for standard error
 *            5 EXIT     u8 exit status; the last message
 *            6 OPEN     empty
 *
 * Sized: a varint and so many bytes (base/buffer.h).  The socket's mode is 0600: whoever can
 * connect is the directory's owner or root. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONTROL_H
#define DAYBOOK_PROGRAM_CONTROL_CONTROL_H

#include "base/cli/command.h"

enum {
    CONTROL_MESSAGE_MAX = 64 << 20,    /* bytes; bounds the file that may go along with a command */
    CONTROL_WORDS_MAX = 1000,
    CONTROL_CONNECTIONS_MAX = 256,     /* one more is refused if all of them run commands, */
    CONTROL_BRIEF_MAX = 32,            /* but so many more may run brief commands, so that
                                        * `status` works however busy the server is */
    CONTROL_BYTES_MAX = 128 << 20,     /* of memory, unless the options say less */
    CONTROL_COMMAND_BYTES = 1 << 20,   /* of it for each command that runs, for what it reads and
                                        * makes at a time; a report of many resellers needs it */
    CONTROL_QUEUED_MAX = 1 << 20       /* bytes of an answer that the client has not read */
};

enum control_kind {
    CONTROL_RUN = 1,
    CONTROL_INGEST = 2,
    CONTROL_OUT = 3,
    CONTROL_ERR = 4,
    CONTROL_EXIT = 5,
    CONTROL_OPEN = 6
};

/* A command, and what its `run` is given. */
struct control_entry {
    const struct command *command;
    void *context;
};
#endif
