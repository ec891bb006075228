/* fuzz_row_span: spans of row segments: whatever the bytes are, slices meet them or not; the
 * slice of everything always does, and a slice within another one only if that does. */
#include "storage/segment/row_span.h"
#include "storage/schema/schema.h"
#include "tests/fuzz/fuzz.h"

static const struct column_definition columns[] = {
    {1, "id", "text", COLUMN_PARTITION, false},
    {2, "day", "text", COLUMN_CLUSTERING, true},
    {3, "at", "timestamp", COLUMN_CLUSTERING, false},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct table_definition definition = {.id = 900,
                                                .keyspace = "test",
                                                .name = "spans",
                                                .columns = columns,
                                                .column_count = sizeof columns / sizeof columns[0]};
    struct schema *schema = schema_new();
    check(schema_add_keyspace(schema, "test", NULL) == 0);
    check(schema_add_table(schema, &definition, NULL) == 0);
    const struct table *table = schema_table(schema, 900);
    struct slice slice = stream_slice_all();
    check(row_span_may_meet(bytes_of(data, size), table, &slice));
    struct clustering day = {.count = 1, .values = {bytes_text("2026-08-03")}};
    slice.start = (struct bound){day, BOUND_BEFORE};
    bool meets_from = row_span_may_meet(bytes_of(data, size), table, &slice);
    slice.end = (struct bound){day, BOUND_AFTER};
    check(meets_from || !row_span_may_meet(bytes_of(data, size), table, &slice));
    schema_unref(schema);
    return 0;
}
