/* verify_figures: compares the figures of all days.  A look is one read of a chunk of days.  If a
 * day does not agree and became dirty or was computed again during the look, the chunk is read
 * again; after LOOKS_MAX looks the day counts as out of date.  A day is reported only if it differs
 * in a second look and was not touched during it.
 *
 * In a read-only store, which does not change, the second look reads only the marks of days that
 * do not agree. */
#include "storage/engine/store_rows.h"
#include "rollup/verify/verify_private.h"
#include "base/cli/command_text.h"
#include "rollup/days/ledger.h"

enum { LOOKS_MAX = 10 };

enum verdict { DAY_AGREES, DAY_CHANGES, DAY_DIFFERS };

static void append_figure(struct buffer *text, const struct day_figure *figure)
{
    command_text_count(text, figure->clicks, "click");
    buffer_append_text(text, ", gross ");
    decimal_append(text, figure->gross);
    buffer_append_text(text, figure->is_priced ? ", rate " : ", unpriced");
    if (figure->is_priced) {
        decimal_append(text, figure->rate);
        buffer_append_text(text, ", amount ");
        decimal_append(text, figure->amount);
    }
    if (figure->state == DAY_SEALED)
        buffer_append_text(text, ", sealed");
}

/* `says` is NULL if there is no row. */
static void name_figures(struct verify *verify, const char *table, struct bytes reseller,
                         int32_t day, const struct day_figure *says,
                         const struct day_figure *follows, const char *source)
{
    struct buffer text = {0};
    if (!verify_may_name(verify))
        return;
    buffer_printf(&text, "difference: %s, ", table);
    buffer_append_bytes(&text, reseller);
    buffer_append_text(&text, " ");
    command_text_day(&text, day);
    buffer_append_text(&text, ": it says ");
    if (says != NULL)
        append_figure(&text, says);
    else
        buffer_append_text(&text, "nothing");
    buffer_printf(&text, "; %s say ", source);
    append_figure(&text, follows);
    buffer_append_text(&text, "\n");
    command_text_flush(verify->output, &text, true);
    buffer_release(&text);
}

static bool is_dirty(const struct verify *verify, const struct day_facts *day)
{
    struct rollup *rollup = verify->rollup;
    const struct dirty_day *dirty = dirty_set_find(rollup->marks.dirty, day->key);
    if (rollup->is_read_only)
        return day->is_marked;
    return dirty_set_may_have_range(rollup->marks.dirty, day->reseller, day->day) ||
           rollup->refresh != NULL || (dirty != NULL && dirty->is_queued);
}

/* Whether the day may have become dirty or been computed again since this look began.  Any removal
 * from the dirty set counts, because it may have been of this day. */
static bool was_touched(const struct verify *verify, const struct day_facts *day)
{
    struct dirty_set *set = verify->rollup->marks.dirty;
    const struct dirty_day *dirty = dirty_set_find(set, day->key);
    return dirty_set_cleared(set) >= verify->look_order ||
           (dirty != NULL && dirty->touched >= verify->look_order);
}

static bool row_agrees(const struct day_facts *day, const struct day_figure *follows)
{
    return day->has_row ? figure_identical(&day->row, follows) : follows->clicks == 0;
}

static bool ledger_agrees(const struct verify *verify, const struct day_facts *day)
{
    const struct dirty_day *dirty = dirty_set_find(verify->rollup->marks.dirty, day->key);
    bool is_published = day->has_row && day->row.state != DAY_OPEN;
    bool is_put_off = dirty != NULL && dirty->owed_us != 0;
    return !is_published || is_put_off ||
           (day->has_last && figure_equal(&day->last.new, &day->row));
}

static bool is_damage_named(const struct verify *verify, int status)
{
    return status == ERROR_CORRUPT && verify->has_damaged_seals;
}

/* An error: the day could not be read, or its amount has too many digits. */
static int figure_following(const struct verify *verify, const struct day_facts *day,
                            struct day_figure *follows)
{
    int rc = day->status;
    if (rc == 0)
        rc = figure_make(day->reseller, day->day, &day->sum.stats,
                         rate_table_at(verify->rollup->rates.table, day->reseller, day->day),
                         follows);
    if (rc < 0)
        return rc;
    follows->state = day->has_row ? day->row.state : DAY_OPEN;
    if (day->sum.seals > 0)
        follows->state = DAY_SEALED;
    else if (follows->state == DAY_SEALED)
        follows->state = DAY_PUBLISHED;
    return 0;
}

static enum verdict judge_day(const struct verify *verify, const struct day_facts *day)
{
    struct day_figure follows;
    if (is_damage_named(verify, day->status))
        return DAY_AGREES;
    if (figure_following(verify, day, &follows) < 0)
        return DAY_DIFFERS;
    if ((row_agrees(day, &follows) && ledger_agrees(verify, day)) || is_dirty(verify, day))
        return DAY_AGREES;
    return was_touched(verify, day) ? DAY_CHANGES : DAY_DIFFERS;
}

static void name_unread(struct verify *verify, const struct day_facts *day, int status)
{
    struct buffer text = {0};
    if (!verify_may_name(verify))
        return;
    buffer_append_text(&text, "difference: ");
    buffer_append_bytes(&text, day->reseller);
    buffer_append_text(&text, " ");
    command_text_day(&text, day->day);
    buffer_printf(&text, ": it could not be compared: %s\n", error_text(status));
    command_text_flush(verify->output, &text, true);
    buffer_release(&text);
}

static void name_day(struct verify *verify, const struct day_facts *day)
{
    struct day_figure follows;
    int rc = figure_following(verify, day, &follows);
    if (rc < 0) {
        name_unread(verify, day, rc);
        return;
    }
    if (verify->repairs != NULL)
        repair_list_note_day(verify->repairs, day->reseller, day->day);
    const struct click_stream *stream = verify->rollup->stream;
    const char *figures = rollup_table(verify->rollup, stream->figures_table_id)->name;
    const char *ledger = rollup_table(verify->rollup, stream->ledger_table_id)->name;
    if (!row_agrees(day, &follows))
        name_figures(verify, figures, day->reseller, day->day, day->has_row ? &day->row : NULL,
                     &follows, "clicks and rates");
    if (!ledger_agrees(verify, day))
        name_figures(verify, ledger, day->reseller, day->day, day->has_last ? &day->last.new : NULL,
                     &day->row, figures);
}

static void count_day(struct verify *verify, const struct day_facts *day, enum verdict verdict)
{
    if (verdict == DAY_DIFFERS)
        name_day(verify, day);
    if (verify->is_of_rows) {
        verify->days_published += day->row.state != DAY_OPEN;
        return;
    }
    verify->days++;
    verify->clicks += day->sum.clicks;
    verify->days_dirty += verdict == DAY_CHANGES || is_dirty(verify, day);
}

/* ---- a chunk of days, read until it can be judged ---- */

static void next_partitions(struct verify *verify);
static void next_rows(struct verify *verify);
static void chunk_judge(struct verify *verify);

static void next_chunk(struct timer *timer)
{
    struct verify *verify = timer->context;
    if (verify->is_of_rows)
        next_rows(verify);
    else
        next_partitions(verify);
}

/* A row whose day has clicks was judged with its partition, unless not all partitions were
 * listed. */
static enum verdict judge_one(const struct verify *verify, const struct day_facts *day)
{
    bool was_judged = verify->is_of_rows && !verify->is_unlisted && day->sum.clicks > 0;
    return was_judged ? DAY_AGREES : judge_day(verify, day);
}

static void judge_all(const struct verify *verify, const struct day_facts *days, uint32_t count,
                      bool *changes_out, bool *differs_out)
{
    *changes_out = *differs_out = false;
    for (uint32_t i = 0; i < count; i++) {
        enum verdict verdict = judge_one(verify, &days[i]);
        *changes_out = *changes_out || verdict == DAY_CHANGES;
        *differs_out = *differs_out || verdict == DAY_DIFFERS;
    }
}

static void chunk_end(struct verify *verify, const struct day_facts *days, uint32_t count)
{
    verify->looks = 0;
    for (uint32_t i = 0; i < count; i++)
        count_day(verify, &days[i], judge_one(verify, &days[i]));
    buffer_set(&verify->position, buffer_view(&verify->position_next));
    verify_progress(verify, "days compared", verify->days);
}

/* ---- marks, in a read-only store ---- */

struct mark_look {
    struct verify *verify;
    struct day_facts *day;
};

static int see_mark(void *context, const struct table *table, const struct page_row *row,
                    struct error *err)
{
    const struct mark_look *look = context;
    struct mark_row read;
    int rc = day_marks_read(table, row, &read, err);
    if (rc < 0 || read.until <= look->day->day)
        return rc;
    look->day->is_marked = true;
    return 1;
}

static void marks_step(struct verify *verify)
{
    if (--verify->marks_under_way > 0)
        return;
    if (!verify_fail_if(verify, verify->marks_err.code, &verify->marks_err))
        chunk_judge(verify);
}

static void marks_seen(void *context, int status, const struct error *err)
{
    const struct mark_look *look = context;
    error_keep(&look->verify->marks_err, status, err);
    marks_step(look->verify);
}

static void read_marks(struct verify *verify, struct day_facts *day)
{
    const struct rollup *rollup = verify->rollup;
    struct day_slice_text text;
    const struct mark_look look = {verify, day};
    struct read_request request =
        store_rows_request(rollup->stream->dirty_table_id, &day->reseller, READ_APPLIED);
    request.slice = ledger_slice(DAY_MIN, day->day, &text);
    request.slice.reversed = true;
    verify->marks_under_way++;
    store_rows_read(rollup->store, &request, see_mark, marks_seen,
                    arena_copy_item(verify->reader->arena, &look, sizeof(look)));
}

static void read_marks_of_all(struct verify *verify, struct day_facts *days, uint32_t count)
{
    verify->marks_under_way = 1;
    for (uint32_t i = 0; i < count; i++)
        if (judge_one(verify, &days[i]) == DAY_DIFFERS)
            read_marks(verify, &days[i]);
    marks_step(verify);
}

static void chunk_judge(struct verify *verify)
{
    uint32_t count = verify->reader->count;
    struct day_facts *days = verify->reader->days;
    bool changes, differs;
    judge_all(verify, days, count, &changes, &differs);
    if (differs && verify->rollup->is_read_only && verify->looks == 0) {
        verify->looks++;
        read_marks_of_all(verify, days, count);
        return;
    }
    bool looks_again = changes || (differs && verify->looks == 0);
    if (looks_again && verify->looks + 1 < LOOKS_MAX)
        verify->looks++;
    else
        chunk_end(verify, days, count);
    rollup_fire_in(verify->rollup, &verify->time_slice, 0);
}

static void chunk_read(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    if (!verify_has_ended(verify, status) || !verify_fail_if(verify, status, err))
        chunk_judge(verify);
}

/* ---- partitions: every day that has clicks ---- */

static void end_partitions(struct verify *verify, int status, const struct error *err)
{
    if (verify_fail_or_name(verify, status, err, "days without a figure could not be listed"))
        return;
    verify->is_unlisted = true;
    verify->has_more = false;
    rollup_fire_in(verify->rollup, &verify->time_slice, 0);
}

static void take_days(void *context, int status, const struct error *err,
                      const struct partition_figure *figures, uint32_t count, struct bytes position)
{
    struct verify *verify = context;
    struct bytes reseller;
    struct bytes day_text;
    int32_t day;
    if (status < 0) {
        end_partitions(verify, status, err);
        return;
    }
    day_reader_clear(verify->reader);
    for (uint32_t i = 0; i < count; i++)
        if (type_key_component(figures[i].key, 2, 0, &reseller) == 0 &&
            type_key_component(figures[i].key, 2, 1, &day_text) == 0 &&
            calendar_day_parse(day_text, &day))
            day_reader_add(verify->reader, reseller, day);
    buffer_set(&verify->position_next, position);
    verify->has_more = position.size > 0;
    day_reader_read(verify->reader, false, chunk_read, verify);
}

static void figures_done(struct verify *verify)
{
    const struct rollup *rollup = verify->rollup;
    command_printf(
        verify->output, COMMAND_OUT, "%s: %" PRIu64 " days with %" PRIu64 " clicks compared",
        rollup_table(rollup, rollup->stream->figures_table_id)->name, verify->days, verify->clicks);
    if (verify->days_dirty > 0)
        command_printf(verify->output, COMMAND_OUT,
                       ", %" PRIu64 " of these days out of date and not judged",
                       verify->days_dirty);
    command_printf(verify->output, COMMAND_OUT, "\n");
    verify_next(verify);
}

static void next_partitions(struct verify *verify)
{
    struct rollup *rollup = verify->rollup;
    const struct click_stream_clicks *clicks = &rollup->stream->clicks;
    struct error err = {0};
    if (!verify->has_more && verify->looks == 0) {
        buffer_clear(&verify->position);
        verify->has_more = true;
        verify->is_of_rows = true;
        verify->publications = rollup->metrics.published->value;
        next_rows(verify);
        return;
    }
    verify->look_order = dirty_set_order(verify->rollup->marks.dirty);
    int rc = store_stats_scan(rollup->store, clicks->table_id, clicks->amount,
                              buffer_view(&verify->position), DAY_READER_MAX, READ_APPLIED,
                              take_days, verify, &err);
    if (rc < 0)
        end_partitions(verify, rc, &err);
}

/* ---- rows: figures of days that have no clicks, and how many are published ---- */

static void end_rows(struct verify *verify, int status, const struct error *err)
{
    if (verify_fail_or_name(verify, status, err, "not all figures could be read"))
        return;
    verify->are_rows_unread = true;
    figures_done(verify);
}

static void take_rows(void *context, int status, const struct error *err,
                      const struct read_page *page)
{
    struct verify *verify = context;
    struct error own = {0};
    struct day_figure figure;
    if (status < 0) {
        end_rows(verify, status, err);
        return;
    }
    day_reader_clear(verify->reader);
    for (uint32_t i = 0; i < page->row_count; i++) {
        int rc = figure_read(page->table, &page->rows[i], &figure, &own);
        if (rc < 0) {
            end_rows(verify, rc, &own);
            return;
        }
        struct day_facts *day = day_reader_add(verify->reader, figure.reseller, figure.day);
        day->has_row = true;
        day->row = figure;
        day->row.reseller = day->reseller;
    }
    buffer_set(&verify->position_next, page->position);
    verify->has_more = page->position.size > 0;
    day_reader_read(verify->reader, true, chunk_read, verify);
}

static void next_rows(struct verify *verify)
{
    struct rollup *rollup = verify->rollup;
    struct error err = {0};
    struct read_request request =
        store_rows_request(rollup->stream->figures_table_id, NULL, READ_APPLIED);
    if (!verify->has_more && verify->looks == 0) {
        figures_done(verify);
        return;
    }
    verify->look_order = dirty_set_order(verify->rollup->marks.dirty);
    request.row_limit = DAY_READER_MAX;
    request.position = buffer_view(&verify->position);
    int rc = store_read(verify->rollup->store, &request, take_rows, verify, &err);
    if (rc < 0)
        end_rows(verify, rc, &err);
}

void verify_figures(struct verify *verify)
{
    verify->reader = day_reader_new(verify->rollup->store, verify->rollup->stream,
                                    &verify->rollup->retention.sealed_to);
    verify->time_slice = (struct timer){.fire = next_chunk, .context = verify};
    verify->has_more = true;
    next_partitions(verify);
}
