/* fuzz_stream_definition: rows of daybook_system.stream: refused, or a definition whose texts are
 * the row's; where it fits the tables of keyspace `fuzz` a stream is made of it, found and dropped.
 *
 * Input: a row (fuzz.h). */
#include "rollup/streams/stream_definition.h"
#include "tests/fuzz/fuzz.h"

static const struct column_definition hit_columns[] = {
    {1, "who", "text", COLUMN_PARTITION, false},     {2, "day", "text", COLUMN_PARTITION, false},
    {3, "at", "timestamp", COLUMN_CLUSTERING, true}, {4, "ad", "text", COLUMN_CLUSTERING, false},
    {5, "amount", "decimal", COLUMN_REGULAR, false},
};

static const struct column_definition share_columns[] = {
    {1, "who", "text", COLUMN_PARTITION, false},
    {2, "since", "text", COLUMN_CLUSTERING, false},
    {3, "share", "float", COLUMN_REGULAR, false},
};

static const struct column_definition per_ad_columns[] = {
    {1, "ad", "text", COLUMN_PARTITION, false},
    {2, "hits", "counter", COLUMN_REGULAR, false},
};

static const struct table_definition tables[] = {
    {902, "fuzz", "hits", "", 0, hit_columns, 5},
    {903, "fuzz", "shares", "", 0, share_columns, 3},
    {904, "fuzz", "per_ad", "", TABLE_COUNTER, per_ad_columns, 2},
};

/* The built-in tables and those above; made once and never freed. */
static const struct schema *schema_of_hits(void)
{
    static struct schema *schema;
    if (schema == NULL) {
        schema = schema_copy(fuzz_schema());
        for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
            check(schema_add_table(schema, &tables[i], NULL) == 0);
    }
    return schema;
}

static void check_texts(const struct table *table, const struct page_row *row,
                        const struct stream_definition *definition)
{
    struct bytes value;
    check(bytes_equal(row->key, bytes_text(definition->name)));
    for (uint32_t i = 0; i < STREAM_TEXTS; i++) {
        bool is_there = store_row_value(table, row, stream_definition_column(i), &value);
        check(is_there || i == STREAM_RATES_UNIT); /* rows of older versions have none */
        check(bytes_equal(is_there ? value : bytes_text(""), bytes_text(definition->texts[i])));
    }
}

/* Its row is the one that it was read from, but for how far rows are marked. */
static void check_made(const struct table *table, const struct stream_definition *definition,
                       const struct schema *schema, struct write_batch *batch)
{
    struct click_stream stream;
    struct stream_definition again;
    struct bytes unmarked;
    struct page_row row = fuzz_row_of(batch, 0);
    check(stream_definition_read(table, &row, batch->arena, &again, &unmarked, NULL) == 0);
    check(strcmp(again.name, definition->name) == 0);
    for (uint32_t i = 0; i < STREAM_TEXTS; i++)
        check(strcmp(again.texts[i], definition->texts[i]) == 0);
    check(bytes_equal(unmarked, STREAM_ALL_UNMARKED));
    check(stream_definition_resolve(definition, schema, &stream, NULL) == 0);
    check(stream.clicks.table_id == 902 && stream.rates.table_id == 903);
}

static void make_and_drop(const struct table *table, const struct stream_definition *definition)
{
    struct schema *schema = schema_copy(schema_of_hits());
    struct write_batch *batch = write_batch_new();
    struct error err = {0};
    struct click_stream stream;
    int rc = stream_definition_make(definition, schema, batch, &err);
    check((rc == 0) == (err.text[0] == '\0'));
    if (rc == 0) {
        check_made(table, definition, schema, batch);
        check(stream_definition_drop(definition, schema, batch, NULL) == 0);
        check(stream_definition_resolve(definition, schema, &stream, NULL) == ERROR_NOT_FOUND);
    }
    write_batch_free(batch);
    schema_unref(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct table *table = schema_table(fuzz_schema(), TABLE_DEFINED_STREAM);
    struct arena *arena = arena_new(4096);
    struct bytes input = bytes_of(data, size);
    struct stream_definition definition;
    struct click_stream stream;
    struct bytes unmarked;
    struct error err = {0};
    const struct page_row row = fuzz_take_row(&input, table, arena);
    int rc = stream_definition_read(table, &row, arena, &definition, &unmarked, &err);
    check((rc == 0) == (err.text[0] == '\0'));
    if (rc == 0) {
        check_texts(table, &row, &definition);
        check(stream_definition_resolve(&definition, schema_of_hits(), &stream, &err) < 0);
        make_and_drop(table, &definition);
    }
    arena_free(arena);
    return 0;
}
