/* dirty_evicted_return: see the header.
 *
 * A page that cannot be read ends the reading, and the table is read again later.
 *
 * A day that cannot be processed stays in the set, and the reading continues.  A command gets the
 * first such error at the end.  Such days end the reading early only if they fill the set. */
#include "rollup/days/dirty_evicted_return.h"

#include "rollup/days/rollup_private.h"
#include "base/memory.h"
#include "storage/engine/store_rows.h"

enum {
    PAGE_ROWS = 2000, /* marks read at a time */
    PAUSE_SHARE = 10  /* the pause after a reading is this many times as long as the reading took */
};

#define RETRY_US INT64_C(10000000)

struct dirty_evicted_reading {
    struct rollup *rollup;
    enum dirty_evicted_which which;
    int64_t token_first;
    struct buffer position;
    bool is_over;
    bool has_settled;    /* days of an earlier page were processed */
    struct error unread; /* the first failure to process a day; code 0: none */
    uint32_t left;       /* days that stay evicted */
    uint32_t recounted;  /* this reading's part of dirty_evicted.recounted */
    int64_t left_due_us; /* when the first of the `left` days is due */
    int64_t began_us;    /* monotonic */
    struct timer time_slice;
    store_done done;
    void *context;
};

static void reading_finish(struct dirty_evicted_reading *reading, int status,
                           const struct error *err)
{
    struct rollup *rollup = reading->rollup;
    struct dirty_evicted *evicted = &rollup->evicted;
    store_done done = reading->done;
    void *context = reading->context;
    int64_t pause_us = (world_monotonic_us(rollup->world) - reading->began_us) * PAUSE_SHARE;
    evicted->count -= reading->recounted;
    evicted->recounted -= reading->recounted;
    dirty_evicted_note(evicted, reading->left, reading->left_due_us);
    /* Days become due one by one, so a reading after a pause finds many of them at once. */
    int64_t again_us = rollup_now_us(rollup) + (status < 0 ? RETRY_US : pause_us);
    if (status < 0 || evicted->due_us < again_us)
        evicted->due_us = again_us;
    buffer_release(&reading->position);
    memory_free(reading);
    if (done != NULL)
        done(context, status, err);
    evicted->returns--;
    rollup->metrics.evicted->value = evicted->count;
    rollup_look_again(rollup);
    rollup_close_if_idle(rollup);
}

/* The time at which the day of a mark is due, computed from this mark only. */
static int64_t mark_due_us(const struct dirty_evicted_reading *reading, int32_t day,
                           int64_t first_us, int64_t now_us)
{
    const struct publication_rules *rules = &reading->rollup->due.rules;
    struct dirty_day known = {.day = day, .first_us = first_us, .last_us = first_us};
    if (reading->which == DIRTY_EVICTED_ALL)
        return INT64_MIN;
    return reading->which == DIRTY_EVICTED_ENDED ? publication_earliest_us(rules, day)
                                                 : publication_due_us(rules, &known, now_us);
}

/* Marks of a day ascend by their times: the first adds the day, and the others find it in the
 * set. */
static int take_mark(struct dirty_evicted_reading *reading, const struct read_page *page,
                     uint32_t index, int64_t now_us, struct error *err)
{
    const struct page_row *row = &page->rows[index];
    struct dirty_set *set = reading->rollup->marks.dirty;
    struct mark_row mark;
    int rc = day_marks_read(page->table, row, &mark, err);
    if (rc < 0 || mark.until != mark.day + 1 ||
        (reading->which != DIRTY_EVICTED_ALL && !dirty_evicted_is_plain(&mark.mark)))
        return rc;
    int64_t first_us = timeuuid_us(mark.mark.id);
    int64_t due_us = mark_due_us(reading, mark.day, first_us, now_us);
    const struct dirty_day *known = dirty_set_look(set, row->key, mark.day);
    if (known != NULL && known->is_leaving)
        return 0;
    if (known == NULL && due_us > now_us) {
        reading->left++;
        reading->left_due_us = due_us < reading->left_due_us ? due_us : reading->left_due_us;
        return 0;
    }
    return day_marks_load(set, row->key, &mark, err);
}

static bool has_no_room(const struct dirty_evicted_reading *reading)
{
    const struct rollup *rollup = reading->rollup;
    const struct dirty_set *dirty = rollup->marks.dirty;
    return !reading->is_over && dirty_set_bytes(dirty) > rollup->evicted.bytes_max &&
           dirty_set_queued(dirty) > dirty_set_count(dirty) / 2;
}

static void page_settled(void *context, int status, const struct error *err)
{
    struct dirty_evicted_reading *reading = context;
    struct rollup *rollup = reading->rollup;
    error_keep(&reading->unread, status, err);
    if (status < 0 && (rollup->is_failed || has_no_room(reading))) {
        reading_finish(reading, status, err);
        return;
    }
    if (rollup->refresh == NULL)
        rollup_make_room(rollup);
    if (reading->is_over) {
        const struct error unread = reading->unread;
        bool is_told = reading->which == DIRTY_EVICTED_ENDED;
        reading_finish(reading, is_told ? unread.code : 0, &unread);
    } else {
        rollup_fire_in(rollup, &reading->time_slice, 0);
    }
}

static void take_page(void *context, int status, const struct error *err,
                      const struct read_page *page)
{
    struct dirty_evicted_reading *reading = context;
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
    buffer_set(&reading->position, page->position);
    reading->is_over = page->position.size == 0;
    rollup_report_memory(rollup);
    if (!reading->is_over && !dirty_evicted_is_full(&rollup->evicted, rollup->marks.dirty)) {
        rollup_fire_in(rollup, &reading->time_slice, 0);
        return;
    }
    /* Waiting days are queued only before the first refresh and after the last page, because
     * looking for them may check a million days. */
    if (reading->which == DIRTY_EVICTED_ENDED && (!reading->has_settled || reading->is_over))
        rollup_queue_ended(rollup);
    reading->has_settled = true;
    rollup_refresh_queued_now(rollup, reading->which == DIRTY_EVICTED_ENDED, page_settled, reading);
}

static void read_page(struct timer *timer)
{
    struct dirty_evicted_reading *reading = timer->context;
    struct rollup *rollup = reading->rollup;
    struct error err = {0};
    struct read_request request =
        store_rows_request(rollup->stream->dirty_table_id, NULL, READ_APPLIED);
    if (rollup->is_closing && reading->which == DIRTY_EVICTED_DUE) {
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

void dirty_evicted_return(struct rollup *rollup, enum dirty_evicted_which which,
                          int64_t token_first, store_done done, void *context)
{
    check(!rollup->is_failed);
    struct dirty_evicted_reading *reading = memory_zeroed(1, sizeof(*reading));
    reading->rollup = rollup;
    reading->which = which;
    reading->token_first = token_first;
    reading->left_due_us = INT64_MAX;
    reading->began_us = world_monotonic_us(rollup->world);
    reading->time_slice = (struct timer){.fire = read_page, .context = reading};
    reading->done = done;
    reading->context = context;
    rollup->evicted.returns++;
    /* The reading counts again how many of the evicted days stay evicted; until it ends,
     * dirty_evicted.count has all of them. */
    reading->recounted = rollup->evicted.count - rollup->evicted.recounted;
    rollup->evicted.recounted = rollup->evicted.count;
    rollup->evicted.due_us = INT64_MAX;
    rollup_fire_in(rollup, &reading->time_slice, 0);
}

void dirty_evicted_return_due(struct rollup *rollup, int64_t now_us)
{
    if (rollup->evicted.returns == 0 && now_us >= rollup->evicted.due_us &&
        rollup_trusts_clock(rollup))
        dirty_evicted_return(rollup, DIRTY_EVICTED_DUE, INT64_MIN, NULL, NULL);
}
