/* The time that a session has used is halved each second, so that only recent use counts.  Of
 * sessions with about equal use, the one that has waited longest runs first. */
#include "query/cql/common/cql_slice.h"

#include "base/log.h"
#include "base/world/world.h"

enum {
    SLICE_MAX_US = 10 * 1000,
    TURN_MAX_US = 20 * 1000, /* for all requests of one loop turn */
    TURN_LITTLE_US = 1000, /* when `turn_us` passes this, a slice starts the timer that resets it */
    HALF_LIFE_US = 1000 * 1000,
    ALIKE_US = 1000, /* the unit in which use is compared */
    BYTES_A_US = 16, /* 1 us is charged for this many bytes of text */
    STRETCH_LOGGED_US = 1000 * 1000,
    STRETCH_LOG_PERIOD_US = 10 * 1000 * 1000
};

static int64_t now_of(const struct cql *cql)
{
    return world_monotonic_us(cql->options.world);
}

/* ---- what sessions have used ---- */

static void session_use(struct cql_session *session, int64_t now_us, int64_t used_us)
{
    int64_t halves = (now_us - session->used_at_us) / HALF_LIFE_US;
    if (halves > 0) {
        session->used_us = halves < 63 ? session->used_us >> halves : 0;
        session->used_at_us = now_us;
    }
    session->used_us += used_us;
}

void cql_slice_account(struct cql_execution *execution)
{
    struct cql *cql = execution->cql;
    if (cql->slice_execution != execution)
        return;
    int64_t now_us = now_of(cql);
    session_use(execution->session, now_us, now_us - cql->slice_began_us);
    cql->slice_execution = NULL;
}

/* ---- slices ---- */

bool cql_slice_is_over(const struct cql *cql)
{
    return cql->is_in_slice && now_of(cql) - cql->slice_began_us > SLICE_MAX_US;
}

/* Copies the text, because the execution may be freed before the slice ends. */
static void keep_statement_text(struct cql *cql, const struct cql_execution *execution)
{
    struct bytes text = execution->request.text;
    if (execution->request.kind == CQL_EXECUTE)
        text = bytes_text("a prepared statement");
    else if (execution->request.kind == CQL_BATCH)
        text = bytes_text("a batch");
    text.size = text.size < sizeof(cql->slice_text) ? text.size : sizeof(cql->slice_text);
    cql->slice_text_size = text.size;
    if (text.size > 0)
        memcpy(cql->slice_text, text.data, text.size);
}

static void log_stretch(struct cql *cql, int64_t now_us, int64_t took_us)
{
    uint64_t count;
    if (cql->long_stretches != NULL)
        cql->long_stretches->value++;
    if (!log_group_admit(&cql->stretch_log, now_us, &count))
        return;
    log_event(LOG_WARNING, "statement_held_others_up",
              log_bytes("statement", bytes_of(cql->slice_text, cql->slice_text_size)),
              log_number("took_ms", took_us / 1000), log_number("count", (int64_t)count));
}

struct cql_slice cql_slice_begin(struct cql_execution *execution)
{
    struct cql *cql = execution->cql;
    if (cql->is_in_slice)
        return (struct cql_slice){.is_outermost = false};
    cql->is_in_slice = true;
    cql->slice_execution = execution;
    cql->slice_began_us = now_of(cql);
    keep_statement_text(cql, execution);
    return (struct cql_slice){.is_outermost = true};
}

static void await_turn(struct cql *cql)
{
    struct executor *executor = cql->options.world->executor;
    executor->timer_start(executor, &cql->turn_timer, 0);
}

void cql_slice_end(struct cql *cql, struct cql_slice slice)
{
    check(cql->is_in_slice);
    if (!slice.is_outermost)
        return;
    int64_t now_us = now_of(cql);
    int64_t took_us = now_us - cql->slice_began_us;
    if (cql->slice_execution != NULL)
        session_use(cql->slice_execution->session, now_us, took_us);
    cql->slice_execution = NULL;
    cql->is_in_slice = false;
    if (took_us > STRETCH_LOGGED_US)
        log_stretch(cql, now_us, took_us);
    bool was_little = cql->turn_us <= TURN_LITTLE_US;
    cql->turn_us += took_us;
    if (was_little && cql->turn_us > TURN_LITTLE_US)
        await_turn(cql);
}

/* ---- the next execution ---- */

static void add_ready(struct cql_execution *execution)
{
    struct cql_session *session = execution->session;
    if (STAILQ_EMPTY(&session->ready))
        TAILQ_INSERT_TAIL(&execution->cql->ready, session, ready_link);
    STAILQ_INSERT_TAIL(&session->ready, execution, next);
}

static struct cql_execution *take_ready(struct cql *cql)
{
    struct cql_session *least = TAILQ_FIRST(&cql->ready);
    struct cql_session *session;
    TAILQ_FOREACH (session, &cql->ready, ready_link)
        least = session->used_us / ALIKE_US < least->used_us / ALIKE_US ? session : least;
    struct cql_execution *execution = STAILQ_FIRST(&least->ready);
    TAILQ_REMOVE(&cql->ready, least, ready_link);
    STAILQ_REMOVE_HEAD(&least->ready, next);
    if (!STAILQ_EMPTY(&least->ready))
        TAILQ_INSERT_TAIL(&cql->ready, least, ready_link);
    return execution;
}

static void run_slice(struct cql_execution *execution)
{
    struct cql *cql = execution->cql;
    struct cql_slice slice = cql_slice_begin(execution);
    execution->resume(execution);
    cql_slice_end(cql, slice);
}

static void turn_ended(struct timer *timer)
{
    struct cql *cql = timer->context;
    cql->turn_us = 0;
    while (!TAILQ_EMPTY(&cql->ready) && cql->turn_us < TURN_MAX_US)
        run_slice(take_ready(cql));
    if (!TAILQ_EMPTY(&cql->ready))
        await_turn(cql);
}

void cql_slice_yield(struct cql_execution *execution,
                     void (*resume)(struct cql_execution *execution))
{
    check(resume != NULL);
    execution->resume = resume;
    cql_slice_account(execution);
    add_ready(execution);
    await_turn(execution->cql);
}

void cql_slice_start(struct cql_execution *execution)
{
    struct cql *cql = execution->cql;
    check(execution->resume != NULL);
    session_use(execution->session, now_of(cql),
                (int64_t)execution->request.text.size / BYTES_A_US);
    bool has_time = cql->is_in_slice ? !cql_slice_is_over(cql) : cql->turn_us < TURN_MAX_US;
    if (has_time && STAILQ_EMPTY(&execution->session->ready))
        run_slice(execution);
    else
        cql_slice_yield(execution, execution->resume);
}

/* ---- the server ---- */

void cql_slice_init(struct cql *cql)
{
    TAILQ_INIT(&cql->ready);
    cql->turn_timer = (struct timer){.fire = turn_ended, .context = cql};
    cql->stretch_log = (struct log_group){.period_us = STRETCH_LOG_PERIOD_US};
    if (cql->options.metrics != NULL) {
        cql->long_stretches =
            metrics_add(cql->options.metrics, METRIC_COUNTER, "daybook_cql_long_stretches_total",
                        "", "Times that one CQL request held the engine thread for over a second.");
    }
}

void cql_slice_stop(struct cql *cql)
{
    world_timer_stop(cql->options.world, &cql->turn_timer);
}
