/* click_generator: makes clicks for measurements; the same options give the same clicks.
 *
 * Click number i depends only on the options and on i.  So several senders can each make a range of
 * clicks, and all ranges together have the same clicks as one file:
 *
 *     reseller-0001,2026-08-01,1785542400012,ad-0007919,0.45
 *
 * Resellers, and the ads of each reseller, are drawn with weights 1/1, 1/2, 1/3 ...  Amounts are
 * whole cents with a log-normal distribution.  The figures in results.md are for this data, with 55
 * bytes per line.  With more than 10,000 resellers, their numbers have six digits. */
#ifndef DAYBOOK_BENCH_CLICK_GENERATOR_H
#define DAYBOOK_BENCH_CLICK_GENERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "client/click_batch.h"

enum click_order {
    CLICK_ORDERED, /* times grow through all days */
    CLICK_LATE,    /* the same, but 5 % are up to two days old */
    CLICK_SHUFFLED /* any time of any day */
};

/* Limits that follow from the fixed width of ids and tables. */
enum {
    CLICK_RESELLERS_MAX = 1000000,
    CLICK_ADS_MAX = 10000,
    CLICK_DAYS_MAX = 3650,
    CLICK_LINE_SIZE_MAX = 96 /* bytes of a line, its end included */
};

struct click_options {
    uint64_t clicks; /* of all days together */
    uint64_t seed;
    uint32_t resellers; /* 1..CLICK_RESELLERS_MAX */
    uint32_t ads;       /* of each reseller, 1..CLICK_ADS_MAX */
    uint32_t days;      /* from 2026-08-01 on, 1..CLICK_DAYS_MAX */
    enum click_order order;
    bool has_heavy;    /* the first reseller has half of all clicks */
    bool has_uuid_ads; /* "3f2a…-…" instead of "ad-0007919" */
};

struct click_options click_options_default(void);

struct click_generator;

/* `options` must be within the limits above. */
struct click_generator *click_generator_new(const struct click_options *options);
void click_generator_free(struct click_generator *generator);

/* Append clicks [first, first + count) as lines. */
void click_generator_append(const struct click_generator *generator, uint64_t first, uint64_t count,
                            struct buffer *to);
/* Add the same clicks to a batch of columns. */
void click_generator_add(const struct click_generator *generator, uint64_t first, uint64_t count,
                         struct click_batch *batch);
#endif
