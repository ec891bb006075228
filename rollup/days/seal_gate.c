/* seal_gate: see the header. */
#include "rollup/days/seal_gate.h"

void seal_gate_hold(struct seal_gate *gate, struct seal_hold *hold)
{
    hold->is_granted = !gate->is_sealing;
    if (!hold->is_granted) {
        hold->next = gate->waiting;
        gate->waiting = hold;
        return;
    }
    gate->granted++;
    hold->granted(hold->context);
}

void seal_gate_unhold(struct seal_gate *gate, struct seal_hold *hold)
{
    check(hold->is_granted && gate->granted > 0);
    hold->is_granted = false;
    gate->granted--;
}

bool seal_gate_is_held(const struct seal_gate *gate)
{
    return gate->granted > 0;
}

void seal_gate_begin(struct seal_gate *gate)
{
    check(!gate->is_sealing && gate->granted == 0);
    gate->is_sealing = true;
}

void seal_gate_end(struct seal_gate *gate)
{
    check(gate->is_sealing);
    gate->is_sealing = false;
    while (gate->waiting != NULL) {
        struct seal_hold *hold = gate->waiting;
        gate->waiting = hold->next;
        hold->is_granted = true;
        gate->granted++;
        hold->granted(hold->context);
    }
}
