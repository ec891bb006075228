/* What memory says of the manifest's state, and what it holds for it. */
#include <criterion/criterion.h>

#include "tests/lib/engine_parts.h"

Test(run_set, what_is_flushed_moves_on_with_its_schema_and_timestamp)
{
    struct engine_parts parts;
    engine_parts_start(&parts, &(struct engine_options){0});
    struct schema *newer = engine_parts_newer_schema(&parts);
    run_set_note_flushed(&parts.runs, 10, 500, newer);
    cr_expect_eq(parts.runs.frame_flushed, 10);
    cr_expect_eq(parts.runs.timestamp_us, 500);
    cr_expect_eq(parts.runs.schema, newer);
    /* Frames that gave no timestamp, of a memtable with the schema of before. */
    run_set_note_flushed(&parts.runs, 11, 0, parts.schema);
    cr_expect_eq(parts.runs.frame_flushed, 11);
    cr_expect_eq(parts.runs.timestamp_us, 500);
    cr_expect_eq(parts.runs.schema, newer);
    schema_unref(newer);
    engine_parts_stop(&parts);
}

Test(run_set, numbers_of_segments_are_never_given_twice)
{
    struct engine_parts parts;
    engine_parts_start(&parts, &(struct engine_options){0});
    atomic_store(&parts.runs.id_next, 41);
    cr_expect_eq(run_set_next_id(&parts.runs), 41);
    cr_expect_eq(run_set_next_id(&parts.runs), 42);
    engine_parts_stop(&parts);
}

Test(run_set, without_segments_nothing_is_kept_and_no_table_has_sums)
{
    struct engine_parts parts;
    const struct table table = {.id = 3};
    engine_parts_start(&parts, &(struct engine_options){0});
    cr_expect_eq(run_set_kept_bytes(&parts.runs), 0);
    cr_expect_null(run_set_index(&parts.runs, 3));
    cr_expect(!run_set_may_have_overwrites(&parts.runs, &table));
    cr_expect(!run_set_has_overwrites(&parts.runs, &table, 0, (struct bytes){0}));
    parts.runs.bytes = 100;
    cr_expect_eq(run_set_kept_bytes(&parts.runs), 100);
    engine_parts_stop(&parts);
}
