/* input_room: the memory of what has come in at the ingest door and is not in the store yet.
 *
 * Input that is no whole line or frame yet, and the rows of batches that have not ended, count, but
 * for INPUT_ROOM_FREE of each connection.  While there is room everybody goes on; then who holds
 * something waits, and goes on by turns when there is some again.
 *
 * There are two halves: of connections of whose clicks some became durable, and of those that have
 * shown nothing yet.  So connections that only take cannot keep working ones from theirs, however
 * many they are.  In the former who waits longest is next, in the latter who connected last: of a
 * crowd that takes and gives nothing the newest is the one that may be none of it.
 *
 * Two of each half go on always: who has held something for longest, and one guest, who was next
 * when there was no other.  Each wait ends when they have finished, or were closed for not going on
 * (connection_memory.c). */
#ifndef DAYBOOK_INGEST_CONNECTION_INPUT_ROOM_H
#define DAYBOOK_INGEST_CONNECTION_INPUT_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

enum {
    INPUT_ROOM_FREE = 32 << 10,        /* bytes of each connection that do not count, */
    INPUT_ROOM_LINES = 32              /* and lines at a time that one takes who has no more */
};

/* One connection's; its owner's memory, begins as zeros but for the first. */
struct input_member {
    uint64_t number;                   /* of connections, in the order in which they came */
    size_t bytes;                      /* that count */
    bool is_proven;
    bool is_waiting;
    int64_t since_us;                  /* it holds some, or was let on: the owner's, monotonic, */
    int64_t came_us;                   /* as are when bytes came last, */
    uint64_t came;                     /* and how many since then */
    TAILQ_ENTRY(input_member) holding;
    struct input_member *next;         /* who waits */
};

struct input_half {
    size_t bytes;
    TAILQ_HEAD(, input_member) holders;            /* of some, by when they began */
    struct input_member *waiting;      /* in the order in which they are let on */
    struct input_member *guest;        /* until it holds nothing any more */
};

/* The owner's memory. */
struct input_room {
    size_t bytes_max;
    void (*let_on)(void *context, struct input_member *member);    /* it does not wait any more */
    void *context;
    struct input_half halves[2];       /* of those that have shown nothing, and of the others */
};

void input_room_init(struct input_room *room, size_t bytes_max,
                     void (*let_on)(void *context, struct input_member *member), void *context);

/* Whether it may take more. */
bool input_room_admits(const struct input_room *room, const struct input_member *member);
/* Whether so much is in use that what can be done without should be given back. */
bool input_room_is_tight(const struct input_room *room);
bool input_room_has_waiting(const struct input_room *room);
size_t input_room_bytes(const struct input_room *room);

/* It has `bytes` by now, INPUT_ROOM_FREE included; lets on who may go on then. */
void input_room_count(struct input_room *room, struct input_member *member, size_t bytes);
/* It cannot go on without room: from now on it waits, or no longer. */
void input_room_wait(struct input_room *room, struct input_member *member, bool is_waiting);
/* If it is a guest, others may be. */
void input_room_pass(struct input_room *room, struct input_member *member);
/* Clicks of it are durable. */
void input_room_prove(struct input_room *room, struct input_member *member);
#endif
