/* Aggregates over the rows of a group.
 *
 * A sum has the type of the values and wraps for all integers but varints.  An average of integers
 * is truncated.  As in Cassandra, reals are added with Kahan's compensation.  Each value changes an
 * average of decimals by (value - average) / count, rounded half even.  The digits of results
 * depend on these operations and their order. */
#include "query/cql/expression/cql_accumulator.h"

#include <math.h>

#include "query/cql/expression/cql_function.h"
#include "query/cql/expression/cql_number.h"
#include "storage/cell/stats.h"

enum aggregate_kind { COUNT, SUM, AVG, MIN, MAX };

struct cql_accumulator {
    enum aggregate_kind kind;
    const struct type *type; /* of the values; NULL: count(*) */
    uint64_t count;
    struct cql_number sum; /* if decimals are averaged: their average */
    int128 whole;          /* the exact sum of integers */
    double correction;     /* of Kahan's sum */
    long double plain;     /* the sum of reals without compensation, in a wider range */
    bool has_best;
    struct buffer best;
};

static const struct type *best_result(const struct cql_call *call)
{
    return call->types[0];
}

#define AGGREGATE(name, result, is_overloaded)                                                     \
    {                                                                                              \
        name, TYPE_BIGINT, 1, 1, true, true, NULL, result, NULL, is_overloaded, NULL, NULL         \
    }

const struct cql_function cql_function_aggregate[] = {
    [COUNT] = AGGREGATE("count", cql_function_kind, false),
    [SUM] = AGGREGATE("sum", cql_function_number, true),
    [AVG] = AGGREGATE("avg", cql_function_number, true),
    [MIN] = AGGREGATE("min", best_result, true),
    [MAX] = AGGREGATE("max", best_result, true),
    {.name = NULL},
};

static void accumulator_clear(struct cql_accumulator *accumulator)
{
    buffer_clear(&accumulator->best);
    *accumulator = (struct cql_accumulator){.kind = accumulator->kind,
                                            .type = accumulator->type,
                                            .sum = {.kind = accumulator->sum.kind},
                                            .best = accumulator->best};
}

struct cql_accumulator *cql_accumulator_new(const struct cql_aggregate *aggregate,
                                            struct arena *arena)
{
    check(aggregate->function->is_aggregate);
    struct cql_accumulator *accumulator = arena_alloc_zeroed(arena, sizeof(*accumulator), 16);
    accumulator->best.arena = arena;
    accumulator->kind = (enum aggregate_kind)(aggregate->function - cql_function_aggregate);
    accumulator->type = aggregate->argument == NULL ? NULL : aggregate->argument->type;
    accumulator->sum.kind = aggregate->type->kind;
    return accumulator;
}

static void add_real(struct cql_accumulator *accumulator, double real)
{
    accumulator->plain += (long double)real;
    double corrected = real - accumulator->correction;
    double sum = accumulator->sum.real + corrected;
    accumulator->correction = (sum - accumulator->sum.real) - corrected;
    accumulator->sum.real = sum;
}

static int average_decimal(struct cql_accumulator *accumulator, struct decimal value)
{
    struct decimal *average = &accumulator->sum.decimal;
    struct decimal step;
    struct decimal count = decimal_from((int128)accumulator->count, 0);
    int rc = decimal_subtract(value, *average, &step);
    if (rc == 0)
        rc = decimal_divide(step, count, step.scale, DECIMAL_HALF_EVEN, &step);
    return rc == 0 ? decimal_add(*average, step, average) : rc;
}

static int add_number(struct cql_accumulator *accumulator, struct bytes value,
                      struct cql_fault *fault)
{
    struct cql_number number;
    if (cql_number_read(accumulator->type->kind, value, &number) != 0)
        return cql_invalid(fault, "a number of over 256 bits cannot be summed");
    if (cql_number_is_integer(number.kind)) {
        accumulator->whole += number.integer;
        accumulator->sum.integer = (int64_t)accumulator->whole;
        return 0;
    }
    if (cql_number_is_real(number.kind)) {
        add_real(accumulator, number.real);
        return 0;
    }
    bool is_average = accumulator->kind == AVG && number.kind == TYPE_DECIMAL;
    struct decimal *sum = &accumulator->sum.decimal;
    int rc = is_average ? average_decimal(accumulator, number.decimal)
                        : decimal_add(*sum, number.decimal, sum);
    return rc == 0 ? 0 : cql_invalid(fault, "a sum has over 256 bits");
}

static void keep_best(struct cql_accumulator *accumulator, struct bytes value)
{
    int order = accumulator->has_best
                    ? type_compare(accumulator->type, value, buffer_view(&accumulator->best))
                    : 0;
    if (!accumulator->has_best || (accumulator->kind == MIN ? order < 0 : order > 0)) {
        buffer_set(&accumulator->best, value);
        accumulator->has_best = true;
    }
}

int cql_accumulator_add(struct cql_accumulator *accumulator, struct bytes value,
                        struct cql_fault *fault)
{
    if (value.data == NULL && accumulator->type != NULL)
        return 0;
    if (accumulator->kind == COUNT) {
        accumulator->count++;
        return 0;
    }
    if (accumulator->kind == MIN || accumulator->kind == MAX) {
        keep_best(accumulator, value);
        return 0;
    }
    if (value.size == 0)
        return 0;
    accumulator->count++;
    return add_number(accumulator, value, fault);
}

int cql_accumulator_add_stats(struct cql_accumulator *accumulator,
                              const struct partition_stats *stats, struct cql_fault *fault)
{
    uint64_t values = stats_value_count(stats);
    accumulator->count += accumulator->type == NULL ? stats->rows : values;
    if (accumulator->kind == COUNT || values == 0)
        return 0;
    if (decimal_add(accumulator->sum.decimal, stats_sum(stats), &accumulator->sum.decimal) != 0)
        return cql_invalid(fault, "a sum has over 256 bits");
    return 0;
}

static void average(struct cql_accumulator *accumulator)
{
    struct cql_number *sum = &accumulator->sum;
    if (accumulator->count == 0)
        return;
    if (cql_number_is_integer(sum->kind)) {
        sum->integer = (int64_t)(accumulator->whole / (int128)accumulator->count);
    } else if (cql_number_is_real(sum->kind)) {
        sum->real = isfinite(sum->real)
                        ? sum->real / (double)accumulator->count
                        : (double)(accumulator->plain / (long double)accumulator->count);
    } else if (sum->kind == TYPE_VARINT) {
        int rc = decimal_divide(sum->decimal, decimal_from((int128)accumulator->count, 0), 0,
                                DECIMAL_DOWN, &sum->decimal);
        check(rc == 0);
    }
}

void cql_accumulator_result(struct cql_accumulator *accumulator, struct arena *arena,
                            struct bytes *value_out)
{
    struct cql_number count = {.kind = TYPE_BIGINT, .integer = (int64_t)accumulator->count};
    *value_out = CQL_NULL;
    if (accumulator->kind == COUNT) {
        *value_out = cql_number_keep(&count, arena);
    } else if (accumulator->kind == MIN || accumulator->kind == MAX) {
        if (accumulator->has_best) {
            *value_out = accumulator->best.size == 0
                             ? bytes_of("", 0)
                             : arena_copy(arena, buffer_view(&accumulator->best));
        }
    } else {
        if (accumulator->kind == AVG)
            average(accumulator);
        else if (!isfinite(accumulator->sum.real))
            accumulator->sum.real = (double)accumulator->plain;
        *value_out = cql_number_keep(&accumulator->sum, arena);
    }
    accumulator_clear(accumulator);
}
