/* text_memory: see the header.
 *
 * What decides correctness: who waits for room is let on when there is some, or was closed, and who
 * could go on by himself does not wait.  What comes by pieces within INPUT_ROOM_FREE goes on
 * always: a few lines at a time become a group, which is applied at once, so that a client of few
 * lines never meets any of this.
 *
 * While somebody waits it is looked, a few times a second, who holds something and does not go on:
 * he may send nothing for hold_ms, and takes no longer than that and a second for each 64 KiB that
 * came.  What keeps him must be his own doing: a full store, the disk, or that he waits himself are
 * not. */
#include "ingest/connection/text_memory.h"

#include <stddef.h>

#include "ingest/connection/text_door.h"
#include "ingest/connection/text_reply.h"

enum {
    LOOK_MS = 250,
    SLOW_BYTES = 64 << 10, /* a second is slow for who keeps others waiting */
    ANSWERS_LEAST = 16 << 10
};

static struct text_connection *connection_of(struct input_member *member)
{
    return (struct text_connection *)(void *)((char *)member -
                                              offsetof(struct text_connection, member));
}

static void member_begin(struct text_connection *connection)
{
    struct clock *clock = connection->ingest->options.world->clock;

    connection->member.since_us = clock->monotonic_us(clock);
    connection->member.came_us = connection->member.since_us;
    connection->member.came = 0;
}

/* ---- answers ---- */

size_t text_memory_answers(const struct text_connection *connection)
{
    size_t queued = connection->is_closing ? 0 : network_queued(connection->connection);

    return queued + connection->reply_bytes;
}

size_t text_memory_answers_max(const struct text_connection *connection)
{
    const struct ingest *ingest = connection->ingest;
    size_t limit = ingest->options.limits.answers_max;
    size_t half = ingest->answer_bytes < limit ? (limit - ingest->answer_bytes) / 2 : 0;

    if (half < ANSWERS_LEAST)
        return ANSWERS_LEAST;
    return half < TEXT_QUEUE_MAX ? half : TEXT_QUEUE_MAX;
}

static void answers_tell(struct text_connection *connection, size_t bytes)
{
    struct ingest *ingest = connection->ingest;
    int64_t change = (int64_t)bytes - (int64_t)connection->answers_told;

    if (change == 0)
        return;
    connection->answers_told = bytes;
    ingest->answer_bytes += (size_t)change;
    ingest->metrics.answer_bytes->value = (int64_t)ingest->answer_bytes;
    store_hold_memory(ingest->options.store, STORE_HELD_INGEST_ANSWERS, change);
}

/* ---- what came in ---- */

static void input_tell(struct text_connection *connection, size_t bytes)
{
    struct ingest *ingest = connection->ingest;
    size_t before = connection->member.bytes;
    int64_t change;

    input_room_count(&ingest->room, &connection->member, bytes);
    change = (int64_t)connection->member.bytes - (int64_t)before;
    if (before == 0 && change > 0)
        member_begin(connection);
    if (change == 0)
        return;
    ingest->metrics.input_bytes->value += change;
    store_hold_memory(ingest->options.store, STORE_HELD_INPUT, change);
}

bool text_memory_may_grow(const struct text_connection *connection)
{
    return input_room_admits(&connection->ingest->room, &connection->member);
}

static size_t kept_bytes(const struct text_connection *connection)
{
    return text_input_bytes(&connection->input) + row_parts_bytes(&connection->rows) +
           connection->skipped.capacity;
}

bool text_memory_may_take(struct text_connection *connection, uint64_t *lines_max_out)
{
    *lines_max_out = UINT64_MAX;
    if (text_memory_answers(connection) > text_memory_answers_max(connection))
        return false;
    if (text_memory_may_grow(connection))
        return true;
    *lines_max_out = INPUT_ROOM_LINES;
    if (connection->batch.is_open)
        input_tell(connection, kept_bytes(connection));
    return !connection->batch.is_open || connection->member.bytes == 0;
}

bool text_memory_may_read(const struct text_connection *connection, bool has_space)
{
    return has_space && (connection->member.bytes == 0 || text_memory_may_grow(connection));
}

/* Nothing of it is in the rows, nor will be before the next record. */
static bool rows_are_idle(const struct text_connection *connection)
{
    const struct row_parts *rows = &connection->rows;

    return rows->builder != NULL && rows->count == 0 && row_builder_is_empty(rows->builder) &&
           connection->group.lines == 0 && connection->state != TEXT_BLOCKED;
}

static bool input_is_idle(const struct text_connection *connection)
{
    const struct text_chunk *front = connection->input.front;

    return front != NULL && front == connection->input.back &&
           (front->start == front->end || connection->state == TEXT_REFUSED);
}

/* Give back what is made again when it is needed.  Where others wait, who has taken what came is
 * then as one who begins, so that busy ones take turns. */
static void memory_spare(struct text_connection *connection)
{
    struct ingest *ingest = connection->ingest;

    if (connection->jobs > 0)
        return;
    if (input_is_idle(connection)) {
        text_input_release(&connection->input);
        connection->input.spare = &ingest->spare;
    } else if (input_room_has_waiting(&ingest->room)) {
        text_input_shrink(&connection->input);
    }
    if (rows_are_idle(connection))
        row_parts_release(&connection->rows, &ingest->parts);
}

/* ---- who does not go on ---- */

/* What it waits for is not its own doing; the store, the disk, its turn. */
static bool is_kept(const struct text_connection *connection)
{
    return connection->member.is_waiting || connection->is_woken || connection->jobs > 0 ||
           connection->replies != NULL || connection->state != TEXT_RECORDS;
}

static bool is_slow(const struct text_connection *connection, int64_t now_us)
{
    const struct input_member *member = &connection->member;
    int64_t hold_us = connection->ingest->options.limits.hold_ms * 1000;
    int64_t patience_us = hold_us + (int64_t)(member->came * 1000000 / SLOW_BYTES);

    return now_us - member->came_us > hold_us || now_us - member->since_us > patience_us;
}

static void slow_look(struct text_connection *connection, int64_t now_us)
{
    const struct text_batch *batch = &connection->batch;
    struct input_room *room = &connection->ingest->room;

    if (is_kept(connection)) {
        member_begin(connection);
        return;
    }
    if (room->halves[connection->member.is_proven].waiting == NULL || !is_slow(connection, now_us))
        return;
    input_room_pass(room, &connection->member);
    if (connection->member.bytes > 0)
        text_reply_refuse(connection, batch->is_open ? batch->sequence : 0, "too_slow",
                          "others wait for the memory of what it has begun");
}

static void memory_look(struct timer *timer)
{
    struct ingest *ingest = timer->context;
    struct clock *clock = ingest->options.world->clock;
    int64_t now_us = clock->monotonic_us(clock);
    struct text_connection *connection;

    LIST_FOREACH (connection, &ingest->connections, link) {
        if (connection->is_closing)
            continue;
        slow_look(connection, now_us);
        text_door_update(connection);
    }
}

/* ---- the connection ---- */

void text_memory_update(struct text_connection *connection, bool has_space)
{
    struct ingest *ingest = connection->ingest;
    struct executor *executor = ingest->options.world->executor;
    bool is_tight = input_room_is_tight(&ingest->room);

    if (is_tight || connection->state == TEXT_REFUSED)
        memory_spare(connection);
    input_tell(connection, kept_bytes(connection));
    answers_tell(connection, text_memory_answers(connection));
    input_room_wait(&ingest->room, &connection->member,
                    connection->state == TEXT_RECORDS && !text_memory_may_grow(connection) &&
                        (connection->member.bytes > 0 || !has_space));
    if ((is_tight || input_room_has_waiting(&ingest->room)) && ingest->look.handle == NULL)
        executor->timer_start(executor, &ingest->look, LOOK_MS);
}

void text_memory_came(struct text_connection *connection, size_t size)
{
    struct clock *clock = connection->ingest->options.world->clock;

    if (connection->member.bytes == 0)
        return;
    connection->member.came += size;
    connection->member.came_us = clock->monotonic_us(clock);
}

void text_memory_leave(struct text_connection *connection)
{
    input_room_wait(&connection->ingest->room, &connection->member, false);
    input_room_pass(&connection->ingest->room, &connection->member);
    input_tell(connection, 0);
    answers_tell(connection, 0);
}

/* ---- the room ---- */

static void memory_let_on(void *context, struct input_member *member)
{
    struct text_connection *connection = connection_of(member);

    (void)context;
    member_begin(connection);
    text_door_wake(connection);
}

void text_memory_open(struct ingest *ingest)
{
    input_room_init(&ingest->room, ingest->options.limits.input_max, memory_let_on, NULL);
    ingest->look = (struct timer){.fire = memory_look, .context = ingest};
}

void text_memory_close(struct ingest *ingest)
{
    struct executor *executor = ingest->options.world->executor;

    executor->timer_stop(executor, &ingest->look);
}
