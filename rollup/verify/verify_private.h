/* verify_private: the state of one verification, and its steps.
 *
 * The steps follow one another: each ends by verify_next, or by verify_fail.  verify_steps.c has
 * their order and the verdict; verify_files.c, verify_seals.c, verify_figures.c, verify_ledger.c
 * and verify_counters.c are a step each, verify_repair.c writes what is to be repaired. */
#ifndef DAYBOOK_ROLLUP_VERIFY_VERIFY_PRIVATE_H
#define DAYBOOK_ROLLUP_VERIFY_VERIFY_PRIVATE_H

#include <inttypes.h>

#include "rollup/days/day_reader.h"
#include "rollup/days/rollup_private.h"
#include "rollup/verify/counter_audit.h"
#include "rollup/verify/repair_list.h"
#include "rollup/verify/verify.h"
#include "storage/engine/store_rows.h"

struct verify;
typedef void (*verify_step)(struct verify *verify);

struct verify {
    struct rollup *rollup;
    struct verify_order order;
    struct command_output *output;
    const verify_step *steps;  /* the next one */
    struct repair_list *repairs;       /* what is to be repaired; NULL: nothing is */
    uint64_t differences;
    int64_t progress_us; /* when the last line of progress was printed */

    struct seal_pin pin;     /* until the end, so that a day is its clicks and its seals */
    bool has_damaged_seals;  /* they were reported as differences */
    struct timer time_slice; /* between chunks the engine thread does other work */
    bool is_of_rows;   /* the chunk is of rows of amount_by_day, not of partitions of clicks */
    struct day_reader *reader;
    struct buffer position;      /* of the chunk being judged */
    struct buffer position_next; /* of the chunk after it */
    bool has_more;               /* there is a chunk after it */
    uint32_t looks;                    /* how often the chunk, or the round, was read before */
    uint64_t look_order;               /* dirty_set_order when this look began */
    uint32_t marks_under_way;          /* reads of marks, and one for the function that starts
                                        * them */
    struct error marks_err;            /* the first failure of these; code 0: none */
    uint64_t days;
    uint64_t days_dirty;
    uint64_t clicks;
    uint64_t days_published; /* rows of published days */
    int64_t publications;              /* the metric of publications before the rows were counted */

    struct buffer ledger_reseller; /* of ledger_last */
    struct ledger_entry ledger_last; /* the entry before */
    bool has_ledger_last;
    uint64_t entries;
    uint64_t ledger_days;

    const struct click_stream_counter *counter; /* of the stream, being compared */
    struct counter_audit *audit;
    bool is_after; /* counters are read the second time */
    uint64_t counters_compared; /* of this table, in the rounds before */
    int64_t clicks_counted;     /* in these rounds */
};

/* The steps. */
void verify_files(struct verify *verify);
void verify_seals(struct verify *verify);
void verify_figures(struct verify *verify);
void verify_ledger(struct verify *verify);
void verify_counters(struct verify *verify);

/* verify.c: end the step and begin the next one. */
void verify_next(struct verify *verify);
void verify_free(struct verify *verify);
void verify_finish(struct verify *verify, int exit_status);
void verify_fail(struct verify *verify, int status, const struct error *err);
/* Count a difference; false where so many were printed that this one is not. */
bool verify_may_name(struct verify *verify);
void verify_progress(struct verify *verify, const char *what, uint64_t count);

/* verify_seals.c: add the clicks of seals to the counters that are being compared; `done` is called
 * with the verification as its context. */
void verify_seals_count(struct verify *verify, store_done done);

/* verify_repair.c: write the repairs and work them off, then call `repaired`. */
void verify_repair(struct verify *verify, verify_step repaired);
#endif
