/* floor(t, d, s) is the last of s, s + d, s + 2d, ... that is not after t.  Months of a duration
 * are calendar months; in a month that is too short, the last day is taken. */

#include "base/timeuuid.h"
#include "query/cql/expression/cql_function.h"
#include "base/calendar.h"
#include "base/uuid.h"

#define UUID_EPOCH_TICKS INT64_C(0x01B21DD213814000) /* from 1582-10-15 to 1970 */
#define MS_NS            INT64_C(1000000)

/* ---- identifiers ---- */

static int uuid_value(const struct cql_expression *call, const struct bytes *arguments,
                      const struct cql_context *context, struct bytes *value)
{
    (void)arguments;
    uint8_t made[UUID_SIZE];
    if (call->function->kind == TYPE_UUID)
        uuid_make(context->world->random, made);
    else
        timeuuid_make(store_now_us(context->store), context->world->random, made);
    *value = arena_copy(context->arena, bytes_of(made, sizeof(made)));
    return 0;
}

static const struct type *timestamp_wants(const struct cql_call *call)
{
    (void)call;
    return type_builtin(TYPE_TIMESTAMP);
}

static int bound_value(const struct cql_expression *call, const struct bytes *arguments,
                       const struct cql_context *context, struct bytes *value)
{
    bool is_min = call->function->name[1] == 'i';
    if (arguments[0].size != 8)
        return 0;
    int64_t time_ms = type_value_bigint(arguments[0]);
    uint64_t ticks = (uint64_t)time_ms * 10000 + UUID_EPOCH_TICKS + (is_min ? 0 : 9999);
    struct buffer uuid = {.arena = context->arena};
    buffer_put_u32_be(&uuid, (uint32_t)ticks);
    buffer_put_u16_be(&uuid, (uint16_t)(ticks >> 32));
    buffer_put_u16_be(&uuid, (uint16_t)((ticks >> 48 & 0x0FFF) | 0x1000));
    buffer_put_u64_be(&uuid, is_min ? UINT64_C(0x8080808080808080) : UINT64_C(0x7F7F7F7F7F7F7F7F));
    *value = cql_function_keep(&uuid);
    return 0;
}

/* ---- times ---- */

/* False: the value is empty. */
static bool time_ms_of(const struct type *type, struct bytes value, int64_t *time_ms_out)
{
    if (type->kind == TYPE_TIMEUUID && value.size == UUID_SIZE) {
        int64_t us = timeuuid_us(value.data);
        *time_ms_out = (us - (us % 1000 + 1000) % 1000) / 1000;
        return true;
    }
    if ((type->kind == TYPE_TIMESTAMP || type->kind == TYPE_BIGINT) && value.size == 8) {
        *time_ms_out = type_value_bigint(value);
        return true;
    }
    if (type->kind == TYPE_DATE && value.size == 4) {
        *time_ms_out = ((int64_t)load_u32_be(value.data) - (INT64_C(1) << 31)) * DAY_MS;
        return true;
    }
    return false;
}

/* As in Cassandra, seconds are rounded down, but days towards 1970. */
static int64_t java_day(int64_t time_ms)
{
    int64_t seconds = time_ms / 1000 - (time_ms % 1000 < 0);
    return seconds / (DAY_MS / 1000);
}

static struct bytes time_as(enum type_kind kind, int64_t time_ms, const struct cql_context *context)
{
    struct buffer value = {.arena = context->arena};
    if (kind == TYPE_DATE)
        buffer_put_u32_be(&value, (uint32_t)(java_day(time_ms) + (INT64_C(1) << 31)));
    else if (kind == TYPE_TIME)
        type_value_put_bigint(&value, (time_ms - (int64_t)calendar_day_of_time(time_ms) * DAY_MS) *
                                          1000000);
    else
        type_value_put_bigint(&value, time_ms);
    return cql_function_keep(&value);
}

static int current_value(const struct cql_expression *call, const struct bytes *arguments,
                         const struct cql_context *context, struct bytes *value)
{
    (void)arguments;
    *value = time_as(call->function->kind, store_now_us(context->store) / 1000, context);
    return 0;
}

/* to_date takes no date; to_timestamp takes no timestamp and no bigint. */
static const struct type *time_result(const struct cql_call *call)
{
    enum type_kind kind = call->function->kind;
    bool fits = cql_function_is(call, 0, TYPE_TIMEUUID) ||
                (kind != TYPE_TIMESTAMP && (cql_function_is(call, 0, TYPE_TIMESTAMP) ||
                                            cql_function_is(call, 0, TYPE_BIGINT))) ||
                (kind != TYPE_DATE && cql_function_is(call, 0, TYPE_DATE));
    return fits ? type_builtin(kind) : NULL;
}

static const struct type *time_wants(const struct cql_call *call)
{
    return type_builtin(call->function->kind == TYPE_TIMESTAMP ? TYPE_DATE : TYPE_TIMESTAMP);
}

static int time_value(const struct cql_expression *call, const struct bytes *arguments,
                      const struct cql_context *context, struct bytes *value)
{
    int64_t time_ms;
    if (time_ms_of(call->arguments[0]->type, arguments[0], &time_ms))
        *value = time_as(call->function->kind, time_ms, context);
    return 0;
}

/* ---- durations ---- */

static int64_t floored_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Computes a date as base/calendar.c does, but for any year.  `month` is 0 to 11, `of_month` begins
 * at 1. */
static void civil_of(int64_t day, int64_t *year, int64_t *month, int64_t *of_month)
{
    int64_t shifted = day + 719468;
    int64_t era = floored_divide(shifted, 146097);
    int64_t of_era = shifted - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_of_year = (5 * of_year + 2) / 153;
    *of_month = of_year - (153 * month_of_year + 2) / 5 + 1;
    *month = (month_of_year + 2) % 12;
    *year = year_of_era + era * 400 + (*month < 2);
}

static int64_t day_of_civil(int64_t year, int64_t month, int64_t of_month)
{
    int64_t shifted = year - (month < 2);
    int64_t era = floored_divide(shifted, 400);
    int64_t year_of_era = shifted - era * 400;
    int64_t of_year = (153 * ((month + 10) % 12) + 2) / 5 + of_month - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year -
           719468;
}

static int64_t add_months(int64_t day, int64_t months)
{
    int64_t year;
    int64_t month;
    int64_t of_month;
    civil_of(day, &year, &month, &of_month);
    int64_t moved = year * 12 + month + months;
    year = floored_divide(moved, 12);
    month = moved - year * 12;
    int64_t first = day_of_civil(year, month, 1);
    int64_t length = day_of_civil(year + (month == 11), (month + 1) % 12, 1) - first;
    return first + (of_month < length ? of_month : length) - 1;
}

/* As in Java, a result beyond the last time wraps. */
static int64_t add_duration(int64_t time_ms, const struct type_duration *duration, int64_t count)
{
    int64_t day = floored_divide(time_ms, DAY_MS);
    int64_t rest = time_ms - day * DAY_MS;
    if (duration->months != 0)
        day = add_months(day, duration->months * count);
    uint64_t more = (uint64_t)(duration->nanoseconds / MS_NS) * (uint64_t)count;
    uint64_t days = (uint64_t)day + (uint64_t)duration->days * (uint64_t)count;
    return (int64_t)(days * (uint64_t)DAY_MS + (uint64_t)rest + more);
}

static bool has_day_precision(const struct type_duration *duration)
{
    return duration->nanoseconds == 0;
}

static const char *duration_text(struct bytes value, const struct cql_context *context)
{
    struct buffer text = {.arena = context->arena};
    type_format(type_builtin(TYPE_DURATION), value, &text);
    return cql_text(context->arena, buffer_view(&text));
}

int cql_function_time_shift(const struct cql_expression *call, const struct bytes *arguments,
                            int sign, const struct cql_context *context, struct bytes *value)
{
    struct type_duration duration;
    int64_t time_ms;
    const struct type *type = call->arguments[0]->type;
    if (!type_duration_read(arguments[1], &duration) || !time_ms_of(type, arguments[0], &time_ms))
        return 0;
    if (type->kind == TYPE_DATE && !has_day_precision(&duration)) {
        return cql_function_fails(call, context,
                                  "the operation 'date %s duration' failed: The duration must have "
                                  "a day precision. Was: %s",
                                  call->function->name, duration_text(arguments[1], context));
    }
    *value = time_as(type->kind, add_duration(time_ms, &duration, sign), context);
    return 0;
}

/* ---- floor ---- */

static const struct type *floor_wants(const struct cql_call *call)
{
    if (call->index == 1)
        return type_builtin(TYPE_DURATION);
    bool is_date = call->index == 2 && cql_function_is(call, 0, TYPE_DATE);
    return type_builtin(is_date ? TYPE_DATE : TYPE_TIMESTAMP);
}

static const struct type *floor_result(const struct cql_call *call)
{
    bool is_time =
        cql_function_is(call, 0, TYPE_TIMEUUID) || cql_function_is(call, 0, TYPE_TIMESTAMP);
    bool is_date = cql_function_is(call, 0, TYPE_DATE);
    bool has_start = call->count == 3;
    if (!cql_function_is(call, 1, TYPE_DURATION) ||
        (has_start && !cql_function_is(call, 2, is_date ? TYPE_DATE : TYPE_TIMESTAMP))) {
        return NULL;
    }
    if (is_time)
        return type_builtin(TYPE_TIMESTAMP);
    return is_date || (cql_function_is(call, 0, TYPE_TIME) && !has_start) ? call->types[0] : NULL;
}

static int check_floor(const struct type *type, const struct type_duration *duration,
                       struct bytes value, const struct cql_context *context)
{
    struct cql_fault *fault = context->fault;
    if (duration->months < 0 || duration->days < 0 || duration->nanoseconds < 0)
        return cql_invalid(fault, "Negative durations are not supported by the floor function");
    if (type->kind == TYPE_TIME) {
        bool is_short =
            duration->months == 0 && duration->days == 0 && duration->nanoseconds < DAY_MS * MS_NS;
        return is_short ? 0
                        : cql_invalid(fault, "For time values, the floor can only be computed for "
                                             "durations smaller that a day");
    }
    if (type->kind == TYPE_DATE && !has_day_precision(duration)) {
        return cql_invalid(fault,
                           "The floor on date values cannot be computed for the %s duration as "
                           "precision is below 1 day",
                           duration_text(value, context));
    }
    return duration->nanoseconds % MS_NS == 0
               ? 0
               : cql_invalid(fault,
                             "The floor cannot be computed for the %s duration as precision is "
                             "below 1 millisecond",
                             duration_text(value, context));
}

/* `start` plus the largest number of durations that does not pass `time_ms`; `time_ms` itself if
 * the duration is 0.  A month has at least 28 days, which bounds the binary search. */
static int64_t floor_from(int64_t start, int64_t time_ms, const struct type_duration *duration)
{
    int64_t shortest =
        ((int64_t)duration->months * 28 + duration->days) * DAY_MS + duration->nanoseconds / MS_NS;
    if (shortest == 0)
        return time_ms;
    int64_t least = 0;
    uint64_t durations = ((uint64_t)time_ms - (uint64_t)start) / (uint64_t)shortest;
    int64_t most = durations < INT64_MAX ? (int64_t)durations : INT64_MAX;
    while (least < most) {
        int64_t middle = most - (most - least) / 2;
        if (add_duration(start, duration, middle) <= time_ms)
            least = middle;
        else
            most = middle - 1;
    }
    return add_duration(start, duration, least);
}

static int floor_value(const struct cql_expression *call, const struct bytes *arguments,
                       const struct cql_context *context, struct bytes *value)
{
    const struct type *type = call->arguments[0]->type;
    struct type_duration duration;
    int64_t start = 0;
    int64_t at;
    if (arguments[0].size == 0 || !type_duration_read(arguments[1], &duration))
        return 0;
    int rc = check_floor(type, &duration, arguments[1], context);
    if (rc != 0)
        return rc;
    if (type->kind == TYPE_TIME) {
        struct buffer floored = {.arena = context->arena};
        at = type_value_bigint(arguments[0]);
        type_value_put_bigint(&floored,
                              duration.nanoseconds > 0 ? at - at % duration.nanoseconds : at);
        *value = cql_function_keep(&floored);
        return 0;
    }
    bool is_there =
        time_ms_of(type, arguments[0], &at) &&
        (call->argument_count < 3 || time_ms_of(call->arguments[2]->type, arguments[2], &start));
    if (!is_there)
        return 0;
    if (start > at) {
        return cql_invalid(context->fault, "The floor function starting time is greater than the "
                                           "provided time");
    }
    *value = time_as(call->type->kind, floor_from(start, at, &duration), context);
    return 0;
}

/* ---- the table ---- */

#define NOW_FUNCTION(name, kind, value)                                                            \
    {                                                                                              \
        name, kind, 0, 0, false, false, NULL, cql_function_kind, value, false, NULL, NULL          \
    }
#define NOW_FUNCTIONS(name, other, kind, value)                                                    \
    NOW_FUNCTION(name, kind, value), NOW_FUNCTION(other, kind, value)
#define BOUND_FUNCTION(name)                                                                       \
    {                                                                                              \
        name, TYPE_TIMEUUID, 1, 1, false, false, timestamp_wants, cql_function_kind, bound_value,  \
            false, NULL, NULL                                                                      \
    }
#define TIME_FUNCTION(name, kind)                                                                  \
    {                                                                                              \
        name, kind, 1, 1, false, false, time_wants, time_result, time_value, true, NULL, NULL      \
    }
#define TIME_FUNCTIONS(name, other, kind) TIME_FUNCTION(name, kind), TIME_FUNCTION(other, kind)

const struct cql_function cql_function_time[] = {
    NOW_FUNCTION("uuid", TYPE_UUID, uuid_value),
    NOW_FUNCTION("now", TYPE_TIMEUUID, uuid_value),
    NOW_FUNCTIONS("currenttimeuuid", "current_timeuuid", TYPE_TIMEUUID, uuid_value),
    NOW_FUNCTIONS("currenttimestamp", "current_timestamp", TYPE_TIMESTAMP, current_value),
    NOW_FUNCTIONS("currentdate", "current_date", TYPE_DATE, current_value),
    NOW_FUNCTIONS("currenttime", "current_time", TYPE_TIME, current_value),
    BOUND_FUNCTION("mintimeuuid"),
    BOUND_FUNCTION("min_timeuuid"),
    BOUND_FUNCTION("maxtimeuuid"),
    BOUND_FUNCTION("max_timeuuid"),
    TIME_FUNCTIONS("todate", "to_date", TYPE_DATE),
    TIME_FUNCTIONS("totimestamp", "to_timestamp", TYPE_TIMESTAMP),
    TIME_FUNCTIONS("tounixtimestamp", "to_unix_timestamp", TYPE_BIGINT),
    {"floor", TYPE_TIMESTAMP, 2, 3, false, false, floor_wants, floor_result, floor_value, true,
     NULL, NULL},
    {.name = NULL},
};
