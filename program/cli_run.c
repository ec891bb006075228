/* cli_run: see the header.
 *
 * If the output cannot be written, as on a full disk, the exit status is 3.  The command still runs
 * to its end, since its changes must not depend on the reader of its output.  A reader that closes
 * the pipe (`| head`) is no failure: a command that changes nothing ends by SIGPIPE, any other
 * keeps its exit status. */
#include "program/cli_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "program/access.h"
#include "base/memory.h"
#include "base/cli/terminal.h"
#include "program/control/control_client.h"

enum { INPUT_STEP = 64 * 1024 };

struct cli_run {
    struct cli_answer answer; /* must be first: run_write casts its output to the cli_run */
    struct access access;
    int write_error;
    bool reads_only;
    struct terminal_text terminals[2];
};

/* ---- output ---- */

/* network_uv_new has set SIGPIPE to be ignored, so the default action is restored first. */
static void run_end_by_pipe(const struct cli_run *run)
{
    if (run->write_error == EPIPE && run->reads_only) {
        (void)signal(SIGPIPE, SIG_DFL);
        (void)raise(SIGPIPE);
    }
}

static void run_write_fd(struct cli_run *run, int fd, struct bytes bytes)
{
    size_t done = 0;
    while (done < bytes.size && run->write_error == 0) {
        ssize_t count = write(fd, bytes.data + done, bytes.size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            run->write_error = errno;
            run_end_by_pipe(run);
            return;
        }
        done += (size_t)count;
    }
}

/* Files and pipes get the output unchanged.  For a terminal, control characters are replaced,
 * except in output to COMMAND_TERMINAL. */
static void run_write(struct command_output *output, enum command_stream stream, struct bytes bytes)
{
    struct cli_run *run = (struct cli_run *)output;
    struct buffer text = {0};
    int fd = stream == COMMAND_OUT ? STDOUT_FILENO : STDERR_FILENO;
    if (stream == COMMAND_TERMINAL || isatty(fd) != 1) {
        run_write_fd(run, fd, bytes);
        return;
    }
    terminal_append(&run->terminals[stream == COMMAND_OUT], bytes, &text);
    run_write_fd(run, fd, buffer_view(&text));
    buffer_release(&text);
}

void cli_run_finish(struct command_output *output, int exit_status)
{
    struct cli_answer *answer = (struct cli_answer *)output;
    answer->exit_status = exit_status;
    answer->is_finished = true;
}

/* ---- a file that is sent along ---- */

static int read_all(int fd, struct buffer *input, struct error *err)
{
    for (;;) {
        buffer_reserve(input, INPUT_STEP);
        ssize_t count = read(fd, input->data + input->size, INPUT_STEP);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count == 0 ? 0 : error_set(err, -errno, "%s", error_text(-errno));
        input->size += (size_t)count;
        if (input->size > CLI_RUN_INPUT_MAX) {
            return error_set(err, ERROR_LIMIT, "it is over the limit of %d MB",
                             CLI_RUN_INPUT_MAX >> 20);
        }
    }
}

static int read_input(const char *name, struct buffer *input, struct error *err)
{
    if (strcmp(name, "-") == 0)
        return read_all(STDIN_FILENO, input, err);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, -errno, "read %s: %s", name, error_text(-errno));
    int rc = read_all(fd, input, err);
    close(fd);
    if (rc != 0)
        error_wrap(err, "read %s", name);
    return rc;
}

char *cli_run_actor(void)
{
    struct passwd entry;
    struct passwd *found = NULL;
    char space[4096];
    char number[32];
    if (getpwuid_r(geteuid(), &entry, space, sizeof(space), &found) == 0 && found != NULL)
        return memory_string(entry.pw_name);
    snprintf(number, sizeof(number), "uid %u", (unsigned)geteuid());
    return memory_string(number);
}

static bool is_plain(const char *word)
{
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,:/=@%";
    return word[0] != '\0' && word[strspn(word, plain)] == '\0';
}

char *cli_run_text(int word_count, char *const *words)
{
    struct buffer text = {0};
    for (int i = 0; i < word_count; i++) {
        if (i > 0)
            buffer_put_u8(&text, ' ');
        if (is_plain(words[i])) {
            buffer_append_text(&text, words[i]);
            continue;
        }
        buffer_put_u8(&text, '\'');
        for (const char *c = words[i]; *c != '\0'; c++) {
            buffer_append_text(&text, *c == '\'' ? "'\\'" : "");
            buffer_put_u8(&text, (uint8_t)*c);
        }
        buffer_put_u8(&text, '\'');
    }
    buffer_put_u8(&text, '\0');
    return (char *)text.data;
}

/* ---- in this process, or in the server ---- */

static void run_here(struct cli_run *run, const struct command *command,
                     const struct command_request *request)
{
    const struct instance *instance = run->access.instance;
    const struct command_entry *entry =
        command_find(instance->entries, instance->entry_count, command->name);
    check(entry != NULL);
    command->run(entry->context, request, &run->answer.output);
}

static int run_wait(struct cli_run *run)
{
    struct error err = {0};
    loop_run_until(run->access.loop, &run->answer.is_finished);
    if (access_close(&run->access, &err) != 0) {
        fprintf(stderr, "daybook: %s\n", err.text);
        run->answer.exit_status = EXIT_SYSTEM_FAILED;
    }
    if (run->write_error == 0 || run->write_error == EPIPE)
        return run->answer.exit_status;
    fprintf(stderr, "daybook: cannot write the output: %s\n", strerror(run->write_error));
    return EXIT_SYSTEM_FAILED;
}

int cli_run_command(const struct cli_call *call)
{
    const struct command *command = call->command;
    bool writes = command->writes != NULL && command->writes(call->options);
    const char *input_name =
        command->input_file != NULL ? command->input_file(call->options) : NULL;
    struct instance_options instance = {.path = directory_path(call->common->directory),
                                        .is_read_only = !writes,
                                        .create_if_missing = writes};
    struct cli_run run = {.answer.output = {.write = run_write, .finish = cli_run_finish},
                          .reads_only = !writes};
    struct buffer input = {0};
    struct error err = {0};
    int rc = input_name != NULL ? read_input(input_name, &input, &err) : 0;
    rc = rc == 0 ? access_open(&instance, call->common->wait_ms, &run.access, &err) : rc;
    if (rc != 0) {
        fprintf(stderr, "daybook: %s\n", err.text);
        buffer_release(&input);
        return command_exit_of(rc);
    }
    char *actor = cli_run_actor();
    char *text = cli_run_text(call->word_count, call->words);
    char folder[PATH_MAX];
    bool is_terminal = isatty(STDOUT_FILENO) == 1;
    if (getcwd(folder, sizeof(folder)) == NULL)
        folder[0] = '\0';
    if (run.access.instance != NULL) {
        struct command_request request = {.options = call->options,
                                          .input = buffer_view(&input),
                                          .is_terminal = is_terminal,
                                          .is_read_only = !writes,
                                          .door = "command",
                                          .actor = actor,
                                          .text = text,
                                          .folder = folder};
        run_here(&run, command, &request);
    } else {
        struct control_request request = {.is_terminal = is_terminal,
                                          .actor = actor,
                                          .text = text,
                                          .folder = folder,
                                          .word_count = call->word_count,
                                          .words = call->words,
                                          .input = buffer_view(&input)};
        control_client_run(run.access.server, &request, &run.answer.output);
    }
    int exit_status = run_wait(&run);
    memory_free(actor);
    memory_free(text);
    buffer_release(&input);
    return exit_status;
}
