/* access: see the header. */
#include "program/access.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

enum { TRY_AGAIN_MS = 50 };

char *access_socket_path(const char *path)
{
    size_t size = strlen(path) + sizeof("/daybook.sock");
    char *socket = memory_alloc(size);
    snprintf(socket, size, "%s/daybook.sock", path);
    return socket;
}

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Connect to the server; if that fails, open the instance.  ERROR_BUSY: another process holds the
 * directory and does not answer.  -EACCES: this user may not open the directory or connect to its
 * server. */
static int access_try(const struct instance_options *options, const char *socket,
                      struct access *access, struct error *err)
{
    struct instance_options instance = *options;
    instance.loop = access->loop;
    instance.network = access->network;
    int reached = network_connect_unix(access->network, socket, &access->server, NULL);
    if (reached == 0)
        return 0;
    int rc = instance_open(&instance, &access->instance, err);
    if (rc == ERROR_BUSY && reached == -EACCES) {
        return error_set(err, reached, "%s is held by another user's server; run this as its owner",
                         options->path);
    }
    return rc;
}

int access_open(const struct instance_options *options, int64_t wait_ms, struct access *access,
                struct error *err)
{
    const struct timespec pause = {.tv_nsec = TRY_AGAIN_MS * 1000000L};
    int64_t deadline_ms = monotonic_ms() + wait_ms;
    char *socket = access_socket_path(options->path);
    struct error last = {0};
    *access = (struct access){.loop = loop_new()};
    access->network = network_uv_new(loop_uv(access->loop));
    int rc = access_try(options, socket, access, &last);
    while (rc == ERROR_BUSY && monotonic_ms() < deadline_ms) {
        nanosleep(&pause, NULL);
        last = (struct error){0};
        rc = access_try(options, socket, access, &last);
    }
    memory_free(socket);
    if (rc == 0 && err != NULL)
        *err = last;
    if (rc != 0) {
        (void)error_set(err, rc, "%s%s", last.text,
                        rc == ERROR_BUSY ? ", and no server answers there; --wait waits longer"
                                         : "");
        int closed = access_close(access, NULL);
        (void)closed;
    }
    return rc;
}

int access_close(struct access *access, struct error *err)
{
    int rc = access->instance != NULL ? instance_close(access->instance, err) : 0;
    network_uv_free(access->network);
    loop_free(access->loop);
    return rc;
}
