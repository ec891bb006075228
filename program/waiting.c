/* waiting: see the header. */
#include "program/waiting.h"

#include <limits.h>
#include <stdio.h>

#include "base/log.h"

#define AGAIN_US INT64_C(3600000000)

enum { QUIET_US = 10000000, MICROSECONDS = 1000000 };

static void log_begin(const struct store_waiting *now, const char *directory)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", directory, now->path);
    const char *effect = now->stops_writes
                             ? "writes wait; they go on by themselves when there is some"
                             : "files are made later; writes go on meanwhile";
    if (now->needed_bytes == 0)
        log_event(LOG_WARNING, store_shortage_name(now->shortage), log_text("path", path),
                  log_text("effect", effect));
    else
        log_event(LOG_WARNING, store_shortage_name(now->shortage), log_text("path", path),
                  log_number("needed_bytes", (int64_t)now->needed_bytes),
                  log_text("effect", effect));
}

static void look_at_quiet(struct waiting *waiting, int64_t now_us)
{
    if (waiting->logged == STORE_SHORT_OF_NOTHING || now_us - waiting->last_us < QUIET_US)
        return;
    log_event(LOG_NOTICE, "goes_on", log_text("reason", store_shortage_name(waiting->logged)),
              log_number("waited_s", (waiting->last_us - waiting->began_us) / MICROSECONDS));
    *waiting = (struct waiting){0};
}

void waiting_look(struct waiting *waiting, const struct store_waiting *now, const char *path,
                  int64_t now_us)
{
    if (now->shortage == STORE_SHORT_OF_NOTHING) {
        look_at_quiet(waiting, now_us);
        return;
    }
    waiting->last_us = now_us;
    if (waiting->logged == STORE_SHORT_OF_NOTHING)
        waiting->began_us = now_us;
    if (now->shortage == waiting->logged && now->stops_writes <= waiting->logged_stop &&
        now_us - waiting->logged_us < AGAIN_US)
        return;
    log_begin(now, path);
    waiting->logged = now->shortage;
    waiting->logged_stop = now->stops_writes;
    waiting->logged_us = now_us;
}
