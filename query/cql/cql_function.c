/* The functions of CQL that take one row's values.
 *
 * A function is a row of the table below: its name, how many arguments, which type it gives for
 * which types, and its value.  Names come lowercased; the spelling with underscores and the older
 * one without are the same function. */
#include "query/cql/cql_function.h"

#include <string.h>

#include "query/cql/cql_json.h"
#include "storage/base/calendar.h"
#include "storage/base/hash.h"
#include "storage/base/uuid.h"

#define UUID_EPOCH_TICKS INT64_C(0x01B21DD213814000)    /* 100 ns from 1582-10-15 to 1970 */

static bool is_kind(const struct cql_call *call, uint32_t index, enum type_kind kind)
{
    return index < call->count && call->types[index]->kind == kind;
}

static struct bytes keep(const struct cql_context *context, struct buffer *value)
{
    struct bytes kept = value->size == 0 ? bytes_of("", 0)
                                         : arena_copy(context->arena, buffer_view(value));
    buffer_release(value);
    return kept;
}

static struct bytes keep_bigint(const struct cql_context *context, int64_t number)
{
    struct buffer value = {0};
    value_put_bigint(&value, number);
    return keep(context, &value);
}

/* ---- token ---- */

static const struct type *token_wants(const struct cql_call *call, uint32_t index)
{
    bool is_key = call->table != NULL && call->count == call->table->partition_count;
    return is_key ? call->table->columns[index].type : NULL;
}

static const struct type *bigint_result(const struct cql_call *call)
{
    (void)call;
    return type_builtin(TYPE_BIGINT);
}

static int token_value(const struct cql_expression *call, const struct bytes *arguments,
                       const struct cql_context *context, struct bytes *value)
{
    struct buffer key = {0};
    for (uint32_t i = 0; i < call->argument_count; i++) {
        key_put_component(&key, call->argument_count, arguments[i]);
    }
    *value = keep_bigint(context, murmur3_token(key.data, key.size));
    buffer_release(&key);
    return 0;
}

/* ---- identifiers ---- */

static const struct type *kind_result(const struct cql_call *call)
{
    return type_builtin(call->function->kind);
}

static int uuid_value(const struct cql_expression *call, const struct bytes *arguments,
                      const struct cql_context *context, struct bytes *value)
{
    (void)arguments;
    uint8_t made[UUID_SIZE];
    if (call->function->kind == TYPE_UUID) {
        uuid_make(context->world->random, made);
    } else {
        timeuuid_make(store_now_us(context->store), context->world->random, made);
    }
    *value = arena_copy(context->arena, bytes_of(made, sizeof(made)));
    return 0;
}

static const struct type *timestamp_wants(const struct cql_call *call, uint32_t index)
{
    (void)call;
    return index == 0 ? type_builtin(TYPE_TIMESTAMP) : NULL;
}

/* The least and the greatest timeuuid of a millisecond: no uuid that was made, only a bound. */
static int bound_value(const struct cql_expression *call, const struct bytes *arguments,
                       const struct cql_context *context, struct bytes *value)
{
    bool is_min = call->function->name[1] == 'i';
    if (arguments[0].size != 8) {
        return 0;
    }
    int64_t time_ms = value_bigint(arguments[0]);
    uint64_t ticks = (uint64_t)(time_ms + (is_min ? 0 : 1)) * 10000 + UUID_EPOCH_TICKS;
    ticks -= is_min ? 0 : 1;
    struct buffer uuid = {0};
    buffer_put_u32_be(&uuid, (uint32_t)ticks);
    buffer_put_u16_be(&uuid, (uint16_t)(ticks >> 32));
    buffer_put_u16_be(&uuid, (uint16_t)((ticks >> 48 & 0x0FFF) | 0x1000));
    buffer_put_u64_be(&uuid, is_min ? UINT64_C(0x8080808080808080) : UINT64_C(0x7F7F7F7F7F7F7F7F));
    *value = keep(context, &uuid);
    return 0;
}

/* ---- times ---- */

/* Milliseconds of a timestamp, date or timeuuid; false for an empty value. */
static bool time_ms_of(const struct type *type, struct bytes value, int64_t *time_ms_out)
{
    if (type->kind == TYPE_TIMEUUID && value.size == UUID_SIZE) {
        int64_t us = timeuuid_us(value.data);
        *time_ms_out = (us - (us % 1000 + 1000) % 1000) / 1000;
        return true;
    }
    if (type->kind == TYPE_TIMESTAMP && value.size == 8) {
        *time_ms_out = value_bigint(value);
        return true;
    }
    if (type->kind == TYPE_DATE && value.size == 4) {
        *time_ms_out = ((int64_t)load_u32_be(value.data) - (INT64_C(1) << 31)) * DAY_MS;
        return true;
    }
    return false;
}

static struct bytes time_as(enum type_kind kind, int64_t time_ms,
                            const struct cql_context *context)
{
    struct buffer value = {0};
    if (kind == TYPE_DATE) {
        buffer_put_u32_be(&value, (uint32_t)(day_of_time(time_ms) + (INT64_C(1) << 31)));
    } else if (kind == TYPE_TIME) {
        value_put_bigint(&value, (time_ms - (int64_t)day_of_time(time_ms) * DAY_MS) * 1000000);
    } else {
        value_put_bigint(&value, time_ms);
    }
    return keep(context, &value);
}

static int current_value(const struct cql_expression *call, const struct bytes *arguments,
                         const struct cql_context *context, struct bytes *value)
{
    (void)arguments;
    *value = time_as(call->function->kind, store_now_us(context->store) / 1000, context);
    return 0;
}

static const struct type *time_result(const struct cql_call *call)
{
    bool fits = is_kind(call, 0, TYPE_TIMEUUID) || is_kind(call, 0, TYPE_TIMESTAMP) ||
                is_kind(call, 0, TYPE_DATE);
    return fits ? type_builtin(call->function->kind) : NULL;
}

static int time_value(const struct cql_expression *call, const struct bytes *arguments,
                      const struct cql_context *context, struct bytes *value)
{
    int64_t time_ms;
    if (time_ms_of(call->arguments[0]->type, arguments[0], &time_ms)) {
        *value = time_as(call->function->kind, time_ms, context);
    }
    return 0;
}

/* ---- floor ---- */

static const struct type *floor_wants(const struct cql_call *call, uint32_t index)
{
    (void)call;
    return index == 1 ? type_builtin(TYPE_DURATION) : NULL;
}

static const struct type *floor_result(const struct cql_call *call)
{
    if (!is_kind(call, 1, TYPE_DURATION)) {
        return NULL;
    }
    if (is_kind(call, 0, TYPE_TIMEUUID) || is_kind(call, 0, TYPE_TIMESTAMP)) {
        return type_builtin(TYPE_TIMESTAMP);
    }
    return is_kind(call, 0, TYPE_DATE) || is_kind(call, 0, TYPE_TIME) ? call->types[0] : NULL;
}

static int64_t month_start(int64_t time_ms, int32_t months)
{
    char text[DAY_TEXT_SIZE + 1];
    int32_t day = day_of_time(time_ms);
    if (day < DAY_MIN || day > DAY_MAX) {
        return time_ms;
    }
    day_format(day, text);
    int32_t year = (text[0] - '0') * 1000 + (text[1] - '0') * 100 + (text[2] - '0') * 10 +
                   (text[3] - '0');
    int32_t month = (text[5] - '0') * 10 + (text[6] - '0') - 1;
    int32_t since = (year - 1970) * 12 + month;
    int32_t floored = since - since % months;
    struct buffer first = {0};
    buffer_printf(&first, "%04d-%02d-01", 1970 + floored / 12, floored % 12 + 1);
    bool parsed = day_parse(buffer_view(&first), &day);
    check(parsed);
    buffer_release(&first);
    return (int64_t)day * DAY_MS;
}

/* Steps of `duration` from 1970 (or, for a time, from midnight), in the unit of `at`. */
static int floor_at(int64_t at, int64_t unit_ns, const struct type_duration *duration,
                    const struct cql_context *context, int64_t *floored_out)
{
    *floored_out = at;
    int64_t day_units = INT64_C(86400000000000) / unit_ns;
    if (duration->months < 0 || duration->days < 0 || duration->nanoseconds < 0) {
        return cql_invalid(context->fault,
                           "Negative durations are not supported by the floor function");
    }
    if (duration->nanoseconds % unit_ns != 0) {
        return cql_invalid(context->fault, "The floor cannot be computed for the duration as "
                                           "precision is below 1 millisecond");
    }
    if (at < 0) {
        return cql_invalid(context->fault, "The floor function starting time is greater than the "
                                           "provided time");
    }
    if (duration->months > 0 && duration->days == 0 && duration->nanoseconds == 0) {
        *floored_out = month_start(at, duration->months);
        return 0;
    }
    if (duration->months > 0) {
        return cql_invalid(context->fault, "floor with a duration of months and days together is "
                                           "not supported");
    }
    int64_t step = duration->days * day_units + duration->nanoseconds / unit_ns;
    *floored_out = step > 0 ? at - at % step : at;
    return 0;
}

static int floor_value(const struct cql_expression *call, const struct bytes *arguments,
                       const struct cql_context *context, struct bytes *value)
{
    const struct type *type = call->arguments[0]->type;
    struct type_duration duration;
    if (!type_duration_read(arguments[1], &duration)) {
        return 0;
    }
    int64_t at;
    if (type->kind == TYPE_TIME) {
        int rc = arguments[0].size == 8
                     ? floor_at(value_bigint(arguments[0]), 1, &duration, context, &at)
                     : 0;
        if (rc == 0 && arguments[0].size == 8) {
            *value = keep_bigint(context, at);
        }
        return rc;
    }
    int64_t time_ms;
    if (!time_ms_of(type, arguments[0], &time_ms)) {
        return 0;
    }
    int rc = floor_at(time_ms, 1000000, &duration, context, &at);
    if (rc == 0) {
        *value = time_as(call->type->kind, at, context);
    }
    return rc;
}

/* ---- blobs and JSON ---- */

static const struct type *as_blob_wants(const struct cql_call *call, uint32_t index)
{
    (void)index;
    return type_builtin(call->function->kind);
}

static const struct type *blob_result(const struct cql_call *call)
{
    return is_kind(call, 0, call->function->kind) ? type_builtin(TYPE_BLOB) : NULL;
}

static int same_value(const struct cql_expression *call, const struct bytes *arguments,
                      const struct cql_context *context, struct bytes *value)
{
    (void)call;
    (void)context;
    *value = arguments[0];
    return 0;
}

static const struct type *blob_wants(const struct cql_call *call, uint32_t index)
{
    (void)call;
    (void)index;
    return type_builtin(TYPE_BLOB);
}

static const struct type *from_blob_result(const struct cql_call *call)
{
    return is_kind(call, 0, TYPE_BLOB) ? type_builtin(call->function->kind) : NULL;
}

static int from_blob_value(const struct cql_expression *call, const struct bytes *arguments,
                           const struct cql_context *context, struct bytes *value)
{
    if (arguments[0].size > 0 && type_validate(call->type, arguments[0], NULL) != 0) {
        return cql_invalid(context->fault, "In call to function system.%s, value 0x is not a "
                                           "valid binary representation for type %s",
                           call->function->name, call->function->name);
    }
    *value = arguments[0];
    return 0;
}

static int to_json_value(const struct cql_expression *call, const struct bytes *arguments,
                         const struct cql_context *context, struct bytes *value)
{
    struct buffer text = {0};
    cql_json_format(call->arguments[0]->type, arguments[0], &text);
    *value = keep(context, &text);
    return 0;
}

static const struct type *text_wants(const struct cql_call *call, uint32_t index)
{
    (void)call;
    (void)index;
    return type_builtin(TYPE_TEXT);
}

static const struct type *wanted_result(const struct cql_call *call)
{
    return call->result;
}

static int from_json_value(const struct cql_expression *call, const struct bytes *arguments,
                           const struct cql_context *context, struct bytes *value)
{
    const struct cql_json *json;
    struct buffer bytes = {0};
    struct error err = {0};
    int rc = cql_json_read(arguments[0], context->arena, &json, &err);
    if (rc == 0 && json->kind == CQL_JSON_NULL) {
        return 0;
    }
    rc = rc == 0 ? cql_json_value(json, call->type, context->arena, &bytes, &err) : rc;
    *value = keep(context, &bytes);
    if (rc == 0) {
        return 0;
    }
    rc = cql_refuse(context->fault, CQL_FUNCTION_FAILURE, "%s", err.text);
    context->fault->error.keyspace = "system";
    context->fault->error.name = call->function->name;
    return rc;
}

/* ---- collections ---- */

static const struct type *size_result(const struct cql_call *call)
{
    bool fits = is_kind(call, 0, TYPE_LIST) || is_kind(call, 0, TYPE_SET) ||
                is_kind(call, 0, TYPE_MAP);
    return fits ? type_builtin(TYPE_INT) : NULL;
}

static int size_value(const struct cql_expression *call, const struct bytes *arguments,
                      const struct cql_context *context, struct bytes *value)
{
    const struct type *type = call->arguments[0]->type;
    struct type_items items;
    if (!type_items_open(type, arguments[0], &items)) {
        return 0;
    }
    struct buffer count = {0};
    value_put_int(&count, (int32_t)(items.count / (type->kind == TYPE_MAP ? 2 : 1)));
    *value = keep(context, &count);
    return 0;
}

/* ---- the table ---- */

#define BLOB_FUNCTIONS(name, kind)                                                                 \
    {#name "asblob", kind, 1, 1, false, false, as_blob_wants, blob_result, same_value},            \
        {#name "_as_blob", kind, 1, 1, false, false, as_blob_wants, blob_result, same_value},      \
        {"blobas" #name, kind, 1, 1, false, false, blob_wants, from_blob_result, from_blob_value}, \
    {                                                                                              \
        "blob_as_" #name, kind, 1, 1, false, false, blob_wants, from_blob_result, from_blob_value  \
    }

static const struct cql_function functions[] = {
    {"token", TYPE_BIGINT, 1, CQL_ARGUMENTS_MAX, false, false, token_wants, bigint_result,
     token_value},
    {"uuid", TYPE_UUID, 0, 0, false, false, NULL, kind_result, uuid_value},
    {"now", TYPE_TIMEUUID, 0, 0, false, false, NULL, kind_result, uuid_value},
    {"currenttimeuuid", TYPE_TIMEUUID, 0, 0, false, false, NULL, kind_result, uuid_value},
    {"current_timeuuid", TYPE_TIMEUUID, 0, 0, false, false, NULL, kind_result, uuid_value},
    {"currenttimestamp", TYPE_TIMESTAMP, 0, 0, false, false, NULL, kind_result, current_value},
    {"current_timestamp", TYPE_TIMESTAMP, 0, 0, false, false, NULL, kind_result, current_value},
    {"currentdate", TYPE_DATE, 0, 0, false, false, NULL, kind_result, current_value},
    {"current_date", TYPE_DATE, 0, 0, false, false, NULL, kind_result, current_value},
    {"currenttime", TYPE_TIME, 0, 0, false, false, NULL, kind_result, current_value},
    {"current_time", TYPE_TIME, 0, 0, false, false, NULL, kind_result, current_value},
    {"mintimeuuid", TYPE_TIMEUUID, 1, 1, false, false, timestamp_wants, kind_result, bound_value},
    {"min_timeuuid", TYPE_TIMEUUID, 1, 1, false, false, timestamp_wants, kind_result, bound_value},
    {"maxtimeuuid", TYPE_TIMEUUID, 1, 1, false, false, timestamp_wants, kind_result, bound_value},
    {"max_timeuuid", TYPE_TIMEUUID, 1, 1, false, false, timestamp_wants, kind_result, bound_value},
    {"dateof", TYPE_TIMESTAMP, 1, 1, false, false, NULL, time_result, time_value},
    {"unixtimestampof", TYPE_BIGINT, 1, 1, false, false, NULL, time_result, time_value},
    {"todate", TYPE_DATE, 1, 1, false, false, NULL, time_result, time_value},
    {"to_date", TYPE_DATE, 1, 1, false, false, NULL, time_result, time_value},
    {"totimestamp", TYPE_TIMESTAMP, 1, 1, false, false, NULL, time_result, time_value},
    {"to_timestamp", TYPE_TIMESTAMP, 1, 1, false, false, NULL, time_result, time_value},
    {"tounixtimestamp", TYPE_BIGINT, 1, 1, false, false, NULL, time_result, time_value},
    {"to_unix_timestamp", TYPE_BIGINT, 1, 1, false, false, NULL, time_result, time_value},
    {"floor", TYPE_TIMESTAMP, 2, 2, false, false, floor_wants, floor_result, floor_value},
    {"tojson", TYPE_TEXT, 1, 1, false, true, NULL, kind_result, to_json_value},
    {"to_json", TYPE_TEXT, 1, 1, false, true, NULL, kind_result, to_json_value},
    {"fromjson", TYPE_TEXT, 1, 1, false, false, text_wants, wanted_result, from_json_value},
    {"from_json", TYPE_TEXT, 1, 1, false, false, text_wants, wanted_result, from_json_value},
    {"collection_count", TYPE_INT, 1, 1, false, false, NULL, size_result, size_value},
    BLOB_FUNCTIONS(ascii, TYPE_ASCII),
    BLOB_FUNCTIONS(bigint, TYPE_BIGINT),
    BLOB_FUNCTIONS(boolean, TYPE_BOOLEAN),
    BLOB_FUNCTIONS(counter, TYPE_COUNTER),
    BLOB_FUNCTIONS(date, TYPE_DATE),
    BLOB_FUNCTIONS(decimal, TYPE_DECIMAL),
    BLOB_FUNCTIONS(double, TYPE_DOUBLE),
    BLOB_FUNCTIONS(duration, TYPE_DURATION),
    BLOB_FUNCTIONS(float, TYPE_FLOAT),
    BLOB_FUNCTIONS(inet, TYPE_INET),
    BLOB_FUNCTIONS(int, TYPE_INT),
    BLOB_FUNCTIONS(smallint, TYPE_SMALLINT),
    BLOB_FUNCTIONS(text, TYPE_TEXT),
    BLOB_FUNCTIONS(time, TYPE_TIME),
    BLOB_FUNCTIONS(timestamp, TYPE_TIMESTAMP),
    BLOB_FUNCTIONS(timeuuid, TYPE_TIMEUUID),
    BLOB_FUNCTIONS(tinyint, TYPE_TINYINT),
    BLOB_FUNCTIONS(uuid, TYPE_UUID),
    BLOB_FUNCTIONS(varchar, TYPE_TEXT),
    BLOB_FUNCTIONS(varint, TYPE_VARINT),
};

const struct cql_function *cql_function_find(struct bytes name)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (bytes_equal(bytes_text(functions[i].name), name)) {
            return &functions[i];
        }
    }
    return cql_function_aggregate(name);
}
