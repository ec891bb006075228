/* test_money: what people read has every digit of the command's answer. */
#include "query/web/page/money.h"

#include <criterion/criterion.h>

#include "base/arena.h"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new(4096);
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(money, .init = setup, .fini = teardown);

static void check_text(struct bytes text, const char *wanted)
{
    cr_assert(bytes_equal(text, bytes_text(wanted)), "%.*s is not %s", (int)text.size,
              (const char *)text.data, wanted);
}

static struct decimal of(const char *digits)
{
    return money_of(bytes_text(digits));
}

Test(money, keeps_every_digit)
{
    check_text(money_text(arena, of("1234.00250")), "1,234.00250");
    check_text(money_text(arena, of("")), "0");
    check_text(money_text(arena, money_minus(of("10.5"), of("10.50001"))), "\xE2\x88\x92"
                                                                           "0.00001");
}

Test(money, shows_rates_exactly_and_shares_with_one_digit)
{
    check_text(money_rate(arena, bytes_text("0.225")), "22.5\xC2\xA0%");
    check_text(money_rate(arena, bytes_text("0.5")), "50\xC2\xA0%");
    check_text(money_rate(arena, bytes_text("1")), "100\xC2\xA0%");
    check_text(money_rate(arena, bytes_text("0.00001")), "0.001\xC2\xA0%");
    check_text(money_share(arena, of("1"), of("3")), "33.3\xC2\xA0%");
    cr_expect(money_share(arena, of("1"), of("0.00")).size == 0);
}

Test(money, has_lengths_for_drawing)
{
    cr_expect_float_eq(money_length(of("12.5")), 12.5, 1e-9);
    cr_expect_float_eq(money_length(of("nothing")), 0, 1e-9);
}
