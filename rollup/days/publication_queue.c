/* publication_queue: see the header. */
#include "rollup/days/publication_queue.h"

#include "base/error.h"

void publication_queue_init(struct publication_queue *queue, const struct publication_rules *rules)
{
    check(rules->zone != NULL);
    *queue = (struct publication_queue){.rules = *rules, .next_us = INT64_MAX};
}

void publication_queue_expect(struct publication_queue *queue, int64_t due_us)
{
    if (due_us < queue->next_us)
        queue->next_us = due_us;
}

static void queue_due(struct publication_queue *queue, struct dirty_set *dirty, bool may_publish,
                      int64_t now_us)
{
    struct dirty_day *next;
    queue->next_us = INT64_MAX;
    for (struct dirty_day *day = dirty_set_first_waiting(dirty); day != NULL; day = next) {
        int64_t due_us = day->owed_us != 0 ? publication_restate_us(&queue->rules, day, now_us)
                                           : publication_due_us(&queue->rules, day, now_us);
        next = TAILQ_NEXT(day, link);
        if (due_us <= now_us && (may_publish || day->owed_us != 0))
            dirty_set_queue(dirty, day);
        else
            publication_queue_expect(queue, due_us);
    }
}

bool publication_queue_look(struct publication_queue *queue, struct dirty_set *dirty,
                            bool may_publish, int64_t now_us)
{
    bool went_back = now_us < queue->looked_us;
    queue->looked_us = now_us;
    if (now_us >= queue->next_us || went_back)
        queue_due(queue, dirty, may_publish, now_us);
    return went_back;
}

void publication_queue_ended(const struct publication_queue *queue, struct dirty_set *dirty,
                             bool may_publish, int64_t now_us)
{
    struct dirty_day *next;
    for (struct dirty_day *day = dirty_set_first_waiting(dirty); day != NULL; day = next) {
        next = TAILQ_NEXT(day, link);
        if (day->owed_us != 0 ||
            (may_publish && now_us >= publication_earliest_us(&queue->rules, day->day)))
            dirty_set_queue(dirty, day);
    }
}
