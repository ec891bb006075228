/* test_rate_value: a rate over a column of every type of numbers: what is written reads back as the
 * rate that was given, or nothing is written. */
#include "rollup/days/rate_value.h"

#include <criterion/criterion.h>
#include <string.h>

enum { RATES = 900 };

static const char *const number_types[] = {"decimal", "float",  "double",   "int",
                                           "bigint",  "varint", "smallint", "tinyint"};

struct fixture {
    struct schema *schema;
    const struct table *table;
    struct click_stream_rates rates;
};

static struct fixture setup(const char *type, bool is_percent)
{
    const struct column_definition columns[] = {{1, "who", "text", COLUMN_PARTITION, false},
                                                {2, "since", "text", COLUMN_CLUSTERING, false},
                                                {3, "share", type, COLUMN_REGULAR, false}};
    const struct table_definition definition = {RATES, "net", "shares", "", 0, columns, 3};
    struct fixture fixture = {.schema = schema_new(), .rates = {RATES, 1, 2, 3, is_percent}};
    cr_assert_eq(schema_add_keyspace(fixture.schema, "net", NULL), 0);
    cr_assert_eq(schema_add_table(fixture.schema, &definition, NULL), 0);
    fixture.table = schema_table(fixture.schema, RATES);
    return fixture;
}

static struct decimal number(const char *text)
{
    struct decimal value;
    cr_assert_eq(decimal_parse(bytes_text(text), &value), 0, "%s", text);
    return value;
}

/* Whether the column takes the rate; what it then holds is that rate, and passes the check. */
static bool takes(const char *type, bool is_percent, const char *rate, struct error *err)
{
    struct fixture fixture = setup(type, is_percent);
    const struct type *column = schema_column(fixture.table, 3)->type;
    struct buffer value = {0};
    struct decimal back;
    int rc = rate_value_make(&fixture.rates, fixture.table, number(rate), &value, err);
    if (rc == 0) {
        struct error why = {0};
        struct bytes made = buffer_view(&value);
        cr_expect_eq(type_validate(column, made, &why), 0, "%s %s: %s", type, rate, why.text);
        cr_expect_eq(rate_value_read(&fixture.rates, fixture.table, made, &back), 0);
        cr_expect_eq(decimal_compare(back, number(rate)), 0, "%s %s", type, rate);
        cr_expect_eq(rate_value_check(&fixture.rates, fixture.table, made, &why), 0, "%s",
                     why.text);
    }
    buffer_release(&value);
    schema_unref(fixture.schema);
    return rc == 0;
}

Test(rate_value, every_rate_over_every_type_reads_back_or_is_refused)
{
    static const char *const rates[] = {
        "0", "1", "0.4", "0.40", "0.25", "0.125", "0.005", "0.01", "0.123456789012345678"};
    for (size_t t = 0; t < sizeof(number_types) / sizeof(number_types[0]); t++)
        for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++)
            for (int is_percent = 0; is_percent < 2; is_percent++) {
                struct error err = {0};
                if (!takes(number_types[t], is_percent, rates[r], &err))
                    cr_expect_not_null(strstr(err.text, "share of net.shares is of type"), "%s",
                                       err.text);
            }
}

Test(rate_value, what_a_type_can_hold_it_takes)
{
    struct error err = {0};
    cr_expect(takes("decimal", false, "0.123456789012345678", &err));
    cr_expect(takes("float", false, "0.4", &err));
    cr_expect(takes("float", true, "0.125", &err));
    cr_expect(takes("double", false, "0.123456789012345", &err));
    cr_expect(takes("int", true, "0.40", &err));
    cr_expect(takes("tinyint", true, "1", &err));
    cr_expect(takes("varint", false, "1", &err));
    cr_expect_not(takes("float", false, "0.123456789", &err));
    cr_expect_not(takes("double", false, "0.123456789012345678", &err));
    cr_expect_not(takes("int", true, "0.125", &err));
    cr_expect_not(takes("int", false, "0.40", &err));
    cr_expect_str_eq(err.text,
                     "share of net.shares is of type int, which has no value that is exactly 0.40; "
                     "a rate of fewer digits, or a column of type decimal, or a stream whose rates "
                     "are percent (--rates-unit) would do; nothing was changed");
}

static int check_of(const char *type, bool is_percent, const char *text)
{
    struct fixture fixture = setup(type, is_percent);
    struct buffer value = {0};
    cr_assert_eq(
        type_parse_text(schema_column(fixture.table, 3)->type, bytes_text(text), &value, NULL), 0);
    int rc = rate_value_check(&fixture.rates, fixture.table, buffer_view(&value), NULL);
    buffer_release(&value);
    schema_unref(fixture.schema);
    return rc;
}

Test(rate_value, a_share_is_0_to_1_and_percent_are_0_to_100)
{
    cr_expect_eq(check_of("decimal", false, "1.000"), 0);
    cr_expect_eq(check_of("decimal", false, "0"), 0);
    cr_expect_eq(check_of("decimal", false, "1.0001"), ERROR_INVALID);
    cr_expect_eq(check_of("decimal", false, "45"), ERROR_INVALID);
    cr_expect_eq(check_of("decimal", false, "-0.1"), ERROR_INVALID);
    cr_expect_eq(check_of("decimal", false, "0.1234567890123456789"), ERROR_INVALID);
    cr_expect_eq(check_of("float", false, "NaN"), ERROR_INVALID);
    cr_expect_eq(check_of("double", false, "Infinity"), ERROR_INVALID);
    cr_expect_eq(check_of("int", true, "45"), 0);
    cr_expect_eq(check_of("int", true, "100"), 0);
    cr_expect_eq(check_of("int", true, "101"), ERROR_INVALID);
}
