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

    struct seal_pin pin;     /* all the while: a day is its clicks and its seals */
    bool has_damaged_seals;  /* which were named */
    struct timer time_slice; /* between chunks other things are done */
    bool is_of_rows;   /* rows of amount_by_day, after the partitions */
    struct day_reader *reader;
    struct buffer position;      /* of the chunk being judged */
    struct buffer position_next; /* of the one after it */
    bool has_more;               /* there is one */
    uint32_t looks;                    /* had already at what is being compared */
    uint64_t look_order;               /* dirty_set_order when this look began */
    uint32_t marks_under_way;          /* reads of them, and one for who starts them */
    struct error marks_err;            /* the first failure of these; code 0: none */
    uint64_t days;
    uint64_t days_dirty;
    uint64_t clicks;
    uint64_t days_published; /* rows that say so */
    int64_t publications;              /* made before they were counted */

    struct buffer ledger_reseller; /* the entry before, if of the same day */
    struct ledger_entry ledger_last;
    bool has_ledger_last;
    uint64_t entries;
    uint64_t ledger_days;

    const struct click_stream_counter *counter; /* of the stream, being compared */
    struct counter_audit *audit;
    bool is_after; /* counters are read the second time */
    uint64_t counters_compared; /* of this table, in the rounds before, */
    int64_t clicks_counted;     /* and with them so many clicks */
};

/* The steps. */
void verify_files(struct verify *verify);
void verify_seals(struct verify *verify);
void verify_figures(struct verify *verify);
void verify_ledger(struct verify *verify);
void verify_counters(struct verify *verify);

/* verify.c: the step is over, the next one begins. */
void verify_next(struct verify *verify);
void verify_free(struct verify *verify);
void verify_finish(struct verify *verify, int exit_status);
void verify_fail(struct verify *verify, int status, const struct error *err);
/* Count a difference; false when so many were named that this one is not. */
bool verify_may_name(struct verify *verify);
void verify_progress(struct verify *verify, const char *what, uint64_t count);

/* verify_seals.c: count what seals keep for the counters that are being compared; `done` is called
 * with the verification. */
void verify_seals_count(struct verify *verify, store_done done);

/* verify_repair.c: write the repairs and work them off, then call `repaired`. */
void verify_repair(struct verify *verify, verify_step repaired);
#endif
