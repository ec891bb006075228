/* test_rate_effect: what is printed of changed rates follows from the days alone, in whatever order
 * and at whatever rate they come. */
#include "rollup/commands/rate_effect.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "rollup/days/figure.h"
#include "base/calendar.h"

enum { FIRST_DAY = 16000 };

static struct rate_edit edit(const char *reseller, int32_t since, int64_t percent)
{
    return (struct rate_edit){
        .reseller = bytes_text(reseller), .since = since, .rate = decimal_from(percent, 2)};
}

static struct day_figure figure(const char *reseller, int32_t day, uint64_t clicks)
{
    return (struct day_figure){.reseller = bytes_text(reseller),
                               .day = day,
                               .clicks = clicks,
                               .gross = decimal_from((int64_t)clicks, 1)};
}

static struct buffer text_of(const struct rate_effect *effect)
{
    struct buffer text = {0};
    rate_effect_print(effect, &text);
    buffer_put_u8(&text, 0);
    return text;
}

static void expect_text(struct rate_effect *effect, const char *wanted)
{
    struct buffer text = text_of(effect);
    cr_expect_str_eq((const char *)text.data, wanted);
    buffer_release(&text);
    rate_effect_free(effect);
}

static void add(struct rate_effect *effect, struct day_figure figure)
{
    cr_assert_eq(rate_effect_add(effect, &figure), 0);
}

Test(rate_effect, days_are_priced_at_the_rates_before_and_after_whatever_rate_they_come_with)
{
    for (int i = 0; i < 3; i++) {
        struct rate_table *rates = rate_table_new();
        struct day_figure day = figure("r", FIRST_DAY + 1, 2);
        const struct rate at[] = {{.rate = decimal_from(20, 2)}, {.rate = decimal_from(30, 2)}};
        const struct rate_edit edits[] = {edit("r", FIRST_DAY + 1, 30)};
        rate_table_set(rates, bytes_text("r"), FIRST_DAY, at[0].rate);
        struct rate_effect *effect = rate_effect_new(rates, edits, 1);
        cr_assert_eq(figure_price(&day, i < 2 ? &at[i] : NULL), 0);
        add(effect, day);
        expect_text(effect, "reseller_id  day         clicks  rate        amount\n"
                            "r            2013-10-23       2  20% -> 30%  0.040 -> 0.060\n"
                            "1 day of 1 reseller, 2 clicks: amount 0.040 -> 0.060\n");
        rate_table_free(rates);
    }
}

Test(rate_effect, a_rate_that_comes_or_goes_prices_or_unprices_its_days)
{
    struct rate_table *rates = rate_table_new();
    struct rate_edit edits[] = {edit("a", FIRST_DAY, 50), edit("b", FIRST_DAY, 0)};
    edits[1].is_delete = true;
    rate_table_set(rates, bytes_text("b"), FIRST_DAY, decimal_from(25, 2));
    struct rate_effect *effect = rate_effect_new(rates, edits, 2);
    rate_table_free(rates);
    add(effect, figure("b", FIRST_DAY, 1));
    add(effect, figure("a", FIRST_DAY, 1));
    expect_text(effect, "reseller_id  day         clicks  rate             amount\n"
                        "a            2013-10-22       1  unpriced -> 50%  -> 0.050\n"
                        "b            2013-10-22       1  25% -> unpriced  0.025 -> \n"
                        "2 days of 2 resellers, 2 clicks: amount 0.025 -> 0.050\n");
}

Test(rate_effect, days_whose_rate_stays_do_not_count)
{
    struct rate_table *rates = rate_table_new();
    const struct rate_edit edits[] = {edit("r", FIRST_DAY, 20), edit("s", FIRST_DAY + 9, 20)};
    rate_table_set(rates, bytes_text("r"), FIRST_DAY - 9, decimal_from(20, 2));
    struct rate_effect *effect = rate_effect_new(rates, edits, 2);
    rate_table_free(rates);
    add(effect, figure("r", FIRST_DAY + 1, 1));
    add(effect, figure("s", FIRST_DAY + 8, 1));
    expect_text(effect, "no day with clicks changes\n");
}

/* More than are printed, given forwards, and by a step that meets every day once. */
Test(rate_effect, the_first_days_are_printed_whatever_order_all_come_in)
{
    enum { RESELLERS = 10, DAYS = 31, ALL = RESELLERS * DAYS };
    static const int steps[] = {1, 7, 133, ALL - 1};
    struct buffer wanted = {0};
    for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
        char names[RESELLERS][16];
        struct rate_edit edits[RESELLERS];
        struct rate_table *rates = rate_table_new();
        for (int i = 0; i < RESELLERS; i++) {
            snprintf(names[i], sizeof(names[i]), "r%d", i);
            edits[i] = edit(names[i], FIRST_DAY, 20 + i);
        }
        struct rate_effect *effect = rate_effect_new(rates, edits, RESELLERS);
        rate_table_free(rates);
        for (int i = 0; i < ALL; i++) {
            int at = i * steps[s] % ALL;
            add(effect, figure(names[at / DAYS], FIRST_DAY + DAYS - at % DAYS, 1 + (uint32_t)at));
        }
        struct buffer text = text_of(effect);
        rate_effect_free(effect);
        if (s == 0) {
            wanted = text;
            continue;
        }
        cr_expect_str_eq((const char *)text.data, (const char *)wanted.data, "step %d", steps[s]);
        buffer_release(&text);
    }
    const char *last = strstr((const char *)wanted.data, "r3 ");
    cr_assert_not_null(last);
    for (const char *next; (next = strstr(last + 1, "r3 ")) != NULL;)
        last = next;
    cr_expect_not_null(strstr(last, "2013-11-16"), "%s", last);
    cr_expect_not_null(strstr(last, "\n… and 210 more\n310 days of 10 resellers, "), "%s", last);
    buffer_release(&wanted);
}

Test(rate_effect, is_an_object_in_json)
{
    struct rate_table *rates = rate_table_new();
    struct rate_edit edits[] = {edit("a", FIRST_DAY, 50)};
    struct rate_effect *effect = rate_effect_new(rates, edits, 1);
    struct buffer text = {0};
    rate_effect_print_json(effect, false, &text);
    add(effect, figure("a", FIRST_DAY, 1));
    rate_effect_print_json(effect, true, &text);
    buffer_put_u8(&text, 0);
    cr_expect_str_eq((const char *)text.data,
                     "{\"applied\": false, \"days\": 0, \"resellers\": 0, \"clicks\": 0, "
                     "\"old_amount\": \"0\", \"new_amount\": \"0\", \"rows\": []}\n"
                     "{\"applied\": true, \"days\": 1, \"resellers\": 1, \"clicks\": 1, "
                     "\"old_amount\": \"0\", \"new_amount\": \"0.050\", \"rows\": [\n"
                     "  {\"reseller_id\": \"a\", \"day\": \"2013-10-22\", \"clicks\": 1, "
                     "\"old_rate\": null, \"new_rate\": \"0.50\", \"old_amount\": null, "
                     "\"new_amount\": \"0.050\"}\n]}\n");
    buffer_release(&text);
    rate_effect_free(effect);
    rate_table_free(rates);
}
