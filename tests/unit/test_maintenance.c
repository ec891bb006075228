/* A job that finds no space is tried again; one that fails for good fails the engine. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "storage/engine/maintenance_private.h"
#include "tests/lib/engine_parts.h"

struct asked {
    int calls;
    int status;
};

static void note_done(void *context, int status, const struct error *err)
{
    struct asked *asked = context;
    asked->calls++;
    asked->status = status;
    cr_expect_eq(err == NULL, status == 0);
}

Test(maintenance, a_flush_of_nothing_is_done_at_once)
{
    struct engine_parts parts;
    struct asked asked = {0};
    struct error err = {0};
    engine_parts_start(&parts, &(struct engine_options){0});
    cr_assert_eq(maintenance_flush(&parts.maintenance, note_done, &asked, &err), 0);
    cr_expect_eq(asked.calls, 1);
    cr_expect_eq(asked.status, 0);
    engine_parts_stop(&parts);
}

Test(maintenance, a_directory_opened_for_reading_is_not_flushed)
{
    struct engine_parts parts;
    struct error err = {0};
    engine_parts_start(&parts, &(struct engine_options){.read_only = true});
    cr_expect_eq(maintenance_flush(&parts.maintenance, NULL, NULL, &err), ERROR_READ_ONLY);
    cr_expect_eq(maintenance_compact(&parts.maintenance, NULL, NULL, &err), ERROR_READ_ONLY);
    engine_parts_stop(&parts);
}

Test(maintenance, a_full_disk_is_waited_for_and_told)
{
    struct engine_parts parts;
    struct asked asked = {0};
    struct error err = {0};
    engine_parts_start(&parts, &(struct engine_options){0});
    memtable_set_begin_schema(&parts.memtables, engine_parts_newer_schema(&parts), 1);
    buffer_put_u8(&parts.sequencer.payload, 1);
    cr_assert_eq(maintenance_flush(&parts.maintenance, note_done, &asked, &err), 0);
    cr_expect_eq(asked.calls, 0);
    maintenance_job_failed(&parts.maintenance, MAINTENANCE_FLUSH, -ENOSPC, &err);
    cr_expect_eq(asked.calls, 1);
    cr_expect_eq(asked.status, -ENOSPC);
    cr_expect(maintenance_is_waiting_for_space(&parts.maintenance));
    cr_expect_eq(maintenance_status(&parts.maintenance), -ENOSPC);
    cr_expect_eq(parts.failures, 0);
    engine_parts_fire(&parts, &parts.maintenance.retry_timer);
    cr_expect(!maintenance_is_waiting_for_space(&parts.maintenance));
    cr_expect_eq(maintenance_status(&parts.maintenance), 0);
    cr_expect_eq(parts.changes, 2);
    maintenance_stop(&parts.maintenance);
    cr_expect_eq(parts.timers, 0);
    engine_parts_stop(&parts);
}

Test(maintenance, failures_of_a_kind_are_logged_once_a_minute)
{
    struct engine_parts parts;
    struct error err = {.text = "no room"};
    char said[1000] = "";
    const char *time = "time=1970-01-01T00:00:00.000Z";
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    engine_parts_start(&parts, &(struct engine_options){0});
    for (int i = 0; i < 3; i++)
        maintenance_job_failed(&parts.maintenance, MAINTENANCE_FLUSH, -ENOSPC, &err);
    maintenance_job_failed(&parts.maintenance, MAINTENANCE_MERGE, ERROR_CORRUPT, &err);
    cr_assert_gt(read(ends[0], said, sizeof said - 1), 0);
    char *second = strchr(said, '\n') + 1;
    cr_expect_str_eq(second + strlen(time), " level=warning event=merge_failed reason=\"no room\" "
                                            "effect=\"nothing more is written\" times_count=1\n");
    *second = '\0';
    cr_expect_str_eq(said + strlen(time),
                     " level=warning event=flush_failed reason=\"no room\" "
                     "effect=\"it is tried again every second\" times_count=1\n");
    engine_parts_stop(&parts);
}

Test(maintenance, damage_fails_the_engine)
{
    struct engine_parts parts;
    struct error err = {0};
    engine_parts_start(&parts, &(struct engine_options){0});
    error_set(&err, ERROR_CORRUPT, "a page is damaged");
    maintenance_job_failed(&parts.maintenance, MAINTENANCE_MERGE, ERROR_CORRUPT, &err);
    cr_expect_eq(parts.failures, 1);
    cr_expect_eq(parts.env.failed, ERROR_CORRUPT);
    cr_expect(!maintenance_is_waiting_for_space(&parts.maintenance));
    engine_parts_stop(&parts);
}
