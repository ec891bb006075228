/* verify_private: the state of one verification, and its steps, each of which starts the next. */
#ifndef DAYBOOK_ROLLUP_VERIFY_VERIFY_PRIVATE_H
#define DAYBOOK_ROLLUP_VERIFY_VERIFY_PRIVATE_H

#include <inttypes.h>

#include "rollup/commands/command_private.h"
#include "rollup/days/day_reader.h"
#include "rollup/verify/tallies.h"
#include "storage/engine/store_rows.h"

struct repair;

struct verify {
    struct rollup *rollup;
    const struct command_request *request;
    struct repair *repair;     /* what is to be repaired; NULL: nothing is */
    const struct verify_options *options;
    struct command_output *output;
    uint64_t differences;
    int64_t progress_us; /* when the last line of progress was printed */

    struct seal_hold hold;   /* all the while: a day is its clicks and its seals */
    bool has_damaged_seals;  /* which were named */
    struct timer turn; /* between chunks other things are done */
    bool is_of_rows;   /* rows of amount_by_day, after the partitions */
    struct day_reader *reader;
    struct buffer position;      /* of the chunk being judged */
    struct buffer position_next; /* of the one after it */
    bool has_more;               /* there is one */
    uint32_t looks;                    /* had already at what is being compared */
    uint64_t look_order;               /* dirty_set_order when this look began */
    uint32_t marks_under_way;          /* reads of them, and one for who starts them */
    int marks_status;                  /* the first failure of these */
    struct error marks_err;
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
    struct tallies *tallies;
    bool is_after; /* counters are read the second time */
    uint64_t counters_compared; /* of this table, in the rounds before, */
    int64_t clicks_counted;     /* and with them so many clicks */
};

/* verify_seals.c, verify_figures.c, verify_ledger.c, verify_counters.c */
void verify_seals(struct verify *verify);
void verify_figures(struct verify *verify);
void verify_ledger(struct verify *verify);
void verify_counters(struct verify *verify);

/* So many clicks more were counted for the key of the counters being compared. */
void verify_count(struct verify *verify, struct bytes key, uint64_t clicks);
/* Count what seals keep for them; `done` is called with the verification. */
void verify_count_seals(struct verify *verify, store_done done);

/* verify_repair.c: what was found is gathered, and put right at the end. */
struct repair *repair_new(void);
void repair_free(struct repair *repair);                       /* NULL is fine */
void repair_note_day(struct repair *repair, struct bytes reseller, int32_t day);
/* The counter of `key` is to be moved by `delta`. */
void repair_note_counter(struct repair *repair, const struct click_stream_counter *counter,
                         struct bytes key, int64_t delta);
bool repair_is_empty(const struct repair *repair);
/* Write it, settle, and verify again; takes over from `verify`. */
void verify_repair(struct verify *verify);

/* command_verify.c */
/* From the beginning; `repairs`: differences are put right. */
void verify_begin(struct rollup *rollup, const struct command_request *request,
                  struct command_output *output, bool repairs);
/* All was compared: the verdict, or the repairs. */
void verify_end(struct verify *verify);
void verify_free(struct verify *verify);
void verify_finish(struct verify *verify, int exit_status);
void verify_fail(struct verify *verify, int status, const struct error *err);
/* Count a difference; false when so many were named that this one is not. */
bool verify_may_name(struct verify *verify);
void verify_progress(struct verify *verify, const char *what, uint64_t count);
#endif
