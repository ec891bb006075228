/* publication: when a day is published, and when a change of a published day enters the ledger.
 *
 *    day begins            day ends       + publish_after_us
 *       │                     │                 │
 *   ────┴──────── open ───────┴───── open ──────┼── published ──▶
 *                                               │  first ledger row
 *
 * A day that was past when its first click came (a backfill) is published when no click has come
 * for publish_after_us, at the latest a day after its first click, but never before the time shown
 * above.  Late clicks of a published day change its figure with the next refresh.  The ledger gets
 * an entry when no click has come for a minute, at the latest publish_after_us after this refresh.
 *
 * A mark whose time is far ahead of now was made while the clock was wrong, and delays nothing.
 * Times are in microseconds since 1970. */
#ifndef DAYBOOK_ROLLUP_DAYS_PUBLICATION_H
#define DAYBOOK_ROLLUP_DAYS_PUBLICATION_H

#include "rollup/days/ledger.h"

struct publication_rules {
    const struct zone *zone;
    int64_t publish_after_us;
};

/* The earliest time at which the day may be published: publish_after_us after its end. */
int64_t publication_earliest_us(const struct publication_rules *rules, int32_t day);
/* The time at which the rollup publishes the day by itself. */
int64_t publication_due_us(const struct publication_rules *rules, const struct dirty_day *day,
                           int64_t now_us);
/* The time for a restatement that has been put off since day->owed_us. */
int64_t publication_restate_us(const struct publication_rules *rules, const struct dirty_day *day,
                               int64_t now_us);

/* What is written of a day, and whether its marks stay. */
enum publication_step {
    STEP_KEEP_OPEN,            /* the figure; the day stays marked until it is published */
    STEP_VANISH,               /* an open day without clicks: its row is deleted */
    STEP_PUBLISH,              /* the figure, and the first ledger entry */
    STEP_SETTLED,              /* the figure; the ledger's last entry has the same numbers */
    STEP_RESTATE,              /* the figure, and a ledger entry */
    STEP_GATHER                /* the figure; the day stays marked until the entry is written */
};

struct publication_facts {
    const struct day_figure *figure;
    const struct ledger_entry *last;   /* the last entry of the ledger; NULL: there is none */
    bool may_publish;
    bool may_restate;                  /* without waiting for more clicks */
};
enum publication_step publication_step(const struct publication_facts *facts);
#endif
