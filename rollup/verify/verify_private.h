/* verify_private: the state of one verification, and its steps.
 *
 * Each step calls verify_next at its end, or verify_fail_if.
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
    const verify_step *steps;          /* the next step, and those after it */
    struct repair_list *repairs;       /* NULL: nothing is repaired */
    uint64_t differences;
    bool is_incomplete;
    int64_t progress_us;

    struct seal_pin pin;               /* no day is sealed during the verification */
    bool has_damaged_seals;
    struct timer time_slice;
    bool is_of_rows;                   /* the chunk has rows of amount_by_day, not partitions */
    struct day_reader *reader;
    struct buffer position;
    struct buffer position_next;
    bool has_more;
    bool is_unlisted;
    uint32_t looks;                    /* earlier reads of the chunk or round */
    uint64_t look_order;               /* dirty_set_order when this look began */
    uint32_t marks_under_way;          /* reads of marks, and 1 while they are started */
    struct error marks_err;
    uint64_t days;
    uint64_t days_dirty;
    uint64_t clicks;
    uint64_t days_published;
    bool are_rows_unread;              /* days_published is too low */
    int64_t publications;              /* the metric `published` before rows were counted */

    struct buffer ledger_reseller;
    struct ledger_entry ledger_last;
    bool has_ledger_last;
    uint64_t entries;
    uint64_t ledger_days;

    const struct click_stream_counter *counter;
    struct counter_audit *audit;
    bool is_after;
    uint64_t counters_compared;
    int64_t clicks_counted;
};

void verify_files(struct verify *verify);
void verify_seals(struct verify *verify);
void verify_figures(struct verify *verify);
void verify_ledger(struct verify *verify);
void verify_counters(struct verify *verify);

/* verify.c: end the step and begin the next one. */
void verify_next(struct verify *verify);
void verify_free(struct verify *verify);
void verify_finish(struct verify *verify, int exit_status);
/* End the verification with an error if `status` is negative; true: it is freed.  `err` may be
 * NULL. */
bool verify_fail_if(struct verify *verify, int status, const struct error *err);
/* Whether a failure with `status` makes it impossible to go on. */
bool verify_has_ended(const struct verify *verify, int status);
/* For a step that cannot read all its data.  True: the verification has ended and is freed.  False:
 * "difference: WHAT: reason" was printed, and the caller ends its step or phase. */
bool verify_fail_or_name(struct verify *verify, int status, const struct error *err,
                         const char *what);
/* Count a difference; false: too many were printed already to print this one. */
bool verify_may_name(struct verify *verify);
void verify_progress(struct verify *verify, const char *what, uint64_t count);

/* verify_seals.c: add the clicks of seals to the audit.  The context of `done` is the
 * verification. */
void verify_seals_count(struct verify *verify, store_done done);

/* verify_repair.c: write the repairs, compute the repaired days again, then call `repaired`. */
void verify_repair(struct verify *verify, verify_step repaired);
#endif
