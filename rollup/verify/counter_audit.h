/* counter_audit: holds the values of a counter table beside the clicks counted for the same keys.
 *
 * Keys are compared in rounds, by ranges of their hashes.  When a round takes more memory than the
 * command may use, the upper half of its range is left to a later round:
 *
 *     hashes  0 ............................................ 2^64
 *     round 1 |--------- too much -----------------|
 *             |----- kept ------|
 *     round 2                   |----- kept ------|            and so on
 *
 * Every key is in exactly one round. */
#ifndef DAYBOOK_ROLLUP_VERIFY_COUNTER_AUDIT_H
#define DAYBOOK_ROLLUP_VERIFY_COUNTER_AUDIT_H

#include "base/cli/command.h"

struct counter_audit;

struct counter_audit_entry {
    int64_t before;                    /* the counter, read before clicks were counted */
    int64_t counted;                   /* clicks, those of seals included */
    int64_t after;                     /* the counter, read after clicks were counted */
};

/* The audit's memory is charged by command_keep to `output`, which outlives the audit. */
struct counter_audit *counter_audit_new(struct command_output *output);
void counter_audit_free(struct counter_audit *audit);

void counter_audit_begin(struct counter_audit *audit);
void counter_audit_again(struct counter_audit *audit);
/* Begin the next round; false: all keys have been compared. */
bool counter_audit_next(struct counter_audit *audit);

/* Any thread may call this while no function changes the audit. */
bool counter_audit_takes(const struct counter_audit *audit, struct bytes key);
/* The key's entry, all zeros if it is new; valid until the next call.  NULL: the key is not in this
 * round. */
struct counter_audit_entry *counter_audit_of(struct counter_audit *audit, struct bytes key);
void counter_audit_add(struct counter_audit *audit, struct bytes key, uint64_t clicks);
/* Drop the upper half of the round's range; false: the range is one hash. */
bool counter_audit_narrow(struct counter_audit *audit);

/* Bytes that the store may use to sum clicks by the keys of this round; they are charged, too.
 * 0: no limit. */
size_t counter_audit_beside(const struct counter_audit *audit);
/* To be called when these bytes do not suffice: double them, or else narrow the range.  The caller
 * then begins the round again.  False: neither is possible. */
bool counter_audit_make_room(struct counter_audit *audit);

uint32_t counter_audit_count(const struct counter_audit *audit);
const struct counter_audit_entry *counter_audit_at(const struct counter_audit *audit,
                                                   uint32_t number, struct bytes *key_out);
#endif
