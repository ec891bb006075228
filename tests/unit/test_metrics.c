/* test_metrics: the registry and its text form. */
#include "base/metrics.h"

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

Test(metrics, a_histogram_counts_what_is_not_longer_than_each_bound)
{
    struct metrics *metrics = metrics_new();
    struct buffer buffer = {0};
    struct metric *busy = metrics_add_histogram(metrics, "busy_seconds", "cause=\"x\"", "Busy.");
    cr_assert_eq(metrics_add_histogram(metrics, "busy_seconds", "cause=\"x\"", "Busy."), busy);
    metrics_observe_us(busy, 100);
    metrics_observe_us(busy, 101);
    metrics_observe_us(busy, 3000000);
    metrics_write(metrics, &buffer);
    buffer_put_u8(&buffer, 0);
    const char *text = (const char *)buffer.data;
    cr_assert_str_eq(text, "# HELP busy_seconds Busy.\n"
                           "# TYPE busy_seconds histogram\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"0.0001\"} 1\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"0.00025\"} 2\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"0.0005\"} 2\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"0.001\"} 2\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"0.0025\"} 2\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"0.005\"} 2\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"0.01\"} 2\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"0.025\"} 2\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"0.05\"} 2\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"0.1\"} 2\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"1\"} 2\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"10\"} 3\n"
                           "busy_seconds_bucket{cause=\"x\",le=\"+Inf\"} 3\n"
                           "busy_seconds_sum{cause=\"x\"} 3.000201\n"
                           "busy_seconds_count{cause=\"x\"} 3\n");
    buffer_release(&buffer);
    metrics_free(metrics);
}

Test(metrics, a_summary_has_a_sum_and_a_count)
{
    struct metrics *metrics = metrics_new();
    struct buffer buffer = {0};
    struct metric *busy = metrics_add(metrics, METRIC_SUMMARY, "busy_seconds", "cause=\"x\"", "B.");
    metrics_observe_us(busy, 1500000);
    metrics_observe_us(busy, -1);
    metrics_observe_us(NULL, 1);
    metrics_write(metrics, &buffer);
    cr_assert(
        bytes_equal(buffer_view(&buffer), bytes_text("# HELP busy_seconds B.\n"
                                                     "# TYPE busy_seconds summary\n"
                                                     "busy_seconds_sum{cause=\"x\"} 1.500000\n"
                                                     "busy_seconds_count{cause=\"x\"} 2\n")));
    buffer_release(&buffer);
    metrics_free(metrics);
}

Test(metrics, a_gauge_that_is_not_known_has_no_sample)
{
    struct metrics *metrics = metrics_new();
    struct buffer buffer = {0};
    metrics_add(metrics, METRIC_GAUGE, "last_seconds", "", "Last.")->value = METRIC_UNKNOWN;
    metrics_write(metrics, &buffer);
    cr_assert(bytes_equal(buffer_view(&buffer), bytes_text("# HELP last_seconds Last.\n"
                                                           "# TYPE last_seconds gauge\n")));
    buffer_release(&buffer);
    metrics_free(metrics);
}

Test(metrics, a_histogram_without_labels_has_only_its_bounds)
{
    struct metrics *metrics = metrics_new();
    struct buffer buffer = {0};
    metrics_observe_us(metrics_add_histogram(metrics, "wait_seconds", "", "Waits."), 0);
    metrics_write(metrics, &buffer);
    buffer_put_u8(&buffer, 0);
    const char *text = (const char *)buffer.data;
    cr_assert_not_null(strstr(text, "\nwait_seconds_bucket{le=\"0.0001\"} 1\n"));
    cr_assert_not_null(strstr(text, "\nwait_seconds_sum 0.000000\nwait_seconds_count 1\n"));
    buffer_release(&buffer);
    metrics_free(metrics);
}
