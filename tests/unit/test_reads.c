/* What is refused before a view is taken; what is read is in test_engine. */
#include <criterion/criterion.h>

#include "tests/lib/engine_parts.h"

static void no_page(void *context, int status, const struct error *err,
                    const struct read_page *page)
{
    (void)context, (void)status, (void)err, (void)page;
    cr_assert_fail("a callback after an error");
}

static void no_figures(void *context, int status, const struct error *err,
                       const struct partition_figure *figures, uint32_t count,
                       struct bytes position)
{
    (void)context, (void)status, (void)err, (void)figures, (void)count, (void)position;
    cr_assert_fail("a callback after an error");
}

Test(reads, a_table_that_is_not_there_is_refused)
{
    struct engine_parts parts;
    struct error err = {0};
    engine_parts_start(&parts, &(struct engine_options){0});
    const struct read_request request = {
        .table_id = 7, .row_limit = 1, .slice = stream_slice_all()};
    cr_expect_eq(reads_read(&parts.reads, &request, no_page, NULL, &err), ERROR_NOT_FOUND);
    cr_expect_eq(
        reads_stats(&parts.reads, 7, 0, (struct bytes){0}, READ_DURABLE, no_figures, NULL, &err),
        ERROR_INVALID);
    const struct group_request group = {.table_id = 7};
    cr_expect_eq(reads_group(&parts.reads, &group, no_figures, NULL, &err), ERROR_INVALID);
    cr_expect_eq(parts.env.jobs, 0);
    cr_expect_eq(parts.reads.bytes, 0);
    engine_parts_stop(&parts);
}

Test(reads, a_scrub_of_a_store_that_has_failed_is_refused)
{
    struct engine_parts parts;
    struct error err = {0};
    engine_parts_start(&parts, &(struct engine_options){0});
    engine_env_fail(&parts.env, ERROR_CORRUPT, "a sync failed");
    cr_expect_eq(reads_scrub(&parts.reads, NULL, NULL, NULL, &err), ERROR_FAILED);
    cr_expect_str_eq(err.text, "a sync failed");
    engine_parts_stop(&parts);
}
