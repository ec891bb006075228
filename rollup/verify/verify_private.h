/* verify_private: the state of one verification, and its steps.
 *
 * The steps follow one another: each calls verify_next at its end, or verify_fail_if.
 * verify_steps.c has their order and the verdict; verify_files.c, verify_seals.c, verify_figures.c,
 * verify_ledger.c and verify_counters.c have one step each; verify_repair.c writes the repairs. */
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
    const verify_step *steps;          /* the next step and those after it */
    struct repair_list *repairs;       /* differences to repair; NULL: nothing is repaired */
    uint64_t differences;
    bool is_incomplete;                /* some tables could not be read to their end */
    int64_t progress_us;               /* when the last line of progress was printed */

    struct seal_pin pin;               /* held to the end: no day is sealed meanwhile */
    bool has_damaged_seals;            /* damaged seals were reported as differences */
    struct timer time_slice;           /* lets the engine thread do other work between chunks */
    bool is_of_rows;                   /* the chunk has rows of amount_by_day, not partitions */
    struct day_reader *reader;
    struct buffer position;            /* of the present chunk */
    struct buffer position_next;       /* of the next chunk */
    bool has_more;                     /* there is a next chunk */
    bool is_unlisted;                  /* not all partitions could be listed */
    uint32_t looks;                    /* how often the chunk or round was read before */
    uint64_t look_order;               /* dirty_set_order when the present look began */
    uint32_t marks_under_way;          /* reads of marks, and 1 for the function that starts them */
    struct error marks_err;            /* the first failure of these reads; code 0: none */
    uint64_t days;
    uint64_t days_dirty;
    uint64_t clicks;
    uint64_t days_published;           /* rows of published days */
    bool are_rows_unread;              /* not all rows could be read: days_published is too low */
    int64_t publications;              /* the metric of publications, before rows were counted */

    struct buffer ledger_reseller;     /* copy of the reseller in ledger_last */
    struct ledger_entry ledger_last;   /* the previous entry */
    bool has_ledger_last;
    uint64_t entries;
    uint64_t ledger_days;

    const struct click_stream_counter *counter; /* the stream's counter that is compared now */
    struct counter_audit *audit;
    bool is_after;                     /* counters are read the second time */
    uint64_t counters_compared;        /* of this table, in earlier rounds */
    int64_t clicks_counted;            /* for this table, in earlier rounds */
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
/* End the verification with an error if `status` is negative; true: it has ended and is freed.
 * `err` may be NULL. */
bool verify_fail_if(struct verify *verify, int status, const struct error *err);
/* Whether what failed with `status` fails from now on: verify cannot go on. */
bool verify_has_ended(const struct verify *verify, int status);
/* A step cannot read all that it compares.  True: the verification has ended and is freed.  False:
 * "difference: WHAT: reason" was named, and the caller ends its step or phase. */
bool verify_fail_or_name(struct verify *verify, int status, const struct error *err,
                         const char *what);
/* Count a difference.  False: it is not to be printed, as too many differences were printed. */
bool verify_may_name(struct verify *verify);
void verify_progress(struct verify *verify, const char *what, uint64_t count);

/* verify_seals.c: add the clicks of seals to the `counted` of the audit.  The context of `done` is
 * the verification. */
void verify_seals_count(struct verify *verify, store_done done);

/* verify_repair.c: write the repairs, compute the repaired days again, then call `repaired`. */
void verify_repair(struct verify *verify, verify_step repaired);
#endif
