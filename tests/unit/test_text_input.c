#include <criterion/criterion.h>

#include "ingest/connection/text_input.h"
#include "base/memory.h"

static void fill(struct text_input *input, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        uint8_t *to;
        size_t size;

        text_input_space(input, true, &to, &size);
        cr_assert(size > 0);
        size = size < left ? size : left;
        memcpy(to, text, size);
        text_input_filled(input, size);
        text += size;
        left -= size;
    }
}

static void expect_rest(const struct text_input *input, const char *text)
{
    cr_expect(bytes_equal(text_input_rest(input), bytes_text(text)), "not %s", text);
}

Test(text_input, what_comes_is_taken_from_the_front)
{
    struct text_input input = {0};

    expect_rest(&input, "");
    fill(&input, "one\ntwo\n");
    text_input_take(&input, 4);
    expect_rest(&input, "two\n");
    fill(&input, "three\n");
    expect_rest(&input, "two\nthree\n");
    text_input_release(&input);
}

Test(text_input, a_sealed_chunk_holds_whole_lines_and_stays_where_it_is)
{
    struct text_input input = {0};
    struct text_chunk *sealed;
    const uint8_t *data;

    fill(&input, "one\ntwo\nthr");
    sealed = text_input_seal(&input, 1);
    cr_assert(sealed != NULL && sealed == input.front && sealed != input.back);
    data = sealed->data;
    expect_rest(&input, "one\ntwo\n");
    fill(&input, "ee\nfour");
    cr_expect(sealed->data == data && memcmp(data, "one\ntwo\n", 8) == 0);
    text_input_take(&input, 8);
    text_input_advance(&input);
    expect_rest(&input, "three\nfour");
    text_input_release(&input);
}

Test(text_input, nothing_is_sealed_without_enough_whole_lines)
{
    struct text_input input = {0};

    cr_expect(text_input_seal(&input, 1) == NULL);
    fill(&input, "no end of a line");
    cr_expect(text_input_seal(&input, 1) == NULL);
    fill(&input, "\nand a part");
    cr_expect(text_input_seal(&input, 18) == NULL, "whole lines count, not parts");
    cr_expect(text_input_seal(&input, 17) != NULL);
    text_input_release(&input);
}

Test(text_input, at_most_four_chunks_wait_and_then_there_is_space_again_when_one_is_taken)
{
    struct text_input input = {0};

    for (int i = 0; i < TEXT_CHUNKS_MAX - 1; i++) {
        fill(&input, "line\n");
        cr_expect(text_input_seal(&input, 1) != NULL);
    }
    cr_expect(input.chunks == TEXT_CHUNKS_MAX);
    while (text_input_has_space(&input, true))
        fill(&input, "\n");
    cr_expect(text_input_seal(&input, 1) == NULL);
    for (int i = 0; i < TEXT_CHUNKS_MAX - 1; i++) {
        expect_rest(&input, "line\n");
        text_input_take(&input, 5);
        text_input_advance(&input);
    }
    cr_expect(text_input_has_space(&input, true),
              "the back is the front again, and can move and grow");
    text_input_release(&input);
}

Test(text_input, what_is_not_taken_fills_it_and_there_is_always_room_while_it_has_space)
{
    struct text_input input = {0};
    uint8_t *to;
    size_t size;
    size_t filled = 0;

    while (text_input_has_space(&input, true)) {
        text_input_space(&input, true, &to, &size);
        cr_assert(size > 0, "no room behind %zu bytes", filled);
        memset(to, '\n', size);
        text_input_filled(&input, size);
        filled += size;
    }
    cr_expect(filled == TEXT_INPUT_MAX, "%zu", filled);
    text_input_take(&input, 1);
    cr_expect(text_input_has_space(&input, true));
    text_input_space(&input, true, &to, &size);
    cr_expect(size == 1);
    text_input_release(&input);
}

Test(text_input, a_line_of_a_mebibyte_fits)
{
    struct text_input input = {0};
    char *line = memory_zeroed(RECORD_LINE_MAX + 2, 1);

    memset(line, 'x', RECORD_LINE_MAX);
    line[RECORD_LINE_MAX] = '\n';
    fill(&input, "short\nthen ");
    cr_expect(text_input_seal(&input, 1) != NULL);
    text_input_take(&input, 6);
    text_input_advance(&input);
    fill(&input, line);
    cr_expect(text_input_rest(&input).size == 5 + RECORD_LINE_MAX + 1);
    cr_expect(text_input_seal(&input, 1) != NULL);
    memory_free(line);
    text_input_release(&input);
}

Test(text_input, what_follows_a_sealed_part_moves_whatever_its_size_and_its_room_grows)
{
    enum { REST = TEXT_INPUT_MAX + 5 };
    struct text_input input = {0};
    struct text_chunk *sealed;
    uint8_t *to;
    size_t size;

    fill(&input, "one");
    text_input_fit(&input, 3 + REST);
    text_input_space(&input, true, &to, &size);
    memset(to, 'x', size);
    text_input_filled(&input, size);
    sealed = text_input_split(&input, 3);
    cr_assert(sealed != NULL && sealed == input.front && sealed != input.back);
    expect_rest(&input, "one");
    cr_expect(text_input_back(&input).size == size);
    cr_expect(input.back->capacity > input.back->end, "and a read");
    text_input_fit(&input, 2 * REST);
    cr_expect(text_input_back(&input).size == size &&
              text_input_back(&input).data[size - 1] == 'x');
    expect_rest(&input, "one");
    text_input_release(&input);
}

/* Two inputs share what either has taken whole; what grew for a long line is not kept. */
Test(text_input, chunks_that_were_taken_are_used_again)
{
    struct text_spare spare = {0};
    struct text_input inputs[2] = {{.spare = &spare}, {.spare = &spare}};
    const struct text_chunk *taken;

    fill(&inputs[0], "a\n");
    cr_expect(text_input_seal(&inputs[0], 1) != NULL);
    fill(&inputs[0], "b\n");
    cr_expect(text_input_seal(&inputs[0], 1) != NULL);
    text_input_take(&inputs[0], 2);
    text_input_advance(&inputs[0]);
    cr_expect(spare.count == 0, "the first one of a connection is small");
    taken = inputs[0].front;
    text_input_take(&inputs[0], 2);
    text_input_advance(&inputs[0]);
    cr_expect(spare.count == 1);
    fill(&inputs[1], "c\nd");
    cr_expect(text_input_seal(&inputs[1], 1) != NULL);
    cr_expect(spare.count == 0 && inputs[1].back == taken);
    text_input_take(&inputs[1], 2);
    text_input_advance(&inputs[1]);
    expect_rest(&inputs[1], "d");
    text_input_release(&inputs[0]);
    text_input_release(&inputs[1]);
    cr_expect(spare.count == 2, "%u", spare.count);
    text_spare_release(&spare);
    cr_expect(spare.first == NULL && spare.count == 0);
}
