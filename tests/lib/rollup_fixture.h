/* rollup_fixture: a rollup over the embedded engine in the simulated world, and blocking calls.
 *
 * Time stands where the test puts it, except that it jumps to the next timer when nothing else is
 * left to do.  Jobs run in an order drawn from the seed. */
#ifndef DAYBOOK_TESTS_LIB_ROLLUP_FIXTURE_H
#define DAYBOOK_TESTS_LIB_ROLLUP_FIXTURE_H

#include "rollup/streams/streams.h"
#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_world.h"

struct rollup_fixture {
    uint64_t seed;
    const char *label;                 /* said when an opening fails; NULL: nothing */
    bool is_automatic;
    bool is_read_only;
    bool is_salvaging;
    bool has_cql;                      /* the tables of the CQL door, too */
    const char *click_id;              /* the type of ids that clicks bring along; NULL: none */
    const char *zone;                  /* NULL: UTC */
    const char *start_time;            /* ISO 8601; NULL: 2013-12-10T12:00:00Z */
    uint64_t memtable_rows_max;        /* as in engine_options, as the next two */
    uint32_t page_rows;
    uint64_t tier_bytes;
    size_t open_days_bytes;            /* as in streams_options, as the next */
    uint32_t keep_days;
    struct sim_world *sim;
    struct world *world;
    struct store *store;
    struct metrics *metrics;
    struct streams *streams;
    struct rollup *rollup;             /* of `clicks` */
};

/* Fields above may be set before; the rest is zero. */
void rollup_fixture_start(struct rollup_fixture *fixture);
/* The same in a world that has a directory already; the world is the fixture's from then on. */
void rollup_fixture_open(struct rollup_fixture *fixture, struct sim_world *sim);
void rollup_fixture_stop(struct rollup_fixture *fixture);
/* The same where calls of the disk may fail: the first error, with everything closed after one of
 * opening.  The world stays the caller's; `err` may be NULL. */
must_check int rollup_fixture_try_open(struct rollup_fixture *fixture, struct sim_world *sim,
                                       struct error *err);
int rollup_fixture_try_close(struct rollup_fixture *fixture);
/* Close cleanly and open again; lose the power now and open what is left. */
void rollup_fixture_restart(struct rollup_fixture *fixture);
void rollup_fixture_crash(struct rollup_fixture *fixture, uint64_t seed);
/* The same with what is left, which is the fixture's from then on. */
void rollup_fixture_go_on(struct rollup_fixture *fixture, struct sim_world *after);
void rollup_fixture_flush(struct rollup_fixture *fixture);

void rollup_fixture_advance(struct rollup_fixture *fixture, int64_t seconds);
void rollup_fixture_step_until(struct rollup_fixture *fixture, const bool *done);

/* Writes, by streams_apply; each waits until it is durable. */
int rollup_fixture_apply(struct rollup_fixture *fixture, struct write_batch *batch);
void rollup_fixture_clicks(struct rollup_fixture *fixture, const struct click *clicks,
                           uint32_t count);
void rollup_fixture_click(struct rollup_fixture *fixture, const char *reseller, const char *day,
                          const char *amount);
/* Where `click_id` is bigint: the click of this id, unless one is there, as doors write it.  False:
 * one is. */
bool rollup_fixture_keyed_click(struct rollup_fixture *fixture, const struct click *click,
                                int64_t click_id);
/* `rate` NULL deletes; `named`: with a row in `change`. */
void rollup_fixture_rate(struct rollup_fixture *fixture, const char *reseller, const char *day,
                         const char *rate, bool named);
/* DELETE of all clicks of a day. */
void rollup_fixture_void(struct rollup_fixture *fixture, const char *reseller, const char *day);
int rollup_fixture_refresh_now(struct rollup_fixture *fixture, bool publishes);
/* Begin to seal what has expired, without waiting; nothing where that is under way already.  A pass
 * that fails, but for the store's closing, fails the test. */
void rollup_fixture_seal(struct rollup_fixture *fixture);
/* Have no day sealed until it is given back (rollup_pin_seals), and wait until that is so. */
void rollup_fixture_pin_seals(struct rollup_fixture *fixture, struct seal_pin *pin);

/* Answers as text, NUL-terminated, the caller's to release.
 * figures: "reseller day clicks gross rate amount state", one a line;
 * ledger: "day causes changes", then old and new clicks, gross, rate, amount; a change is "+", null
 * is "-". */
struct buffer rollup_fixture_figures(struct rollup_fixture *fixture);
struct buffer rollup_fixture_asked(struct rollup_fixture *fixture,
                                   const struct figure_query *query);
struct buffer rollup_fixture_ledger(struct rollup_fixture *fixture, const char *reseller);
uint32_t rollup_fixture_marks(struct rollup_fixture *fixture);     /* rows of dirty_day */

void rollup_fixture_expect_figures(struct rollup_fixture *fixture, const char *expected);
void rollup_fixture_expect_ledger(struct rollup_fixture *fixture, const char *reseller,
                                  const char *expected);
#endif
