/* hangup: see the header. */
#include "program/hangup.h"

#include <stddef.h>

#include "base/log.h"

static struct hangup *hangup_of(struct job *job)
{
    return (struct hangup *)(void *)((char *)job - offsetof(struct hangup, job));
}

static void hangup_run(struct job *job)
{
    struct hangup *hangup = hangup_of(job);
    hangup->log_status = hangup->log_path != NULL ? log_reopen(&hangup->log_error) : 0;
    hangup->passwords_status = hangup->passwords_path != NULL
                                   ? native_password_load(hangup->passwords_path, &hangup->loaded,
                                                          &hangup->passwords_error)
                                   : 0;
}

static void end_log(const struct hangup *hangup)
{
    if (hangup->log_path == NULL)
        return;
    if (hangup->log_status == 0)
        log_event(LOG_NOTICE, "log_reopened", log_text("path", hangup->log_path));
    else
        log_event(LOG_ERROR, "log_not_reopened", log_text("reason", hangup->log_error.text),
                  log_text("effect", "lines go on to the former file"));
}

static void end_passwords(struct hangup *hangup)
{
    if (hangup->passwords_path == NULL)
        return;
    if (hangup->passwords_status != 0) {
        log_event(LOG_ERROR, "passwords_not_read", log_text("reason", hangup->passwords_error.text),
                  log_text("effect", "the former passwords stay"));
        return;
    }
    if (*hangup->door != NULL)
        native_door_set_passwords(*hangup->door, hangup->loaded);
    native_password_free(hangup->passwords);
    hangup->passwords = hangup->loaded;
    log_event(LOG_NOTICE, "passwords_read", log_text("path", hangup->passwords_path),
              log_number("names", native_password_count(hangup->passwords)));
}

static void hangup_done(struct job *job)
{
    struct hangup *hangup = hangup_of(job);
    hangup->is_running = false;
    end_log(hangup);
    end_passwords(hangup);
    if (hangup->is_wanted)
        hangup_begin(hangup);
}

void hangup_begin(struct hangup *hangup)
{
    hangup->is_wanted = hangup->is_running;
    if (hangup->is_running)
        return;
    hangup->is_running = true;
    world_submit(hangup->world, LANE_LOGIN, &hangup->job, hangup_run, hangup_done);
}
