/* live_today: see the header. */
#include "query/live/live_today.h"

void live_today_begin(struct live_today *today, struct rollup *rollup, struct world *world)
{
    *today = (struct live_today){.rollup = rollup, .world = world};
}

static void release(struct live_today_sums *sums)
{
    for (uint32_t i = 0; i < LIVE_TODAY_TOP; i++)
        buffer_release(&sums->rows[i].reseller);
    *sums = (struct live_today_sums){0};
}

void live_today_end(struct live_today *today)
{
    release(&today->shown);
    release(&today->next);
}

/* ---- a reading ---- */

static void sum_up(struct live_today *today, struct decimal value, struct decimal *sum)
{
    int rc = decimal_add(*sum, value, sum);

    if (rc < 0)
        error_keep(&today->err, rc,
                   &(struct error){.code = rc, .text = "a sum has too many digits"});
}

/* Insert the figure by its clicks.  Among equal figures the earlier one stays first. */
static void place(struct live_today_sums *sums, const struct day_figure *figure)
{
    uint32_t at = sums->row_count;

    while (at > 0 && sums->rows[at - 1].figure.clicks < figure->clicks)
        at--;
    if (at == LIVE_TODAY_TOP)
        return;
    uint32_t last = sums->row_count < LIVE_TODAY_TOP ? sums->row_count++ : LIVE_TODAY_TOP - 1;
    struct buffer name = sums->rows[last].reseller;
    for (uint32_t i = last; i > at; i--)
        sums->rows[i] = sums->rows[i - 1];
    buffer_set(&name, figure->reseller);
    sums->rows[at] = (struct live_today_row){.reseller = name, .figure = *figure};
    sums->rows[at].figure.reseller = (struct bytes){0};
}

static bool take_figure(void *context, const struct day_figure *figure)
{
    struct live_today *today = context;
    struct live_today_sums *sums = &today->next;

    if (figure->clicks == 0)
        return true;
    sums->resellers++;
    sums->clicks += figure->clicks;
    sum_up(today, figure->gross, &sums->gross);
    if (figure->is_priced)
        sum_up(today, figure->amount, &sums->amount);
    else
        sum_up(today, figure->gross, &sums->unpriced_gross);
    place(sums, figure);
    return true;
}

static void figures_read(void *context, int status, const struct error *err)
{
    struct live_today *today = context;
    int64_t now_us = world_monotonic_us(today->world);

    error_keep(&today->err, status, err);
    if (today->err.code == 0) {
        today->next.is_read = true;
        struct live_today_sums before = today->shown;
        today->shown = today->next;
        today->next = before;
    }
    today->due_us = now_us + LIVE_TODAY_PAUSE_US * (int64_t)rollup_known_resellers(today->rollup);
    today->done(today->context, today->err.code, &today->err);
}

void live_today_turn(struct live_today *today, store_done done, void *context)
{
    int64_t now_us = world_monotonic_us(today->world);
    int32_t day = calendar_zone_day(rollup_zone(today->rollup), world_wall_us(today->world) / 1000);
    struct figure_query query = {
        .day_from = day, .day_to = day, .is_current = true, .in_any_order = true};

    if (now_us < today->due_us && day == today->shown.day) {
        done(context, 0, NULL);
        return;
    }
    release(&today->next);
    today->next.day = day;
    today->next.read_us = now_us;
    today->err = (struct error){0};
    today->done = done;
    today->context = context;
    rollup_figures(today->rollup, &query, take_figure, figures_read, today);
}
