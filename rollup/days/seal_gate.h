/* seal_gate: no day is sealed while a reader reads a day's clicks and its seals: two reads.
 *
 *     seal    ──begin── not yet durable ──end──
 *     hold                 waits ............ granted ──── given back
 *
 * At most one seal is under way; a hold that comes meanwhile is granted when it is durable.  Engine
 * thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_SEAL_GATE_H
#define DAYBOOK_ROLLUP_DAYS_SEAL_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The reader's memory until it is given back.  `granted` is called once, when what was sealed
 * before is durable, perhaps before seal_gate_hold returns. */
struct seal_hold {
    void (*granted)(void *context);
    void *context;
    struct seal_hold *next;            /* private, as the next */
    bool is_granted;
};

/* All-zero: open. */
struct seal_gate {
    struct seal_hold *waiting;         /* for the seal that is not yet durable */
    uint32_t granted;
    bool is_sealing;                   /* a seal was applied and is not yet durable */
};

void seal_gate_hold(struct seal_gate *gate, struct seal_hold *hold);
void seal_gate_unhold(struct seal_gate *gate, struct seal_hold *hold);     /* a granted one */
bool seal_gate_is_held(const struct seal_gate *gate);

/* A seal is being applied, while nobody holds the gate; it is durable, or was refused. */
void seal_gate_begin(struct seal_gate *gate);
void seal_gate_end(struct seal_gate *gate);
#endif
