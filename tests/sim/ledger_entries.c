/* ledger_entries: see the header. */
#include "tests/sim/ledger_entries.h"

#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "storage/engine/store_rows.h"
#include "rollup/days/ledger.h"

struct reading {
    struct ledger_entries *entries;
    bool is_done;
};

static int take_entry(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    struct reading *reading = context;
    cr_assert_lt(reading->entries->count, LEDGER_ENTRIES_MAX);
    struct ledger_item *item = &reading->entries->items[reading->entries->count++];
    int rc = ledger_read(table, row, &item->entry, err);
    snprintf(item->reseller, sizeof item->reseller, "%.*s", (int)row->key.size,
             (const char *)row->key.data);
    item->entry.old.reseller = item->entry.new.reseller = bytes_of(NULL, 0);
    return rc;
}

static void done(void *context, int status, const struct error *err)
{
    struct reading *reading = context;
    cr_assert_eq(status, 0, "%s", err != NULL ? err->text : "");
    reading->is_done = true;
}

void ledger_entries_read(struct rollup_fixture *fixture, struct ledger_entries *entries)
{
    struct reading reading = {.entries = entries};
    const struct read_request request = store_rows_request(TABLE_RESTATEMENT, NULL, READ_DURABLE);
    entries->count = 0;
    store_rows_read(fixture->store, &request, take_entry, done, &reading);
    rollup_fixture_step_until(fixture, &reading.is_done);
}

static bool is_of(const struct ledger_item *item, const char *reseller, int32_t day)
{
    return item->entry.new.day == day &&strcmp(item->reseller, reseller) == 0;
}

uint32_t ledger_entries_find(const struct ledger_entries *entries, const char *reseller,
                             int32_t day, const struct ledger_item **first_out)
{
    uint32_t first = 0;
    while (first < entries->count && !is_of(&entries->items[first], reseller, day))
        first++;
    uint32_t end = first;
    while (end < entries->count && is_of(&entries->items[end], reseller, day))
        end++;
    *first_out = first < end ? &entries->items[first] : NULL;
    return end - first;
}

void ledger_entries_check(const struct ledger_entries *entries, const char *where)
{
    for (uint32_t i = 0; i < entries->count; i++) {
        const struct ledger_item *item = &entries->items[i];
        const struct ledger_item *last = i > 0 ? item - 1 : NULL;
        if (last != NULL && !is_of(last, item->reseller, item->entry.new.day))
            last = NULL;
        cr_assert_eq(item->entry.seq, last != NULL ? last->entry.seq + 1 : 0, "%s", where);
        cr_assert_eq(item->entry.is_publication, last == NULL, "%s", where);
        cr_assert(last == NULL || figure_equal(&item->entry.old, &last->entry.new),
                  "an entry of %s goes on from another figure than the one before, %s",
                  item->reseller, where);
    }
}
