/* loop_times: a histogram of turns, and a summary for each cause.
 *
 * A turn begins with its first callback, because the loop may have waited before. */
#include "base/world/loop_times.h"

#include <stdio.h>
#include <time.h>

#include "base/metrics.h"

static const char *const cause_names[LOOP_CAUSES] = {
    [LOOP_SOCKET] = "socket",
    [LOOP_TIMER] = "timer",
    [LOOP_JOB + LANE_LOG] = "log",
    [LOOP_JOB + LANE_LOG_FILES] = "log_files",
    [LOOP_JOB + LANE_COMPUTE] = "compute",
    [LOOP_JOB + LANE_READ] = "read",
    [LOOP_JOB + LANE_SCAN] = "scan",
    [LOOP_JOB + LANE_SCAN_BESIDE] = "scan_beside",
    [LOOP_JOB + LANE_BACKGROUND] = "background",
    [LOOP_JOB + LANE_MERGE] = "merge",
    [LOOP_JOB + LANE_MERGE_BESIDE] = "merge_beside",
    [LOOP_JOB + LANE_LOGIN] = "login",
    [LOOP_JOB + LANE_VIEW] = "view",
    [LOOP_JOB + LANE_COPY] = "copy",
};

void loop_times_show(struct loop_times *times, struct metrics *metrics)
{
    char labels[64];
    for (int i = 0; i < LOOP_CAUSES; i++)
        times->metrics[i] = NULL;
    if (metrics == NULL)
        return;
    times->metrics[LOOP_TURN] =
        metrics_add_histogram(metrics, "daybook_loop_turn_seconds", "",
                              "How long the engine thread was busy without a pause.");
    for (int i = LOOP_TURN + 1; i < LOOP_CAUSES; i++) {
        (void)snprintf(labels, sizeof labels, "cause=\"%s\"", cause_names[i]);
        times->metrics[i] = metrics_add(metrics, METRIC_SUMMARY, "daybook_loop_busy_seconds",
                                        labels, "What the engine thread's turns were made of.");
    }
}

int64_t loop_times_now_ns(void)
{
    struct timespec now;
    check(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_shown(const struct loop_times *times)
{
    return times != NULL && times->metrics[LOOP_TURN] != NULL;
}

int64_t loop_times_begin(struct loop_times *times)
{
    if (times == NULL)
        return 0;
    int64_t began_ns = loop_times_now_ns();
    if (times->turn_began_ns == 0)
        times->turn_began_ns = began_ns;
    return began_ns;
}

void loop_times_end(const struct loop_times *times, enum loop_cause cause, int64_t began_ns)
{
    if (is_shown(times) && began_ns != 0)
        metrics_observe_us(times->metrics[cause], (loop_times_now_ns() - began_ns) / 1000);
}

void loop_times_end_turn(struct loop_times *times)
{
    loop_times_end(times, LOOP_TURN, times->turn_began_ns);
    times->turn_began_ns = 0;
}
