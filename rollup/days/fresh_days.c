/* What decides correctness: a day that is not in the dirty set has a durable row, written after all
 * that is durable of the day but its rate (dirty.h), and so has one that waits there for no more
 * than its publication, once the batch with its row is durable.  The others of the set are all that
 * a row can be wrong about, whatever the rollup is doing with them meanwhile.  They and their stats
 * are taken in one turn of the engine thread, before the rows are: a day that becomes clean in
 * between has an older row then than its figure here, which goes before it.
 *
 * Rates in memory are those applied, which may be ahead of the disk by the frames under way.  They
 * are copied, and an empty batch, which is done when all before it is durable, says when the copy
 * may be shown.  Mostly no rate changed since the last such batch, or one of the rollup's own, and
 * there is nothing to wait for. */
#include "rollup/days/fresh_days.h"

#include <stdlib.h>

#include "rollup/days/rollup_private.h"
#include "storage/engine/store_rows.h"
#include "rollup/days/seal.h"
#include "base/memory.h"
#include "rollup/days/ledger.h"

/* One day's reads under way. */
struct fresh_read {
    struct fresh_days *fresh;
    uint32_t reseller;
    struct day_figure *figure;
    struct partition_stats stats; /* of clicks and seals */
    uint32_t seals;
    uint32_t parts; /* of the two not yet read */
};

/* Where one reseller's begin among all; they end where the next one's begin. */
struct fresh_part {
    uint32_t rates;
    uint32_t figures;
};

struct fresh_days {
    struct rollup *rollup;
    const struct bytes *resellers;
    uint32_t reseller_count;
    int32_t from;
    int32_t to;
    struct fresh_part *parts; /* of each reseller, and the end of the last one */
    uint32_t part_capacity;
    struct rate *rates; /* of each reseller, oldest first */
    uint32_t rate_count;
    uint32_t rate_capacity;
    uint64_t rates_order; /* of the last change of any rate that the copy may have */
    struct day_figure *figures;
    struct fresh_read *reads; /* of each figure */
    uint32_t count;
    uint32_t capacity;
    uint32_t under_way;       /* days, and one for whoever starts them */
    struct seal_hold hold;    /* while days are read */
    struct dirty_set *marked; /* of these resellers, in a read-only store; else NULL */
    store_done done;
    void *context;
    int status;
    struct error err;
};

struct fresh_days *fresh_days_new(struct rollup *rollup)
{
    struct fresh_days *fresh = memory_zeroed(1, sizeof(*fresh));
    fresh->rollup = rollup;
    return fresh;
}

void fresh_days_free(struct fresh_days *fresh)
{
    if (fresh == NULL)
        return;
    dirty_set_free(fresh->marked);
    memory_free(fresh->parts);
    memory_free(fresh->rates);
    memory_free(fresh->figures);
    memory_free(fresh->reads);
    memory_free(fresh);
}

const struct day_figure *fresh_days_figures(const struct fresh_days *fresh, uint32_t reseller,
                                            uint32_t *count_out)
{
    const struct fresh_part *part = &fresh->parts[reseller];
    *count_out = part[1].figures - part->figures;
    return *count_out > 0 ? fresh->figures + part->figures : NULL;
}

static const struct rate *rate_of(const struct fresh_days *fresh, uint32_t reseller, int32_t day)
{
    const struct fresh_part *part = &fresh->parts[reseller];
    uint32_t count = part[1].rates - part->rates;
    return count > 0 ? rate_at(fresh->rates + part->rates, count, day) : NULL;
}

int fresh_days_price(const struct fresh_days *fresh, uint32_t reseller, struct day_figure *figure)
{
    return figure_price(figure, rate_of(fresh, reseller, figure->day));
}

static void note_failure(struct fresh_days *fresh, int status, const struct error *err)
{
    if (fresh->status == 0)
        fresh->status =
            error_set(&fresh->err, status, "%s", err != NULL ? err->text : error_text(status));
}

/* ---- days ---- */

static int compare_days(const void *a, const void *b)
{
    int32_t left = ((const struct day_figure *)a)->day;
    int32_t right = ((const struct day_figure *)b)->day;
    return (left < right) - (left > right);
}

static void read_step(struct fresh_days *fresh)
{
    if (--fresh->under_way > 0)
        return;
    for (uint32_t i = 0; i < fresh->reseller_count; i++) {
        const struct fresh_part *part = &fresh->parts[i];
        uint32_t count = part[1].figures - part->figures;
        if (count > 1)
            qsort(fresh->figures + part->figures, count, sizeof(*fresh->figures), compare_days);
    }
    struct error err = fresh->err;
    seal_gate_unhold(&fresh->rollup->gate, &fresh->hold);
    fresh->done(fresh->context, fresh->status, fresh->status < 0 ? &err : NULL);
}

/* One of a day's parts was read; with the last of them there is a figure. */
static void part_read(struct fresh_read *read, int status, const struct error *err)
{
    struct fresh_days *fresh = read->fresh;
    int32_t day = read->figure->day;
    if (status < 0)
        note_failure(fresh, status, err);
    if (--read->parts > 0)
        return;
    status = figure_make(fresh->resellers[read->reseller], day, &read->stats,
                         rate_of(fresh, read->reseller, day), read->figure);
    stats_release(&read->stats);
    if (status < 0)
        note_failure(fresh, status, NULL);
    read_step(fresh);
}

static void take_stats(void *context, int status, const struct error *err,
                       const struct partition_figure *figures, uint32_t count,
                       struct bytes position)
{
    struct fresh_read *read = context;
    (void)position;
    if (status == 0 && count > 0)
        stats_add(&read->stats, &figures[0].stats);
    part_read(read, status, err);
}

static void seals_read(void *context, int status, const struct error *err)
{
    part_read(context, status, err);
}

static void read_day(struct fresh_days *fresh, struct fresh_read *read, const struct dirty_day *day)
{
    struct store *store = fresh->rollup->store;
    const struct click_stream *stream = fresh->rollup->stream;
    const struct seal_sum sum = {&read->stats, &read->seals, seals_read, read};
    struct bytes key = dirty_day_key(day);
    struct error err = {0};
    bool has_seals = day->day <= fresh->rollup->retention.sealed_to;
    fresh->under_way++;
    read->parts = has_seals ? 2 : 1;
    int rc = store_stats(store, stream->clicks.table_id, stream->clicks.amount, key, READ_DURABLE,
                         take_stats, read, &err);
    if (rc < 0)
        take_stats(read, rc, &err, NULL, 0, bytes_of(NULL, 0));
    if (!has_seals)
        return;
    rc = seal_sum_read(store, stream, key, READ_DURABLE, &sum, &err);
    if (rc < 0)
        seals_read(read, rc, &err);
}

/* A day that only waits for its publication has the row that it needs. */
static bool is_owed(const struct rollup *rollup, const struct dirty_day *day, int32_t from,
                    int32_t to)
{
    return day->day >= from && day->day <= to &&
           dirty_day_is_behind(day, rollup->progress.applies_durable);
}

static uint32_t count_owed(const struct rollup *rollup, const struct dirty_set *set,
                           struct bytes reseller, int32_t from, int32_t to, uint32_t most)
{
    uint32_t count = 0;
    const struct dirty_day *day = dirty_set_first_of(set, reseller);
    for (; day != NULL && count < most; day = day->peer_next)
        count += is_owed(rollup, day, from, to);
    return count;
}

uint32_t fresh_days_owed(const struct rollup *rollup, struct bytes reseller, int32_t from,
                         int32_t to, uint32_t most)
{
    return rollup->is_read_only ? 0
                                : count_owed(rollup, rollup->marks.dirty, reseller, from, to, most);
}

bool rollup_rows_are_current(const struct rollup *rollup, struct bytes reseller, int32_t from)
{
    return rollup->opened == NULL && !rollup->is_defined && !rollup->is_read_only &&
           fresh_days_owed(rollup, reseller, from, DAY_MAX, 1) == 0;
}

static const struct dirty_set *days_of(const struct fresh_days *fresh)
{
    return fresh->marked != NULL ? fresh->marked : fresh->rollup->marks.dirty;
}

/* Room for all of them before the first is read: readers keep pointers. */
static void make_room(struct fresh_days *fresh)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < fresh->reseller_count; i++)
        count += count_owed(fresh->rollup, days_of(fresh), fresh->resellers[i], fresh->from,
                            fresh->to, UINT32_MAX);
    if (count <= fresh->capacity)
        return;
    fresh->capacity = count;
    fresh->figures = memory_resize(fresh->figures, count * sizeof(*fresh->figures));
    fresh->reads = memory_resize(fresh->reads, count * sizeof(*fresh->reads));
}

static void read_reseller(struct fresh_days *fresh, uint32_t reseller)
{
    const struct dirty_day *day = dirty_set_first_of(days_of(fresh), fresh->resellers[reseller]);
    fresh->parts[reseller].figures = fresh->count;
    for (; day != NULL; day = day->peer_next) {
        if (!is_owed(fresh->rollup, day, fresh->from, fresh->to))
            continue;
        struct fresh_read *read = &fresh->reads[fresh->count];
        *read = (struct fresh_read){
            .fresh = fresh, .reseller = reseller, .figure = &fresh->figures[fresh->count++]};
        read->figure->day = day->day;
        read_day(fresh, read, day);
    }
}

/* Seals are held off: a day is its clicks and its seals. */
static void read_days(void *context)
{
    struct fresh_days *fresh = context;
    make_room(fresh);
    fresh->under_way = 1;
    for (uint32_t i = 0; i < fresh->reseller_count; i++)
        read_reseller(fresh, i);
    fresh->parts[fresh->reseller_count].figures = fresh->count;
    fresh->rollup->metrics.fresh->value += fresh->count;
    read_step(fresh);
}

static void hold_seals(struct fresh_days *fresh)
{
    fresh->hold = (struct seal_hold){.granted = read_days, .context = fresh};
    seal_gate_hold(&fresh->rollup->gate, &fresh->hold);
}

/* ---- rates ---- */

static void copy_rates_of(struct fresh_days *fresh, uint32_t reseller)
{
    uint32_t count;
    const struct rate *rates =
        rate_table_rates(fresh->rollup->rates.table, fresh->resellers[reseller], &count);
    fresh->parts[reseller].rates = fresh->rate_count;
    if (fresh->rate_count + count > fresh->rate_capacity) {
        fresh->rate_capacity = (fresh->rate_count + count) * 2;
        fresh->rates = memory_resize(fresh->rates, fresh->rate_capacity * sizeof(*rates));
    }
    if (count > 0)
        memcpy(fresh->rates + fresh->rate_count, rates, count * sizeof(*rates));
    fresh->rate_count += count;
}

static void copy_rates(struct fresh_days *fresh)
{
    fresh->rate_count = 0;
    for (uint32_t i = 0; i < fresh->reseller_count; i++)
        copy_rates_of(fresh, i);
    fresh->parts[fresh->reseller_count].rates = fresh->rate_count;
    fresh->rates_order = fresh->rollup->rates.changed;
}

static void rates_durable(void *context, int status, const struct error *err)
{
    struct fresh_days *fresh = context;
    if (status < 0) {
        fresh->done(fresh->context, status, err);
        return;
    }
    live_rates_note_durable(&fresh->rollup->rates, fresh->rates_order);
    hold_seals(fresh);
}

static void read_at_rates(struct fresh_days *fresh)
{
    struct rollup *rollup = fresh->rollup;
    struct error err = {0};
    copy_rates(fresh);
    if (live_rates_are_durable(&rollup->rates)) {
        hold_seals(fresh);
        return;
    }
    struct write_batch *empty = write_batch_new();
    int rc = store_apply(rollup->store, empty, rates_durable, fresh, &err);
    write_batch_free(empty);
    if (rc < 0)
        fresh->done(fresh->context, rc, &err);
}

/* ---- marks, in a read-only store ---- */

/* A range is a changed rate, and every row is priced anew. */
static int take_mark(void *context, const struct table *table, const struct page_row *row,
                     struct error *err)
{
    struct fresh_days *fresh = context;
    struct mark_row read;
    int rc = day_marks_read(table, row, &read, err);
    if (rc < 0 || read.until != read.day + 1)
        return rc;
    if (dirty_set_load(fresh->marked, row->key, read.day, &read.mark, timeuuid_us(read.mark.id)) ==
        NULL)
        return error_set(err, ERROR_CORRUPT, "a row of the dirty days is no mark");
    return 0;
}

static void marks_read(void *context, int status, const struct error *err)
{
    struct fresh_days *fresh = context;
    if (status < 0)
        fresh->done(fresh->context, status, err);
    else
        read_at_rates(fresh);
}

/* Those of a stream whose rows were there before (stream_marking.c) are in memory alone. */
static void copy_marks(struct fresh_days *fresh)
{
    for (uint32_t i = 0; i < fresh->reseller_count; i++) {
        struct bytes reseller = fresh->resellers[i];
        const struct dirty_day *day = dirty_set_first_of(fresh->rollup->marks.dirty, reseller);
        for (; day != NULL; day = day->peer_next)
            (void)dirty_set_load(fresh->marked, reseller, day->day, dirty_day_marks(day),
                                 day->first_us);
    }
}

static void read_marks(struct fresh_days *fresh)
{
    struct rollup *rollup = fresh->rollup;
    struct day_slice_text text;
    struct error err = {0};
    struct read_request request =
        store_rows_request(rollup->stream->dirty_table_id, fresh->resellers, READ_DURABLE);
    request.keys = fresh->resellers;
    request.key_count = fresh->reseller_count;
    request.slice = ledger_slice(fresh->from, fresh->to, &text);
    dirty_set_free(fresh->marked);
    fresh->marked = dirty_set_new();
    copy_marks(fresh);
    int rc = store_rows_read(rollup->store, &request, take_mark, marks_read, fresh, &err);
    if (rc < 0)
        fresh->done(fresh->context, rc, &err);
}

void fresh_days_read(struct fresh_days *fresh, const struct bytes *resellers, uint32_t count,
                     int32_t from, int32_t to, store_done done, void *context)
{
    fresh->resellers = resellers;
    fresh->reseller_count = count;
    fresh->from = from;
    fresh->to = to;
    fresh->done = done;
    fresh->context = context;
    fresh->count = 0;
    fresh->status = 0;
    if (count >= fresh->part_capacity) {
        fresh->part_capacity = count + 1;
        fresh->parts = memory_resize(fresh->parts, fresh->part_capacity * sizeof(*fresh->parts));
    }
    if (fresh->rollup->is_read_only)
        read_marks(fresh);
    else
        read_at_rates(fresh);
}
