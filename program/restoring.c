/* restoring: see the header.
 *
 * A restore that fails leaves files but no manifest, so that no command opens them. */
#include "program/restoring.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "program/directory.h"
#include "storage/backup/backup_point.h"
#include "storage/backup/backup_restore.h"
#include "base/calendar.h"
#include "base/world/disk_posix.h"

enum { KEY_TO = 0x20001, KEY_LATEST, KEY_NEW_IDENTITY, KEY_LIST };

struct restoring_options {
    const char *backup;
    const char *directory; /* NULL: the directory of -d */
    int64_t time_ms;
    bool has_time;
    bool is_latest;
    bool is_new;
    bool is_list;
};

/* ---- options ---- */

static error_t take_word(struct restoring_options *options, const char *word,
                         struct argp_state *state)
{
    if (options->backup == NULL)
        options->backup = word;
    else if (options->directory == NULL)
        options->directory = word;
    else
        return command_refuse(state, "'%s' is one word too many", word);
    return 0;
}

static error_t check_options(const struct restoring_options *options, struct argp_state *state)
{
    if (options->backup == NULL)
        return command_refuse(state, "the directory of the backup is missing");
    if (options->has_time && options->is_latest)
        return command_refuse(state, "--to and --latest are two different moments");
    return 0;
}

static error_t restoring_parse(int key, char *argument, struct argp_state *state)
{
    struct restoring_options *options = state->input;
    switch (key) {
    case KEY_TO:
        options->has_time = calendar_time_parse(bytes_text(argument), &options->time_ms);
        if (!options->has_time)
            return command_refuse(state,
                                  "--to takes a time with its zone, such as 2013-11-28T16:00:00Z "
                                  "or 2013-11-28T17:00:00+01:00, not '%s'",
                                  argument);
        return 0;
    case KEY_LATEST:
        options->is_latest = true;
        return 0;
    case KEY_NEW_IDENTITY:
        options->is_new = true;
        return 0;
    case KEY_LIST:
        options->is_list = true;
        return 0;
    case ARGP_KEY_ARG:
        return take_word(options, argument, state);
    case ARGP_KEY_END:
        return check_options(options, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option restoring_argp_options[] = {
    {"to", KEY_TO, "TIME", 0, "As of this moment: everything written up to it", 0},
    {"latest", KEY_LATEST, NULL, 0,
     "With all of the log that was copied after the newest point, as backup --follow does", 0},
    {"new-identity", KEY_NEW_IDENTITY, NULL, 0,
     "Give the new directory a host id of its own, for when the old one lives on", 0},
    {"list", KEY_LIST, NULL, 0, "Only say which points the backup has", 0},
    {0},
};

static const struct argp restoring_argp = {
    .options = restoring_argp_options,
    .parser = restoring_parse,
    .args_doc = "BACKUP [DIR]",
    .doc = "Make a new data directory from a backup: as of its newest point, or of another moment "
           "since its oldest."
           "\vDIR is missing or empty; else -d DIR.  Files are checked against their hashes while "
           "they are copied; daybook verify on the result proves the rest.\n\n"
           "Examples:\n"
           "  daybook restore /mnt/backup/daybook /var/lib/daybook\n"
           "  daybook restore /mnt/backup/daybook /var/lib/daybook --latest\n"
           "  daybook restore /mnt/backup/daybook /tmp/then --to 2013-11-28T16:00:00Z "
           "--new-identity\n"
           "  daybook restore /mnt/backup/daybook --list",
};

const struct command restoring_command = {.name = "restore",
                                          .summary = "make a new directory from a backup",
                                          .argp = &restoring_argp,
                                          .options_size = sizeof(struct restoring_options)};

/* ---- answers ---- */

static void print_time(int64_t time_us)
{
    struct buffer text = {0};
    if (time_us <= 0 || time_us / 1000 > TIME_MS_MAX) {
        printf("-");
        return;
    }
    calendar_time_format(time_us / 1000, &text);
    printf("%.*s", (int)text.size, (const char *)text.data);
    buffer_release(&text);
}

static void print_point(void *context, const struct backup_point *point, int status,
                        const struct error *err)
{
    (void)context;
    if (status != 0) {
        printf("point %" PRIu64 ": %s\n", point->number, err->text);
        return;
    }
    printf("point %" PRIu64 ": made ", point->number);
    print_time(point->taken_us);
    printf(", last write ");
    print_time(point->timestamp_us);
    printf(", frame %" PRIu64 ", %" PRIu32 " segments\n", point->frame, point->state.segment_count);
}

struct progress {
    bool is_terminal;
    uint64_t reported_mb;
};

static void print_progress(void *context, uint64_t bytes_done, uint64_t bytes_total)
{
    struct progress *progress = context;
    uint64_t mb = bytes_done >> 20;
    if (progress->is_terminal && mb >= progress->reported_mb + 16) {
        progress->reported_mb = mb;
        fprintf(stderr, "\rread %" PRIu64 " of %" PRIu64 " MB ", mb, bytes_total >> 20);
    }
}

static void print_restored(const char *path, const struct backup_restored *restored)
{
    printf("restored %s from point %" PRIu64 ": up to frame %" PRIu64 ", last write ", path,
           restored->point, restored->frame);
    print_time(restored->timestamp_us);
    printf("\n");
    if (restored->is_cut) {
        fprintf(stderr, "daybook: note: the copy of the log ends within a frame; that frame is "
                        "not restored\n");
    }
}

/* ---- the command ---- */

static int run_list(struct disk *source, struct error *err)
{
    return backup_restore_list(source, print_point, NULL, err);
}

static int run_restore(struct disk *source, const struct restoring_options *options,
                       const char *path, struct error *err)
{
    struct progress progress = {.is_terminal = isatty(STDERR_FILENO) == 1};
    struct backup_restore_options how = {.source = source,
                                         .moment = options->has_time    ? BACKUP_AT_TIME
                                                   : options->is_latest ? BACKUP_LATEST
                                                                        : BACKUP_AT_POINT,
                                         /* --to includes its whole millisecond. */
                                         .time_us = options->time_ms * 1000 + 999,
                                         .is_new = options->is_new,
                                         .progress = print_progress,
                                         .context = &progress};
    struct backup_restored restored;
    int rc = world_uv_open(path, true, NULL, &how.world, err);
    if (rc != 0)
        return rc;
    rc = backup_restore(&how, &restored, err);
    world_uv_close(how.world);
    if (progress.reported_mb > 0)
        fprintf(stderr, "\n");
    if (rc == 0)
        print_restored(path, &restored);
    return rc;
}

int restoring_run(const struct cli_call *call)
{
    const struct restoring_options *options = call->options;
    const char *path =
        options->directory != NULL ? options->directory : directory_path(call->common->directory);
    struct disk *source;
    struct error err = {0};
    int rc = disk_posix_open(options->backup, false, &source, &err);
    if (rc == 0) {
        rc = options->is_list ? run_list(source, &err) : run_restore(source, options, path, &err);
        disk_posix_close(source);
    }
    if (rc != 0) {
        if (options->is_list)
            fprintf(stderr, "daybook: list the points of %s: %s\n", options->backup, err.text);
        else
            fprintf(stderr, "daybook: restore from %s to %s: %s\n", options->backup, path,
                    err.text);
        return command_exit_of(rc);
    }
    return EXIT_DONE;
}
