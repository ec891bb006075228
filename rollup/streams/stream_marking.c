/* Marks the days of rows that are older than their stream, after a stream was defined over a table,
 * or after a table was truncated.
 *
 *   'c' page of the clicks' partitions ─▶ a mark for each day ─▶ one batch, with the position
 *   'f' page of rows of figures ─▶ a mark for the day of each ─▶ one batch, with the position
 *   at the end the definition's `unmarked` becomes null
 *
 * The position is in the frame of the page's marks, so after a crash marking continues with the
 * next page.  Phase 'f' is for figures of days without clicks, which a TRUNCATE leaves.
 *
 * In a read-only store days are marked only in memory, for the answer of one command. */
#include "rollup/streams/streams_private.h"

#include "storage/engine/store_rows.h"
#include "base/log.h"
#include "base/memory.h"
#include "rollup/days/apply_when_room.h"

enum { PAGE_DAYS = 256, RETRY_MS = 10000 };

struct stream_marking {
    struct stream_entry *stream;
    struct rollup *rollup;  /* pinned */
    struct buffer position; /* the phase, 'c' or 'f', then the position in the store */
    bool is_restarted;      /* the table was truncated: marking must begin again */
    bool is_paused;         /* the last page could not be read; the timer reads it again */
    int failure;            /* the code that was last logged; 0: none */
    struct write_batch *batch;
    uint32_t mark_count; /* mutations of the batch before the one that writes the position */
    struct buffer key;
    struct timer time_slice;
    store_done marked;
    void *context;
};

/* ---- the end ---- */

static void marking_end(struct stream_marking *marking, int status, const struct error *err)
{
    struct rollup *rollup = marking->rollup;
    store_done marked = marking->marked;
    void *context = marking->context;
    marking->stream->marking = NULL;
    buffer_release(&marking->position);
    buffer_release(&marking->key);
    write_batch_free(marking->batch);
    memory_free(marking);
    if (marked != NULL)
        marked(context, status, err);
    rollup_unpin(rollup);
}

static void marking_time_slice(struct timer *timer);

/* Marks already made of the page stay in the batch: the dirty set has them, so reading the page
 * again would not add them a second time. */
static void marking_pause(struct stream_marking *marking, int status, const struct error *err)
{
    const struct rollup *rollup = marking->rollup;
    store_done marked = marking->marked;
    if (!rollup->is_automatic || rollup->is_closing || rollup->is_failed) {
        marking_end(marking, status, err);
        return;
    }
    if (status != marking->failure)
        log_event(LOG_WARNING, "days_not_marked", log_text("stream", rollup->stream->name),
                  log_text("reason", err != NULL ? err->text : error_text(status)));
    marking->failure = status;
    marking->is_paused = true;
    rollup_fire_in(rollup, &marking->time_slice, RETRY_MS);
    marking->marked = NULL;
    if (marked != NULL)
        marked(marking->context, status, err);
}

void stream_marking_hurry(const struct stream_entry *stream)
{
    struct stream_marking *marking = stream->marking;
    if (marking == NULL || !marking->is_paused)
        return;
    world_timer_stop(marking->rollup->world, &marking->time_slice);
    rollup_fire_in(marking->rollup, &marking->time_slice, 0);
}

static void set_position(struct stream_marking *marking, char phase, struct bytes position)
{
    buffer_clear(&marking->position);
    buffer_put_u8(&marking->position, (uint8_t)phase);
    buffer_append_bytes(&marking->position, position);
}

/* ---- a page ---- */

static void page_applied(void *context)
{
    const struct stream_marking *marking = context;
    struct rollup *rollup = marking->rollup;
    rollup_report_memory(rollup);
    if (rollup->is_automatic)
        look_timer_soon(&rollup->look);
}

static void page_durable(void *context, int status, const struct error *err)
{
    struct stream_marking *marking = context;
    if (marking->is_restarted && (status == 0 || status == ERROR_CONFLICT)) {
        marking->is_restarted = false;
        set_position(marking, 'c', bytes_of(NULL, 0));
    } else if (status < 0 || marking->position.size == 0) {
        marking_end(marking, status, err);
        return;
    }
    if (status == ERROR_CONFLICT)
        marking->batch->mutation_count = marking->mark_count;
    else
        write_batch_clear(marking->batch);
    rollup_fire_in(marking->rollup, &marking->time_slice, 0);
}

/* A page that was read before a TRUNCATE must not be written after it. */
static int page_refuse(void *context, struct error *err)
{
    const struct stream_marking *marking = context;
    return marking->is_restarted ? error_set(err, ERROR_CONFLICT, "the table was truncated") : 0;
}

/* Write the page's marks.  `position`: where the next page begins; empty: the phase is over. */
static void page_write(struct stream_marking *marking, struct bytes position)
{
    struct rollup *rollup = marking->rollup;
    bool is_of_clicks = marking->position.data[0] == 'c';
    if (marking->is_restarted)
        set_position(marking, 'c', bytes_of(NULL, 0));
    else if (position.size > 0 || is_of_clicks)
        set_position(marking, position.size > 0 && is_of_clicks ? 'c' : 'f', position);
    else
        buffer_clear(&marking->position);
    marking->is_restarted = false;
    if (rollup->is_read_only) {
        page_durable(marking, 0, NULL);
        return;
    }
    marking->mark_count = marking->batch->mutation_count;
    stream_definition_write_unmarked(marking->stream->definition->name,
                                     buffer_view(&marking->position), store_schema(rollup->store),
                                     marking->batch);
    apply_when_room(rollup->store, rollup->world->executor, marking->batch, page_refuse,
                    page_applied, page_durable, marking);
}

static void take_partitions(void *context, int status, const struct error *err,
                            const struct partition_figure *figures, uint32_t count,
                            struct bytes position)
{
    struct stream_marking *marking = context;
    struct rollup *rollup = marking->rollup;
    int64_t now_us = rollup_now_us(rollup);
    if (status < 0 && !marking->is_restarted) {
        marking_pause(marking, status, err);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        day_marks_add(&rollup->marks, marking->batch, figures[i].key, CAUSE_LATE_CLICKS, NULL,
                      now_us);
    page_write(marking, position);
}

static void take_figures(void *context, int status, const struct error *err,
                         const struct read_page *page)
{
    struct stream_marking *marking = context;
    struct rollup *rollup = marking->rollup;
    int64_t now_us = rollup_now_us(rollup);
    if (status < 0) {
        marking_pause(marking, status, err);
        return;
    }
    for (uint32_t i = 0; i < page->row_count; i++) {
        struct day_figure figure;
        struct error own = {0};
        int rc = figure_read(page->table, &page->rows[i], &figure, &own);
        if (rc < 0) {
            marking_pause(marking, rc, &own);
            return;
        }
        buffer_clear(&marking->key);
        dirty_put_key(&marking->key, figure.reseller, figure.day);
        day_marks_add(&rollup->marks, marking->batch, buffer_view(&marking->key), CAUSE_CORRECTION,
                      NULL, now_us);
    }
    page_write(marking, page->position);
}

static void marking_time_slice(struct timer *timer)
{
    struct stream_marking *marking = timer->context;
    marking->is_paused = false;
    struct rollup *rollup = marking->rollup;
    const struct click_stream_clicks *clicks = &rollup->stream->clicks;
    struct bytes position = buffer_view(&marking->position);
    struct error err = {0};
    int rc;
    if (rollup->is_closing) {
        marking_end(marking, 0, NULL);
        return;
    }
    bool is_of_clicks = position.data[0] == 'c';
    position = bytes_of(position.data + 1, position.size - 1);
    if (is_of_clicks) {
        rc = store_stats_scan(rollup->store, clicks->table_id, clicks->amount, position, PAGE_DAYS,
                              READ_APPLIED, take_partitions, marking, &err);
    } else {
        struct read_request request =
            store_rows_request(rollup->stream->figures_table_id, NULL, READ_APPLIED);
        request.position = position;
        request.row_limit = PAGE_DAYS;
        rc = store_read(rollup->store, &request, take_figures, marking, &err);
    }
    if (rc < 0)
        marking_pause(marking, rc, &err);
}

void stream_marking_start(struct stream_entry *stream, struct bytes unmarked, store_done marked,
                          void *context)
{
    check(unmarked.size > 0);
    if (stream->marking != NULL) {
        stream->marking->is_restarted = true;
        return;
    }
    struct stream_marking *marking = memory_zeroed(1, sizeof(*marking));
    *marking = (struct stream_marking){.stream = stream,
                                       .rollup = stream->rollup,
                                       .batch = write_batch_new(),
                                       .marked = marked,
                                       .context = context};
    marking->time_slice = (struct timer){.fire = marking_time_slice, .context = marking};
    buffer_append_bytes(&marking->position, unmarked);
    stream->marking = marking;
    rollup_pin(stream->rollup);
    rollup_fire_in(marking->rollup, &marking->time_slice, 0);
}

/* ---- for the command that made the stream ---- */

struct take_rows {
    struct rollup *rollup;
    store_done done;
    void *context;
};

static void rows_marked(void *context, int status, const struct error *err)
{
    const struct take_rows take = *(struct take_rows *)context;
    memory_free(context);
    if (status < 0)
        take.done(take.context, status, err);
    else
        rollup_refresh_now(take.rollup, false, take.done, take.context);
}

void streams_take_rows(struct streams *streams, const char *name, store_done done, void *context)
{
    struct stream_entry *stream = streams_named(streams, name);
    check(stream != NULL);
    struct take_rows *take = memory_zeroed(1, sizeof(*take));
    *take = (struct take_rows){stream->rollup, done, context};
    stream_marking_start(stream, STREAM_ALL_UNMARKED, rows_marked, take);
}
