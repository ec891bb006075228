/* test_metrics: the registry and its text form. */
#include "storage/base/metrics.h"

#include <criterion/criterion.h>

Test(metrics, the_same_name_and_labels_are_the_same_metric)
{
    struct metrics *metrics = metrics_new();
    struct metric *first = metrics_add(metrics, METRIC_COUNTER, "a_total", "", "help");
    first->value = 7;
    cr_assert_eq(metrics_add(metrics, METRIC_COUNTER, "a_total", "", "help"), first);
    cr_assert_neq(metrics_add(metrics, METRIC_COUNTER, "a_total", "k=\"v\"", "help"), first);
    cr_assert_eq(metrics_first(metrics), first);
    metrics_free(metrics);
    metrics_free(NULL);
}

Test(metrics, samples_of_one_name_stand_together_under_one_help_line)
{
    struct metrics *metrics = metrics_new();
    struct buffer buffer = {0};
    metrics_add(metrics, METRIC_COUNTER, "rejects_total", "code=\"bad_amount\"", "Rejects.")
        ->value = 3;
    metrics_add(metrics, METRIC_GAUGE, "lag_ms", "", "Lag.")->value = -4;
    metrics_add(metrics, METRIC_COUNTER, "rejects_total", "code=\"bad_time\"", "Rejects.")->value =
        5;
    metrics_write(metrics, &buffer);
    cr_assert(bytes_equal(buffer_view(&buffer), bytes_text("# HELP rejects_total Rejects.\n"
                                                           "# TYPE rejects_total counter\n"
                                                           "rejects_total{code=\"bad_amount\"} 3\n"
                                                           "rejects_total{code=\"bad_time\"} 5\n"
                                                           "# HELP lag_ms Lag.\n"
                                                           "# TYPE lag_ms gauge\n"
                                                           "lag_ms -4\n")));
    buffer_release(&buffer);
    metrics_free(metrics);
}
