/* input_room: see the header.
 *
 * What decides correctness: whenever somebody waits in a half, there is a guest, who does not, and
 * nor does its oldest holder.  So after each change the oldest is let on first, whatever is in use;
 * then a guest; then whoever is next, as long as there is room, one for each change: who was let on
 * takes some, or counts as little as before, and either is a change.
 *
 *     half     bytes ████████████│ limit
 *     holders  oldest ─▶ b ─▶ c ─▶ youngest        waiting  c ─▶ d ─▶ youngest        guest  b
 *
 * Without a guest a crowd in which each holds a little would have to be closed one by one before
 * there is room for anybody. */
#include "ingest/connection/input_room.h"

#include "base/error.h"

enum { TIGHT_SHARE = 4 };

void input_room_init(struct input_room *room, size_t bytes_max,
                     void (*let_on)(void *context, struct input_member *member), void *context)
{
    *room = (struct input_room){.bytes_max = bytes_max, .let_on = let_on, .context = context};
    for (int i = 0; i < 2; i++)
        TAILQ_INIT(&room->halves[i].holders);
}

static struct input_half *half_of(struct input_room *room, const struct input_member *member)
{
    return &room->halves[member->is_proven];
}

static bool half_has_room(const struct input_room *room, const struct input_half *half)
{
    return half->bytes < room->bytes_max / 2;
}

bool input_room_admits(const struct input_room *room, const struct input_member *member)
{
    const struct input_half *half = &room->halves[member->is_proven];

    return half_has_room(room, half) || TAILQ_FIRST(&half->holders) == member ||
           half->guest == member;
}

size_t input_room_bytes(const struct input_room *room)
{
    return room->halves[0].bytes + room->halves[1].bytes;
}

bool input_room_is_tight(const struct input_room *room)
{
    return input_room_bytes(room) >= room->bytes_max / TIGHT_SHARE;
}

bool input_room_has_waiting(const struct input_room *room)
{
    return room->halves[0].waiting != NULL || room->halves[1].waiting != NULL;
}

/* ---- who waits ---- */

static void waiting_take(struct input_half *half, struct input_member *member)
{
    struct input_member **link = &half->waiting;

    while (*link != member)
        link = &(*link)->next;
    *link = member->next;
    member->is_waiting = false;
}

static void waiting_add(struct input_half *half, struct input_member *member)
{
    struct input_member **link = &half->waiting;

    while (*link != NULL && (member->is_proven || (*link)->number > member->number))
        link = &(*link)->next;
    member->next = *link;
    *link = member;
    member->is_waiting = true;
}

static void half_go_on(struct input_room *room, struct input_half *half)
{
    struct input_member *oldest = TAILQ_FIRST(&half->holders);
    struct input_member *next = half->waiting;

    if (next == NULL)
        return;
    if (oldest != NULL && oldest->is_waiting)
        next = oldest;
    else if (half->guest == NULL)
        half->guest = next;
    else if (!half_has_room(room, half))
        return;
    waiting_take(half, next);
    room->let_on(room->context, next);
}

void input_room_pass(struct input_room *room, struct input_member *member)
{
    struct input_half *half = half_of(room, member);

    if (half->guest != member)
        return;
    half->guest = NULL;
    half_go_on(room, half);
}

void input_room_wait(struct input_room *room, struct input_member *member, bool is_waiting)
{
    struct input_half *half = half_of(room, member);

    if (is_waiting == member->is_waiting)
        return;
    if (is_waiting)
        waiting_add(half, member);
    else
        waiting_take(half, member);
    half_go_on(room, half);
}

/* ---- who holds ---- */

void input_room_count(struct input_room *room, struct input_member *member, size_t bytes)
{
    struct input_half *half = half_of(room, member);
    size_t before = member->bytes;

    member->bytes = bytes > INPUT_ROOM_FREE ? bytes - INPUT_ROOM_FREE : 0;
    check(half->bytes >= before);
    half->bytes += member->bytes - before;
    if (before == 0 && member->bytes > 0)
        TAILQ_INSERT_TAIL(&half->holders, member, holding);
    if (before > 0 && member->bytes == 0)
        TAILQ_REMOVE(&half->holders, member, holding);
    if (before > 0 && member->bytes == 0 && half->guest == member)
        half->guest = NULL;
    half_go_on(room, half);
}

void input_room_prove(struct input_room *room, struct input_member *member)
{
    size_t bytes = member->bytes;

    if (member->is_proven)
        return;
    input_room_wait(room, member, false);
    input_room_count(room, member, 0);
    input_room_pass(room, member);
    member->is_proven = true;
    if (bytes > 0)
        input_room_count(room, member, bytes + INPUT_ROOM_FREE);
}
