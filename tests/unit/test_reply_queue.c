/* Answers leave in the order of what they answer, whichever is true first. */
#include "ingest/connection/reply_queue.h"

#include <criterion/criterion.h>

struct fixture {
    struct reply_queue queue;
    struct buffer text;
    uint32_t ready;
};

struct large {
    struct reply reply;
    uint64_t more[4];
};

static void count_ready(void *context)
{
    struct fixture *fixture = context;

    fixture->ready++;
}

static struct reply *say(struct fixture *fixture, const char *text)
{
    struct large *large = reply_queue_add(&fixture->queue, sizeof *large);

    cr_expect_eq(large->more[3], 0);
    buffer_append_text(&large->reply.text, text);
    return &large->reply;
}

static void expect_taken(struct fixture *fixture, const char *text, bool is_last)
{
    buffer_clear(&fixture->text);
    cr_expect_eq(reply_queue_take(&fixture->queue, &fixture->text), is_last);
    cr_expect(bytes_equal(buffer_view(&fixture->text), bytes_text(text)), "not %s", text);
}

Test(reply_queue, a_reply_leaves_when_it_and_all_before_it_are_ready)
{
    struct fixture fixture = {0};
    struct reply *first;
    struct reply *second;

    reply_queue_open(&fixture.queue, count_ready, &fixture);
    first = say(&fixture, "one ");
    second = say(&fixture, "two ");
    reply_queue_ready(second);
    cr_expect_eq(fixture.ready, 0);
    expect_taken(&fixture, "", false);
    reply_queue_ready(first);
    cr_expect_eq(fixture.ready, 1);
    expect_taken(&fixture, "one two ", false);
    cr_expect_eq(fixture.queue.count, 0);
    cr_expect_eq(fixture.queue.bytes, 0);
    buffer_release(&fixture.text);
}

Test(reply_queue, nothing_leaves_behind_the_last_words)
{
    struct fixture fixture = {0};
    struct reply *last;

    reply_queue_open(&fixture.queue, count_ready, &fixture);
    last = say(&fixture, "end");
    last->is_last = true;
    reply_queue_ready(last);
    reply_queue_ready(say(&fixture, "behind"));
    expect_taken(&fixture, "end", true);
    cr_expect_eq(fixture.queue.count, 1);
    reply_queue_abandon(&fixture.queue);
    buffer_release(&fixture.text);
}

Test(reply_queue, bytes_count_from_when_the_text_is_there_until_it_leaves)
{
    struct fixture fixture = {0};
    struct reply *reply;

    reply_queue_open(&fixture.queue, count_ready, &fixture);
    reply = say(&fixture, "one");
    cr_expect_eq(fixture.queue.bytes, 0);
    reply_queue_count(reply);
    cr_expect(fixture.queue.bytes >= sizeof(struct large) + 3);
    reply_queue_cancel(&fixture.queue, reply);
    cr_expect_eq(fixture.queue.bytes, 0);
    cr_expect_eq(fixture.queue.count, 0);
    reply_queue_ready(say(&fixture, "two"));
    expect_taken(&fixture, "two", false);
    buffer_release(&fixture.text);
}

Test(reply_queue, what_is_not_ready_outlives_its_queue_and_is_freed_when_it_is)
{
    struct fixture fixture = {0};
    struct reply *waiting;

    reply_queue_open(&fixture.queue, count_ready, &fixture);
    waiting = say(&fixture, "late");
    reply_queue_ready(say(&fixture, "soon"));
    reply_queue_abandon(&fixture.queue);
    cr_expect_eq(fixture.queue.count, 0);
    cr_expect(waiting->queue == NULL);
    reply_queue_count(waiting);
    reply_queue_ready(waiting);
    cr_expect_eq(fixture.ready, 0);
    buffer_release(&fixture.text);
}
