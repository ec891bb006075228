#include "storage/engine/engine_clock.h"

#include "base/calendar.h"
#include "base/memory.h"

#define MARK_US         INT64_C(3600000000)
#define MARK_AGAIN_US   INT64_C(60000000)
#define LOG_AGAIN_US    INT64_C(3600000000)
#define AHEAD_US        INT64_C(60000000)
#define WAITS_FOR_CLOCK "sealing, expiry, publication, and forgetting producers"
#define TIME_US_MAX     (TIME_MS_MAX / 4 * 1000) /* year 3977: timeuuids and texts can hold it */

struct mark_job {
    struct job job; /* first */
    struct engine_clock *clock;
    struct clock_reading mark;
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
    marking->status = manifest_apply(marking->clock->manifest, &edit, &marking->err);
}

static void mark_done(struct job *job)
{
    struct mark_job *marking = (struct mark_job *)job;
    struct engine_clock *clock = marking->clock;
    clock->markings--;
    if (marking->status == 0)
        clock->marked_us = marking->mark.wall_us;
    else if (error_is_passing(marking->status))
        clock->marked_us = marking->mark.wall_us - MARK_US + MARK_AGAIN_US;
    else
        engine_env_fail(clock->env, marking->status, marking->err.text);
    if (marking->done != NULL)
        marking->done(marking->context, marking->status,
                      marking->status < 0 ? &marking->err : NULL);
    memory_free(marking);
    engine_env_job_done(clock->env);
}

static void mark_write(struct engine_clock *clock, const struct clock_reading *now, store_done done,
                       void *context)
{
    struct mark_job *marking = memory_zeroed(1, sizeof(*marking));
    *marking = (struct mark_job){.clock = clock,
                                 .mark = trusted_clock_mark(&clock->trusted, now),
                                 .done = done,
                                 .context = context};
    clock->markings++;
    engine_env_submit(clock->env, LANE_BACKGROUND, &marking->job, mark_run, mark_done);
}

static void mark_if_old(struct engine_clock *clock, const struct clock_reading *now)
{
    bool is_old = trusted_clock_us(&clock->trusted, now) - clock->marked_us >= MARK_US;
    if (is_old && !clock->trusted.is_in_doubt && clock->markings == 0 && clock->env->failed == 0 &&
        !clock->env->options.read_only && !clock->env->is_closing)
        mark_write(clock, now, NULL, NULL);
}

void engine_clock_init(struct engine_clock *clock, struct engine_env *env,
                       struct manifest *manifest)
{
    *clock = (struct engine_clock){.env = env, .manifest = manifest};
}

void engine_clock_open(struct engine_clock *clock, int64_t log_last_us)
{
    const struct clock_reading now = trusted_clock_read(clock->env->world->clock);
    const struct clock_reading *mark = &manifest_state(clock->manifest)->clock;
    if (mark->wall_us != 0)
        trusted_clock_init(&clock->trusted, mark, &now);
    else
        trusted_clock_init_unmarked(&clock->trusted, log_last_us, &now);
    clock->marked_us = mark->wall_us;
    mark_if_old(clock, &now);
}

void engine_clock_pass(struct engine_clock *clock, int64_t timestamp_us)
{
    if (timestamp_us >= clock->next_us)
        clock->next_us = timestamp_us + 1;
}

int64_t engine_clock_given_us(const struct engine_clock *clock)
{
    return clock->next_us > 0 ? clock->next_us - 1 : 0;
}

/* ---- reading it ---- */

int64_t engine_clock_past_us(struct engine_clock *clock)
{
    const struct store_clock now = engine_clock_read(clock);
    return now.is_in_doubt && now.trusted_us < now.wall_us ? now.trusted_us : now.wall_us;
}

struct store_clock engine_clock_read(struct engine_clock *clock)
{
    const struct clock_reading now = trusted_clock_read(clock->env->world->clock);
    bool is_in_doubt = trusted_clock_look(&clock->trusted, &now);
    return (struct store_clock){.wall_us = now.wall_us,
                                .trusted_us = trusted_clock_us(&clock->trusted, &now),
                                .last_us = clock->next_us - 1,
                                .is_in_doubt = is_in_doubt};
}

int64_t engine_clock_now_us(struct engine_clock *clock)
{
    int64_t wall = world_wall_us(clock->env->world);
    return wall > clock->next_us ? wall : clock->next_us;
}

int64_t engine_clock_store_us(struct engine_clock *clock)
{
    int64_t now_us = engine_clock_now_us(clock);
    return now_us < TIME_US_MAX ? now_us : world_wall_us(clock->env->world);
}

int engine_clock_accept(struct engine_clock *clock, store_done done, void *context,
                        struct error *err)
{
    const struct clock_reading now = trusted_clock_read(clock->env->world->clock);
    int rc = engine_env_check_writable(clock->env, err);
    if (rc != 0)
        return rc;
    trusted_clock_accept(&clock->trusted, &now);
    mark_write(clock, &now, done, context);
    return 0;
}

/* ---- log lines ---- */

static struct buffer time_text(int64_t time_us)
{
    struct buffer text = {0};
    int64_t time_ms = time_us / 1000;
    time_ms = time_ms < TIME_MS_MIN ? TIME_MS_MIN : time_ms;
    calendar_time_format(time_ms > TIME_MS_MAX ? TIME_MS_MAX : time_ms, &text);
    return text;
}

static void log_doubt(struct engine_clock *clock, const struct clock_reading *now)
{
    int64_t trusted_us = trusted_clock_us(&clock->trusted, now);
    struct buffer wall = time_text(now->wall_us);
    struct buffer trusted = time_text(trusted_us);
    log_event(LOG_WARNING, "clock_in_doubt", log_bytes("wall", buffer_view(&wall)),
              log_bytes("trusted", buffer_view(&trusted)),
              log_number("ahead_seconds", (now->wall_us - trusted_us) / 1000000),
              log_text("waiting", WAITS_FOR_CLOCK),
              log_text("help", "set the clock; if it is right: daybook clock accept"));
    buffer_release(&wall);
    buffer_release(&trusted);
}

static void log_trust(const struct clock_reading *now)
{
    struct buffer wall = time_text(now->wall_us);
    log_event(LOG_NOTICE, "clock_trusted", log_bytes("wall", buffer_view(&wall)),
              log_text("goes_on", WAITS_FOR_CLOCK));
    buffer_release(&wall);
}

/* On the first call, log whether the store's timestamps are a minute ahead of the wall clock. */
static void log_ahead(struct engine_clock *clock, const struct clock_reading *now)
{
    int64_t ahead_us = clock->next_us - now->wall_us;
    if (clock->is_watched || ahead_us < AHEAD_US)
        return;
    struct buffer last = time_text(clock->next_us);
    log_event(LOG_WARNING, "timestamps_ahead", log_bytes("last", buffer_view(&last)),
              log_number("ahead_seconds", ahead_us / 1000000),
              log_text("help", "stop the server, and run daybook clock mend"));
    buffer_release(&last);
}

void engine_clock_watch(struct engine_clock *clock)
{
    const struct clock_reading now = trusted_clock_read(clock->env->world->clock);
    bool is_in_doubt = trusted_clock_look(&clock->trusted, &now);
    uint64_t count;
    if (!clock->is_doubt_logged)
        clock->doubts = (struct log_group){.period_us = LOG_AGAIN_US};
    if (is_in_doubt &&
        log_group_admit(&clock->doubts, world_monotonic_us(clock->env->world), &count))
        log_doubt(clock, &now);
    if (!is_in_doubt && clock->is_doubt_logged)
        log_trust(&now);
    log_ahead(clock, &now);
    clock->is_doubt_logged = is_in_doubt;
    clock->is_watched = true;
    mark_if_old(clock, &now);
}
