/* seal_gate: see the header. */
#include "rollup/days/seal_gate.h"

void seal_gate_pin(struct seal_gate *gate, struct seal_pin *pin)
{
    pin->is_granted = !gate->is_sealing;
    if (!pin->is_granted) {
        pin->next = gate->waiting;
        gate->waiting = pin;
        return;
    }
    gate->granted++;
    pin->granted(pin->context);
}

void seal_gate_unpin(struct seal_gate *gate, struct seal_pin *pin)
{
    check(pin->is_granted && gate->granted > 0);
    pin->is_granted = false;
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
        struct seal_pin *pin = gate->waiting;
        gate->waiting = pin->next;
        pin->is_granted = true;
        gate->granted++;
        pin->granted(pin->context);
    }
}
