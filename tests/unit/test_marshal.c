/* test_marshal: Cassandra's classes of types as CQL types. */
#include <criterion/criterion.h>

#include "query/model/marshal.h"
#include "base/arena.h"

/* The parts, descending ones with a minus, of a composite in parentheses; or the error. */
static void show(struct bytes text, const char *bytes_as, struct buffer *shown)
{
    struct arena *arena = arena_new(4096);
    struct marshal marshal;
    struct error err = {0};

    if (marshal_parse(text, bytes_as, arena, &marshal, &err) < 0) {
        cr_assert_eq(err.code, ERROR_INVALID);
        buffer_printf(shown, "! %s", err.text);
    } else {
        buffer_append_text(shown, marshal.is_composite ? "(" : "");
        for (uint32_t i = 0; i < marshal.count; i++)
            buffer_printf(shown, "%s%s%s", i > 0 ? " " : "", marshal.parts[i].descending ? "-" : "",
                          marshal.parts[i].cql);
        buffer_append_text(shown, marshal.is_composite ? ")" : "");
        buffer_append_text(shown, marshal.other_order != NULL ? " other order" : "");
    }
    arena_free(arena);
    buffer_put_u8(shown, '\0');
}

static void expect(const char *text, const char *wanted)
{
    struct buffer shown = {0};

    show(bytes_text(text), "blob", &shown);
    cr_assert_str_eq((const char *)shown.data, wanted, "%s: %s", text, (const char *)shown.data);
    buffer_release(&shown);
}

Test(marshal, classes_are_types)
{
    expect("AsciiType", "ascii");
    expect("BytesType", "blob");
    expect("DateType", "timestamp other order");
    expect("TimestampType", "timestamp");
    expect("Int32Type", "int");
    expect("IntegerType", "varint");
    expect("LongType", "bigint");
    expect("TimeUUIDType", "timeuuid");
    expect(" org.apache.cassandra.db.marshal.UTF8Type ", "text");
    expect("LexicalUUIDType", "uuid other order");
    expect("CounterColumnType", "counter");
}

Test(marshal, bytes_are_text_where_that_is_asked_for)
{
    struct buffer shown = {0};

    show(bytes_text("CompositeType(BytesType,LongType)"), "text", &shown);
    cr_assert_str_eq((const char *)shown.data, "(text bigint)");
    buffer_release(&shown);
}

Test(marshal, a_reversed_type_is_descending_and_twice_reversed_is_not)
{
    expect("LongType(reversed=true)", "-bigint");
    expect("LongType(reversed = false)", "bigint");
    expect("ReversedType(LongType)", "-bigint");
    expect("ReversedType(org.apache.cassandra.db.marshal.LongType)", "-bigint");
    expect("ReversedType(LongType(reversed=true))", "bigint");
}

Test(marshal, composites_are_several_columns)
{
    expect("CompositeType(UTF8Type, Int32Type)", "(text int)");
    expect("CompositeType(TimeUUIDType(reversed=true),UTF8Type)", "(-timeuuid text)");
    expect("CompositeType(ReversedType(LongType), UTF8Type)", "(-bigint text)");
}

Test(marshal, collections_hold_types)
{
    expect("MapType(UTF8Type,ListType(Int32Type))", "map<text, list<int>>");
    expect("SetType(FrozenType(ListType(UUIDType)))", "set<frozen<list<uuid>>>");
}

Test(marshal, what_cql_has_no_type_for_is_refused_by_name)
{
    expect("com.example.MyOrder",
           "! 'com.example.MyOrder' is no type that CQL has: no column would sort as its class "
           "does");
    expect("DynamicCompositeType(a=>UTF8Type)",
           "! 'DynamicCompositeType' is no type that CQL has: no column would sort as its class "
           "does");
    expect("", "! '' is no type");
    expect("utf8type", "! 'utf8type' is no type that CQL has: no column would sort as its class "
                       "does");
    expect("UTF8Type LongType", "! 'UTF8Type LongType' goes on after its end");
    expect("CompositeType", "! 'CompositeType' does not say of what");
    expect("LongType(reversed=maybe)", "! 'maybe' is neither true nor false");
    expect("MapType(UTF8Type)", "! 'MapType(UTF8Type)' has too few types in parentheses");
    expect("CompositeType(CompositeType(UTF8Type))",
           "! 'CompositeType' is no type that CQL has: no column would sort as its class does");
}

Test(marshal, depth_and_parts_are_limited)
{
    struct buffer text = {0};
    struct buffer shown = {0};

    for (int i = 0; i < 100; i++)
        buffer_append_text(&text, "SetType(");
    show(buffer_view(&text), "blob", &shown);
    cr_assert(strstr((const char *)shown.data, "has types too deep within types") != NULL);
    buffer_clear(&text);
    buffer_clear(&shown);
    buffer_append_text(&text, "CompositeType(UTF8Type");
    for (int i = 0; i < SCHEMA_CLUSTERING_MAX; i++)
        buffer_append_text(&text, ",UTF8Type");
    buffer_append_text(&text, ")");
    show(buffer_view(&text), "blob", &shown);
    cr_assert(strstr((const char *)shown.data, "has too many parts") != NULL);
    buffer_release(&text);
    buffer_release(&shown);
}

Test(marshal, a_text_cut_at_every_byte_is_refused_or_whole)
{
    static const char text[] = "CompositeType(ReversedType(MapType(UTF8Type,LongType)),"
                               "TimeUUIDType(reversed=true))";
    struct buffer shown = {0};

    for (size_t size = 0; size < sizeof(text) - 1; size++) {
        buffer_clear(&shown);
        show(bytes_of(text, size), "blob", &shown);
        cr_assert_eq(shown.data[0], '!', "%.*s", (int)size, text);
    }
    buffer_release(&shown);
}
