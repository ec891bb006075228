/* publication_queue: the waiting days whose publication, or restatement, is due go to the queue.
 *
 *     waiting ──due──▶ queued ──work──▶ published, restated, or waiting again
 *
 * next_us may be too early (a click has put a day off), never too late but where the clock goes
 * back, after which all are looked at again. */
#ifndef DAYBOOK_ROLLUP_DAYS_PUBLICATION_QUEUE_H
#define DAYBOOK_ROLLUP_DAYS_PUBLICATION_QUEUE_H

#include "rollup/days/publication.h"

struct publication_queue {
    struct publication_rules rules;
    int64_t next_us;                   /* no waiting day is due before it */
    int64_t looked_us;                 /* at the last look */
};

void publication_queue_init(struct publication_queue *queue, const struct publication_rules *rules);

/* A waiting day is due then. */
void publication_queue_expect(struct publication_queue *queue, int64_t due_us);

/* Queue what is due; where days may not be published, restatements alone.  True: the clock went
 * back since the last look. */
bool publication_queue_look(struct publication_queue *queue, struct dirty_set *dirty,
                            bool may_publish, int64_t now_us);

/* Queue what a command publishes or restates at once, though it would have waited: a look at every
 * waiting day.  Where days may not be published, the restatements that are put off alone. */
void publication_queue_ended(const struct publication_queue *queue, struct dirty_set *dirty,
                             bool may_publish, int64_t now_us);
#endif
