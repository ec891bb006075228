/* tallies: what a counter table says of each key and what the clicks say, of as many keys as there
 * is memory for.
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
#ifndef DAYBOOK_ROLLUP_VERIFY_TALLIES_H
#define DAYBOOK_ROLLUP_VERIFY_TALLIES_H

#include "base/cli/command.h"

struct tallies;

struct tally {
    int64_t before;
    int64_t counted;
    int64_t after;
};

/* What it takes is kept for the command of `output` (command_keep), which outlives it. */
struct tallies *tallies_new(struct command_output *output);
void tallies_free(struct tallies *tallies);                  /* NULL is fine */

/* The first round of all keys. */
void tallies_begin(struct tallies *tallies);
/* This round anew, without what it had. */
void tallies_again(struct tallies *tallies);
/* The next round; false: all keys were had. */
bool tallies_next(struct tallies *tallies);

/* Whether the key is of this round.  Any thread, while none adds or narrows. */
bool tallies_takes(const struct tallies *tallies, struct bytes key);
/* The key's, zeros at first, valid until the next call; NULL: it is not of this round. */
struct tally *tallies_of(struct tallies *tallies, struct bytes key);
/* So many clicks more were counted for the key, if it is of this round. */
void tallies_add(struct tallies *tallies, struct bytes key, uint64_t clicks);
/* Halve the round; false: it has one key at most. */
bool tallies_narrow(struct tallies *tallies);

/* Bytes that clicks may take while they are summed by the same keys: they are kept too. */
size_t tallies_beside(const struct tallies *tallies);

/* All of the round, by numbers from 0 on. */
uint32_t tallies_count(const struct tallies *tallies);
const struct tally *tallies_at(const struct tallies *tallies, uint32_t number,
                               struct bytes *key_out);
#endif
