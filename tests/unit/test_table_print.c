/* test_table_print: the four formats, and what must be escaped in each. */
#include "base/cli/table_print.h"

#include <criterion/criterion.h>

static const struct table_column columns[] = {{"id", TABLE_TEXT},
                                              {"clicks", TABLE_NUMBER},
                                              {"amount", TABLE_DECIMAL},
                                              {"causes", TABLE_LIST}};

static void row(struct table_print *print, const char *id, const char *clicks, const char *amount,
                const char *causes)
{
    const char *texts[] = {id, clicks, amount, causes};
    struct bytes cells[4];
    for (int i = 0; i < 4; i++)
        cells[i] = texts[i] != NULL ? bytes_text(texts[i]) : bytes_of(NULL, 0);
    table_print_row(print, cells);
}

static void expect(enum table_format format, const char *expected)
{
    struct buffer text = {0};
    struct table_print *print = table_print_new(format, columns, 4, &text);
    row(print, "a,\"b", "7", "0.00250", "rate clicks");
    row(print, "Zürich|", "1000", NULL, "");
    table_print_finish(print);
    buffer_put_u8(&text, 0);
    cr_expect_str_eq((const char *)text.data, expected);
    buffer_release(&text);
}

Test(table_print, columns_are_aligned_by_kind_and_lines_do_not_end_in_spaces)
{
    expect(TABLE_ALIGNED, "id       clicks   amount  causes\n"
                          "a,\"b          7  0.00250  rate clicks\n"
                          "Zürich|    1000\n");
}

Test(table_print, csv_quotes_what_must_be_and_tells_null_from_empty)
{
    expect(TABLE_CSV, "id,clicks,amount,causes\n"
                      "\"a,\"\"b\",7,0.00250,rate clicks\n"
                      "Zürich|,1000,,\"\"\n");
}

Test(table_print, safe_csv_makes_no_cell_a_formula_and_leaves_numbers)
{
    static const char *const formulas[] = {"=1+2", "+1", "-1", "@SUM(1)", "\t=1", "a=1"};
    static const char expected[] = "id,clicks,amount,causes\n'=1+2,-7,-0.5,'-x\n'+1,-7,-0.5,'-x\n"
                                   "'-1,-7,-0.5,'-x\n'@SUM(1),-7,-0.5,'-x\n'\t=1,-7,-0.5,'-x\n"
                                   "a=1,-7,-0.5,'-x\n";
    struct buffer text = {0};
    struct table_print *print = table_print_new(TABLE_CSV_SAFE, columns, 4, &text);
    for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++)
        row(print, formulas[i], "-7", "-0.5", "-x");
    table_print_finish(print);
    buffer_put_u8(&text, 0);
    cr_expect_str_eq((const char *)text.data, expected, "%s", (const char *)text.data);
    buffer_release(&text);
}

Test(table_print, json_has_decimals_as_strings_and_lists_as_arrays)
{
    expect(TABLE_JSON,
           "[\n  {\"id\": \"a,\\\"b\", \"clicks\": 7, \"amount\": \"0.00250\", "
           "\"causes\": [\"rate\", \"clicks\"]},\n"
           "  {\"id\": \"Zürich|\", \"clicks\": 1000, \"amount\": null, \"causes\": []}\n]\n");
}

Test(table_print, a_list_that_begins_with_spaces_is_json)
{
    struct buffer text = {0};
    struct table_print *print = table_print_new(TABLE_JSON, columns, 4, &text);
    row(print, "a", "7", NULL, "  rate  clicks ");
    table_print_finish(print);
    buffer_put_u8(&text, 0);
    cr_expect(strstr((const char *)text.data, "[\"rate\", \"clicks\"]") != NULL);
    buffer_release(&text);
}

Test(table_print, markdown_escapes_its_bars)
{
    expect(TABLE_MARKDOWN, "| id | clicks | amount | causes |\n|---|---:|---:|---|\n"
                           "| a,\"b | 7 | 0.00250 | rate clicks |\n"
                           "| Zürich\\| | 1000 |  |  |\n");
}

Test(table_print, an_empty_table_has_its_header_only)
{
    static const char *const expected[] = {"id  clicks  amount  causes\n",
                                           "id,clicks,amount,causes\n", "id,clicks,amount,causes\n",
                                           "[]\n"};
    for (int format = TABLE_ALIGNED; format <= TABLE_JSON; format++) {
        struct buffer text = {0};
        table_print_finish(table_print_new((enum table_format)format, columns, 4, &text));
        buffer_put_u8(&text, 0);
        cr_expect_str_eq((const char *)text.data, expected[format]);
        buffer_release(&text);
    }
}

Test(table_print, a_long_aligned_table_holds_back_a_bounded_number_of_rows)
{
    struct buffer text = {0};
    struct table_print *print = table_print_new(TABLE_ALIGNED, columns, 4, &text);
    for (int i = 0; i < TABLE_ROWS_HELD - 1; i++)
        row(print, "a", "1", "2", "c");
    cr_assert_eq(text.size, 0);
    row(print, "a", "1", "2", "c");
    size_t line = text.size / (TABLE_ROWS_HELD + 1);
    size_t before = text.size;
    row(print, "a", "1", "2", "c");
    cr_assert_geq(text.size - before, line - 10);
    table_print_finish(print);
    buffer_release(&text);
}

Test(table_print, control_characters_do_not_reach_a_terminal)
{
    struct buffer text = {0};
    struct table_print *print = table_print_new(TABLE_ALIGNED, columns, 4, &text);
    row(print, "\x1b[2J\xc2\x9b", "1", "2", "c");
    table_print_finish(print);
    buffer_put_u8(&text, 0);
    cr_assert_not_null(strstr((const char *)text.data, "?[2J?"));
    cr_assert_null(memchr(text.data, 0x1b, text.size));
    buffer_release(&text);
}

Test(table_print, csv_quotes_a_leading_hash)
{
    struct buffer text = {0};
    table_print_csv_field(&text, bytes_text("#sync"));
    buffer_put_u8(&text, 0);
    cr_assert_str_eq((const char *)text.data, "\"#sync\"");
    buffer_release(&text);
}

Test(table_print, cells_are_written_into_one_text_and_a_null_is_no_empty_one)
{
    struct buffer text = {0};
    struct table_cells cells = {.count = 0};
    struct table_print *print = table_print_new(TABLE_CSV, columns, 4, &text);
    for (int i = 0; i < 2; i++) {
        buffer_append_text(table_print_cell(&cells, false), "a");
        table_print_cell(&cells, true);
        table_print_cell(&cells, false);
        buffer_printf(table_print_cell(&cells, false), "c%d", i);
        table_print_cells(print, &cells);
        cr_assert_eq(cells.count, 0);
        cr_assert_null(cells.text.data);
    }
    table_print_finish(print);
    buffer_put_u8(&text, 0);
    cr_assert_not_null(strstr((const char *)text.data, "\na,,\"\",c0\na,,\"\",c1\n"));
    buffer_release(&text);
}
