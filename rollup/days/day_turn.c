/* day_turn: see the header.
 *
 *     queue 17   a ── c ── d      a and b have begun;
 *     queue 42   b ── c           c waits for two others, d for one (c)
 *
 * What decides correctness: a turn stands in a queue once, even if two of its days share it, and
 * begins when it is the first in all of its queues.  Beginning may end a turn at once, which begins
 * others: a loop does that, not recursion, however many wait. */
#include "rollup/days/day_turn.h"

#include "base/hash64.h"
#include "base/memory.h"

enum { QUEUES = 1024 };

/* A turn's place in one queue. */
struct day_place {
    struct day_turn *turn;
    struct day_place *next;
    uint32_t queue;
};

struct day_queue {
    struct day_place *first, *last;
};

struct day_turn {
    struct day_turns *turns;
    void (*begin)(void *context);
    void *context;
    struct day_turn *next_ready;
    uint32_t waits_for;   /* queues in which it is not the first, */
    uint32_t place_count; /* of so many */
    struct day_place places[];
};

struct day_turns {
    struct day_queue queues[QUEUES];
    struct day_turn *ready, **ready_end; /* to begin, in this order */
    bool is_beginning;
};

struct day_turns *day_turn_queues_new(void)
{
    struct day_turns *turns = memory_zeroed(1, sizeof(*turns));
    turns->ready_end = &turns->ready;
    return turns;
}

void day_turn_queues_free(struct day_turns *turns)
{
    memory_free(turns);
}

struct day_turn *day_turn_new(struct day_turns *turns, uint32_t count, void (*begin)(void *context),
                              void *context)
{
    struct day_turn *turn = memory_zeroed(1, sizeof(*turn) + count * sizeof(struct day_place));
    turn->turns = turns;
    turn->begin = begin;
    turn->context = context;
    return turn;
}

void day_turn_add(struct day_turn *turn, struct bytes key)
{
    uint32_t number = (uint32_t)(hash64(key.data, key.size) % QUEUES);
    struct day_queue *queue = &turn->turns->queues[number];
    struct day_place *place = &turn->places[turn->place_count];
    if (queue->last != NULL && queue->last->turn == turn)
        return;
    turn->place_count++;
    *place = (struct day_place){.turn = turn, .queue = number};
    if (queue->last == NULL) {
        queue->first = place;
    } else {
        queue->last->next = place;
        turn->waits_for++;
    }
    queue->last = place;
}

static void make_ready(struct day_turn *turn)
{
    struct day_turns *turns = turn->turns;
    turn->next_ready = NULL;
    *turns->ready_end = turn;
    turns->ready_end = &turn->next_ready;
}

static void begin_ready(struct day_turns *turns)
{
    if (turns->is_beginning)
        return;
    turns->is_beginning = true;
    while (turns->ready != NULL) {
        struct day_turn *turn = turns->ready;
        turns->ready = turn->next_ready;
        if (turns->ready == NULL)
            turns->ready_end = &turns->ready;
        turn->begin(turn->context);
    }
    turns->is_beginning = false;
}

void day_turn_take(struct day_turn *turn)
{
    if (turn->waits_for > 0)
        return;
    make_ready(turn);
    begin_ready(turn->turns);
}

void day_turn_end(struct day_turn *turn)
{
    struct day_turns *turns = turn->turns;
    check(turn->waits_for == 0);
    for (uint32_t i = 0; i < turn->place_count; i++) {
        struct day_queue *queue = &turns->queues[turn->places[i].queue];
        check(queue->first == &turn->places[i]);
        queue->first = turn->places[i].next;
        if (queue->first == NULL)
            queue->last = NULL;
        else if (--queue->first->turn->waits_for == 0)
            make_ready(queue->first->turn);
    }
    memory_free(turn);
    begin_ready(turns);
}
