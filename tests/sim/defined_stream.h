/* defined_stream: a short life of a stream that users laid over tables of their own, and the model
 * that says what must be there.
 *
 *     net.hits      who, day | ad, id | amount      the stream's clicks
 *     net.shares    who | since | share             its rates, of a type of numbers and a unit
 *     net.per_ad, net.per_who                       counters that it keeps
 *
 * The model is the list of what was written.  Each write is waited for, because one that meets
 * clicks reads them first; the rollup, flushes and merges go on beside it.  So a crash finds all
 * that was written, with or without the write that was under way: rows, rates, counters and whether
 * there is a stream, of one and the same beginning of the list; and figures that are its rows times
 * its rates, also of rows that were there before the stream, and none of rows that a TRUNCATE took.
 *
 * Every write of clicks has an ad of its own, so that rows and counters tell which are there.  A
 * failed check prints `label`, which says how to see it again. */
#ifndef DAYBOOK_TESTS_SIM_DEFINED_STREAM_H
#define DAYBOOK_TESTS_SIM_DEFINED_STREAM_H

#include "tests/lib/rollup_fixture.h"
#include "tests/sim/sim_random.h"
#include "tests/sim/sim_seen.h"

enum {
    STREAM_WRITES = 32,
    STREAM_HITS = 4,                   /* of a write, at most */
    STREAM_WHO = 2,                    /* "r1" and "r2" */
    STREAM_DAYS = 3                    /* from 2013-11-28 on */
};

enum stream_write_kind {
    STREAM_HIT, STREAM_VOID_DAY, STREAM_VOID_ONE, STREAM_SHARE, STREAM_SHARE_DELETE, STREAM_DEFINE,
    STREAM_DROP, STREAM_TRUNCATE
};

struct stream_write {
    enum stream_write_kind kind;
    uint32_t who, day;                 /* of hits, voids of a day and shares */
    uint32_t hits;                     /* filled in by stream_life_write, as their cents */
    uint32_t cents[STREAM_HITS];
    uint32_t target, target_hit;       /* of a void of one: a write of hits, and which of them */
    int64_t percent;                   /* of a share */
};

struct stream_ended {
    bool is_done;
    int status;
};

/* What a life's rates are kept as: each type can hold whole percent, in one of the two units. */
struct stream_rates_kind {
    const char *type;
    bool is_percent;
};
enum { STREAM_RATES_KINDS = 8 };

struct stream_life {
    struct rollup_fixture fixture;
    uint32_t rates;                    /* number of their kind, below STREAM_RATES_KINDS */
    struct sim_random random;
    char label[64];
    struct stream_write writes[STREAM_WRITES];
    uint32_t count;
    uint32_t acknowledged;             /* the first so many */
    struct stream_ended marked;        /* the rows that were there before the stream */
    bool may_fail;                     /* calls of the disk do: a write may not be acknowledged */
    bool is_stuck;                     /* the stream is defined and could not be opened: no more is
                                        * written, until somebody opens what is there */

    uint32_t crashes_per_moment;       /* at most */
    uint64_t moments;
    uint64_t crashes;                  /* different ones that were opened and checked */
    struct sim_seen seen;
    bool is_checking;
};

/* Set fixture, random, label and crashes_per_moment before.  The tables are made; no stream is. */
void stream_life_start(struct stream_life *life);
/* Close cleanly. */
void stream_life_stop(struct stream_life *life);

/* Of what is to be written now: the stream is there already, or not. */
bool stream_life_is_defined(const struct stream_life *life);
/* Write, and wait until it is durable or, where calls fail, refused. */
void stream_life_write(struct stream_life *life, const struct stream_write *what);
/* Write what no door may: a value that is none of its column's type, a rate above the whole amount,
 * a day that is none.  It must be refused; the others change nothing in the store. */
void stream_life_write_wrong(struct stream_life *life);
/* Work off what the stream is owed; nothing where there is none.  The status is
 * rollup_refresh_now's. */
int stream_life_settle(struct stream_life *life);

/* From now on the power fails before every call that makes something last or changes a name; what
 * is left is checked, unless an earlier crash had left the same. */
void stream_life_watch(struct stream_life *life, bool is_watched);
/* The power fails now, or the process is killed, and what is left is checked. */
void stream_life_crash_here(struct stream_life *life);
void stream_life_kill_here(struct stream_life *life);
/* The same, and life goes on with what is left. */
void stream_life_crash_and_go_on(struct stream_life *life, bool is_power_lost);

/* All writes must be there, and their figures. */
void stream_life_check_all(struct stream_life *life);
#endif
