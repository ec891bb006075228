/* test_known_resellers: all that have figures are listed once, and what is added later is there. */
#include "rollup/days/known_resellers.h"

#include <criterion/criterion.h>

#include "tests/lib/rollup_fixture.h"

static void done(void *context, int status, const struct error *err)
{
    cr_assert_eq(status, 0, "%s", err != NULL ? err->text : "");
    *(bool *)context = true;
}

static void read_all(struct rollup_fixture *fixture, struct known_resellers *known)
{
    bool is_done = false;
    known_resellers_read(known, done, &is_done);
    rollup_fixture_step_until(fixture, &is_done);
}

Test(known_resellers, are_those_with_figures_and_those_that_were_added)
{
    struct rollup_fixture fixture = {0};
    struct known_resellers known;
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "bert", "2013-11-28", "1");
    rollup_fixture_click(&fixture, "bert", "2013-11-29", "1");
    rollup_fixture_click(&fixture, "anna", "2013-11-28", "1");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_click(&fixture, "without figures", "2013-11-28", "1");
    known_resellers_init(&known, fixture.store, click_stream_builtin());
    known_resellers_add(&known, bytes_text("carl"));
    read_all(&fixture, &known);
    cr_assert_eq(key_map_count(known.map), 3);
    known_resellers_add(&known, bytes_text("dora"));
    read_all(&fixture, &known); /* at once: nothing is scanned again */
    cr_assert_eq(key_map_count(known.map), 4);
    known_resellers_release(&known);
    rollup_fixture_stop(&fixture);
}
