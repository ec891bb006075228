/* publication_queue: moves waiting days to the queue of dirty days when their publication, or their
 * restatement, is due.
 *
 *     waiting ──due──▶ queued ──work──▶ published, restated, or waiting again
 *
 * next_us may be too early, where a click has put a day off, but never too late.  Where the clock
 * went back all waiting days are checked again. */
#ifndef DAYBOOK_ROLLUP_DAYS_PUBLICATION_QUEUE_H
#define DAYBOOK_ROLLUP_DAYS_PUBLICATION_QUEUE_H

#include "rollup/days/publication.h"

struct publication_queue {
    struct publication_rules rules;
    int64_t next_us;                   /* no waiting day is due before it */
    int64_t looked_us;                 /* the time at the last publication_queue_look */
};

void publication_queue_init(struct publication_queue *queue, const struct publication_rules *rules);

/* A waiting day is due at `due_us`. */
void publication_queue_expect(struct publication_queue *queue, int64_t due_us);

/* Queue the days that are due; where days may not be published, those that are due for a
 * restatement alone.  True: the clock went back since the last call. */
bool publication_queue_look(struct publication_queue *queue, struct dirty_set *dirty,
                            bool may_publish, int64_t now_us);

/* Queue every waiting day that may be published, and every one whose restatement is put off: what a
 * command does not wait for.  Where days may not be published, only the latter. */
void publication_queue_ended(const struct publication_queue *queue, struct dirty_set *dirty,
                             bool may_publish, int64_t now_us);
#endif
