/* Rows outside of batches gather up to a limit, and are answered with the sums since the last time.
 */
#include "ingest/connection/unnumbered_rows.h"

#include <criterion/criterion.h>

static void expect_answer(struct unnumbered_rows *rows, const char *expected)
{
    struct buffer text = {0};

    unnumbered_rows_answer(rows, &text);
    cr_expect(bytes_equal(buffer_view(&text), bytes_text(expected)), "%.*s", (int)text.size,
              (const char *)text.data);
    buffer_release(&text);
}

Test(unnumbered_rows, lines_and_bytes_each_have_a_limit)
{
    struct unnumbered_rows rows = {0};

    unnumbered_rows_add(&rows, UNNUMBERED_ROWS_LINES_MAX - 1, 10);
    cr_expect_not(unnumbered_rows_are_full(&rows));
    unnumbered_rows_add(&rows, 1, 10);
    cr_expect(unnumbered_rows_are_full(&rows));
    rows = (struct unnumbered_rows){0};
    unnumbered_rows_add(&rows, 1, UNNUMBERED_ROWS_BYTES_MAX);
    cr_expect(unnumbered_rows_are_full(&rows));
}

Test(unnumbered_rows, an_answer_sums_up_what_was_applied_since_the_last_one)
{
    struct unnumbered_rows rows = {0};

    unnumbered_rows_add(&rows, 0, 5);
    cr_expect_not(rows.is_answer_due, "a part of a line is owed no answer");
    unnumbered_rows_add(&rows, 3, 30);
    cr_expect(rows.is_answer_due);
    unnumbered_rows_applied(&rows, 2, 0, 1);
    cr_expect_eq(rows.lines, 0);
    unnumbered_rows_add(&rows, 2, 20);
    unnumbered_rows_applied(&rows, 2, 1, 0);
    rows.reject_sums[REJECT_EMPTY_LINE] = 4;
    rows.in_flight = 2;
    unnumbered_rows_add(&rows, 6, 60);
    expect_answer(&rows, "rejects - empty_line 4\nok - accepted 4 rejected 1 duplicates 1\n");
    cr_expect_not(rows.is_answer_due);
    cr_expect(rows.was_answered);
    cr_expect_eq(rows.in_flight, 2);
    cr_expect_eq(rows.lines, 6, "what gathers is not answered yet");
    expect_answer(&rows, "ok - accepted 0 rejected 0\n");
}
