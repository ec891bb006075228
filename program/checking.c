/* checking: see the header.
 *
 * SIGALRM enforces the time limit, since any call may block: connecting to a socket whose queue is
 * full, or opening a directory on a failed disk. */
#include "program/checking.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <sys/time.h>

#include "program/access.h"
#include "program/control/control_client.h"
#include "query/status.h"
#include "program/cli_run.h"
#include "base/world/disk_posix.h"
#include "base/memory.h"

/* ---- the time limit ---- */

static void limit_reached(int signal_number)
{
    static const char text[] = "stuck: the server has not answered in time (5 s, or --wait)\n";
    ssize_t written = write(STDOUT_FILENO, text, sizeof(text) - 1);
    (void)written;
    (void)signal_number;
    _exit(EXIT_SYSTEM_FAILED);
}

static void limit_start(int64_t wait_ms)
{
    int64_t ms = wait_ms < CHECKING_MS ? wait_ms : CHECKING_MS;
    struct itimerval after = {.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 + 1}};
    (void)signal(SIGALRM, limit_reached);
    (void)setitimer(ITIMER_REAL, &after, NULL);
}

/* ---- a server that answers ---- */

static void answer_write(struct command_output *output, enum command_stream stream,
                         struct bytes bytes)
{
    (void)output;
    ssize_t written =
        write(stream == COMMAND_OUT ? STDOUT_FILENO : STDERR_FILENO, bytes.data, bytes.size);
    (void)written; /* the exit status does not depend on a reader of the output */
}

static int ask(struct loop *loop, struct connection *server, int word_count, char **words)
{
    const struct control_request request = {
        .actor = "", .text = "", .word_count = word_count, .words = words};
    struct cli_answer answer = {.output = {.write = answer_write, .finish = cli_run_finish}};
    control_client_run(server, &request, &answer.output);
    loop_run_until(loop, &answer.is_finished);
    return answer.exit_status;
}

/* ---- no server that answers ---- */

/* A process that holds the directory without a socket is a server that starts or stops, or another
 * command. */
static int look_at_lock(const char *path)
{
    struct error err = {0};
    struct disk *disk;
    int rc = disk_posix_open(path, false, &disk, &err);
    if (rc != 0) {
        printf("no server: %s\n", err.text);
        return EXIT_SYSTEM_FAILED;
    }
    rc = disk->lock(disk, DISK_LOCK_SHARED, &err);
    if (rc == 0)
        disk->unlock(disk);
    disk_posix_close(disk);
    if (rc == ERROR_BUSY) {
        printf("not open: %s, and does not serve it now: it starts, stops, or is another command\n",
               err.text);
        return EXIT_DATA_SAYS_NO;
    }
    printf("no server: nothing serves %s\n", path);
    return EXIT_SYSTEM_FAILED;
}

static int check_server(const char *path, int word_count, char **words)
{
    struct loop *loop = loop_new();
    struct network *network = network_uv_new(loop_uv(loop));
    char *socket = access_socket_path(path);
    struct connection *server = NULL;
    struct error err = {0};
    int status = EXIT_SYSTEM_FAILED;
    int rc = network_connect_unix(network, socket, &server, &err);
    if (rc == 0)
        status = ask(loop, server, word_count, words);
    else if (rc == -EACCES)
        printf("%s; ask as the user who runs the server\n", err.text);
    else
        status = look_at_lock(path);
    memory_free(socket);
    network_uv_free(network);
    loop_free(loop);
    return status;
}

int checking_run(const struct cli_call *call)
{
    const struct status_options *options = call->options;
    if (!options->is_check)
        return cli_run_command(call);
    limit_start(call->common->wait_ms);
    return check_server(directory_path(call->common->directory), call->word_count, call->words);
}
