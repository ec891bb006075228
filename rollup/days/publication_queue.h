/* publication_queue: moves waiting days to the queue of dirty days when their publication, or their
 * restatement, is due.
 *
 *     waiting ──due──▶ queued ──work──▶ published, restated, or waiting again
 *
 * next_us may be too early, because a click may have put a day off, but it is never too late.  If
 * the clock went back, all waiting days are checked again. */
#ifndef DAYBOOK_ROLLUP_DAYS_PUBLICATION_QUEUE_H
#define DAYBOOK_ROLLUP_DAYS_PUBLICATION_QUEUE_H

#include "rollup/days/publication.h"

struct publication_queue {
    struct publication_rules rules;
    int64_t next_us;                   /* no waiting day is due before this time */
    int64_t looked_us;
};

void publication_queue_init(struct publication_queue *queue, const struct publication_rules *rules);

/* Note that a waiting day is due at `due_us`. */
void publication_queue_expect(struct publication_queue *queue, int64_t due_us);

/* Queue the days that are due; if not `may_publish`, only days that are due for a restatement.
 * True: the clock went back since the last call. */
bool publication_queue_look(struct publication_queue *queue, struct dirty_set *dirty,
                            bool may_publish, int64_t now_us);

/* For a command: queue the days whose restatement is put off, and if `may_publish` all days that
 * have ended long enough ago. */
void publication_queue_ended(const struct publication_queue *queue, struct dirty_set *dirty,
                             bool may_publish, int64_t now_us);
#endif
