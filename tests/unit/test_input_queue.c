#include <criterion/criterion.h>

#include "ingest/connection/input_queue.h"
#include "base/memory.h"

static void fill(struct input_queue *input, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        uint8_t *to;
        size_t size;

        input_queue_space(input, true, &to, &size);
        cr_assert(size > 0);
        size = size < left ? size : left;
        memcpy(to, text, size);
        input_queue_filled(input, size);
        text += size;
        left -= size;
    }
}

static void expect_rest(const struct input_queue *input, const char *text)
{
    cr_expect(bytes_equal(input_queue_rest(input), bytes_text(text)), "not %s", text);
}

Test(input_queue, what_comes_is_taken_from_the_front)
{
    struct input_queue input = {0};

    expect_rest(&input, "");
    fill(&input, "one\ntwo\n");
    input_queue_take(&input, 4);
    expect_rest(&input, "two\n");
    fill(&input, "three\n");
    expect_rest(&input, "two\nthree\n");
    input_queue_release(&input);
    input_queue_take(&input, 0);
    expect_rest(&input, "");
}

Test(input_queue, a_sealed_chunk_holds_whole_lines_and_stays_where_it_is)
{
    struct input_queue input = {0};
    struct input_chunk *sealed;
    const uint8_t *data;

    fill(&input, "one\ntwo\nthr");
    sealed = input_queue_seal(&input, 1);
    cr_assert(sealed != NULL && sealed == input.front && sealed != input.back);
    data = sealed->data;
    expect_rest(&input, "one\ntwo\n");
    fill(&input, "ee\nfour");
    cr_expect(sealed->data == data && memcmp(data, "one\ntwo\n", 8) == 0);
    input_queue_take(&input, 8);
    input_queue_advance(&input);
    expect_rest(&input, "three\nfour");
    input_queue_release(&input);
}

Test(input_queue, nothing_is_sealed_without_enough_whole_lines)
{
    struct input_queue input = {0};

    cr_expect(input_queue_seal(&input, 1) == NULL);
    fill(&input, "no end of a line");
    cr_expect(input_queue_seal(&input, 1) == NULL);
    fill(&input, "\nand a part");
    cr_expect(input_queue_seal(&input, 18) == NULL, "whole lines count, not parts");
    cr_expect(input_queue_seal(&input, 17) != NULL);
    input_queue_release(&input);
}

Test(input_queue, at_most_four_chunks_wait_and_then_there_is_space_again_when_one_is_taken)
{
    struct input_queue input = {0};

    for (int i = 0; i < INPUT_QUEUE_CHUNKS_MAX - 1; i++) {
        fill(&input, "line\n");
        cr_expect(input_queue_seal(&input, 1) != NULL);
    }
    cr_expect(input.chunks == INPUT_QUEUE_CHUNKS_MAX);
    while (input_queue_has_space(&input, true))
        fill(&input, "\n");
    cr_expect(input_queue_seal(&input, 1) == NULL);
    for (int i = 0; i < INPUT_QUEUE_CHUNKS_MAX - 1; i++) {
        expect_rest(&input, "line\n");
        input_queue_take(&input, 5);
        input_queue_advance(&input);
    }
    cr_expect(input_queue_has_space(&input, true),
              "the back is the front again, and can move and grow");
    input_queue_release(&input);
}

Test(input_queue, what_is_not_taken_fills_it_and_there_is_always_room_while_it_has_space)
{
    struct input_queue input = {0};
    uint8_t *to;
    size_t size;
    size_t filled = 0;

    while (input_queue_has_space(&input, true)) {
        input_queue_space(&input, true, &to, &size);
        cr_assert(size > 0, "no room behind %zu bytes", filled);
        memset(to, '\n', size);
        input_queue_filled(&input, size);
        filled += size;
    }
    cr_expect(filled == INPUT_QUEUE_MAX, "%zu", filled);
    input_queue_take(&input, 1);
    cr_expect(input_queue_has_space(&input, true));
    input_queue_space(&input, true, &to, &size);
    cr_expect(size == 1);
    input_queue_release(&input);
}

Test(input_queue, a_line_of_a_mebibyte_fits)
{
    struct input_queue input = {0};
    char *line = memory_zeroed(RECORD_LINE_MAX + 2, 1);

    memset(line, 'x', RECORD_LINE_MAX);
    line[RECORD_LINE_MAX] = '\n';
    fill(&input, "short\nthen ");
    cr_expect(input_queue_seal(&input, 1) != NULL);
    input_queue_take(&input, 6);
    input_queue_advance(&input);
    fill(&input, line);
    cr_expect(input_queue_rest(&input).size == 5 + RECORD_LINE_MAX + 1);
    cr_expect(input_queue_seal(&input, 1) != NULL);
    memory_free(line);
    input_queue_release(&input);
}

Test(input_queue, what_follows_a_sealed_part_moves_whatever_its_size_and_its_room_grows)
{
    enum { REST = INPUT_QUEUE_MAX + 5 };
    struct input_queue input = {0};
    struct input_chunk *sealed;
    uint8_t *to;
    size_t size;

    fill(&input, "one");
    input_queue_fit(&input, 3 + REST);
    input_queue_space(&input, true, &to, &size);
    memset(to, 'x', size);
    input_queue_filled(&input, size);
    sealed = input_queue_split(&input, 3);
    cr_assert(sealed != NULL && sealed == input.front && sealed != input.back);
    expect_rest(&input, "one");
    cr_expect(input_queue_back(&input).size == size);
    cr_expect(input.back->capacity > input.back->end, "and a read");
    input_queue_fit(&input, 2 * REST);
    cr_expect(input_queue_back(&input).size == size &&
              input_queue_back(&input).data[size - 1] == 'x');
    expect_rest(&input, "one");
    input_queue_release(&input);
}

/* Two inputs share what either has taken whole; what grew for a long line is not kept. */
Test(input_queue, chunks_that_were_taken_are_used_again)
{
    struct input_spare spare = {0};
    struct input_queue inputs[2] = {{.spare = &spare}, {.spare = &spare}};
    const struct input_chunk *taken;

    fill(&inputs[0], "a\n");
    cr_expect(input_queue_seal(&inputs[0], 1) != NULL);
    fill(&inputs[0], "b\n");
    cr_expect(input_queue_seal(&inputs[0], 1) != NULL);
    input_queue_take(&inputs[0], 2);
    input_queue_advance(&inputs[0]);
    cr_expect(spare.count == 0, "the first one of a connection is small");
    taken = inputs[0].front;
    input_queue_take(&inputs[0], 2);
    input_queue_advance(&inputs[0]);
    cr_expect(spare.count == 1);
    fill(&inputs[1], "c\nd");
    cr_expect(input_queue_seal(&inputs[1], 1) != NULL);
    cr_expect(spare.count == 0 && inputs[1].back == taken);
    input_queue_take(&inputs[1], 2);
    input_queue_advance(&inputs[1]);
    expect_rest(&inputs[1], "d");
    input_queue_release(&inputs[0]);
    input_queue_release(&inputs[1]);
    cr_expect(spare.count == 2, "%u", spare.count);
    input_queue_spare_release(&spare);
    cr_expect(spare.first == NULL && spare.count == 0);
}
