/* newest_day: see the header. */
#include "query/web/page/newest_day.h"

#include "base/calendar.h"

static struct view_run *run_days(struct view_call *call, const struct newest_day *newest)
{
    struct view_run *run = view_run(call, 1, "report", "--by=day", NULL);

    view_run_stops(run);
    view_run_option(run, "--reseller=", newest->reseller);
    view_run_option(run, "--as-of=", newest->as_of);
    if (newest->reseller.size == 0)
        view_run_flag(run, "--total");
    return run;
}

static void ask_more(struct view_call *call)
{
    struct newest_day *newest = call->newest;
    const struct cql_json *rows = newest->run->value;

    if (rows != NULL && rows->count == 0)
        newest->run = run_days(call, newest);
    view_then(call, newest->known);
}

void newest_day_ask(struct view_call *call, struct newest_day *newest,
                    void (*known)(struct view_call *call))
{
    int32_t today = calendar_day_of_time(call->wall_ms);

    call->newest = newest;
    newest->known = known;
    newest->run = run_days(call, newest);
    view_then(call, ask_more);
    /* The run has no --to=, so that days in the future are found, too: a sender's clock may be
     * ahead. */
    if (today >= DAY_MIN + NEWEST_DAY_RECENT && today <= DAY_MAX)
        view_run_option(newest->run, "--from=", view_day(call, today - NEWEST_DAY_RECENT));
}

struct bytes newest_day_of(const struct newest_day *newest)
{
    const struct cql_json *rows = newest->run->value;

    return rows != NULL && rows->count > 0 ? view_member(rows->items, "day") : (struct bytes){0};
}

void newest_day_last(struct view_call *call, const struct newest_day *newest, int32_t days,
                     bool by_week, struct bytes *from_out, struct bytes *to_out)
{
    struct bytes to = newest_day_of(newest);
    int32_t day;

    if (!calendar_day_parse(to, &day) || day - days - 7 < DAY_MIN)
        return;
    day -= days - 1;
    while (by_week && calendar_week_of_day(day - 1) == calendar_week_of_day(day))
        day--;
    *from_out = view_day(call, day);
    *to_out = to;
}
