/* metrics: a registry of named counters, gauges, histograms and summaries.
 *
 * Only the engine thread uses the registry; a pointer to a metric is valid as long as the
 * registry.
 *
 * A gauge NAME_max is the limit of the gauge NAME; `daybook status` reports each gauge that has
 * reached its limit. */
#ifndef DAYBOOK_BASE_METRICS_H
#define DAYBOOK_BASE_METRICS_H

#include <stdint.h>

#include "base/buffer.h"

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_SUMMARY };

enum { METRIC_BUCKETS = 13 };

/* A gauge with this value is not known yet, and is not written. */
#define METRIC_UNKNOWN INT64_MIN

struct metric {
    const char *name;          /* daybook_ingest_clicks_total, by Prometheus' naming rules */
    const char *labels;        /* code="bad_amount", or "" */
    const char *help;
    enum metric_kind kind;
    int64_t value;             /* histogram, summary: sum of the observed times in us */
    uint64_t count;            /* histogram, summary: number of observed times */
    uint64_t *buckets;         /* METRIC_BUCKETS counts of a histogram; else NULL */
    struct metric *next;
};

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);
/* Copies the texts.  A second call with the same name and labels returns the same metric. */
struct metric *metrics_add(struct metrics *metrics, enum metric_kind kind, const char *name,
                           const char *labels, const char *help);
/* `name` ends in _seconds, as Prometheus requires. */
struct metric *metrics_add_histogram(struct metrics *metrics, const char *name,
                                     const char *labels, const char *help);
/* Add a time to a histogram or summary.  `metric` may be NULL.  A negative time counts as 0. */
void metrics_observe_us(struct metric *metric, int64_t us);
/* The metric of that name without labels, or NULL. */
const struct metric *metrics_find(const struct metrics *metrics, const char *name);
const struct metric *metrics_first(const struct metrics *metrics);
void metrics_write(const struct metrics *metrics, struct buffer *buffer);   /* Prometheus text */
#endif
