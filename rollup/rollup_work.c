/* The work: from dirty days to figures, in chunks, each one batch.
 *
 *   take days off the queue, or a page of a range ─▶ stats of each ─▶ rows of amount_by_day
 *     ─▶ ledger of the published ones ─▶ decide each day (publication.h) ─▶ one batch:
 *        rows, ledger entries, marks deleted ─▶ applied: days leave the set, or wait
 *
 * What decides correctness: figure, ledger entry and cleared marks of a day are in one batch, so
 * also after a crash either all are there or the mark is; a mark that came after its day was taken
 * off the queue has put it back, and is not cleared; rates are looked up when the batch is made, in
 * the same call that applies it, and ranges come before days, so that a day which a changed rate
 * touches is restated under that cause.
 *
 * Example: a rate changed a month back.  The hook made one range of 31 days; one page of
 * amount_by_day names those that have clicks; 31 stats, one slice of the ledger, one batch of
 * 31 rows and 31 entries.
 *
 * Failures.  A day that cannot be read goes back to the queue and is tried again later; the others
 * of its chunk are written.  A full store: the chunk is done again after a pause.  A failed store:
 * everybody who waits is told.
 *
 * Cost: a chunk of CHUNK_DAYS takes the engine thread a millisecond or two; between chunks it does
 * other things. */
#include <stdlib.h>

#include "rollup/rollup_private.h"
#include "rollup/rows.h"
#include "storage/base/arena.h"
#include "storage/base/memory.h"

enum {
    CHUNK_DAYS = 256,
    CHUNK_BYTES_MAX = 4 << 20, /* of the batch, roughly: far below the store's limit */
    ROW_BYTES = 400,           /* of a day's rows besides keys */
    GAP_DAYS_MAX = 31,         /* days apart that still share a slice */
    WORK_ARENA = 256 * 1024
};

#define RETRY_US      INT64_C(10000000) /* after a day could not be read */
#define FULL_PAUSE_MS 20
#define DAY_LAST      INT32_C(2932896) /* 9999-12-31 */

struct work_day {
    struct dirty_day *dirty; /* NULL: only a range made it dirty */
    struct bytes reseller;
    struct bytes key;
    int32_t day;
    struct partition_stats stats;
    bool has_row;
    struct day_figure row;
    bool has_last;
    struct ledger_entry last;
    int status; /* below 0: could not be read */
    struct day_figure figure;
    enum publication_step step;
    bool clears; /* nothing is owed and no mark came meanwhile */
};

struct work {
    struct rollup *rollup;
    struct arena *arena;
    struct write_batch *batch;
    struct dirty_range *range; /* the first one; NULL: days of the queue */
    int32_t range_to;          /* the last day of it not yet worked off */
    bool range_ends;           /* with this chunk */
    struct work_day *days;     /* reseller ascending, day descending */
    uint32_t day_count;
    uint32_t reads; /* under way; the phase ends with the last */
    void (*next_phase)(struct work *work);
    int status; /* the first failure of all */
    struct error err;
};

/* One slice of one table, for days[start .. end). */
struct run {
    struct work *work;
    uint32_t start;
    uint32_t end;
    bool is_ledger;
};

/* ---- life ---- */

static struct work *work_new(struct rollup *rollup)
{
    struct work *work = memory_zeroed(1, sizeof(*work));
    work->rollup = rollup;
    work->arena = arena_new(WORK_ARENA);
    work->batch = write_batch_new();
    work->days = memory_zeroed(CHUNK_DAYS, sizeof(*work->days));
    return work;
}

static void days_clear(struct work *work)
{
    for (uint32_t i = 0; i < work->day_count; i++)
        stats_release(&work->days[i].stats);
    memset(work->days, 0, work->day_count * sizeof(*work->days));
    work->day_count = 0;
    write_batch_clear(work->batch);
    arena_reset(work->arena);
}

static void work_free(struct work *work)
{
    days_clear(work);
    memory_free(work->days);
    write_batch_free(work->batch);
    arena_free(work->arena);
    memory_free(work);
}

static void note_failure(struct work *work, int status, const struct error *err)
{
    if (work->status == 0) {
        work->status = status;
        if (err != NULL)
            work->err = *err;
        else
            error_set(&work->err, status, "%s", error_text(status));
    }
}

/* ---- phases: reads that are under way at once ---- */

static void phase_begin(struct work *work, void (*next)(struct work *work))
{
    work->next_phase = next;
    work->reads = 1;
}

/* The phase's own hold, and each read's end. */
static void phase_step(struct work *work)
{
    check(work->reads > 0);
    if (--work->reads == 0)
        work->next_phase(work);
}

static void run_done(void *context, int status, const struct error *err)
{
    const struct run *run = context;
    struct work *work = run->work;
    if (status < 0) {
        note_failure(work, status, err);
        for (uint32_t i = run->start; i < run->end; i++)
            work->days[i].status = status;
    }
    phase_step(work);
}

static struct work_day *run_find(const struct run *run, int32_t day)
{
    for (uint32_t i = run->start; i < run->end; i++) {
        if (run->work->days[i].day == day)
            return &run->work->days[i];
    }
    return NULL;
}

static int run_figure(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    struct day_figure figure;
    int rc = figure_read(table, row, &figure, err);
    struct work_day *day = rc == 0 ? run_find(context, figure.day) : NULL;
    if (day != NULL) {
        day->has_row = true;
        day->row = figure;
        day->row.reseller = day->reseller;
    }
    return rc;
}

/* Entries ascend, so the last one stays. */
static int run_entry(void *context, const struct table *table, const struct page_row *row,
                     struct error *err)
{
    struct ledger_entry entry;
    int rc = ledger_read(table, row, &entry, err);
    struct work_day *day = rc == 0 ? run_find(context, entry.new.day) : NULL;
    if (day != NULL) {
        day->has_last = true;
        day->last = entry;
        day->last.new.reseller = day->last.old.reseller = day->reseller;
    }
    return rc;
}

static void run_start(struct work *work, uint32_t start, uint32_t end, bool is_ledger)
{
    struct run *run = arena_alloc(work->arena, sizeof(*run), _Alignof(struct run));
    struct day_slice_text text;
    struct error err = {0};
    struct bytes reseller = work->days[start].reseller;
    struct read_request request =
        rows_request(is_ledger ? TABLE_RESTATEMENT : TABLE_AMOUNT_BY_DAY, &reseller, READ_APPLIED);
    int32_t from = work->days[end - 1].day;
    int32_t to = work->days[start].day;
    *run = (struct run){work, start, end, is_ledger};
    request.slice = is_ledger ? ledger_slice(from, to, &text) : figure_slice(from, to, &text);
    work->reads++;
    int rc = rows_read(work->rollup->store, &request, is_ledger ? run_entry : run_figure, run_done,
                       run, &err);
    if (rc < 0)
        run_done(run, rc, &err);
}

static bool is_published(const struct work_day *day)
{
    return day->has_row && day->row.state != DAY_OPEN;
}

/* Slices over neighbouring days of one reseller; of the ledger, where a day is published. */
static void start_runs(struct work *work, bool is_ledger)
{
    uint32_t start = 0;
    while (start < work->day_count) {
        const struct work_day *first = &work->days[start];
        bool wanted = !is_ledger || is_published(first);
        uint32_t end = start + 1;
        while (end < work->day_count && bytes_equal(work->days[end].reseller, first->reseller) &&
               work->days[end - 1].day - work->days[end].day <= GAP_DAYS_MAX) {
            wanted = wanted || is_published(&work->days[end]);
            end++;
        }
        if (wanted)
            run_start(work, start, end, is_ledger);
        start = end;
    }
}

struct stats_call {
    struct work *work;
    struct work_day *day;
};

static void take_stats(void *context, int status, const struct error *err,
                       const struct partition_figure *figures, uint32_t count,
                       struct bytes position)
{
    const struct stats_call *call = context;
    (void)position;
    if (status < 0) {
        note_failure(call->work, status, err);
        call->day->status = status;
    } else if (count > 0) {
        stats_copy(&call->day->stats, &figures[0].stats);
    }
    phase_step(call->work);
}

static void start_stats(struct work *work)
{
    for (uint32_t i = 0; i < work->day_count; i++) {
        struct stats_call *call =
            arena_alloc(work->arena, sizeof(*call), _Alignof(struct stats_call));
        struct error err = {0};
        *call = (struct stats_call){work, &work->days[i]};
        work->reads++;
        int rc = store_stats(work->rollup->store, TABLE_AD_CLICK, work->days[i].key, READ_APPLIED,
                             take_stats, call, &err);
        if (rc < 0)
            take_stats(call, rc, &err, NULL, 0, bytes_of(NULL, 0));
    }
}

/* ---- deciding ---- */

static bool is_publishing(const struct rollup *rollup)
{
    for (const struct settle_waiter *waiter = rollup->waiters; waiter != NULL;
         waiter = waiter->next) {
        if (waiter->publishes && !waiter->is_worked)
            return true;
    }
    return false;
}

static bool may_publish(const struct rollup *rollup, const struct work_day *day, int64_t now_us)
{
    if (is_publishing(rollup) && now_us >= publication_earliest_us(&rollup->rules, day->day))
        return true;
    return rollup->is_automatic && day->dirty != NULL &&
           now_us >= publication_due_us(&rollup->rules, day->dirty);
}

/* Only late clicks are gathered, and only by a server. */
static bool may_restate(const struct work *work, const struct work_day *day, int64_t now_us)
{
    const struct rollup *rollup = work->rollup;
    if (!rollup->is_automatic || is_publishing(rollup) || work->range != NULL)
        return true;
    for (uint32_t i = 0; i < day->dirty->mark_count; i++) {
        if (day->dirty->marks[i].cause != CAUSE_LATE_CLICKS)
            return true;
    }
    return day->dirty->owed_us != 0 && now_us >= publication_restate_us(&rollup->rules, day->dirty);
}

static void decide_day(struct work *work, struct work_day *day, int64_t now_us)
{
    const struct rollup *rollup = work->rollup;
    int rc = figure_make(day->reseller, day->day, &day->stats,
                         rate_table_at(rollup->rates, day->reseller, day->day), &day->figure);
    if (rc < 0) {
        day->status = rc;
        note_failure(work, rc, NULL);
        return;
    }
    const struct publication_facts facts = {.figure = &day->figure,
                                            .last = day->has_last ? &day->last : NULL,
                                            .may_publish = may_publish(rollup, day, now_us),
                                            .may_restate = may_restate(work, day, now_us)};
    day->step = publication_step(&facts);
    if (day->step != STEP_KEEP_OPEN && day->step != STEP_VANISH)
        day->figure.state = DAY_PUBLISHED;
    day->clears = day->dirty != NULL && !day->dirty->is_queued && day->step != STEP_KEEP_OPEN &&
                  day->step != STEP_GATHER;
}

/* ---- writing ---- */

static void delete_mark(struct work *work, struct bytes reseller, int32_t day,
                        const struct dirty_mark *mark)
{
    char text[DAY_TEXT_SIZE + 1];
    day_format(day, text);
    const struct column_value values[] = {
        {DIRTY_RESELLER_ID, false, reseller},
        {DIRTY_DAY, false, bytes_text(text)},
        {DIRTY_ID, false, bytes_of(mark->id, UUID_SIZE)},
    };
    write_batch_delete(work->batch, rollup_table(work->rollup, TABLE_DIRTY_DAY), values,
                       sizeof(values) / sizeof(values[0]));
}

/* The causes of a restatement: the day's own marks, and the range's. */
static struct dirty_mark *marks_of(struct work *work, const struct work_day *day,
                                   uint32_t *count_out)
{
    uint32_t own = day->dirty != NULL ? day->dirty->mark_count : 0;
    struct dirty_mark *marks =
        arena_alloc(work->arena, (own + 1) * sizeof(*marks), _Alignof(struct dirty_mark));
    if (own > 0)
        memcpy(marks, day->dirty->marks, own * sizeof(*marks));
    *count_out = own;
    if (work->range != NULL)
        marks[(*count_out)++] = work->range->mark;
    return marks;
}

static void write_entry(struct work *work, struct work_day *day)
{
    struct rollup *rollup = work->rollup;
    struct ledger_entry entry = {.at_ms = rollup->ledger_at_ms,
                                 .is_publication = day->step == STEP_PUBLISH,
                                 .new = day->figure};
    uint32_t count = 0;
    struct dirty_mark *marks = NULL;
    if (day->has_last) {
        entry.seq = day->last.seq + 1;
        entry.old = day->last.new;
        if (entry.at_ms < day->last.at_ms)
            entry.at_ms = day->last.at_ms;
    }
    if (!entry.is_publication)
        marks = marks_of(work, day, &count);
    ledger_write(work->batch, rollup_table(rollup, TABLE_RESTATEMENT), &entry, marks, count);
    (entry.is_publication ? rollup->metric_published : rollup->metric_restated)->value++;
}

static void write_day(struct work *work, struct work_day *day)
{
    const struct table *table = rollup_table(work->rollup, TABLE_AMOUNT_BY_DAY);
    bool is_there = day->has_row && figure_identical(&day->row, &day->figure);
    if (day->step == STEP_VANISH && day->has_row)
        figure_delete(work->batch, table, &day->row);
    if (day->step != STEP_VANISH && !is_there) {
        bool is_new;
        figure_write(work->batch, table, &day->figure);
        key_map_add(work->rollup->resellers, day->reseller, &is_new);
        work->rollup->metric_written->value++;
    }
    if (day->step == STEP_PUBLISH || day->step == STEP_RESTATE)
        write_entry(work, day);
    for (uint32_t i = 0; day->clears && i < day->dirty->mark_count; i++)
        delete_mark(work, day->reseller, day->day, &day->dirty->marks[i]);
}

/* Within store_apply nobody may be told: the days of the batch are still in the set. */
static void applied(void *context, int status, const struct error *err)
{
    struct rollup *rollup = context;
    rollup->applies_durable++;
    if (status < 0)
        rollup_fail(rollup, status, err);
    if (rollup->is_applying)
        return;
    rollup_settled(rollup);
    rollup_close_if_idle(rollup);
}

/* ---- a read-only store keeps its figures ---- */

static void keep_pending(struct rollup *rollup, const struct work_day *day)
{
    if (day->has_row ? figure_identical(&day->row, &day->figure) : day->step == STEP_VANISH)
        return;
    if (rollup->pending_count == rollup->pending_capacity) {
        rollup->pending_capacity = rollup->pending_capacity * 2 + 64;
        rollup->pending =
            memory_resize(rollup->pending, rollup->pending_capacity * sizeof(*rollup->pending));
    }
    struct day_figure *kept = &rollup->pending[rollup->pending_count++];
    *kept = day->figure;
    kept->reseller = arena_copy(rollup->pending_arena, day->reseller);
}

/* ---- the end of a chunk ---- */

static void wait_or_clear(struct rollup *rollup, struct work_day *day, int64_t now_us)
{
    struct dirty_day *dirty = day->dirty;
    if (dirty == NULL)
        return;
    if (day->status < 0) {
        dirty_set_queue(rollup->dirty, dirty);
        return;
    }
    if (day->clears) {
        check(!dirty->is_queued);
        dirty_set_clear(rollup->dirty, dirty);
        return;
    }
    int64_t due_us = 0;
    if (day->step == STEP_GATHER) {
        dirty->owed_us = dirty->owed_us != 0 ? dirty->owed_us : now_us;
        due_us = publication_restate_us(&rollup->rules, dirty);
    } else {
        dirty->owed_us = 0;
        due_us = publication_due_us(&rollup->rules, dirty);
    }
    rollup->due_next_us = rollup_earlier(rollup->due_next_us, due_us);
}

/* Days back to the queue: nothing of the chunk was written. */
static void put_back(struct work *work)
{
    for (uint32_t i = 0; i < work->day_count; i++) {
        if (work->days[i].dirty != NULL)
            dirty_set_queue(work->rollup->dirty, work->days[i].dirty);
    }
}

static void next_turn(struct rollup *rollup, int64_t delay_ms)
{
    rollup->world->executor->timer_start(rollup->world->executor, &rollup->turn, delay_ms);
}

/* Nothing wanted is left, or nothing more can be done. */
static void work_finish(struct work *work)
{
    struct rollup *rollup = work->rollup;
    int status = work->status;
    struct error err = work->err;
    rollup->work = NULL;
    work_free(work);
    if (status < 0) {
        rollup_fail_waiters(rollup, status, &err);
        rollup_tick_at(rollup, store_now_us(rollup->store) + RETRY_US);
    } else {
        rollup_chunk_written(rollup);
        rollup_tick_again(rollup);
    }
    rollup_close_if_idle(rollup);
}

static void chunk_end(struct work *work)
{
    struct rollup *rollup = work->rollup;
    int64_t now_us = store_now_us(rollup->store);
    for (uint32_t i = 0; i < work->day_count; i++)
        wait_or_clear(rollup, &work->days[i], now_us);
    if (work->range != NULL && work->range_ends && work->status == 0) {
        dirty_set_clear_first_range(rollup->dirty);
        work->range = NULL;
    } else if (work->range != NULL && work->day_count > 0) {
        work->range_to = work->days[work->day_count - 1].day - 1;
    }
    days_clear(work);
    rollup->metric_dirty->value = dirty_set_queued(rollup->dirty);
    if (work->status < 0 && work->range != NULL) {
        work_finish(work);
        return;
    }
    if (work->status == 0)
        rollup_chunk_written(rollup);
    next_turn(rollup, 0);
}

static void write_days(struct work *work, int64_t now_us)
{
    struct rollup *rollup = work->rollup;
    for (uint32_t i = 0; i < work->day_count; i++) {
        struct work_day *day = &work->days[i];
        if (day->status == 0)
            decide_day(work, day, now_us);
        if (day->status < 0)
            continue;
        if (rollup->is_read_only)
            keep_pending(rollup, day);
        else
            write_day(work, day);
    }
    if (work->range != NULL && work->range_ends && work->status == 0 && !rollup->is_read_only)
        delete_mark(work, work->range->reseller, work->range->from, &work->range->mark);
}

static int apply_chunk(struct work *work, struct error *err)
{
    struct rollup *rollup = work->rollup;
    if (write_batch_is_empty(work->batch))
        return 0;
    rollup->is_applying = true;
    rollup->applies_sent++;
    int rc = store_apply(rollup->store, work->batch, applied, rollup, err);
    rollup->is_applying = false;
    if (rc < 0)
        rollup->applies_sent--;
    return rc;
}

static void write_chunk(struct work *work)
{
    struct rollup *rollup = work->rollup;
    struct error err = {0};
    int64_t now_us = store_now_us(rollup->store);
    if (now_us / 1000 > rollup->ledger_at_ms)
        rollup->ledger_at_ms = now_us / 1000;
    write_days(work, now_us);
    int rc = apply_chunk(work, &err);
    if (rc == 0) {
        chunk_end(work);
        return;
    }
    put_back(work);
    days_clear(work);
    if (rc == ERROR_FULL) {
        next_turn(rollup, FULL_PAUSE_MS);
        return;
    }
    note_failure(work, rc, &err);
    work_finish(work);
}

/* ---- the beginning of a chunk ---- */

static void read_ledger(struct work *work)
{
    phase_begin(work, write_chunk);
    start_runs(work, true);
    phase_step(work);
}

static int compare_days(const void *a, const void *b)
{
    const struct work_day *left = a;
    const struct work_day *right = b;
    int order = bytes_compare(left->reseller, right->reseller);
    return order != 0 ? order : (left->day < right->day) - (left->day > right->day);
}

/* Off the queue before anything of it is read: a mark from now on puts it back. */
static void add_dirty(struct work *work, struct dirty_day *dirty)
{
    dirty_set_wait(work->rollup->dirty, dirty);
    work->days[work->day_count++] = (struct work_day){
        .dirty = dirty, .reseller = dirty->reseller, .key = dirty->key, .day = dirty->day};
}

static bool is_wanted(const struct rollup *rollup, const struct dirty_day *dirty)
{
    return dirty != NULL && dirty->order < rollup->order_wanted;
}

static size_t bytes_of_day(const struct dirty_day *dirty)
{
    return (3 + (size_t)dirty->mark_count) * (dirty->key.size + ROW_BYTES);
}

static void begin_days(struct work *work)
{
    struct rollup *rollup = work->rollup;
    size_t bytes = 0;
    struct dirty_day *dirty = dirty_set_first_queued(rollup->dirty);
    while (is_wanted(rollup, dirty) && work->day_count < CHUNK_DAYS && bytes < CHUNK_BYTES_MAX) {
        struct dirty_day *next = dirty->next;
        bytes += bytes_of_day(dirty);
        add_dirty(work, dirty);
        dirty = next;
    }
    if (work->day_count == 0) {
        work_finish(work);
        return;
    }
    qsort(work->days, work->day_count, sizeof(*work->days), compare_days);
    phase_begin(work, read_ledger);
    start_stats(work);
    start_runs(work, false);
    phase_step(work);
}

static int range_row(void *context, const struct table *table, const struct page_row *row,
                     struct error *err)
{
    struct work *work = context;
    struct day_figure figure;
    struct buffer key = {0};
    int rc = figure_read(table, row, &figure, err);
    if (rc < 0)
        return rc;
    dirty_put_key(&key, work->range->reseller, figure.day);
    struct dirty_day *dirty = dirty_set_find(work->rollup->dirty, buffer_view(&key));
    if (dirty != NULL)
        add_dirty(work, dirty);
    else
        work->days[work->day_count++] =
            (struct work_day){.reseller = work->range->reseller,
                              .key = arena_copy(work->arena, buffer_view(&key)),
                              .day = figure.day};
    buffer_release(&key);
    struct work_day *day = &work->days[work->day_count - 1];
    day->has_row = true;
    day->row = figure;
    day->row.reseller = day->reseller;
    return work->day_count == CHUNK_DAYS;
}

static void range_read(void *context, int status, const struct error *err)
{
    struct work *work = context;
    if (status < 0) {
        note_failure(work, status, err);
        put_back(work);
        days_clear(work);
        work_finish(work);
        return;
    }
    work->range_ends = work->day_count < CHUNK_DAYS;
    phase_begin(work, read_ledger);
    start_stats(work);
    phase_step(work);
}

static void begin_range(struct work *work)
{
    struct day_slice_text text;
    struct error err = {0};
    struct read_request request =
        rows_request(TABLE_AMOUNT_BY_DAY, &work->range->reseller, READ_APPLIED);
    request.slice = figure_slice(work->range->from, work->range_to, &text);
    request.row_limit = CHUNK_DAYS;
    int rc = rows_read(work->rollup->store, &request, range_row, range_read, work, &err);
    if (rc < 0)
        range_read(work, rc, &err);
}

static void chunk_begin(struct work *work)
{
    if (work->range == NULL) {
        work->range = dirty_set_first_range(work->rollup->dirty);
        if (work->range != NULL)
            work->range_to = work->range->until > DAY_LAST ? DAY_LAST : work->range->until - 1;
    }
    if (work->range == NULL)
        begin_days(work);
    else
        begin_range(work);
}

void rollup_turn(struct timer *timer)
{
    struct rollup *rollup = timer->context;
    chunk_begin(rollup->work);
}

void rollup_work_wanted(struct rollup *rollup)
{
    rollup->order_wanted = dirty_set_order(rollup->dirty);
    if (rollup->work != NULL || rollup->is_failed || !rollup->is_loaded)
        return;
    rollup->work = work_new(rollup);
    chunk_begin(rollup->work);
}
