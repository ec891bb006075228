/* click_generator: see click_generator.h.
 *
 * A click uses 128 random bits, a hash of the seed and the click's number: 32 for the reseller, 32
 * for the ad, 32 for the amount and 32 for the time.  Weighted draws use Walker's alias method:
 * each of n equal columns stands for one outcome below its threshold and for another one above, so
 * a draw is one multiplication and one comparison:
 *
 *     bits * n = column · 2^32 + within      within < threshold[column] ? column : alias[column]
 *
 * Ids, days and amounts are stored as text of fixed width with the comma, so a line is made by
 * copies of constant size.
 *
 * Thresholds are computed once in binary floating point.  With another C library a threshold may
 * differ in its last bits, and then a draw may differ as well. */
#include "bench/click_generator.h"

#include <math.h>
#include <stdio.h>

#include "base/calendar.h"
#include "base/memory.h"

enum {
    RESELLER_SIZE = 14,      /* "reseller-0001," */
    RESELLER_SIZE_MANY = 16, /* "reseller-000001," */
    RESELLERS_FEW = 10000,   /* up to this number four digits suffice */
    AD_SIZE = 11,            /* "ad-0007919," */
    AD_UUID_SIZE = 37,       /* "00001eef-5d5a-4b3c-9f0e-3a1d2b4c5d6e," */
    AD_SLOT = 40,
    DAY_SIZE = DAY_TEXT_SIZE + 1, /* "2026-08-01," */
    TIME_SIZE = 13,
    AMOUNT_SLOT = 8,    /* "123.45\n" and its length in the last byte */
    AMOUNTS = 4096,     /* 0.01 to 40.96; larger amounts have a probability of only 10^-13 */
    SLOT = 16,          /* bytes copied for a text of at most 16 bytes */
    ADS_IN_ALL = 50000, /* resellers share ads */
    LATE_PERCENT = 5,
    LATE_DAYS = 2
};

/* Parameters of the amounts: the median in currency units, and the deviation of the logarithm. */
static const double AMOUNT_MEDIAN = 0.45;
static const double AMOUNT_SIGMA = 0.6;

struct alias_table {
    uint32_t count;
    uint32_t *thresholds; /* of each column, in units of 2^-32 of its height */
    uint32_t *aliases;
};

struct click_generator {
    struct click_options options;
    struct alias_table resellers;
    struct alias_table ads;
    struct alias_table amounts;
    int32_t first_day;
    char (*reseller_texts)[SLOT];
    size_t reseller_size;
    char (*ad_texts)[AD_SLOT];
    size_t ad_size;
    char (*day_texts)[SLOT];
    char (*amount_texts)[AMOUNT_SLOT];
    char (*digits)[4]; /* "0000" to "9999" */
};

struct click_options click_options_default(void)
{
    return (struct click_options){
        .clicks = 10000000,
        .seed = 1,
        .resellers = 1000,
        .ads = 200,
        .days = 30,
        .order = CLICK_ORDERED,
    };
}

/* A bijection of 64 bits that looks random: the finalizer of SplitMix64. */
static inline uint64_t mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/* ---- weighted draws ---- */

/* Fill all columns to height 1: a column that is too low gets the rest from one that is too high.
 */
static void alias_fill(struct alias_table *table, double *heights)
{
    uint32_t *low = memory_alloc(table->count * sizeof *low);
    uint32_t *high = memory_alloc(table->count * sizeof *high);
    uint32_t low_count = 0;
    uint32_t high_count = 0;

    for (uint32_t i = 0; i < table->count; i++) {
        table->thresholds[i] = UINT32_MAX;
        table->aliases[i] = i;
        if (heights[i] < 1)
            low[low_count++] = i;
        else
            high[high_count++] = i;
    }
    while (low_count > 0 && high_count > 0) {
        uint32_t taker = low[--low_count];
        uint32_t giver = high[high_count - 1];

        table->thresholds[taker] = (uint32_t)(heights[taker] * 0x1p32);
        table->aliases[taker] = giver;
        heights[giver] -= 1 - heights[taker];
        if (heights[giver] < 1) {
            high_count--;
            low[low_count++] = giver;
        }
    }
    memory_free(low);
    memory_free(high);
}

/* Make a table for `weights`, which are overwritten. */
static struct alias_table alias_table_make(double *weights, uint32_t count)
{
    struct alias_table table = {
        .count = count,
        .thresholds = memory_alloc(count * sizeof(uint32_t)),
        .aliases = memory_alloc(count * sizeof(uint32_t)),
    };
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += weights[i];
    for (uint32_t i = 0; i < count; i++)
        weights[i] *= count / sum;
    alias_fill(&table, weights);
    return table;
}

/* Weights are 1/1, 1/2, 1/3 ...  If `has_heavy`, the first weight equals the sum of all others. */
static struct alias_table alias_table_zipf(uint32_t count, bool has_heavy)
{
    double *weights = memory_alloc(count * sizeof *weights);
    double others = 0;
    struct alias_table table;

    for (uint32_t i = 0; i < count; i++)
        weights[i] = 1.0 / (i + 1);
    for (uint32_t i = 1; i < count; i++)
        others += weights[i];
    if (has_heavy && count > 1)
        weights[0] = others;
    table = alias_table_make(weights, count);
    memory_free(weights);
    return table;
}

/* The probability of an amount below `amount`, in the log-normal distribution. */
static double log_normal_below(double amount)
{
    return 0.5 * erfc(-log(amount / AMOUNT_MEDIAN) / (AMOUNT_SIGMA * M_SQRT2));
}

/* Index i stands for i + 1 cents.  Amounts below half a cent count as one cent. */
static struct alias_table alias_table_log_normal(void)
{
    double *weights = memory_alloc(AMOUNTS * sizeof *weights);
    double below = 0;
    struct alias_table table;

    for (unsigned i = 0; i < AMOUNTS; i++) {
        double until = log_normal_below((i + 1.5) / 100);

        weights[i] = until - below;
        below = until;
    }
    table = alias_table_make(weights, AMOUNTS);
    memory_free(weights);
    return table;
}

static void alias_table_release(struct alias_table *table)
{
    memory_free(table->thresholds);
    memory_free(table->aliases);
}

static inline uint32_t alias_draw(const struct alias_table *table, uint32_t bits)
{
    uint64_t scaled = (uint64_t)bits * table->count;
    uint32_t column = (uint32_t)(scaled >> 32);

    return (uint32_t)scaled < table->thresholds[column] ? column : table->aliases[column];
}

/* ---- texts ---- */

static void names_make(struct click_generator *generator)
{
    const struct click_options *options = &generator->options;
    bool has_many = options->resellers > RESELLERS_FEW;
    char text[64];

    generator->reseller_size = has_many ? RESELLER_SIZE_MANY : RESELLER_SIZE;
    for (uint32_t i = 0; i < options->resellers; i++) {
        (void)snprintf(text, sizeof text, "reseller-%0*u,", has_many ? 6 : 4,
                       i % CLICK_RESELLERS_MAX);
        memcpy(generator->reseller_texts[i], text, SLOT);
    }
    generator->ad_size = options->has_uuid_ads ? AD_UUID_SIZE : AD_SIZE;
    for (uint32_t i = 0; i < ADS_IN_ALL; i++) {
        uint64_t high = mix(i + UINT64_C(1));
        uint64_t low = mix(high);

        if (options->has_uuid_ads)
            (void)snprintf(text, sizeof text, "%08x-%04x-4%03x-9%03x-%012llx,",
                           (unsigned)(high >> 32), (unsigned)(high & 0xffff),
                           (unsigned)(high >> 16 & 0xfff), (unsigned)(low >> 48 & 0xfff),
                           (unsigned long long)(low & 0xffffffffffff));
        else
            (void)snprintf(text, sizeof text, "ad-%07u,", i);
        memcpy(generator->ad_texts[i], text, AD_SLOT);
    }
}

static void texts_make(struct click_generator *generator)
{
    const struct click_options *options = &generator->options;
    char text[64];

    names_make(generator);
    for (uint32_t i = 0; i < options->days; i++) {
        calendar_day_format(generator->first_day + (int32_t)i, text);
        text[DAY_TEXT_SIZE] = ',';
        memcpy(generator->day_texts[i], text, SLOT);
    }
    for (uint32_t i = 0; i < AMOUNTS; i++) {
        int size = snprintf(text, sizeof text, "%u.%02u\n", (i + 1) / 100, (i + 1) % 100);

        text[AMOUNT_SLOT - 1] = (char)size;
        memcpy(generator->amount_texts[i], text, AMOUNT_SLOT);
    }
    for (uint32_t i = 0; i < 10000; i++) {
        (void)snprintf(text, sizeof text, "%04u", i);
        memcpy(generator->digits[i], text, 4);
    }
}

struct click_generator *click_generator_new(const struct click_options *options)
{
    struct click_generator *generator = memory_zeroed(1, sizeof *generator);

    check(options->resellers >= 1 && options->resellers <= CLICK_RESELLERS_MAX);
    check(options->ads >= 1 && options->ads <= CLICK_ADS_MAX);
    check(options->days >= 1 && options->days <= CLICK_DAYS_MAX);
    generator->options = *options;
    check(calendar_day_parse(bytes_text("2026-08-01"), &generator->first_day));
    generator->resellers = alias_table_zipf(options->resellers, options->has_heavy);
    generator->ads = alias_table_zipf(options->ads, false);
    generator->amounts = alias_table_log_normal();
    generator->reseller_texts = memory_zeroed(options->resellers, SLOT);
    generator->ad_texts = memory_zeroed(ADS_IN_ALL, AD_SLOT);
    generator->day_texts = memory_zeroed(options->days, SLOT);
    generator->amount_texts = memory_zeroed(AMOUNTS, AMOUNT_SLOT);
    generator->digits = memory_zeroed(10000, 4);
    texts_make(generator);
    return generator;
}

void click_generator_free(struct click_generator *generator)
{
    alias_table_release(&generator->resellers);
    alias_table_release(&generator->ads);
    alias_table_release(&generator->amounts);
    memory_free(generator->reseller_texts);
    memory_free(generator->ad_texts);
    memory_free(generator->day_texts);
    memory_free(generator->amount_texts);
    memory_free(generator->digits);
    memory_free(generator);
}

/* ---- clicks ---- */

/* Returns milliseconds since the first day began.  The i-th of N ordered clicks has a random time
 * in the i-th of N equal parts of all days, so the times grow at random intervals. */
static inline uint64_t click_time(const struct click_options *options, uint64_t index,
                                  uint32_t bits)
{
    uint64_t span = options->days * (uint64_t)DAY_MS;
    uint64_t clicks = options->order == CLICK_SHUFFLED ? 1 : options->clicks;
    double part = (double)span / (double)clicks;
    uint64_t time;

    if (options->order == CLICK_SHUFFLED)
        index = 0;
    time = (uint64_t)(((double)index + bits * 0x1p-32) * part);
    if (options->order == CLICK_LATE && mix(index) % 100 < LATE_PERCENT) {
        uint64_t late = mix(~index) % (LATE_DAYS * (uint64_t)DAY_MS);

        time -= late < time ? late : time;
    }
    return time < span ? time : span - 1;
}

static inline void time_append(const struct click_generator *generator, uint64_t time_ms, char *to)
{
    uint64_t high = time_ms / 100000000;
    uint32_t low = (uint32_t)(time_ms % 100000000);

    to[0] = (char)('0' + high / 10000);
    memcpy(to + 1, generator->digits[high % 10000], 4);
    memcpy(to + 5, generator->digits[low / 10000], 4);
    memcpy(to + 9, generator->digits[low % 10000], 4);
    to[TIME_SIZE] = ',';
}

/* A click as indexes of the generator's texts. */
struct drawn_click {
    uint32_t reseller, ad, amount;
    uint64_t time; /* ms since the first day began */
};

static inline struct drawn_click click_draw(const struct click_generator *generator, uint64_t index)
{
    uint64_t key = mix(index + generator->options.seed * UINT64_C(0x9e3779b97f4a7c15));
    uint64_t other = mix(key + UINT64_C(0x9e3779b97f4a7c15));
    uint32_t reseller = alias_draw(&generator->resellers, (uint32_t)key);
    uint32_t ad = alias_draw(&generator->ads, (uint32_t)(key >> 32));

    return (struct drawn_click){
        .reseller = reseller,
        .ad = (reseller * 7919 + ad * 31) % ADS_IN_ALL,
        .amount = alias_draw(&generator->amounts, (uint32_t)other),
        .time = click_time(&generator->options, index, (uint32_t)(other >> 32)),
    };
}

static uint64_t first_time(const struct click_generator *generator)
{
    return (uint64_t)generator->first_day * (uint64_t)DAY_MS;
}

/* Write click `index` at `to`, which has room for CLICK_LINE_SIZE_MAX bytes; returns its end. */
static inline char *click_write(const struct click_generator *generator, uint64_t index, char *to)
{
    struct drawn_click click = click_draw(generator, index);

    memcpy(to, generator->reseller_texts[click.reseller], SLOT);
    to += generator->reseller_size;
    memcpy(to, generator->day_texts[click.time / (uint64_t)DAY_MS], SLOT);
    to += DAY_SIZE;
    time_append(generator, first_time(generator) + click.time, to);
    to += TIME_SIZE + 1;
    memcpy(to, generator->ad_texts[click.ad], AD_SLOT);
    to += generator->ad_size;
    memcpy(to, generator->amount_texts[click.amount], AMOUNT_SLOT);
    return to + generator->amount_texts[click.amount][AMOUNT_SLOT - 1];
}

void click_generator_append(const struct click_generator *generator, uint64_t first, uint64_t count,
                            struct buffer *to)
{
    char *end;

    buffer_reserve(to, count * CLICK_LINE_SIZE_MAX + SLOT);
    end = (char *)to->data + to->size;
    for (uint64_t i = first; i < first + count; i++)
        end = click_write(generator, i, end);
    to->size = (size_t)(end - (char *)to->data);
}

void click_generator_add(const struct click_generator *generator, uint64_t first, uint64_t count,
                         struct click_batch *batch)
{
    for (uint64_t i = first; i < first + count; i++) {
        struct drawn_click drawn = click_draw(generator, i);
        struct daybook_click click = {
            .reseller = generator->reseller_texts[drawn.reseller],
            .ad = generator->ad_texts[drawn.ad],
            .reseller_size = generator->reseller_size - 1,
            .ad_size = generator->ad_size - 1,
            .day = generator->first_day + (int32_t)(drawn.time / (uint64_t)DAY_MS),
            .time_ms = (int64_t)(first_time(generator) + drawn.time),
            .amount = drawn.amount + 1,
            .scale = 2,
        };

        check(click_batch_add(batch, &click) == 0);
    }
}
