/* seal_gate: keeps days from being sealed while a reader reads a day's clicks and then its seals.
 *
 *     seal    ──begin── not yet durable ──end──
 *     pin                 waits ............ granted ──── released
 *
 * At most one seal is under way.  A pin that is requested meanwhile is granted when the seal is
 * durable, was refused or has failed.  All functions run on the engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_SEAL_GATE_H
#define DAYBOOK_ROLLUP_DAYS_SEAL_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* A pin must not be moved until it is released by seal_gate_unpin.  `granted` is called once, when
 * no seal is under way, perhaps before seal_gate_pin returns. */
struct seal_pin {
    void (*granted)(void *context);
    void *context;
    struct seal_pin *next;             /* private */
    bool is_granted;                   /* set by the gate; false: waits, or was released */
};

/* All-zero is a gate without pins and seals. */
struct seal_gate {
    struct seal_pin *waiting;
    uint32_t granted;                  /* granted pins that are not released yet */
    bool is_sealing;                   /* from seal_gate_begin to seal_gate_end */
};

void seal_gate_pin(struct seal_gate *gate, struct seal_pin *pin);
void seal_gate_unpin(struct seal_gate *gate, struct seal_pin *pin);        /* of a granted pin */
bool seal_gate_is_held(const struct seal_gate *gate);

/* seal_gate_begin is to be called before a seal is applied, while no pin is granted, and
 * seal_gate_end when the seal is durable, was refused or has failed. */
void seal_gate_begin(struct seal_gate *gate);
void seal_gate_end(struct seal_gate *gate);
#endif
