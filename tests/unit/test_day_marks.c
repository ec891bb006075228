/* test_day_marks: what marks a day in memory is a row of its batch, and is read back as it was. */
#include "rollup/days/day_marks.h"

#include <criterion/criterion.h>

#include "rollup/days/rate.h"
#include "storage/engine/store_rows.h"
#include "tests/lib/rollup_fixture.h"

#define NOW_US INT64_C(1386000000000000)

/* Rows of the table of marks, by one who knows only its store and stream. */
struct seen {
    int count;
    struct mark_row rows[4];
    bool is_done;
};

static int take(void *context, const struct table *table, const struct page_row *row,
                struct error *err)
{
    struct seen *seen = context;
    cr_assert(bytes_equal(row->key, bytes_text("r")));
    return day_marks_read(table, row, &seen->rows[seen->count++], err);
}

static void done(void *context, int status, const struct error *err)
{
    struct seen *seen = context;
    cr_assert_eq(status, 0, "%s", err != NULL ? err->text : "");
    seen->is_done = true;
}

static void read_marks(struct rollup_fixture *fixture, struct seen *seen)
{
    const struct read_request request =
        store_rows_request(click_stream_builtin()->dirty_table_id, NULL, READ_APPLIED);
    store_rows_read(fixture->store, &request, take, done, seen);
    rollup_fixture_step_until(fixture, &seen->is_done);
}

Test(day_marks, a_mark_is_a_row_of_its_batch_and_is_read_back)
{
    struct rollup_fixture fixture = {0};
    struct day_marks marks;
    struct buffer key = {0};
    struct seen seen = {0};
    uint8_t change[UUID_SIZE];
    rollup_fixture_start(&fixture);
    timeuuid_make(NOW_US, fixture.world->random, change);
    day_marks_init(&marks, fixture.store, click_stream_builtin(), fixture.world->random);
    struct write_batch *batch = write_batch_new();
    dirty_put_key(&key, bytes_text("r"), 16000);
    day_marks_add(&marks, batch, buffer_view(&key), CAUSE_LATE_CLICKS, NULL, NOW_US + 1000000);
    day_marks_add(&marks, batch, buffer_view(&key), CAUSE_LATE_CLICKS, NULL, NOW_US + 2000000);
    day_marks_add(&marks, batch, buffer_view(&key), CAUSE_VOID, change, NOW_US + 500000);
    day_marks_add_range(&marks, batch, bytes_text("r"), 16001, RATE_DAY_END, CAUSE_RATE, change,
                        NOW_US + 3000000);
    cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
    read_marks(&fixture, &seen);
    cr_assert_eq(seen.count, 3, "the second click says nothing new");
    cr_assert_eq(seen.rows[0].mark.cause, CAUSE_LATE_CLICKS);
    cr_assert_not(seen.rows[0].mark.has_change);
    cr_assert_eq(seen.rows[0].until, 16001);
    cr_assert_eq(timeuuid_us(seen.rows[0].mark.id), NOW_US + 1000000);
    cr_assert_eq(seen.rows[1].mark.cause, CAUSE_VOID);
    cr_assert_arr_eq(seen.rows[1].mark.change, change, UUID_SIZE);
    cr_assert_gt(timeuuid_us(seen.rows[1].mark.id), NOW_US + 1000000,
                 "ids ascend where the clock does not");
    cr_assert_eq(seen.rows[2].day, 16001);
    cr_assert_eq(seen.rows[2].until, RATE_DAY_END);
    cr_assert_eq(dirty_set_queued(marks.dirty), 1);
    cr_assert_not_null(dirty_set_first_range(marks.dirty));
    write_batch_free(batch);
    buffer_release(&key);
    day_marks_release(&marks);
    rollup_fixture_stop(&fixture);
}
