/* history: a short life of a store and its rollup, and the model that says what must be there.
 *
 * The model is the list of what was written.  As writes take effect in order, what is found must be
 * what some beginning of the list gives, with everything acknowledged in it and everything that a
 * reader was ever shown: rows, counters, stats and rates of one and the same beginning, computed by
 * going through the list.  After a settle the figures are its rows times its rates, and the ledger
 * says nothing else: every entry that a settle without writes beside it makes is such a figure.
 *
 * Every batch of clicks has an ad of its own, so that rows and counters tell which batches are
 * there.  A failed check prints `label`, which says how to see it again.
 *
 * Days may expire meanwhile (history_seal).  A seal writes nothing that was not there before: what
 * is found are clicks and seals together, each click in exactly one of them, at any moment. */
#ifndef DAYBOOK_TESTS_SIM_HISTORY_H
#define DAYBOOK_TESTS_SIM_HISTORY_H

#include "tests/lib/rollup_fixture.h"
#include "tests/sim/sim_random.h"
#include "tests/sim/sim_seen.h"

enum {
    HISTORY_WRITES = 40,
    HISTORY_CLICKS = 6,            /* of a write, at most */
    HISTORY_RESELLERS = 2,         /* "r1" and "r2" */
    HISTORY_DAYS = 3,              /* from 2013-11-28 on */
    HISTORY_COUNTERS = 2           /* that are set by hand: ads "c0" and "c1" */
};

enum write_kind {
    WRITE_CLICKS, WRITE_VOID, WRITE_VOID_ONE, WRITE_RATE, WRITE_RATE_DELETE, WRITE_COUNTER_SET,
    WRITE_COUNTER_ADD
};

struct written {
    enum write_kind kind;
    uint32_t reseller, day;        /* of all but counters and voids of one */
    uint32_t clicks;               /* filled in by history_write, as the two of each click */
    uint32_t offset_ms[HISTORY_CLICKS], cents[HISTORY_CLICKS];
    uint32_t target;               /* of a void of one: a write of clicks before this one ... */
    uint32_t target_click;         /* ... and which of its clicks; taken modulo their number */
    int64_t percent;               /* of a rate */
    uint32_t counter;
    int64_t value;                 /* that the counter is set to, or raised by */
    bool is_answered;              /* with any status */
    bool is_acknowledged;
    bool is_sealed;                /* its clicks are known to have expired */
    uint32_t sealed_before;        /* the first void that did not have them any more */
};

struct history {
    struct rollup_fixture fixture;
    struct sim_random random;
    char label[64];
    struct written writes[HISTORY_WRITES];
    uint32_t count;
    uint32_t shown;                /* the first so many were seen by a reader */
    bool is_full;                  /* the disk, see history_set_full */
    bool may_fail;                 /* calls of the disk fail: a store may refuse to write */
    bool has_seals;                /* perhaps: days expire by themselves, or by history_seal */
    int64_t latest_us;             /* the wall clock was never later, before the last jump */

    uint32_t crashes_per_moment;   /* at most */
    uint64_t crashes;              /* different ones that were opened and checked */
    struct sim_seen seen;
    struct sim_seen *seen_of_all;  /* what histories with the same fixture share; NULL: nothing */
    uint64_t moments;
    bool is_checking;
};

/* Set fixture, random, label, crashes_per_moment and seen_of_all before. */
void history_start(struct history *history);
/* Close cleanly. */
void history_stop(struct history *history);

/* Write one thing, without waiting for it; a full store is waited for, and a void until it is
 * durable, because it reads first. */
void history_write(struct history *history, const struct written *what);
void history_steps(struct history *history, uint32_t count);       /* of the executor, at most */
/* Settle and publish; then seal what fixture.keep_days lets expire, without waiting for it. */
void history_seal(struct history *history);
/* The wall clock jumps.  No timestamp of the store's is later than it ever was. */
void history_jump(struct history *history, int64_t us);
/* A write of a client's, with a time a day ahead, to a row that nothing else is in. */
void history_write_ahead(struct history *history);
/* The clock is far from what it was: nothing is published and sealed, by a command or by itself. */
void history_expect_waiting(struct history *history);
/* Full to within a few writes, or not at all. */
void history_set_full(struct history *history, bool is_full);
/* The power fails, or the process is killed, and the history goes on with what is left: what is
 * lost was never written. */
void history_crash_and_go_on(struct history *history, bool is_power_lost);
/* Read everything while the log stands still, and note how much was shown: no crash may take it
 * back. */
void history_show(struct history *history);

/* The power fails now, as in history_watch, or the process is killed, and what is left is checked;
 * then the history goes on as if nothing had been. */
void history_crash_here(struct history *history);
void history_kill_here(struct history *history);

/* From now on the power fails before every call that makes something last or changes a name, in
 * each way that matters or as many as crashes_per_moment; each is checked, unless it left what an
 * earlier one had, or the check would do just what it did for an earlier one of seen_of_all, as
 * where histories begin alike.  Then the history goes on. */
void history_watch(struct history *history, bool is_watched);

/* All writes must be there, and their figures. */
void history_check_all(struct history *history);
#endif
