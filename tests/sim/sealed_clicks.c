/* sealed_clicks: see the header. */
#include "tests/sim/sealed_clicks.h"

#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "storage/engine/store_rows.h"
#include "rollup/days/seal.h"

struct reading {
    struct sealed_clicks *sealed;
    bool is_done;
};

const struct sealed_sum *sealed_sums_find(const struct sealed_sums *sums, const char *name)
{
    for (uint32_t i = 0; i < sums->count; i++)
        if (strcmp(sums->items[i].name, name) == 0)
            return &sums->items[i];
    return NULL;
}

static void add(struct sealed_sums *sums, struct bytes name, uint64_t clicks, struct decimal gross)
{
    struct sealed_sum *sum = sums->items;
    struct sealed_sum *end = sums->items + sums->count;
    while (sum < end && !bytes_equal(bytes_text(sum->name), name))
        sum++;
    if (sum == end) {
        cr_assert_lt(sums->count++, SEALED_SUMS_MAX);
        snprintf(sum->name, sizeof sum->name, "%.*s", (int)name.size, (const char *)name.data);
    }
    sum->clicks += clicks;
    cr_assert_eq(decimal_add(sum->gross, gross, &sum->gross), 0);
}

static void add_day(struct sealed_sums *sums, struct bytes key, uint64_t clicks,
                    struct decimal gross)
{
    struct bytes reseller, day;
    char name[32];
    cr_assert_eq(type_key_component(key, 2, 0, &reseller), 0);
    cr_assert_eq(type_key_component(key, 2, 1, &day), 0);
    snprintf(name, sizeof name, "%.*s %.*s", (int)reseller.size, (const char *)reseller.data,
             (int)day.size, (const char *)day.data);
    add(sums, bytes_text(name), clicks, gross);
}

static int take_seal(void *context, const struct table *table, const struct page_row *row,
                     struct error *err)
{
    struct reading *reading = context;
    struct seal seal;
    int rc = seal_read(table, row, &seal, err);
    if (rc == 0) {
        add_day(&reading->sealed->days, seal.key, seal.stats.rows, stats_sum(&seal.stats));
        stats_release(&seal.stats);
    }
    return rc;
}

static int take_ad(void *context, const struct table *table, const struct page_row *row,
                   struct error *err)
{
    struct reading *reading = context;
    struct sealed_ad ad;
    int rc = seal_read_ad(table, row, &ad, err);
    if (rc == 0) {
        add_day(&reading->sealed->ads_by_day, ad.key, ad.clicks, ad.gross);
        add(&reading->sealed->ads, ad.ad, ad.clicks, ad.gross);
    }
    return rc;
}

static void done(void *context, int status, const struct error *err)
{
    struct reading *reading = context;
    cr_assert_eq(status, 0, "%s", err != NULL ? err->text : "");
    reading->is_done = true;
}

static void read_all(struct rollup_fixture *fixture, uint32_t table_id, store_rows_each each,
                     struct sealed_clicks *sealed)
{
    struct reading reading = {.sealed = sealed};
    const struct read_request request = store_rows_request(table_id, NULL, READ_DURABLE);
    store_rows_read(fixture->store, &request, each, done, &reading);
    rollup_fixture_step_until(fixture, &reading.is_done);
}

struct sealed_clicks sealed_clicks_read(struct rollup_fixture *fixture)
{
    struct sealed_clicks sealed = {0};
    read_all(fixture, TABLE_SEALED_DAY, take_seal, &sealed);
    read_all(fixture, TABLE_SEALED_AD, take_ad, &sealed);
    return sealed;
}
