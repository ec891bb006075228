/* What decides correctness: a day may go only when all that is known of it is what a restart would
 * find: its row in amount_by_day is right and durable, it has no marks but those of its clicks, and
 * no restatement is owed.  So whoever reads finds the row right, and the marks in the table say all
 * else there is to know.  (But when the last click came: a day that was away may be published
 * before it has been quiet for as long as others are, and is then restated.)
 *
 * A day that is marked while it is away has two rows in the table, one of which the set does not
 * know.  Marks are deleted by their ids, never more than is known, so when the day is settled the
 * unknown one stays; the next reading of the table finds it, the day is worked off once more, which
 * changes nothing, and that mark goes too.
 *
 * Example, with room for two waiting days: r1, r2, r3 are worked off, and r1 goes.  A click on r1:
 * marked, queued, its row read, written, and r2 goes.  An hour after midnight all three are due: r1
 * and r3 are in the set, and r2 is found in the table.
 *
 * Failures.  A page of the table that cannot be read ends the reading, which is done again later.
 * Work that fails gives the store back, so that one unreadable day does not stop all doors. */
#include "rollup/days/away.h"

#include "rollup/days/rollup_private.h"
#include "storage/engine/store_rows.h"
#include "base/memory.h"

enum {
    LOOKS_MAX = 1024, /* days looked at by one call: more than a chunk has, and soon done */
    PAGE_ROWS = 2000, /* marks read at a time */
    PAUSE_SHARE = 10, /* between readings: so many times the last one's length */
    RELIEF_SHARE = 64 /* of the limit, before others may write again: a fraction of a second */
};

#define RETRY_US INT64_C(10000000)

/* One reading of the table. */
struct away_reading {
    struct rollup *rollup;
    enum away_which which;
    int64_t token_first;
    struct buffer position;
    bool is_over;
    bool has_settled;    /* days of a page before */
    uint32_t left;       /* days that stayed away, */
    int64_t left_due_us; /* and when the first of them is due */
    int64_t began_us;    /* monotonic */
    struct timer turn;
    store_done done;
    void *context;
};

/* ---- going ---- */

static void others_wait(void *context)
{
    (void)context;
}

bool away_is_full(const struct rollup *rollup)
{
    return dirty_set_bytes(rollup->dirty) > rollup->away.bytes_max / 2;
}

/* A mark of clicks alone, which days that go have. */
static bool is_plain(const struct dirty_mark *mark)
{
    return mark->cause == CAUSE_LATE_CLICKS && !mark->has_change;
}

/* Of a waiting day, between chunks. */
static bool may_go(const struct dirty_day *day)
{
    bool may = day->owed_us == 0;
    for (uint32_t i = 0; may && i < day->mark_count; i++)
        may = is_plain(&dirty_day_marks(day)[i]);
    return may;
}

void away_make_room(struct rollup *rollup)
{
    struct away *away = &rollup->away;
    struct dirty_day *day = dirty_set_first_waiting(rollup->dirty);
    for (uint32_t i = 0; i < LOOKS_MAX && day != NULL && away_is_full(rollup); i++) {
        /* Those behind it were written later still. */
        if (day->order > rollup->applies_durable)
            break;
        if (may_go(day)) {
            int64_t due_us = publication_due_us(&rollup->rules, day, rollup_now_us(rollup));
            away->due_us = rollup_earlier(away->due_us, due_us);
            away->count++;
            dirty_set_let_go(rollup->dirty, day);
        } else {
            dirty_set_wait_longest(rollup->dirty, day);
        }
        day = dirty_set_first_waiting(rollup->dirty);
    }
    rollup->metric_away->value = away->count;
}

/* ---- too many ---- */

void away_let_write(struct rollup *rollup)
{
    if (!rollup->away.holds)
        return;
    rollup->away.holds = false;
    store_unhold(rollup->store, &rollup->away.hold);
}

void away_press(struct rollup *rollup)
{
    struct away *away = &rollup->away;
    size_t bytes = dirty_set_bytes(rollup->dirty);
    if (away->holds && bytes <= away->bytes_max - away->bytes_max / RELIEF_SHARE)
        away_let_write(rollup);
    if (away->holds || bytes <= away->bytes_max || !rollup->is_loaded || rollup->is_closing ||
        rollup->is_failed)
        return;
    away->holds = true;
    store_hold(rollup->store, &away->hold);
    rollup->world->executor->timer_start(rollup->world->executor, &away->pressed, 0);
}

/* Restatements that are put off are made now: days that are owed one cannot go. */
static void queue_owed(struct rollup *rollup)
{
    struct dirty_day *next;
    for (struct dirty_day *day = dirty_set_first_waiting(rollup->dirty); day != NULL; day = next) {
        next = TAILQ_NEXT(day, link);
        if (day->owed_us != 0)
            dirty_set_queue(rollup->dirty, day);
    }
}

static void work_pressed(struct timer *timer)
{
    struct rollup *rollup = timer->context;
    if (rollup->is_closing || rollup->is_failed) {
        away_let_write(rollup);
        return;
    }
    if (rollup->work == NULL) {
        away_make_room(rollup);
        queue_owed(rollup);
    }
    rollup_work_wanted(rollup);
}

/* ---- coming back ---- */

static void reading_finish(struct away_reading *reading, int status, const struct error *err)
{
    struct rollup *rollup = reading->rollup;
    struct away *away = &rollup->away;
    struct clock *clock = rollup->world->clock;
    store_done done = reading->done;
    void *context = reading->context;
    int64_t pause_us = (clock->monotonic_us(clock) - reading->began_us) * PAUSE_SHARE;
    away->count += reading->left;
    away->due_us = rollup_earlier(away->due_us, reading->left_due_us);
    /* Days come due one by one; the table is read for many at once. */
    int64_t again_us = rollup_now_us(rollup) + (status < 0 ? RETRY_US : pause_us);
    if (status < 0 || away->due_us < again_us)
        away->due_us = again_us;
    buffer_release(&reading->position);
    memory_free(reading);
    done(context, status, err);
    away->returns--;
    rollup->metric_away->value = away->count;
    rollup_tick_again(rollup);
    rollup_close_if_idle(rollup);
}

/* As the mark alone tells it. */
static int64_t mark_due_us(const struct away_reading *reading, int32_t day, int64_t first_us,
                           int64_t now_us)
{
    const struct publication_rules *rules = &reading->rollup->rules;
    struct dirty_day known = {.day = day, .first_us = first_us, .last_us = first_us};
    if (reading->which == AWAY_ALL)
        return INT64_MIN;
    return reading->which == AWAY_ENDED ? publication_earliest_us(rules, day)
                                        : publication_due_us(rules, &known, now_us);
}

/* Marks of a day ascend by their times, so a day that is due comes back with the first of them, and
 * the others find it in the set. */
static int take_mark(struct away_reading *reading, const struct read_page *page, uint32_t index,
                     int64_t now_us, struct error *err)
{
    const struct page_row *row = &page->rows[index];
    struct dirty_set *set = reading->rollup->dirty;
    struct mark_row mark;
    int rc = rollup_read_mark(page->table, row, &mark, err);
    if (rc < 0 || mark.until != mark.day + 1 ||
        (reading->which != AWAY_ALL && !is_plain(&mark.mark)))
        return rc;
    int64_t first_us = timeuuid_us(mark.mark.id);
    int64_t due_us = mark_due_us(reading, mark.day, first_us, now_us);
    const struct dirty_day *known = dirty_set_look(set, row->key, mark.day);
    if (known != NULL && known->is_leaving)
        return 0;
    if (known == NULL && due_us > now_us) {
        reading->left++;
        reading->left_due_us = rollup_earlier(reading->left_due_us, due_us);
        return 0;
    }
    if (dirty_set_load(set, row->key, mark.day, &mark.mark, first_us) == NULL)
        return error_set(err, ERROR_CORRUPT, "a row of the dirty days is no mark");
    return 0;
}

static void next_turn(struct away_reading *reading)
{
    struct executor *executor = reading->rollup->world->executor;
    executor->timer_start(executor, &reading->turn, 0);
}

static void page_settled(void *context, int status, const struct error *err)
{
    struct away_reading *reading = context;
    if (status < 0) {
        reading_finish(reading, status, err);
        return;
    }
    if (reading->rollup->work == NULL)
        away_make_room(reading->rollup);
    if (reading->is_over)
        reading_finish(reading, 0, NULL);
    else
        next_turn(reading);
}

static void take_page(void *context, int status, const struct error *err,
                      const struct read_page *page)
{
    struct away_reading *reading = context;
    struct rollup *rollup = reading->rollup;
    struct error own = {0};
    int64_t now_us = rollup_now_us(rollup);
    for (uint32_t i = 0; status == 0 && i < page->row_count; i++) {
        status = take_mark(reading, page, i, now_us, &own);
        err = &own;
    }
    if (status < 0) {
        reading_finish(reading, status, err);
        return;
    }
    buffer_clear(&reading->position);
    buffer_append_bytes(&reading->position, page->position);
    reading->is_over = page->position.size == 0;
    rollup_tell_memory(rollup);
    if (!reading->is_over && !away_is_full(rollup)) {
        next_turn(reading);
        return;
    }
    /* What waits and may be published goes along with the first days, because some of it may have
     * been worked off between the question and now, and with the last.  Not with every page: it
     * has two thousand days, and a million may wait that may not be published. */
    if (reading->which == AWAY_ENDED && (!reading->has_settled || reading->is_over))
        rollup_queue_waiting(rollup);
    reading->has_settled = true;
    status =
        rollup_settle_queued(rollup, reading->which == AWAY_ENDED, page_settled, reading, &own);
    if (status < 0)
        reading_finish(reading, status, &own);
}

static void read_page(struct timer *timer)
{
    struct away_reading *reading = timer->context;
    struct rollup *rollup = reading->rollup;
    struct error err = {0};
    struct read_request request =
        store_rows_request(rollup->stream->dirty_table_id, NULL, READ_APPLIED);
    if (rollup->is_closing && reading->which == AWAY_DUE) {
        reading_finish(reading, 0, NULL);
        return;
    }
    request.has_tokens = true;
    request.token_first = reading->token_first;
    request.token_last = INT64_MAX;
    request.position = buffer_view(&reading->position);
    request.row_limit = PAGE_ROWS;
    int rc = store_read(rollup->store, &request, take_page, reading, &err);
    if (rc < 0)
        reading_finish(reading, rc, &err);
}

int away_return(struct rollup *rollup, enum away_which which, int64_t token_first, store_done done,
                void *context, struct error *err)
{
    struct clock *clock = rollup->world->clock;
    if (rollup->is_failed)
        return error_set(err, ERROR_FAILED, "%s", rollup->failure.text);
    struct away_reading *reading = memory_zeroed(1, sizeof(*reading));
    reading->rollup = rollup;
    reading->which = which;
    reading->token_first = token_first;
    reading->left_due_us = INT64_MAX;
    reading->began_us = clock->monotonic_us(clock);
    reading->turn = (struct timer){.fire = read_page, .context = reading};
    reading->done = done;
    reading->context = context;
    rollup->away.returns++;
    /* Whoever is away is counted again by the reading that passes him. */
    rollup->away.count = 0;
    rollup->away.due_us = INT64_MAX;
    next_turn(reading);
    return 0;
}

static void returned(void *context, int status, const struct error *err)
{
    (void)context;
    (void)status;
    (void)err;
}

void away_return_due(struct rollup *rollup, int64_t now_us)
{
    if (rollup->away.returns > 0 || now_us < rollup->away.due_us || !rollup_trusts_clock(rollup))
        return;
    int rc = away_return(rollup, AWAY_DUE, INT64_MIN, returned, NULL, NULL);
    check(rc == 0);
}

/* ---- life ---- */

void away_init(struct rollup *rollup, size_t bytes_max)
{
    size_t bytes = bytes_max > 0 ? bytes_max : AWAY_BYTES_DEFAULT;
    rollup->away = (struct away){.bytes_max = bytes > AWAY_BYTES_MIN ? bytes : AWAY_BYTES_MIN,
                                 .due_us = INT64_MAX,
                                 .hold = {.granted = others_wait},
                                 .pressed = {.fire = work_pressed, .context = rollup}};
}

void away_release(struct rollup *rollup)
{
    struct executor *executor = rollup->world->executor;
    check(rollup->away.returns == 0);
    executor->timer_stop(executor, &rollup->away.pressed);
    away_let_write(rollup);
}
