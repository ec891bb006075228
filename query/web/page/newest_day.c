/* newest_day: see the header. */
#include "query/web/page/newest_day.h"

#include "base/arena.h"
#include "base/calendar.h"
#include "base/world/world.h"

static struct view_run *run_days(struct view_call *call, const struct newest_day *newest,
                                 struct bytes reseller)
{
    struct view_run *run = view_run(call, 1, "report", "--by=day", NULL);

    view_run_stops(run);
    view_run_option(run, "--reseller=", reseller);
    view_run_option(run, "--as-of=", newest->as_of);
    if (reseller.size == 0)
        view_run_flag(run, "--total");
    return run;
}

void newest_day_ask(struct view_call *call, struct newest_day *newest, struct bytes reseller)
{
    int32_t today = calendar_day_of_time(world_wall_us(call->options->world) / 1000);
    char from[DAY_TEXT_SIZE + 1];

    newest->run = run_days(call, newest, reseller);
    if (today < DAY_MIN + NEWEST_DAY_RECENT || today > DAY_MAX)
        return;
    /* A clock behind some senders' does not hide their days, as there is no last one. */
    calendar_day_format(today - NEWEST_DAY_RECENT, from);
    view_run_option(newest->run, "--from=", bytes_text(from));
}

void newest_day_ask_more(struct view_call *call, struct newest_day *newest, struct bytes reseller)
{
    const struct cql_json *rows = newest->run->value;

    if (rows != NULL && rows->count == 0)
        newest->run = run_days(call, newest, reseller);
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
    char from[DAY_TEXT_SIZE + 1];
    int32_t day;

    if (!calendar_day_parse(to, &day) || day - days - 7 < DAY_MIN)
        return;
    day -= days - 1;
    while (by_week && calendar_week_of_day(day - 1) == calendar_week_of_day(day))
        day--;
    calendar_day_format(day, from);
    *from_out = arena_copy(call->arena, bytes_of(from, DAY_TEXT_SIZE));
    *to_out = to;
}
