/* control: defines the protocol of the unix socket in the data directory, by which commands reach a
 * running server.
 *
 * A client sends one request, the words of a command line.  The server sends the command's output,
 * and at the end the exit status.  A client may instead request ingest: the connection then speaks
 * the ingest protocol.
 *
 * Every message is u32 size (of kind and body, at most CONTROL_MESSAGE_MAX), u8 kind, body:
 *
 *   client   1 RUN      u8 is_terminal, sized actor, sized text, sized folder, varint count, count
 *                       sized words, u8 has_input, sized input
 *            2 INGEST   empty; after the server's OPEN the connection speaks the protocol of ingest
 *   server   3 OUT      bytes for standard output
 *            4 ERR      bytes for standard error
 *            5 EXIT     u8 exit status; the last message
 *            6 OPEN     empty
 *
 * "Sized" means a varint length, then that many bytes (base/buffer.h).  The socket's mode is 0600:
 * only the directory's owner and root can connect. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONTROL_H
#define DAYBOOK_PROGRAM_CONTROL_CONTROL_H

#include "base/cli/command.h"

enum {
    CONTROL_MESSAGE_MAX = 64 << 20,
    CONTROL_WORDS_MAX = 1000,
    CONTROL_CONNECTIONS_MAX = 256,     /* while all of these run commands, further ones may only run
                                        * brief commands (command.is_brief) */
    CONTROL_BRIEF_MAX = 32,            /* such further connections, so that `status` also works on a
                                        * busy server */
    CONTROL_BYTES_MAX = 128 << 20,     /* default of bytes_max */
    CONTROL_COMMAND_BYTES = 1 << 20,   /* the part of bytes_max that each running command takes,
                                        * unless it is brief */
    CONTROL_QUEUED_MAX = 1 << 20       /* a command pauses while its answer has this many unread
                                        * bytes */
};

enum control_kind {
    CONTROL_RUN = 1,
    CONTROL_INGEST = 2,
    CONTROL_OUT = 3,
    CONTROL_ERR = 4,
    CONTROL_EXIT = 5,
    CONTROL_OPEN = 6
};
#endif
