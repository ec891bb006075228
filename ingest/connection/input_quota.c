/* input_quota: see the header.
 *
 * What must hold: while a connection of a half waits, the oldest holder does not wait, and one
 * connection, which may also be the oldest, has the reservation and does not wait.
 *
 *     half     bytes ████████████│ limit
 *     holders  oldest ─▶ b ─▶ c ─▶ youngest        waiting  c ─▶ d ─▶ youngest        reserved  b
 *
 * The reservation is needed when many connections hold a little memory each: without it, many of
 * them would have to be closed before one could continue. */
#include "ingest/connection/input_quota.h"

#include "base/error.h"

enum { TIGHT_SHARE = 4 };

void input_quota_init(struct input_quota *input, size_t bytes_max,
                      void (*resume)(void *context, struct input_waiter *waiter), void *context)
{
    *input = (struct input_quota){
        .quota = {.limit = SIZE_MAX}, .bytes_max = bytes_max, .resume = resume, .context = context};
    for (int i = 0; i < 2; i++) {
        input->halves[i].quota = (struct quota){.parent = &input->quota, .limit = bytes_max / 2};
        TAILQ_INIT(&input->halves[i].holders);
    }
}

static struct input_half *half_of(struct input_quota *input, const struct input_waiter *waiter)
{
    return &input->halves[waiter->is_acked];
}

static bool half_has_room(const struct input_half *half)
{
    return quota_left(&half->quota) > 0;
}

bool input_quota_admits(const struct input_quota *input, const struct input_waiter *waiter)
{
    const struct input_half *half = &input->halves[waiter->is_acked];

    return half_has_room(half) || TAILQ_FIRST(&half->holders) == waiter || half->reserved == waiter;
}

bool input_quota_is_tight(const struct input_quota *input)
{
    return input->quota.taken >= input->bytes_max / TIGHT_SHARE;
}

bool input_quota_has_waiting(const struct input_quota *input)
{
    return input->halves[0].waiting != NULL || input->halves[1].waiting != NULL;
}

/* ---- waiting ---- */

static void waiting_take(struct input_half *half, struct input_waiter *waiter)
{
    struct input_waiter **link = &half->waiting;

    while (*link != waiter)
        link = &(*link)->next;
    *link = waiter->next;
    waiter->is_waiting = false;
}

static void waiting_add(struct input_half *half, struct input_waiter *waiter)
{
    struct input_waiter **link = &half->waiting;

    while (*link != NULL && (waiter->is_acked || (*link)->number > waiter->number))
        link = &(*link)->next;
    waiter->next = *link;
    *link = waiter;
    waiter->is_waiting = true;
}

static void half_go_on(struct input_quota *input, struct input_half *half)
{
    struct input_waiter *oldest = TAILQ_FIRST(&half->holders);
    struct input_waiter *next = half->waiting;

    if (next == NULL)
        return;
    if (oldest != NULL && oldest->is_waiting)
        next = oldest;
    else if (half->reserved == NULL)
        half->reserved = next;
    else if (!half_has_room(half))
        return;
    waiting_take(half, next);
    input->resume(input->context, next);
}

void input_quota_pass(struct input_quota *input, struct input_waiter *waiter)
{
    struct input_half *half = half_of(input, waiter);

    if (half->reserved != waiter)
        return;
    half->reserved = NULL;
    half_go_on(input, half);
}

void input_quota_wait(struct input_quota *input, struct input_waiter *waiter, bool is_waiting)
{
    struct input_half *half = half_of(input, waiter);

    if (is_waiting == waiter->is_waiting)
        return;
    if (is_waiting)
        waiting_add(half, waiter);
    else
        waiting_take(half, waiter);
    half_go_on(input, half);
}

/* ---- holding ---- */

void input_quota_charge(struct input_quota *input, struct input_waiter *waiter, size_t bytes)
{
    struct input_half *half = half_of(input, waiter);
    size_t before = waiter->bytes;

    quota_charge(&half->quota, &waiter->bytes,
                 bytes > INPUT_QUOTA_FREE ? bytes - INPUT_QUOTA_FREE : 0);
    if (before == 0 && waiter->bytes > 0)
        TAILQ_INSERT_TAIL(&half->holders, waiter, holding);
    if (before > 0 && waiter->bytes == 0)
        TAILQ_REMOVE(&half->holders, waiter, holding);
    if (before > 0 && waiter->bytes == 0 && half->reserved == waiter)
        half->reserved = NULL;
    half_go_on(input, half);
}

void input_quota_mark_acked(struct input_quota *input, struct input_waiter *waiter)
{
    size_t bytes = waiter->bytes;

    if (waiter->is_acked)
        return;
    input_quota_wait(input, waiter, false);
    input_quota_charge(input, waiter, 0);
    input_quota_pass(input, waiter);
    waiter->is_acked = true;
    if (bytes > 0)
        input_quota_charge(input, waiter, bytes + INPUT_QUOTA_FREE);
}
