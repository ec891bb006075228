/* control_room: see the header.
 *
 * Whoever waits is granted in the order in which they came, the large not passed over for the
 * small, so each gets his turn.  What is granted may end at once and give back, within the call
 * that gave the room: the outermost call grants to all. */
#include "program/control/control_room.h"

#include "base/error.h"

static size_t left_of(const struct control_room *room, size_t bytes)
{
    return bytes < room->bytes_max ? room->bytes_max - bytes : 0;
}

static void room_count(struct control_room *room, size_t *bytes, int64_t change_bytes)
{
    check(change_bytes >= 0 || *bytes >= (size_t)-change_bytes);
    *bytes += (size_t)change_bytes;
    if (change_bytes != 0 && room->changed != NULL)
        room->changed(room->context, change_bytes);
}

/* ---- commands that run ---- */

bool control_room_may_grant(const struct control_room *room, size_t bytes)
{
    return bytes <= room->bytes_max;
}

static void room_grant(struct control_room *room)
{
    if (room->is_granting)
        return;
    room->is_granting = true;
    while (room->first != NULL && room->first->bytes <= left_of(room, room->run_bytes)) {
        struct room_waiter *waiter = room->first;
        room->first = waiter->next;
        waiter->is_waiting = false;
        room_count(room, &room->run_bytes, (int64_t)waiter->bytes);
        waiter->granted(waiter);
    }
    room->is_granting = false;
}

void control_room_wait(struct control_room *room, struct room_waiter *waiter)
{
    struct room_waiter **link = &room->first;
    while (*link != NULL)
        link = &(*link)->next;
    waiter->next = NULL;
    waiter->is_waiting = true;
    *link = waiter;
    room_grant(room);
}

void control_room_forget(struct control_room *room, struct room_waiter *waiter)
{
    struct room_waiter **link = &room->first;
    if (!waiter->is_waiting)
        return;
    while (*link != waiter)
        link = &(*link)->next;
    *link = waiter->next;
    waiter->is_waiting = false;
    room_grant(room);
}

void control_room_give_back(struct control_room *room, size_t bytes)
{
    room_count(room, &room->run_bytes, -(int64_t)bytes);
    room_grant(room);
}

/* ---- answers, and what is kept besides ---- */

void control_room_answer(struct control_room *room, int64_t change_bytes)
{
    room_count(room, &room->answer_bytes, change_bytes);
}

size_t control_room_answer_left(const struct control_room *room)
{
    return left_of(room, room->answer_bytes);
}

bool control_room_keep(struct control_room *room, int64_t change_bytes)
{
    if (change_bytes > 0 && (size_t)change_bytes > left_of(room, room->kept_bytes))
        return false;
    room_count(room, &room->kept_bytes, change_bytes);
    return true;
}
