/* ledger_entries: all entries of the ledger of `clicks`, for a model to be held against. */
#ifndef DAYBOOK_TESTS_SIM_LEDGER_ENTRIES_H
#define DAYBOOK_TESTS_SIM_LEDGER_ENTRIES_H

#include "rollup/days/figure.h"
#include "tests/lib/rollup_fixture.h"
#include "rollup/days/ledger.h"

enum { LEDGER_ENTRIES_MAX = 512, LEDGER_RESELLER_MAX = 16 };

struct ledger_item {
    char reseller[LEDGER_RESELLER_MAX];
    struct ledger_entry entry;     /* whose figures name no reseller */
};

/* Entries of a day stand together, in the order in which they were made. */
struct ledger_entries {
    struct ledger_item items[LEDGER_ENTRIES_MAX];
    uint32_t count;
};

/* All that are durable; fails the test when a row does not check. */
void ledger_entries_read(struct rollup_fixture *fixture, struct ledger_entries *entries);
/* How many the day has, the first of which is *first_out; NULL: none. */
uint32_t ledger_entries_find(const struct ledger_entries *entries, const char *reseller,
                             int32_t day, const struct ledger_item **first_out);

/* Fails the test, with `where`, unless each day's entries are numbered from 0 on, the first of them
 * is a publication, and each other one begins with what the one before it ended with. */
void ledger_entries_check(const struct ledger_entries *entries, const char *where);
#endif
