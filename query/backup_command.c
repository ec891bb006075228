/* backup_command: see the header. */
#include "query/backup_command.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "query/query.h"
#include "base/world/disk_posix.h"
#include "base/memory.h"

enum { KEY_FOLLOW = 0x20001, KEY_STOP, KEY_KEEP, KEY_COPY, KEEP_MAX = 1000000 };

struct backup_command_options {
    const char *path;
    bool follows;
    bool stops;
    bool copies;
    uint32_t keep; /* 0: not given */
};

struct backup_call {
    struct command_output *output;
    bool follows;
    bool is_terminal;
    uint64_t reported_mb;
    char path[PATH_MAX];
};

static error_t check_options(const struct backup_command_options *options, struct argp_state *state)
{
    if (options->stops && (options->path != NULL || options->follows))
        return command_refuse(state, "--stop stands alone");
    if (!options->stops && options->path == NULL)
        return command_refuse(state, "the directory that the backup goes to is missing");
    return 0;
}

static error_t backup_command_parse(int key, char *argument, struct argp_state *state)
{
    struct backup_command_options *options = state->input;
    switch (key) {
    case KEY_FOLLOW:
        options->follows = true;
        return 0;
    case KEY_STOP:
        options->stops = true;
        return 0;
    case KEY_COPY:
        options->copies = true;
        return 0;
    case KEY_KEEP:
        return command_number(argument, 1, KEEP_MAX, &options->keep)
                   ? 0
                   : command_refuse(state, "--keep takes a number of points from 1, not '%s'",
                                    argument);
    case ARGP_KEY_ARG:
        if (options->path != NULL) {
            return command_refuse(
                state, "'%s' is one word too many; the data directory is given by -d DIR",
                argument);
        }
        options->path = argument;
        return 0;
    case ARGP_KEY_END:
        return check_options(options, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option backup_command_argp_options[] = {
    {"keep", KEY_KEEP, "N", 0,
     "Keep the newest N points, and remove what only older ones need; all unless given, 2 with "
     "--follow",
     0},
    {"copy", KEY_COPY, NULL, 0,
     "Copy segments also where the file system could share them by hard links", 0},
    {"follow", KEY_FOLLOW, NULL, 0,
     "Go on copying segments and synced log files, also after the server's next starts", 0},
    {"stop", KEY_STOP, NULL, 0, "End --follow; what was copied stays", 0},
    {0},
};

static const struct argp backup_command_argp = {
    .options = backup_command_argp_options,
    .parser = backup_command_parse,
    .args_doc = "BACKUP",
    .doc =
        "Make a point of the data directory, as of one moment, in the directory BACKUP, while a "
        "server goes on or without one."
        "\vSegments that BACKUP has already are not copied again; one that was cut short goes "
        "on.  With --follow the command returns when the first point is complete; from then on the "
        "server copies the log, and daybook status tells how far behind the backup is.\n\n"
        "Examples:\n"
        "  daybook backup /mnt/other-disk/daybook --keep 30\n"
        "  daybook backup --follow /mnt/other-host/daybook\n"
        "  daybook restore /mnt/other-host/daybook /var/lib/daybook --latest",
};

/* ---- answers ---- */

static void show_progress(void *context, const struct backup_progress *progress)
{
    struct backup_call *call = context;
    uint64_t mb = progress->bytes_done >> 20;
    if (call->is_terminal && mb >= call->reported_mb + 16) {
        call->reported_mb = mb;
        command_printf(call->output, COMMAND_ERR, "\rcopied %" PRIu64 " of %" PRIu64 " MB ", mb,
                       progress->bytes_total >> 20);
    }
}

static void backup_command_done(void *context, int status, const struct error *err,
                                const struct backup_progress *progress)
{
    struct backup_call *call = context;
    struct command_output *output = call->output;
    if (call->reported_mb > 0)
        command_printf(output, COMMAND_ERR, "\n");
    if (status != 0) {
        command_fail(output, command_exit_of(status), "backup to %s: %s", call->path, err->text);
    } else {
        command_printf(output, COMMAND_OUT,
                       "point %" PRIu64 " in %s: %" PRIu32 " segments, %" PRIu32 " copied and "
                       "%" PRIu32 " linked now; %" PRIu64 " MB read%s\n",
                       progress->point, call->path, progress->segments, progress->segments_copied,
                       progress->segments_linked, progress->bytes_done >> 20,
                       call->follows ? "; the server goes on from here" : "");
        output->finish(output, EXIT_DONE);
    }
    memory_free(call);
}

static const struct backup_handler handler = {.progress = show_progress,
                                              .done = backup_command_done};

/* ---- the command ---- */

/* Make a relative path start at `folder`, the client's working directory.  False: the path is too
 * long. */
static bool resolve(const char *path, const char *folder, char to[PATH_MAX])
{
    int length = path[0] == '/' || folder == NULL || folder[0] == '\0'
                     ? snprintf(to, PATH_MAX, "%s", path)
                     : snprintf(to, PATH_MAX, "%s/%s", folder, path);
    return length >= 0 && length < PATH_MAX;
}

static void follow_stopped(void *context, int status, const struct error *err,
                           const struct backup_progress *progress)
{
    struct command_output *output = context;
    (void)progress;
    output->finish(output, command_report(output, status, err));
}

static void stop_following(const struct query *query, struct command_output *output)
{
    static const struct backup_handler stop_handler = {.done = follow_stopped};
    if (!backup_unfollow(query->backup, &stop_handler, output))
        command_fail(output, EXIT_DATA_SAYS_NO, "no backup follows this directory");
}

static void backup_command_run(void *room, const struct command_request *request,
                               struct command_output *output)
{
    const struct query *query = room;
    const struct backup_command_options *options = request->options;
    struct error err = {0};
    if (options->stops) {
        stop_following(query, output);
        return;
    }
    if (options->follows && strcmp(request->door, "socket") != 0) {
        command_fail(output, EXIT_SYSTEM_FAILED,
                     "no server holds the directory, so there is nothing to follow; start daybook "
                     "serve, or leave --follow out");
        return;
    }
    struct backup_call *call = memory_zeroed(1, sizeof(*call));
    call->output = output;
    call->follows = options->follows;
    call->is_terminal = request->is_terminal;
    if (!resolve(options->path, request->folder, call->path)) {
        memory_free(call);
        command_fail(output, EXIT_WRONG_USAGE, "the path of the backup is too long");
        return;
    }
    const struct backup_options how = {.path = call->path,
                                       .follows = options->follows,
                                       .copies = options->copies,
                                       .keep = options->keep,
                                       .open = disk_posix_open,
                                       .close = disk_posix_close};
    int rc = backup_start(query->backup, &how, &handler, call, &err);
    if (rc != 0) {
        memory_free(call);
        command_fail(output, command_exit_of(rc), "%s", err.text);
    }
}

const struct command backup_command = {
    .name = "backup",
    .summary = "copy the directory as of now to another place, or keep doing so",
    .argp = &backup_command_argp,
    .options_size = sizeof(struct backup_command_options),
    .run = backup_command_run};
