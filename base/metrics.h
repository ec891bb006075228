/* metrics: a registry of named counters, gauges and histograms.
 *
 * Modules set the values, and `daybook status` shows them.  Only the engine thread uses the
 * registry; a pointer to a metric is valid as long as the registry.
 *
 * A gauge NAME_max is the limit of the gauge NAME: where NAME has reached its limit, `daybook
 * status` and its --check report that, with the help text of NAME. */
#ifndef DAYBOOK_BASE_METRICS_H
#define DAYBOOK_BASE_METRICS_H

#include <stdint.h>

#include "base/buffer.h"

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* How many buckets a histogram has.  metrics.c has their upper bounds, from 0.1 ms to 1 s; the last
 * bucket is for all longer times. */
enum { METRIC_BUCKETS = 12 };

struct metric {
    const char *name;          /* daybook_ingest_clicks_total, by Prometheus' naming rules */
    const char *labels;        /* code="bad_amount", or "" */
    const char *help;
    enum metric_kind kind;
    int64_t value;             /* set by the module that added it; histogram: sum of times in us */
    uint64_t *buckets;         /* histogram: the number of times in each bucket; else NULL */
    struct metric *next;
};

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);
/* Texts are copied.  A second call with the same name and labels returns the same metric. */
struct metric *metrics_add(struct metrics *metrics, enum metric_kind kind, const char *name,
                           const char *labels, const char *help);
/* A histogram of times, printed in seconds as Prometheus requires: `name` ends in _seconds. */
struct metric *metrics_add_histogram(struct metrics *metrics, const char *name,
                                     const char *labels, const char *help);
void metrics_observe_us(struct metric *histogram, int64_t us);
/* The metric of that name without labels; NULL: none was added. */
const struct metric *metrics_find(const struct metrics *metrics, const char *name);
const struct metric *metrics_first(const struct metrics *metrics);
void metrics_write(const struct metrics *metrics, struct buffer *buffer);   /* Prometheus text */
#endif
