/* test_seal_gate: readers hold seals off, and wait for the one that is under way. */
#include "rollup/days/seal_gate.h"

#include <criterion/criterion.h>

static void note(void *context)
{
    (*(int *)context)++;
}

Test(seal_gate, a_hold_is_granted_at_once_while_nothing_is_sealed)
{
    struct seal_gate gate = {0};
    int granted = 0;
    struct seal_pin first = {.granted = note, .context = &granted};
    struct seal_pin second = first;
    seal_gate_pin(&gate, &first);
    seal_gate_pin(&gate, &second);
    cr_assert_eq(granted, 2);
    seal_gate_unpin(&gate, &first);
    cr_assert(seal_gate_is_held(&gate), "the second still holds it");
    seal_gate_unpin(&gate, &second);
    cr_assert_not(seal_gate_is_held(&gate));
}

Test(seal_gate, holds_that_come_during_a_seal_are_granted_when_it_is_durable)
{
    struct seal_gate gate = {0};
    int granted = 0;
    struct seal_pin first = {.granted = note, .context = &granted};
    struct seal_pin second = first;
    seal_gate_begin(&gate);
    seal_gate_pin(&gate, &first);
    seal_gate_pin(&gate, &second);
    cr_assert_eq(granted, 0);
    cr_assert_not(seal_gate_is_held(&gate));
    seal_gate_end(&gate);
    cr_assert_eq(granted, 2);
    seal_gate_unpin(&gate, &second);
    seal_gate_unpin(&gate, &first);
    seal_gate_begin(&gate); /* nobody holds it: the next seal may come */
    seal_gate_end(&gate);
}

/* What is granted may give back, and ask again, in the same call. */
struct again {
    struct seal_gate *gate;
    struct seal_pin pin;
    int granted;
};

static void give_back_and_ask(void *context)
{
    struct again *again = context;
    seal_gate_unpin(again->gate, &again->pin);
    if (++again->granted < 3)
        seal_gate_pin(again->gate, &again->pin);
}

Test(seal_gate, a_hold_may_be_given_back_within_its_grant)
{
    struct seal_gate gate = {0};
    struct again again = {.gate = &gate, .pin = {.granted = give_back_and_ask}};
    again.pin.context = &again;
    seal_gate_begin(&gate);
    seal_gate_pin(&gate, &again.pin);
    seal_gate_end(&gate);
    cr_assert_eq(again.granted, 3);
    cr_assert_not(seal_gate_is_held(&gate));
}
