/* access: reaches a directory's data through the server that holds it, or by opening the directory.
 *
 * The control socket is tried first, then the directory's lock.  While another process holds the
 * directory and no server answers, access_open tries again. */
#ifndef DAYBOOK_PROGRAM_ACCESS_H
#define DAYBOOK_PROGRAM_ACCESS_H

#include "program/instance.h"

/* Exactly one of `server` and `instance` is set. */
struct access {
    struct loop *loop;
    struct network *network;
    struct connection *server;         /* not started; the caller closes it */
    struct instance *instance;
};

/* `loop` and `network` in `options` are ignored.  ERROR_BUSY: another process held the directory
 * for `wait_ms` milliseconds.  After success with `salvages` in `options`, `err` may say which
 * frames of the log were left out. */
must_check int access_open(const struct instance_options *options, int64_t wait_ms,
                           struct access *access_out, struct error *err);
/* Close the instance, if any, the network and the loop.  `server` must be closed already. */
must_check int access_close(struct access *access, struct error *err);

/* The caller frees the result with memory_free. */
char *access_socket_path(const char *path);
#endif
