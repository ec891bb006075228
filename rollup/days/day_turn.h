/* day_turn: who comes first to a day, and who waits for him.
 *
 * Writes that read first would otherwise read together, and all but one read again.  A turn is
 * taken for some days at once, begins when every turn taken before it for one of them has ended,
 * and turns for other days pass it by (but for days that share a queue, which costs nothing but
 * time).  There is no deadlock: a turn waits for earlier ones only.  Engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_DAY_TURN_H
#define DAYBOOK_ROLLUP_DAYS_DAY_TURN_H

#include "base/bytes.h"

struct day_turns;
struct day_turn;

struct day_turns *day_turn_queues_new(void);
void day_turn_queues_free(struct day_turns *turns);          /* no turn is left; NULL is fine */

/* Take a turn for `count` days by their partition keys, which are not kept; `begin` is called once,
 * perhaps before the call returns. */
struct day_turn *day_turn_new(struct day_turns *turns, uint32_t count,
                              void (*begin)(void *context), void *context);
void day_turn_add(struct day_turn *turn, struct bytes key);    /* each day, in any order */
void day_turn_take(struct day_turn *turn);
/* A turn that has begun; frees it.  Those who waited for it begin. */
void day_turn_end(struct day_turn *turn);
#endif
