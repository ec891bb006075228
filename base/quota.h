/* quota: bytes that may be taken, those that are taken, and a quota above that is charged too.
 *
 *     process ◀── requests ◀── one request
 *             ◀── connections before a login
 *
 * What is taken from a quota is taken from all above it, or from none: a quota whose limit is
 * larger than its parent's is bounded by the parent.  It counts and allocates nothing; the owner
 * gives back what it has taken before it goes. */
#ifndef DAYBOOK_BASE_QUOTA_H
#define DAYBOOK_BASE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>

struct quota {
    struct quota *parent;                /* NULL: none; outlives this one */
    size_t limit;
    size_t reserve;                      /* of the limit: for children that hold little, */
    size_t little;                       /* at most so many bytes each with what they take */
    size_t taken;
};

/* False: one of them has no room, and nothing was taken. */
bool quota_take(struct quota *quota, size_t bytes);
/* Take what cannot be refused, over the limits where need be. */
void quota_take_over(struct quota *quota, size_t bytes);
void quota_give(struct quota *quota, size_t bytes);
/* What one more child may take that holds nothing yet. */
size_t quota_left(const struct quota *quota);
#endif
