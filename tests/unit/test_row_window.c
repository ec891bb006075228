/* test_row_window: the rows of a page, out of tables as commands print them, in pieces of any
 * size. */
#include "query/web/row_window.h"

#include <criterion/criterion.h>

#include "base/cli/table_print.h"

enum { ROWS = 5 };

/* Rows with what could be taken for the end of a row. */
static struct buffer print_table(enum table_format format)
{
    static const struct table_column columns[] = {{"id", TABLE_TEXT}, {"clicks", TABLE_NUMBER}};
    static const char *const ids[ROWS] = {"a", " b\nc", "d\",\"e", "[f],", ""};
    struct buffer text = {0};
    struct table_print *print = table_print_new(format, columns, 2, &text);

    for (int i = 0; i < ROWS; i++)
        table_print_row(print, (struct bytes[]){bytes_text(ids[i]), bytes_text("7")});
    table_print_finish(print);
    return text;
}

static void expect_window(enum table_format format, uint64_t skipped, uint64_t rows_max,
                          size_t bytes_max, const char *wanted, uint64_t taken)
{
    struct buffer printed = print_table(format);

    for (size_t piece = 1; piece <= printed.size; piece++) {
        struct row_window window = {.is_csv = format == TABLE_CSV,
                                    .skipped = skipped,
                                    .rows_max = rows_max,
                                    .bytes_max = bytes_max};
        struct buffer rows = {0};
        for (size_t at = 0; at < printed.size; at += piece) {
            size_t size = printed.size - at < piece ? printed.size - at : piece;
            row_window_take(&window, bytes_of(printed.data + at, size), &rows);
        }
        cr_expect_eq(window.taken, taken);
        cr_expect_eq(row_window_total(&window), ROWS);
        buffer_put_u8(&rows, 0);
        cr_expect_str_eq((const char *)rows.data, wanted, "pieces of %zu: %s", piece,
                         (const char *)rows.data);
        buffer_release(&rows);
    }
    buffer_release(&printed);
}

Test(row_window, takes_rows_of_json)
{
    expect_window(TABLE_JSON, 0, 2, 1000,
                  "{\"id\": \"a\", \"clicks\": 7},\n{\"id\": \" b\\nc\", \"clicks\": 7}", 2);
    expect_window(TABLE_JSON, 2, 2, 1000,
                  "{\"id\": \"d\\\",\\\"e\", \"clicks\": 7},\n{\"id\": \"[f],\", \"clicks\": 7}",
                  2);
    expect_window(TABLE_JSON, 4, 100, 1000, "{\"id\": \"\", \"clicks\": 7}", 1);
    expect_window(TABLE_JSON, 5, 100, 1000, "", 0);
}

Test(row_window, takes_rows_of_csv_below_their_header)
{
    expect_window(TABLE_CSV, 0, 2, 1000, "id,clicks\na,7\n\" b\nc\",7\n", 2);
    expect_window(TABLE_CSV, 2, 1, 1000, "id,clicks\n\"d\"\",\"\"e\",7\n", 1);
    expect_window(TABLE_CSV, 5, 1, 1000, "id,clicks\n", 0);
}

/* The row that passes the limit of bytes is whole. */
Test(row_window, ends_after_bytes)
{
    expect_window(TABLE_JSON, 0, 100, 25,
                  "{\"id\": \"a\", \"clicks\": 7},\n{\"id\": \" b\\nc\", \"clicks\": 7}", 2);
    expect_window(TABLE_CSV, 0, 100, 11, "id,clicks\na,7\n", 1);
}

Test(row_window, an_empty_table_has_no_rows)
{
    struct row_window window = {.rows_max = 10, .bytes_max = 1000};
    struct buffer rows = {0};

    row_window_take(&window, bytes_text("[]\n"), &rows);
    cr_expect(rows.size == 0 && row_window_total(&window) == 0);
}

/* Enough: the last row that is wanted is whole, and those behind it need not be counted. */
Test(row_window, has_enough)
{
    struct row_window window = {.is_open = true, .rows_max = 1, .bytes_max = 1000};
    struct buffer rows = {0};

    row_window_take(&window, bytes_text("[\n  {1}"), &rows);
    cr_expect(!row_window_has_enough(&window));
    row_window_take(&window, bytes_text(",\n"), &rows);
    cr_expect(row_window_has_enough(&window));
    window.is_open = false;
    cr_expect(!row_window_has_enough(&window), "all rows are counted");
    buffer_release(&rows);
}
