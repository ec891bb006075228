/* counter_audit: what a counter table says of each key and what the clicks say, of as many keys as
 * there is memory for.
 *
 * Keys are had in rounds, by ranges of their hashes.  A round begins with all that are left; where
 * they take more than there is room for, the upper half of its range is dropped, and had in a later
 * round:
 *
 *     hashes  0 ............................................ 2^64
 *     round 1 |--------- too much -----------------|
 *             |----- kept ------|
 *     round 2                   |----- kept ------|            and so on
 *
 * Every key is in one round, and whatever is asked within a round is of the same keys. */
#ifndef DAYBOOK_ROLLUP_VERIFY_COUNTER_AUDIT_H
#define DAYBOOK_ROLLUP_VERIFY_COUNTER_AUDIT_H

#include "base/cli/command.h"

struct counter_audit;

struct counter_audit_entry {
    int64_t before;
    int64_t counted;
    int64_t after;
};

/* What it takes is kept for the command of `output` (command_keep), which outlives it. */
struct counter_audit *counter_audit_new(struct command_output *output);
void counter_audit_free(struct counter_audit *audit);        /* NULL is fine */

/* The first round of all keys. */
void counter_audit_begin(struct counter_audit *audit);
/* This round anew, without what it had. */
void counter_audit_again(struct counter_audit *audit);
/* The next round; false: all keys were had. */
bool counter_audit_next(struct counter_audit *audit);

/* Whether the key is of this round.  Any thread, while none adds or narrows. */
bool counter_audit_takes(const struct counter_audit *audit, struct bytes key);
/* The key's, zeros at first, valid until the next call; NULL: it is not of this round. */
struct counter_audit_entry *counter_audit_of(struct counter_audit *audit, struct bytes key);
/* So many clicks more were counted for the key, if it is of this round. */
void counter_audit_add(struct counter_audit *audit, struct bytes key, uint64_t clicks);
/* Halve the round; false: it has one key at most. */
bool counter_audit_narrow(struct counter_audit *audit);

/* Bytes that clicks may take while they are summed by the same keys: they are kept too. */
size_t counter_audit_beside(const struct counter_audit *audit);

/* All of the round, by numbers from 0 on. */
uint32_t counter_audit_count(const struct counter_audit *audit);
const struct counter_audit_entry *counter_audit_at(const struct counter_audit *audit,
                                                   uint32_t number, struct bytes *key_out);
#endif
