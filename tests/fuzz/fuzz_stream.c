/* fuzz_stream: see fuzz_stream.h. */
#include "tests/fuzz/fuzz_stream.h"

#include "rollup/tables.h"
#include "tests/fuzz/fuzz.h"

static const struct ingest_stream clicks = {
    .name = "clicks",
    .table_id = TABLE_AD_CLICK,
    .column_ids = {AD_CLICK_RESELLER_ID, AD_CLICK_DAY, AD_CLICK_TIME, AD_CLICK_AD_ID,
                   AD_CLICK_AMOUNT},
    .day_derived_column_id = AD_CLICK_DAY_DERIVED,
};

struct line_columns fuzz_columns(void)
{
    return (struct line_columns){.names = {bytes_text("reseller_id"), bytes_text("day"),
                                           bytes_text("time"), bytes_text("ad_id"),
                                           bytes_text("amount")}};
}

struct row_builder *fuzz_builder(void)
{
    struct row_builder *builder;
    check(row_builder_new(&clicks, schema_table(fuzz_schema(), TABLE_AD_CLICK), 1, &builder,
                          NULL) == 0);
    return builder;
}

void fuzz_check_same_rows(struct row_builder *a, struct row_builder *b)
{
    struct buffer block_a = {0}, block_b = {0};
    block_serialize(a->block, &block_a);
    block_serialize(b->block, &block_b);
    check(bytes_equal(buffer_view(&block_a), buffer_view(&block_b)));
    check(a->rejects.count == b->rejects.count);
    for (uint32_t i = 0; i < a->rejects.count; i++) {
        check(a->rejects.items[i].line == b->rejects.items[i].line);
        check(a->rejects.items[i].code == b->rejects.items[i].code);
    }
    buffer_release(&block_a);
    buffer_release(&block_b);
}
