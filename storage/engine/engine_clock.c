/* engine_clock: what time it is for the store, and whether that may be believed (trusted_clock.h).
 *
 * The mark is written when the directory is opened and as long as the server runs, once it is
 * MARK_US old; never while the clock is in doubt, so that a wrong clock that is started with finds
 * the mark of the right one.  One that there is no room for is tried again a minute later.
 *
 * Write timestamps come after all that the store gave before, and from nothing else: a client's are
 * in cells alone. */
#include "base/calendar.h"
#include "base/log.h"
#include "base/memory.h"
#include "storage/engine/engine_private.h"

#define MARK_US       INT64_C(3600000000)
#define MARK_AGAIN_US INT64_C(60000000)
#define SAID_US       INT64_C(3600000000)
#define AHEAD_US      INT64_C(60000000)
#define SAYS_DOUBT    "sealing, expiry, publication, and forgetting producers"
#define TIME_US_MAX   (TIME_MS_MAX / 4 * 1000) /* timeuuids and texts take it: in the year 3977 */

struct mark_job {
    struct job job; /* first */
    struct engine *engine;
    struct clock_mark mark;
    int status;
    struct error err;
    store_done done;
    void *context;
};

/* ---- the mark ---- */

static void mark_run(struct job *job)
{
    struct mark_job *marking = (struct mark_job *)job;
    const struct manifest_edit edit = {.clock = marking->mark};
    marking->status = manifest_apply(marking->engine->manifest, &edit, &marking->err);
}

static void mark_done(struct job *job)
{
    struct mark_job *marking = (struct mark_job *)job;
    struct engine *engine = marking->engine;
    engine->markings--;
    if (marking->status == 0)
        engine->marked_us = marking->mark.trusted_us;
    else if (error_is_passing(marking->status))
        engine->marked_us = marking->mark.trusted_us - MARK_US + MARK_AGAIN_US;
    else
        engine_env_fail(&engine->env, marking->status, marking->err.text);
    if (marking->done != NULL)
        marking->done(marking->context, marking->status,
                      marking->status < 0 ? &marking->err : NULL);
    memory_free(marking);
    engine_env_job_done(&engine->env);
}

static void mark_write(struct engine *engine, const struct clock_reading *now, store_done done,
                       void *context)
{
    struct mark_job *marking = memory_zeroed(1, sizeof(*marking));
    *marking = (struct mark_job){.job = {.run = mark_run, .done = mark_done},
                                 .engine = engine,
                                 .mark = trusted_clock_mark(&engine->clock, now),
                                 .done = done,
                                 .context = context};
    engine->markings++;
    engine_env_submit(&engine->env, LANE_BACKGROUND, &marking->job);
}

static void mark_if_old(struct engine *engine, const struct clock_reading *now)
{
    bool is_old = trusted_clock_us(&engine->clock, now) - engine->marked_us >= MARK_US;
    if (is_old && !engine->clock.is_in_doubt && engine->markings == 0 && engine->env.failed == 0 &&
        !engine->env.options.read_only && !engine->env.is_closing)
        mark_write(engine, now, NULL, NULL);
}

void engine_clock_open(struct engine *engine)
{
    const struct clock_reading now = trusted_clock_read(engine->env.world->clock);
    const struct clock_mark *mark = &manifest_state(engine->manifest)->clock;
    if (mark->trusted_us != 0)
        trusted_clock_init(&engine->clock, mark, &now);
    else
        trusted_clock_init_unmarked(&engine->clock, commit_log_last_timestamp(engine->log), &now);
    engine->marked_us = mark->trusted_us;
    mark_if_old(engine, &now);
}

/* ---- what is asked ---- */

int64_t engine_past_us(struct engine *engine)
{
    const struct clock_reading now = trusted_clock_read(engine->env.world->clock);
    int64_t trusted_us = trusted_clock_us(&engine->clock, &now);
    bool is_wrong = trusted_clock_look(&engine->clock, &now) && trusted_us < now.wall_us;
    return is_wrong ? trusted_us : now.wall_us;
}

struct store_clock engine_clock_op(struct store *store)
{
    struct engine *engine = (struct engine *)store;
    const struct clock_reading now = trusted_clock_read(engine->env.world->clock);
    bool is_in_doubt = trusted_clock_look(&engine->clock, &now);
    return (struct store_clock){.wall_us = now.wall_us,
                                .trusted_us = trusted_clock_us(&engine->clock, &now),
                                .last_us = engine->timestamp_next_us - 1,
                                .is_in_doubt = is_in_doubt};
}

int64_t engine_now_us(struct engine *engine)
{
    int64_t wall = engine->env.world->clock->wall_us(engine->env.world->clock);
    return wall > engine->timestamp_next_us ? wall : engine->timestamp_next_us;
}

int64_t engine_now_us_op(struct store *store)
{
    struct engine *engine = (struct engine *)store;
    int64_t now_us = engine_now_us(engine);
    return now_us < TIME_US_MAX ? now_us
                                : engine->env.world->clock->wall_us(engine->env.world->clock);
}

int engine_accept_clock_op(struct store *store, store_done done, void *context, struct error *err)
{
    struct engine *engine = (struct engine *)store;
    const struct clock_reading now = trusted_clock_read(engine->env.world->clock);
    int rc = engine_env_check_writable(&engine->env, err);
    if (rc != 0)
        return rc;
    trusted_clock_accept(&engine->clock, &now);
    mark_write(engine, &now, done, context);
    return 0;
}

/* ---- what is said ---- */

static struct buffer time_text(int64_t time_us)
{
    struct buffer text = {0};
    int64_t time_ms = time_us / 1000;
    time_ms = time_ms < TIME_MS_MIN ? TIME_MS_MIN : time_ms;
    time_format(time_ms > TIME_MS_MAX ? TIME_MS_MAX : time_ms, &text);
    return text;
}

static void say_doubt(struct engine *engine, const struct clock_reading *now)
{
    int64_t trusted_us = trusted_clock_us(&engine->clock, now);
    struct buffer wall = time_text(now->wall_us);
    struct buffer trusted = time_text(trusted_us);
    log_event(LOG_WARNING, "clock_in_doubt", log_bytes("wall", buffer_view(&wall)),
              log_bytes("trusted", buffer_view(&trusted)),
              log_number("ahead_seconds", (now->wall_us - trusted_us) / 1000000),
              log_text("waiting", SAYS_DOUBT),
              log_text("help", "set the clock; if it is right: daybook clock accept"));
    buffer_release(&wall);
    buffer_release(&trusted);
}

static void say_trust(const struct clock_reading *now)
{
    struct buffer wall = time_text(now->wall_us);
    log_event(LOG_NOTICE, "clock_trusted", log_bytes("wall", buffer_view(&wall)),
              log_text("goes_on", SAYS_DOUBT));
    buffer_release(&wall);
}

/* Once: a clock that was ahead when it gave them, or a version that took a client's for its own. */
static void say_ahead(struct engine *engine, const struct clock_reading *now)
{
    int64_t ahead_us = engine->timestamp_next_us - now->wall_us;
    if (engine->is_watched || ahead_us < AHEAD_US)
        return;
    struct buffer last = time_text(engine->timestamp_next_us);
    log_event(LOG_WARNING, "timestamps_ahead", log_bytes("last", buffer_view(&last)),
              log_number("ahead_seconds", ahead_us / 1000000),
              log_text("help", "stop the server, and run daybook clock mend"));
    buffer_release(&last);
}

void engine_watch_clock_op(struct store *store)
{
    struct engine *engine = (struct engine *)store;
    const struct clock_reading now = trusted_clock_read(engine->env.world->clock);
    struct clock *clock = engine->env.world->clock;
    bool is_in_doubt = trusted_clock_look(&engine->clock, &now);
    uint64_t count;
    if (!engine->is_doubt_said)
        engine->doubts = (struct log_group){.period_us = SAID_US};
    if (is_in_doubt && log_group_admit(&engine->doubts, clock->monotonic_us(clock), &count))
        say_doubt(engine, &now);
    if (!is_in_doubt && engine->is_doubt_said)
        say_trust(&now);
    say_ahead(engine, &now);
    engine->is_doubt_said = is_in_doubt;
    engine->is_watched = true;
    mark_if_old(engine, &now);
}
