/* control: the unix socket in the data directory, by which commands reach a running server.
 *
 * A client sends one request, the words of a command line; the server runs the command and streams
 * what it writes, then its exit status.  Or it asks for the ingest door and speaks the text door's
 * protocol from there on, so that `daybook load` needs no port.
 *
 * Every message is u32 size (of what follows, at most CONTROL_MESSAGE_MAX), u8 kind, body:
 *
 *   client   1 RUN      u8 is_terminal, sized actor, sized text, sized folder, varint count, count
 *                       sized words, u8 has_input, sized input
 *            2 INGEST   nothing; after the server's OPEN the connection is the text door's
 *   server   3 OUT      bytes for standard output
 *            4 ERR      bytes for standard error
 *            5 EXIT     u8 exit status; the last message
 *            6 OPEN     nothing
 *
 * Sized: a varint and so many bytes (base/bytes.h).  The socket's mode is 0600: whoever can
 * connect is the directory's owner or root. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONTROL_H
#define DAYBOOK_PROGRAM_CONTROL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cli/command.h"
#include "base/world/network.h"
#include "base/world/world.h"
#include "door/door.h"

enum {
    CONTROL_MESSAGE_MAX = 64 << 20,    /* bytes; bounds the file that may go along with a command */
    CONTROL_WORDS_MAX = 1000,
    CONTROL_CONNECTIONS_MAX = 256,     /* one more is told so if all of them run commands, */
    CONTROL_BRIEF_MAX = 32,            /* but so many more may give brief commands, so that how a
                                        * server is can be asked however busy it is */
    CONTROL_BYTES_MAX = 128 << 20,     /* of memory, unless the options say less */
    CONTROL_COMMAND_BYTES = 1 << 20,   /* of it for each command that runs: what it reads and makes
                                        * at a time; a report of many resellers does */
    CONTROL_QUEUED_MAX = 1 << 20       /* bytes of an answer that may wait for their reader */
};

enum control_kind {
    CONTROL_RUN = 1,
    CONTROL_INGEST = 2,
    CONTROL_OUT = 3,
    CONTROL_ERR = 4,
    CONTROL_EXIT = 5,
    CONTROL_OPEN = 6
};

/* A command and the room it works on. */
struct control_entry {
    const struct command *command;
    void *room;
};

/* ---- words to options, both sides ---- */

enum { CONTROL_WAIT_MS_DEFAULT = 10000 };

/* What every command takes besides its own options; the texts point into the words. */
struct control_common {
    const char *directory;             /* -d; NULL: not given */
    const char *stream;                /* --stream; NULL: not given */
    int64_t wait_ms;                   /* --wait: how long a directory that is held is waited for */
};

/* Parse `words` (the command's name first) into options that the caller frees with memory_free.
 * The words are reordered, and outlive the options, which may point into them.  `prints`: --help
 * and errors are printed and end the process, as a command line's do; else an error is
 * returned.  `common_out` may be NULL. */
must_check int control_parse(const struct command *command, int word_count, char **words,
                             bool prints, struct control_common *common_out, void **options_out,
                             struct error *err);

/* ---- the server's side ---- */

struct control_server;

struct control_server_options {
    struct network *network;
    struct world *world;               /* on the same loop */
    const char *path;                  /* of the socket */
    const struct control_entry *entries;           /* outlive the server */
    uint32_t entry_count;
    uint32_t connections_max;          /* 0: CONTROL_CONNECTIONS_MAX */
    size_t bytes_max;                  /* of memory, for what commands take (control_room.h); 0:
                                        * CONTROL_BYTES_MAX */
    /* Tells an account of it; NULL: there is none. */
    void (*held)(void *context, int64_t change_bytes);
    /* Takes a connection that asked for the ingest door. */
    void (*ingest)(void *context, struct connection *connection);
    void *context;
};

must_check int control_server_open(const struct control_server_options *options,
                                   struct control_server **server_out, struct error *err);
/* Takes no more requests and hangs up on clients that have sent none or do not take their answer;
 * frees itself when the last running command has finished, then calls `closed`. */
void control_server_close(struct control_server *server, void (*closed)(void *context),
                          void *context);

/* ---- the client's side ---- */

struct control_request {
    bool is_terminal;
    const char *actor;
    const char *text;
    const char *folder;                /* NULL: not told */
    int word_count;
    char *const *words;
    struct bytes input;
};

/* Append the body of a RUN message. */
void control_request_put(const struct control_request *request, struct buffer *body);

/* Send a request on `connection` and pass what comes on: `write` for each piece, `finished` once
 * with the exit status, or with EXIT_SYSTEM_FAILED when the connection breaks.  The connection is
 * closed and gone when `finished` is called. */
struct control_client_handler {
    void (*write)(void *context, enum command_stream stream, struct bytes bytes);
    void (*finished)(void *context, int exit_status);
};
void control_client_run(struct connection *connection, const struct control_request *request,
                        const struct control_client_handler *handler, void *context);

/* Ask for the ingest door.  `opened` gets the connection back, without a handler, or NULL. */
void control_client_ingest(struct connection *connection,
                           void (*opened)(void *context, struct connection *connection),
                           void *context);
#endif
