/* access: the way to a directory's data: through the server that holds it, or by opening it.
 *
 * The control socket is tried first, then the directory's lock.  While another process holds the
 * directory and no server answers (a server starts or stops, or another command runs), it waits. */
#ifndef DAYBOOK_PROGRAM_ACCESS_H
#define DAYBOOK_PROGRAM_ACCESS_H

#include "program/instance.h"

/* One of `server` and `instance` is set. */
struct access {
    struct loop *loop;
    struct network *network;
    struct connection *server;         /* not started; the caller starts and closes it */
    struct instance *instance;
};

/* `options` without loop and network, which are made here.  After 0 the text of `err` may say what
 * `salvages` left out. */
must_check int access_open(const struct instance_options *options, int64_t wait_ms,
                           struct access *access_out, struct error *err);
/* Close the instance, if there is one, and the loop; `server` is closed already. */
must_check int access_close(struct access *access, struct error *err);

/* DIR/daybook.sock; the caller frees it with memory_free. */
char *access_socket_path(const char *path);
#endif
