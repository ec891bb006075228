/* control_room: the memory that a server's commands take together, and who waits for some.
 *
 * Three parts of the same size: for commands that run, with what goes along with them; for answers
 * that wait for their readers; and for what commands keep besides, such as an entry for each ad.
 * The first is waited for, in turn.  The second shrinks as it fills: an answer may wait to half of
 * what is left, so that many who do not read have little each, and whoever reads is served.  The
 * third is refused where it ends. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONTROL_ROOM_H
#define DAYBOOK_PROGRAM_CONTROL_CONTROL_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One that waits; its owner's memory. */
struct room_waiter {
    size_t bytes;
    void (*granted)(struct room_waiter *waiter);       /* they are taken */
    struct room_waiter *next;
    bool is_waiting;
};

/* The owner's memory; begins as zeros but for the first three. */
struct control_room {
    size_t bytes_max;                  /* of each of the three below */
    void (*changed)(void *context, int64_t change_bytes);      /* tells an account; NULL: none */
    void *context;
    size_t run_bytes;
    size_t answer_bytes;
    size_t kept_bytes;
    struct room_waiter *first;
    bool is_granting;
};

/* Whether it could ever be granted. */
bool control_room_may_grant(const struct control_room *room, size_t bytes);
/* `granted` is called when there is room, which may be at once. */
void control_room_wait(struct control_room *room, struct room_waiter *waiter);
/* Nothing is granted to it any more.  One that does not wait is fine. */
void control_room_forget(struct control_room *room, struct room_waiter *waiter);
/* What was granted. */
void control_room_give_back(struct control_room *room, size_t bytes);

/* So much more waits for a reader, or less. */
void control_room_answer(struct control_room *room, int64_t change_bytes);
/* Bytes of which an answer may have half waiting. */
size_t control_room_answer_left(const struct control_room *room);

/* What a command keeps besides: false, and nothing is taken, if it is more and there is no room. */
bool control_room_keep(struct control_room *room, int64_t change_bytes);
#endif
