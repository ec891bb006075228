/* change_lines: what a change did, as text for its row in the table `change`.  The columns keys,
 * old and new have a line for each thing that was changed, so all three have the same number of
 * lines.
 *
 *     keys   supaboobs 2013-11-01      old   20%      new   25%
 *            supaboobs 2013-12-01            (none)         30%
 *
 * The columns are bounded, because the commit hook adds them after the batch's size was checked
 * (HOOK_BYTES of storage/engine/sequencer_admit.c).  The longest key has room.  A last line counts
 * the lines that were left out. */
#ifndef DAYBOOK_ROLLUP_DAYS_CHANGE_LINES_H
#define DAYBOOK_ROLLUP_DAYS_CHANGE_LINES_H

#include "rollup/days/rate.h"
#include "storage/cell/mutation.h"

/* Bytes of the keys, and of each of the two other texts. */
enum { CHANGE_KEYS_MAX = RATE_RESELLER_SIZE_MAX + 256, CHANGE_STATES_MAX = 768 };

/* How the last line of the keys begins if lines were left out; their number and " more" follow. */
#define CHANGE_LINES_LEFT_OUT "... and "

/* A struct of zeros has no lines. */
struct change_lines {
    struct buffer keys;
    struct buffer old;
    struct buffer new;
    uint64_t left_out;
};

/* Add a line.  `key` is not empty; an empty `old` or `new` is shown as "(none)". */
void change_lines_add(struct change_lines *lines, struct bytes key, struct bytes old,
                      struct bytes new);
bool change_lines_are_empty(const struct change_lines *lines);
void change_lines_copy(const struct change_lines *lines, struct change_lines *copy_out);
/* Called after the last line: add a line that counts the lines left out, if there are any. */
void change_lines_end(struct change_lines *lines);
/* The three cells of the row; views of the lines. */
enum { CHANGE_LINES_VALUES = 3 };
uint32_t change_lines_values(const struct change_lines *lines,
                             struct column_value values_out[CHANGE_LINES_VALUES]);
void change_lines_release(struct change_lines *lines);
#endif
