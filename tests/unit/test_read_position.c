/* A position survives as bytes, and bytes that are none are refused. */
#include <string.h>

#include <criterion/criterion.h>

#include "base/murmur3.h"
#include "storage/engine/read_position.h"
#include "tests/sim/partition_model.h"

static struct bytes text(const char *string)
{
    return (struct bytes){(const uint8_t *)string, strlen(string)};
}

static struct buffer position_after(enum read_position_kind kind, struct bytes key,
                                    const struct clustering *clustering)
{
    struct buffer bytes = {0};
    read_position_put(&bytes, kind, murmur3_token(key.data, key.size), key, clustering);
    return bytes;
}

Test(read_position, comes_back_as_it_was)
{
    const struct clustering clustering = {.count = 1, .values = {text("2013-11-28")}};
    struct bytes key = text("supaboobs");
    for (int kind = AFTER_ROW; kind <= AFTER_PARTITION; kind++) {
        struct buffer bytes = position_after((enum read_position_kind)kind, key, &clustering);
        struct read_position position;
        struct error err = {0};
        cr_assert_eq(read_position_parse(buffer_view(&bytes), &position, &err), 0);
        cr_expect(position.is_set);
        cr_expect_eq((int)position.kind, kind);
        cr_expect(bytes_equal(position.key, key));
        cr_expect_eq(position.clustering.count, kind == AFTER_ROW);
        buffer_release(&bytes);
    }
}

Test(read_position, no_bytes_are_the_start)
{
    struct read_position position;
    struct error err = {0};
    cr_assert_eq(read_position_parse((struct bytes){0}, &position, &err), 0);
    cr_expect(!position.is_set);
}

Test(read_position, a_clustering_of_another_table_is_refused)
{
    struct schema *schema = model_schema();
    const struct table *table = schema_table(schema, MODEL_TABLE);
    static const uint8_t zeros[8];
    struct read_position position = {.is_set = true, .kind = AFTER_ROW};

    cr_expect_eq(read_position_check(&position, table, NULL), 0);
    position.clustering = (struct clustering){.count = 1, .values = {bytes_of(zeros, 4)}};
    cr_expect_eq(read_position_check(&position, table, NULL), 0);
    position.clustering.values[0].size = 3;
    cr_expect_eq(read_position_check(&position, table, NULL), ERROR_INVALID);
    position.clustering.count = table->clustering_count + 1;
    for (uint32_t i = 0; i < position.clustering.count; i++)
        position.clustering.values[i] = bytes_of(zeros, 4);
    cr_expect_eq(read_position_check(&position, table, NULL), ERROR_INVALID);
    schema_unref(schema);
}

/* They come back from clients: whatever byte is changed, none is read beyond its end. */
Test(read_position, damaged_bytes_are_refused)
{
    const struct clustering clustering = {.count = 1, .values = {text("x")}};
    struct buffer bytes = position_after(AFTER_ROW, text("key"), &clustering);
    struct read_position position;
    struct error err = {0};
    for (size_t size = 1; size < bytes.size; size++)
        cr_expect_eq(read_position_parse((struct bytes){bytes.data, size}, &position, &err),
                     ERROR_INVALID);
    bytes.data[3] ^= 1; /* of the token, which follows from the key */
    cr_expect_eq(read_position_parse(buffer_view(&bytes), &position, &err), ERROR_INVALID);
    buffer_release(&bytes);
}

Test(read_position, the_rest_of_a_slice_begins_behind_the_row)
{
    struct read_position position = {
        .is_set = true, .kind = AFTER_ROW, .clustering = {.count = 1, .values = {text("m")}}};
    struct slice rest = read_position_rest(&position, stream_slice_all());
    cr_expect(!rest.with_static);
    cr_expect_eq(rest.start.side, BOUND_AFTER);
    cr_expect(bytes_equal(rest.start.prefix.values[0], text("m")));
    struct slice reversed = stream_slice_all();
    reversed.reversed = true;
    rest = read_position_rest(&position, reversed);
    cr_expect_eq(rest.end.side, BOUND_BEFORE);
}
