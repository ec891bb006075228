/* dirty_overlay: see the header.
 *
 * What decides correctness: a day that is not in the dirty set has a durable row that is right in
 * all but its rate (dirty.h).  The same is true of a day that only waits for its publication, once
 * the batch with its row is durable.  All other days are computed from stats, whose reads begin
 * before rows are read.  If the rollup corrects a row in between, the figure in memory still
 * replaces it.
 *
 * The last changes of rates may not be durable yet.  So the rates are copied, and an empty batch is
 * applied; when this batch is durable, so are all copied rates. */
#include "rollup/days/dirty_overlay.h"

#include <stdlib.h>

#include "rollup/days/rollup_private.h"
#include "storage/engine/store_rows.h"
#include "rollup/days/seal.h"
#include "base/memory.h"
#include "rollup/days/ledger.h"

struct overlay_read {
    struct dirty_overlay *overlay;
    uint32_t reseller;
    struct day_figure *figure;
    struct seal_sum sum;
};

/* The index of one reseller's first rate and first figure.  A reseller's rates and figures end
 * where those of the next reseller begin. */
struct overlay_part {
    uint32_t rates;
    uint32_t figures;
};

struct dirty_overlay {
    struct rollup *rollup;
    const struct bytes *resellers;
    uint32_t reseller_count;
    int32_t from;
    int32_t to;
    struct overlay_part *parts; /* one for each reseller, and one for the end */
    uint32_t part_capacity;
    struct rate *rates; /* of each reseller, oldest first */
    uint32_t rate_count;
    uint32_t rate_capacity;
    uint64_t rates_order; /* live_rates.changed when the rates were copied */
    struct day_figure *figures;
    struct overlay_read *reads;
    uint32_t count;
    uint32_t capacity;
    uint32_t under_way;       /* reads of days, plus one for the function that starts them */
    struct seal_pin pin;      /* held while days are read */
    struct dirty_set *marked; /* in a read-only store: the marked days of these resellers; else
                               * NULL */
    store_done done;
    void *context;
    struct error err; /* the first failure of all; code 0: none */
};

struct dirty_overlay *dirty_overlay_new(struct rollup *rollup)
{
    struct dirty_overlay *overlay = memory_zeroed(1, sizeof(*overlay));
    overlay->rollup = rollup;
    return overlay;
}

void dirty_overlay_free(struct dirty_overlay *overlay)
{
    if (overlay == NULL)
        return;
    dirty_set_free(overlay->marked);
    memory_free(overlay->parts);
    memory_free(overlay->rates);
    memory_free(overlay->figures);
    memory_free(overlay->reads);
    memory_free(overlay);
}

const struct day_figure *dirty_overlay_figures(const struct dirty_overlay *overlay,
                                               uint32_t reseller, uint32_t *count_out)
{
    const struct overlay_part *part = &overlay->parts[reseller];
    *count_out = part[1].figures - part->figures;
    return *count_out > 0 ? overlay->figures + part->figures : NULL;
}

static const struct rate *rate_of(const struct dirty_overlay *overlay, uint32_t reseller,
                                  int32_t day)
{
    const struct overlay_part *part = &overlay->parts[reseller];
    return rate_at(&overlay->rates[part->rates], part[1].rates - part->rates, day);
}

int dirty_overlay_price(const struct dirty_overlay *overlay, uint32_t reseller,
                        struct day_figure *figure)
{
    return figure_price(figure, rate_of(overlay, reseller, figure->day));
}

/* ---- days ---- */

static int compare_days(const void *a, const void *b)
{
    int32_t left = ((const struct day_figure *)a)->day;
    int32_t right = ((const struct day_figure *)b)->day;
    return (left < right) - (left > right);
}

static void read_step(struct dirty_overlay *overlay)
{
    if (--overlay->under_way > 0)
        return;
    for (uint32_t i = 0; i < overlay->reseller_count; i++) {
        const struct overlay_part *part = &overlay->parts[i];
        uint32_t count = part[1].figures - part->figures;
        if (count > 1)
            qsort(overlay->figures + part->figures, count, sizeof(*overlay->figures), compare_days);
    }
    const struct error err = overlay->err;
    seal_gate_unpin(&overlay->rollup->gate, &overlay->pin);
    overlay->done(overlay->context, err.code, &err);
}

static void day_read(void *context, int status, const struct error *err)
{
    struct overlay_read *read = context;
    struct dirty_overlay *overlay = read->overlay;
    int32_t day = read->figure->day;
    error_keep(&overlay->err, status, err);
    status = figure_make(overlay->resellers[read->reseller], day, &read->sum.stats,
                         rate_of(overlay, read->reseller, day), read->figure);
    error_keep(&overlay->err, status, NULL);
    stats_release(&read->sum.stats);
    read_step(overlay);
}

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

uint32_t dirty_overlay_owed(const struct rollup *rollup, struct bytes reseller, int32_t from,
                            int32_t to, uint32_t most)
{
    return rollup->is_read_only ? 0
                                : count_owed(rollup, rollup->marks.dirty, reseller, from, to, most);
}

bool rollup_rows_are_current(const struct rollup *rollup, struct bytes reseller, int32_t from)
{
    return rollup->opened == NULL && !rollup->is_defined && !rollup->is_read_only &&
           dirty_overlay_owed(rollup, reseller, from, DAY_MAX, 1) == 0;
}

static const struct dirty_set *days_of(const struct dirty_overlay *overlay)
{
    return overlay->marked != NULL ? overlay->marked : overlay->rollup->marks.dirty;
}

/* Memory is allocated before the first read, because reads keep pointers to the figures. */
static void make_room(struct dirty_overlay *overlay)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < overlay->reseller_count; i++)
        count += count_owed(overlay->rollup, days_of(overlay), overlay->resellers[i], overlay->from,
                            overlay->to, UINT32_MAX);
    if (count <= overlay->capacity)
        return;
    overlay->capacity = count;
    overlay->figures = memory_resize(overlay->figures, count * sizeof(*overlay->figures));
    overlay->reads = memory_resize(overlay->reads, count * sizeof(*overlay->reads));
}

static void read_reseller(struct dirty_overlay *overlay, uint32_t reseller)
{
    const struct rollup *rollup = overlay->rollup;
    const struct dirty_day *day =
        dirty_set_first_of(days_of(overlay), overlay->resellers[reseller]);
    overlay->parts[reseller].figures = overlay->count;
    for (; day != NULL; day = day->peer_next) {
        if (!is_owed(rollup, day, overlay->from, overlay->to))
            continue;
        struct overlay_read *read = &overlay->reads[overlay->count];
        *read = (struct overlay_read){.overlay = overlay,
                                      .reseller = reseller,
                                      .figure = &overlay->figures[overlay->count++],
                                      .sum = {.done = day_read, .context = read}};
        read->figure->day = day->day;
        overlay->under_way++;
        seal_sum_read(rollup->store, rollup->stream, dirty_day_key(day),
                      day->day <= rollup->retention.sealed_to, READ_DURABLE, &read->sum);
    }
}

/* No day can be sealed until seal_gate_unpin, so that the reads of a day's clicks and of its seals
 * are consistent. */
static void read_days(void *context)
{
    struct dirty_overlay *overlay = context;
    make_room(overlay);
    overlay->under_way = 1;
    for (uint32_t i = 0; i < overlay->reseller_count; i++)
        read_reseller(overlay, i);
    overlay->parts[overlay->reseller_count].figures = overlay->count;
    overlay->rollup->metrics.overlay->value += overlay->count;
    read_step(overlay);
}

static void pin_seals(struct dirty_overlay *overlay)
{
    overlay->pin = (struct seal_pin){.granted = read_days, .context = overlay};
    seal_gate_pin(&overlay->rollup->gate, &overlay->pin);
}

/* ---- rates ---- */

static void copy_rates_of(struct dirty_overlay *overlay, uint32_t reseller)
{
    uint32_t count;
    struct rate *rates =
        rate_table_rates(overlay->rollup->rates.table, overlay->resellers[reseller], &count);
    overlay->parts[reseller].rates = overlay->rate_count;
    if (overlay->rate_count + count > overlay->rate_capacity) {
        overlay->rate_capacity = (overlay->rate_count + count) * 2;
        overlay->rates = memory_resize(overlay->rates, overlay->rate_capacity * sizeof(*rates));
    }
    if (count > 0)
        memcpy(overlay->rates + overlay->rate_count, rates, count * sizeof(*rates));
    memory_free(rates);
    overlay->rate_count += count;
}

static void copy_rates(struct dirty_overlay *overlay)
{
    overlay->rate_count = 0;
    for (uint32_t i = 0; i < overlay->reseller_count; i++)
        copy_rates_of(overlay, i);
    overlay->parts[overlay->reseller_count].rates = overlay->rate_count;
    overlay->rates_order = overlay->rollup->rates.changed;
}

static void rates_durable(void *context, int status, const struct error *err)
{
    struct dirty_overlay *overlay = context;
    if (status < 0) {
        overlay->done(overlay->context, status, err);
        return;
    }
    live_rates_note_durable(&overlay->rollup->rates, overlay->rates_order);
    pin_seals(overlay);
}

static void read_at_rates(struct dirty_overlay *overlay)
{
    struct rollup *rollup = overlay->rollup;
    struct error err = {0};
    copy_rates(overlay);
    if (live_rates_are_durable(&rollup->rates)) {
        pin_seals(overlay);
        return;
    }
    struct write_batch *empty = write_batch_new();
    int rc = store_apply(rollup->store, empty, rates_durable, overlay, &err);
    write_batch_free(empty);
    if (rc < 0)
        overlay->done(overlay->context, rc, &err);
}

/* ---- marks, in a read-only store ---- */

/* Marks of ranges are ignored, because they come from changed rates and every row is priced
 * again. */
static int take_mark(void *context, const struct table *table, const struct page_row *row,
                     struct error *err)
{
    struct dirty_overlay *overlay = context;
    struct mark_row read;
    int rc = day_marks_read(table, row, &read, err);
    return rc < 0 || read.until != read.day + 1
               ? rc
               : day_marks_load(overlay->marked, row->key, &read, err);
}

static void marks_read(void *context, int status, const struct error *err)
{
    struct dirty_overlay *overlay = context;
    if (status < 0)
        overlay->done(overlay->context, status, err);
    else
        read_at_rates(overlay);
}

/* Copy the marks of the dirty set, which in a read-only store has only those that stream_marking.c
 * made for rows older than their stream. */
static void copy_marks(struct dirty_overlay *overlay)
{
    for (uint32_t i = 0; i < overlay->reseller_count; i++) {
        struct bytes reseller = overlay->resellers[i];
        const struct dirty_day *day = dirty_set_first_of(overlay->rollup->marks.dirty, reseller);
        for (; day != NULL; day = day->peer_next)
            (void)dirty_set_load(overlay->marked, reseller, day->day, dirty_day_marks(day),
                                 day->first_us);
    }
}

static void read_marks(struct dirty_overlay *overlay)
{
    struct rollup *rollup = overlay->rollup;
    struct day_slice_text text;
    struct read_request request =
        store_rows_request(rollup->stream->dirty_table_id, overlay->resellers, READ_DURABLE);
    request.keys = overlay->resellers;
    request.key_count = overlay->reseller_count;
    request.slice = ledger_slice(overlay->from, overlay->to, &text);
    dirty_set_free(overlay->marked);
    overlay->marked = dirty_set_new();
    copy_marks(overlay);
    store_rows_read(rollup->store, &request, take_mark, marks_read, overlay);
}

void dirty_overlay_read(struct dirty_overlay *overlay, const struct bytes *resellers,
                        uint32_t count, int32_t from, int32_t to, store_done done, void *context)
{
    check(overlay->under_way == 0 && done != NULL);
    overlay->resellers = resellers;
    overlay->reseller_count = count;
    overlay->from = from;
    overlay->to = to;
    overlay->done = done;
    overlay->context = context;
    overlay->count = 0;
    overlay->err.code = 0;
    if (count >= overlay->part_capacity) {
        overlay->part_capacity = count + 1;
        overlay->parts =
            memory_resize(overlay->parts, overlay->part_capacity * sizeof(*overlay->parts));
    }
    if (overlay->rollup->is_read_only)
        read_marks(overlay);
    else
        read_at_rates(overlay);
}
