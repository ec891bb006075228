/* loading: see the header.
 *
 * The load client speaks the ingest protocol with one of two peers:
 *
 *     a server holds the directory    its ingest, through its control socket
 *     no process holds it             ingest in this process, at the other end of a socket pair
 *
 * After all files, days are refreshed once, so that a backfill causes no restatement for each
 * batch.  Days are refreshed even if a file failed, because some of its clicks may be
 * acknowledged. */
#include "program/loading.h"

#include <stdio.h>
#include <unistd.h>

#include "program/access.h"
#include "ingest/load/load.h"
#include "program/control/control_client.h"
#include "program/cli_run.h"
#include "base/memory.h"

struct loading {
    struct access access;
    struct world *world; /* of the load client; NULL: it uses the instance's world */
    struct connection *door;
    bool has_answered;
};

const struct command loading_command = {.name = "load",
                                        .summary = "load files of clicks, each counted once",
                                        .argp = &load_argp,
                                        .options_size = sizeof(struct load_options)};

/* ---- output ---- */

static void loading_write(struct command_output *output, enum command_stream stream,
                          struct bytes bytes)
{
    FILE *file = stream == COMMAND_OUT ? stdout : stderr;
    (void)output;
    fwrite(bytes.data, 1, bytes.size, file);
    fflush(file);
}

/* ---- connecting ---- */

static void door_opened(void *context, struct connection *connection)
{
    struct loading *loading = context;
    loading->door = connection;
    loading->has_answered = true;
}

static int loading_connect(struct loading *loading, struct connection **connection_out,
                           struct error *err)
{
    if (loading->access.instance != NULL) {
        struct connection *ends[2];
        int rc = network_pair(loading->access.network, ends, err);
        if (rc == 0) {
            ingest_attach(loading->access.instance->ingest, ends[0]);
            *connection_out = ends[1];
        }
        return rc;
    }
    control_client_ingest(loading->access.server, door_opened, loading);
    loop_run_until(loading->access.loop, &loading->has_answered);
    *connection_out = loading->door;
    return loading->door != NULL
               ? 0
               : error_set(err, ERROR_CLOSED, "the server does not open its ingest door");
}

/* ---- the rollup at the end ---- */

static int refresh_here(struct loading *loading, struct error *err)
{
    struct instance_waiter waiter = {.status = INSTANCE_WAITING};
    rollup_refresh_now(streams_find(loading->access.instance->streams, NULL), true, instance_done,
                       &waiter);
    return instance_wait(loading->access.loop, &waiter, err);
}

/* The output of `daybook rollup` is dropped, but its errors are printed. */
static void refresh_write(struct command_output *output, enum command_stream stream,
                          struct bytes bytes)
{
    if (stream == COMMAND_ERR)
        loading_write(output, stream, bytes);
}

static int refresh_there(struct loading *loading, const char *path, const char *text,
                         struct error *err)
{
    struct cli_answer answer = {.output = {.write = refresh_write, .finish = cli_run_finish}};
    char rollup_word[] = "rollup";
    char *words[] = {rollup_word, NULL};
    char *actor = cli_run_actor();
    char *socket = access_socket_path(path);
    struct control_request request = {
        .actor = actor, .text = text, .word_count = 1, .words = words};
    struct connection *connection;
    int rc = network_connect_unix(loading->access.network, socket, &connection, err);
    if (rc == 0) {
        control_client_run(connection, &request, &answer.output);
        loop_run_until(loading->access.loop, &answer.is_finished);
        rc = answer.exit_status == EXIT_DONE
                 ? 0
                 : error_set(err, ERROR_FAILED,
                             "the files are loaded; not all of their days are published: daybook "
                             "rollup publishes them");
    }
    memory_free(socket);
    memory_free(actor);
    return rc;
}

/* ---- the command ---- */

static int loading_load(struct loading *loading, const struct load_options *options,
                        const char *path, int *exit_status_out, struct error *err)
{
    struct cli_answer answer = {.output = {.write = loading_write, .finish = cli_run_finish}};
    struct instance *instance = loading->access.instance;
    struct connection *connection = NULL;
    int rc = loading_connect(loading, &connection, err);
    if (rc != 0)
        return rc;
    if (instance == NULL)
        rc = world_uv_open(path, false, loop_uv(loading->access.loop), &loading->world, err);
    if (rc != 0) {
        network_close(connection);
        return rc;
    }
    load_start(options, instance != NULL ? instance->world : loading->world, connection,
               isatty(STDERR_FILENO) == 1, &answer.output);
    loop_run_until(loading->access.loop, &answer.is_finished);
    *exit_status_out = answer.exit_status;
    return 0;
}

static int loading_close(struct loading *loading, struct error *err)
{
    if (loading->world != NULL)
        world_uv_close(loading->world);
    return access_close(&loading->access, err);
}

int loading_run(const struct cli_call *call)
{
    const char *path = directory_path(call->common->directory);
    struct instance_options how = {.path = path, .create_if_missing = true};
    struct load_options options = *(const struct load_options *)call->options;
    struct loading loading = {0};
    struct error err = {0};
    options.stream = call->common->stream;
    int rc = access_open(&how, call->common->wait_ms, &loading.access, &err);
    if (rc != 0) {
        fprintf(stderr, "daybook: %s\n", err.text);
        return command_exit_of(rc);
    }
    bool is_here = loading.access.instance != NULL;
    char *text = cli_run_text(call->word_count, call->words);
    int status = EXIT_DONE;
    rc = loading_load(&loading, &options, path, &status, &err);
    if (rc == 0)
        rc = is_here ? refresh_here(&loading, &err) : refresh_there(&loading, path, text, &err);
    int closed = loading_close(&loading, rc == 0 ? &err : NULL);
    memory_free(text);
    if (rc == 0 && closed == 0)
        return status;
    /* A load that failed has printed its error already. */
    if (status == EXIT_DONE || status == EXIT_DATA_SAYS_NO)
        fprintf(stderr, "daybook: %s\n", err.text);
    return EXIT_SYSTEM_FAILED;
}
