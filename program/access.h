/* access: the way to a directory's data: through the server that holds it, or by opening it.
 *
 * Who holds the directory is asked of its socket first.  A held directory without a server that
 * answers (one that is starting or stopping, another command) is waited for. */
#ifndef DAYBOOK_PROGRAM_ACCESS_H
#define DAYBOOK_PROGRAM_ACCESS_H

#include "program/instance.h"

/* One of `server` and `instance` is set. */
struct access {
    struct loop *loop;
    struct network *network;
    struct connection *server;         /* not started; whoever starts it sees to its end */
    struct instance *instance;
};

/* `options` are the instance's, but for the loop and the network, which are made here.  When it
 * returns 0, the text of `err` may hold what salvage left out. */
must_check int access_open(const struct instance_options *options, int64_t wait_ms,
                           struct access *access_out, struct error *err);
/* Close the instance, if it is one, and the loop; `server` has been closed. */
must_check int access_close(struct access *access, struct error *err);

/* DIR/daybook.sock; the caller frees it with memory_free. */
char *access_socket_path(const char *path);
#endif
