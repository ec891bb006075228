/* The lines of answers, as docs/PROTOCOL.md gives them. */
#include "ingest/connection/answer_text.h"

#include <criterion/criterion.h>

static void expect_text(struct buffer *text, const char *expected)
{
    cr_expect(bytes_equal(buffer_view(text), bytes_text(expected)), "%.*s", (int)text->size,
              (const char *)text->data);
    buffer_clear(text);
}

Test(answer_text, ok_and_error_name_the_batch_or_none)
{
    struct buffer text = {0};

    answer_text_ok(&text, 7, 3, 1, 0);
    expect_text(&text, "ok 7 accepted 3 rejected 1\n");
    answer_text_ok(&text, 0, 3, 0, 2);
    expect_text(&text, "ok - accepted 3 rejected 0 duplicates 2\n");
    answer_text_error(&text, 0, "http", NULL);
    expect_text(&text, "error - http\n");
    answer_text_error(&text, 9, "sequence_gap", "expected 8");
    expect_text(&text, "error 9 sequence_gap expected 8\n");
    buffer_release(&text);
}

Test(answer_text, rejects_have_lines_up_to_a_limit_and_are_summed_up_beyond)
{
    struct buffer text = {0};
    struct reject_list list = {0};
    uint64_t sums[REJECT_CODE_COUNT] = {0};
    uint64_t sent = 1;

    reject_list_add(&list, 4, REJECT_EMPTY_LINE, bytes_text(""), bytes_text(""));
    reject_list_add(&list, 5, REJECT_TOO_FEW_FIELDS, bytes_text("a\"b"), bytes_text("a\"b"));
    reject_list_add(&list, 6, REJECT_TOO_FEW_FIELDS, bytes_text("c"), bytes_text("c"));
    answer_text_rejects(&text, &list, 7, 2, &sent, sums);
    expect_text(&text, "reject 7 4 empty_line \"\"\n");
    cr_expect_eq(sent, 2);
    cr_expect_eq(sums[REJECT_TOO_FEW_FIELDS], 2);
    answer_text_reject_sums(&text, 7, sums);
    expect_text(&text, "rejects 7 too_few_fields 2\n");
    answer_text_rejects(&text, &list, 0, 4, &sent, sums);
    expect_text(&text, "reject - 4 empty_line \"\"\nreject - 5 too_few_fields \"a\\\"b\"\n");
    reject_list_release(&list);
    buffer_release(&text);
}
