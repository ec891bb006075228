/* seal_gate: keeps days from being sealed while a reader reads a day's clicks and then its seals.
 *
 *     seal    ──begin── not yet durable ──end──
 *     pin                 waits ............ granted ──── given back
 *
 * At most one seal is under way.  A pin that is requested meanwhile is granted when the seal is
 * durable, was refused or has failed.  Engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_SEAL_GATE_H
#define DAYBOOK_ROLLUP_DAYS_SEAL_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* A pin must not be moved until it is given back.  `granted` is called once, when no seal is under
 * way, perhaps before seal_gate_pin returns. */
struct seal_pin {
    void (*granted)(void *context);
    void *context;
    struct seal_pin *next;             /* private; so is `is_granted` */
    bool is_granted;
};

/* All-zero is a gate without pins and seals. */
struct seal_gate {
    struct seal_pin *waiting;
    uint32_t granted;                  /* pins not yet given back */
    bool is_sealing;                   /* from seal_gate_begin to seal_gate_end */
};

void seal_gate_pin(struct seal_gate *gate, struct seal_pin *pin);
void seal_gate_unpin(struct seal_gate *gate, struct seal_pin *pin);        /* of a granted pin */
bool seal_gate_is_held(const struct seal_gate *gate);

/* Call seal_gate_begin before a seal is applied, while no pin is granted.  Call seal_gate_end when
 * the seal is durable, was refused or has failed. */
void seal_gate_begin(struct seal_gate *gate);
void seal_gate_end(struct seal_gate *gate);
#endif
