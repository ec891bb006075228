/* rescan: measures how long it takes to sum all clicks of a directory.
 *
 *     build/release-gcc/bench/rescan DIRECTORY
 *
 *     stats    the sum of every (reseller, day) from statistics, times a rate, added exactly: the
 *              same work by which the rollup computes all days
 *     rows     every page is read, and every (reseller, day) is counted and summed from its rows,
 *              for which only amounts are decoded
 *     ads      the same by ad, for which ads are decoded as well
 *
 * All must give the same count and sum.  No server may hold the directory.  Each line of output is
 * a name and a figure. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench_store.h"

enum { PARTITIONS_AT_ONCE = 512 };

struct total {
    struct bench_store *on;
    uint64_t groups;
    uint64_t clicks;
    struct decimal gross;
    struct decimal amount; /* at a rate of 12.5 % */
    struct buffer position;
    bool done;
};

static void total_add(struct total *total, const struct partition_figure *figure)
{
    struct decimal gross = stats_sum(&figure->stats);
    struct decimal amount;
    struct error err = {.text = "out of range"};
    total->groups++;
    total->clicks += figure->stats.rows;
    must(decimal_multiply(gross, decimal_from(125, 3), &amount), "amount", &err);
    must(decimal_add(total->gross, gross, &total->gross), "gross", &err);
    must(decimal_add(total->amount, amount, &total->amount), "amount", &err);
}

static void total_figures(void *context, int status, const struct error *err,
                          const struct partition_figure *figures, uint32_t count,
                          struct bytes position)
{
    struct total *total = context;
    must(status, "figures", err);
    for (uint32_t i = 0; i < count; i++)
        total_add(total, &figures[i]);
    buffer_clear(&total->position);
    buffer_append_bytes(&total->position, position);
    total->done = true;
}

static void scan_stats(struct total *total)
{
    struct buffer position = {0};
    struct error err = {0};
    do {
        total->done = false;
        buffer_clear(&position);
        buffer_append_bytes(&position, buffer_view(&total->position));
        must(store_stats_scan(total->on->store, TABLE_AD_CLICK, 0, buffer_view(&position),
                              PARTITIONS_AT_ONCE, READ_DURABLE, total_figures, total, &err),
             "stats", &err);
        bench_store_wait(total->on, &total->done);
    } while (total->position.size > 0);
    buffer_release(&position);
}

/* Group by the column; 0: by partition. */
static void scan_rows(struct total *total, uint32_t column_id)
{
    struct error err = {0};
    const struct group_request request = {.table_id = TABLE_AD_CLICK, .column_id = column_id};
    must(store_group(total->on->store, &request, total_figures, total, &err), "rows", &err);
    bench_store_wait(total->on, &total->done);
}

static bool totals_agree(const struct total *a, const struct total *b)
{
    return a->clicks == b->clicks && decimal_compare(a->gross, b->gross) == 0;
}

int main(int argc, char **argv)
{
    struct bench_store on;
    struct total stats = {.on = &on};
    struct total rows = {.on = &on};
    struct total ads = {.on = &on};
    double started;
    if (argc != 2) {
        fprintf(stderr, "usage: rescan DIRECTORY\n");
        return 2;
    }
    bench_store_open(&on, argv[1]);
    started = now_s();
    scan_stats(&stats);
    printf("stats_ms         %.3f\n", (now_s() - started) * 1e3);
    started = now_s();
    scan_rows(&rows, 0);
    printf("rows_ms          %.3f\n", (now_s() - started) * 1e3);
    started = now_s();
    scan_rows(&ads, AD_CLICK_AD_ID);
    printf("ads_ms           %.3f\n", (now_s() - started) * 1e3);
    printf("days             %" PRIu64 "\n", stats.groups);
    printf("ads              %" PRIu64 "\n", ads.groups);
    printf("clicks           %" PRIu64 "\n", stats.clicks);
    if (!totals_agree(&rows, &stats) || !totals_agree(&ads, &stats)) {
        fprintf(stderr, "rescan: rows and stats differ\n");
        return EXIT_FAILURE;
    }
    bench_store_close(&on);
    buffer_release(&stats.position);
    buffer_release(&rows.position);
    return EXIT_SUCCESS;
}
