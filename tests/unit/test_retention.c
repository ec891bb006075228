/* test_retention: what its row says is what is loaded; without a row the directory's choice holds.
 */
#include "rollup/days/retention.h"

#include <criterion/criterion.h>

#include "base/calendar.h"
#include "tests/lib/rollup_fixture.h"

static void done(void *context, int status, const struct error *err)
{
    cr_assert_eq(status, 0, "%s", err != NULL ? err->text : "");
    *(bool *)context = true;
}

static struct retention loaded(struct rollup_fixture *fixture)
{
    struct retention retention;
    bool is_done = false;
    retention_init(&retention, fixture->store, click_stream_builtin(), 30);
    retention_load(&retention, done, &is_done);
    rollup_fixture_step_until(fixture, &is_done);
    return retention;
}

Test(retention, is_what_its_row_says)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    struct retention retention = loaded(&fixture);
    cr_assert_eq(retention.keep_days, 30, "there is no row");
    cr_assert_eq(retention.sealed_to, SEALED_NONE);
    struct write_batch *batch = write_batch_new();
    retention_write_keep(&retention, batch, 0);
    retention_write_sealed_to(&retention, batch, 16000);
    cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
    retention = loaded(&fixture);
    cr_assert_eq(retention.keep_days, 0, "kept for ever");
    cr_assert_eq(retention.sealed_to, 16000);
    write_batch_free(batch);
    rollup_fixture_stop(&fixture);
}

Test(retention, the_first_day_that_may_be_due_only_moves_back)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    struct retention retention = loaded(&fixture);
    cr_assert_eq(retention.seal_from, DAY_MIN, "all may be due at first");
    retention.seal_from = 16000;
    retention_expect(&retention, 16001);
    cr_assert_eq(retention.seal_from, 16000);
    retention_expect(&retention, 15999);
    cr_assert_eq(retention.seal_from, 15999);
    rollup_fixture_stop(&fixture);
}
