/* publication: when a day is published, and when a change of a published day enters the ledger.
 *
 *    day begins            day ends       + publish_after
 *       │                     │                 │
 *   ────┴──────── open ───────┴───── open ──────┼── published ──▶
 *                                               │  first ledger row
 *
 * A day that was past when its first click came (a backfill) is published only when no click has
 * come for publish_after, at latest a day after the first, so that a load of old clicks over hours
 * is one publication and no stream of restatements.  Late clicks for a published day move its
 * figure at once and its ledger when none has come for a minute, at latest after publish_after.
 *
 * A time that is far ahead of now is one of a clock that was, and says nothing about when a click
 * came: nothing is put off because of it.  While the clock is in doubt the rollup publishes
 * nothing (rollup_trusts_clock).  Pure functions; times in microseconds since 1970. */
#ifndef DAYBOOK_ROLLUP_DAYS_PUBLICATION_H
#define DAYBOOK_ROLLUP_DAYS_PUBLICATION_H

#include "rollup/days/ledger.h"

struct publication_rules {
    const struct zone *zone;
    int64_t publish_after_us;
};

/* The earliest time the day may be published: ended, and publish_after passed. */
int64_t publication_earliest_us(const struct publication_rules *rules, int32_t day);
/* When the rollup publishes it by itself. */
int64_t publication_due_us(const struct publication_rules *rules, const struct dirty_day *day,
                           int64_t now_us);
/* When a restatement put off since day->owed_us is made. */
int64_t publication_restate_us(const struct publication_rules *rules, const struct dirty_day *day,
                               int64_t now_us);

/* What is written of a day besides its figure, and whether its marks stay. */
enum publication_step {
    STEP_KEEP_OPEN,            /* figure only; the day stays marked until it is published */
    STEP_VANISH,               /* an open day without clicks: its row goes */
    STEP_PUBLISH,              /* figure, and the first ledger row */
    STEP_SETTLED,              /* figure only: the ledger says the same already */
    STEP_RESTATE,              /* figure and a ledger row */
    STEP_GATHER                /* figure only; the day stays marked until the ledger follows */
};

struct publication_facts {
    const struct day_figure *figure;   /* as it is now */
    const struct ledger_entry *last;   /* of the ledger; NULL: none */
    bool may_publish;
    bool may_restate;                  /* at once: a command, or the time has come */
};
enum publication_step publication_step(const struct publication_facts *facts);
#endif
