/* The catalog: numbers never come back, changes are all or nothing, and bytes are not trusted. */
#include <criterion/criterion.h>
#include <string.h>

#include "storage/schema/schema.h"

static const struct column_definition click_columns[] = {
    {1, "reseller_id", "text", COLUMN_PARTITION, false},
    {2, "day", "text", COLUMN_PARTITION, false},
    {3, "time", "timestamp", COLUMN_CLUSTERING, true},
    {4, "ad_id", "text", COLUMN_CLUSTERING, false},
    {5, "click_id", "bigint", COLUMN_CLUSTERING, false},
    {6, "amount", "decimal", COLUMN_REGULAR, false},
};
static const struct table_definition clicks = {.id = 1,
                                               .keyspace = "daybook",
                                               .name = "ad_click",
                                               .comment = "one row a click",
                                               .flags = TABLE_OF_EVENTS | TABLE_STREAM,
                                               .columns = click_columns,
                                               .column_count = 6};

static const struct column_definition hotel_columns[] = {
    {0, "id", "uuid", COLUMN_PARTITION, false},
    {0, "pois", "set<text>", COLUMN_REGULAR, false},
    {0, "address", "frozen<address>", COLUMN_REGULAR, false},
};
static const struct table_definition hotels = {
    .keyspace = "hotel", .name = "hotels", .columns = hotel_columns, .column_count = 3};

static void must(int rc, const struct error *err)
{
    cr_assert_eq(rc, 0, "%s", err->text);
}

static struct schema *make(void)
{
    static const char *const names[] = {"street", "phones"};
    static const char *const types[] = {"text", "list<text>"};
    struct schema *schema = schema_new();
    struct error err = {0};

    must(schema_add_keyspace(schema, "hotel", &err), &err);
    must(schema_add_keyspace(schema, "daybook", &err), &err);
    must(schema_add_table(schema, &clicks, &err), &err);
    must(schema_add_type(schema, "hotel", "address", 2, names, types, &err), &err);
    must(schema_add_table(schema, &hotels, &err), &err);
    return schema;
}

static uint32_t hotels_id(const struct schema *schema)
{
    return schema_table_named(schema, "hotel", "hotels")->id;
}

static const struct column *hotel_column(const struct schema *schema, const char *name)
{
    return schema_column_named(schema_table_named(schema, "hotel", "hotels"), bytes_text(name));
}

static struct buffer serialize(const struct schema *schema)
{
    struct buffer buffer = {0};

    schema_serialize(schema, &buffer);
    return buffer;
}

Test(schema, tables_are_found_by_number_and_by_name)
{
    struct schema *schema = make();
    const struct table *table = schema_table(schema, 1);

    cr_assert_eq(table, schema_table_named(schema, "daybook", "ad_click"));
    cr_assert_eq(table->partition_count, 2);
    cr_assert_eq(table->clustering_count, 3);
    cr_assert_str_eq(table->columns[2].name, "time");
    cr_assert(table->columns[2].descending);
    cr_assert_eq(schema_column(table, 6)->type->kind, TYPE_DECIMAL);
    cr_assert_eq(hotels_id(schema), 1000);
    cr_assert_str_eq(schema_table(schema, 1000)->columns[1].name, "address");
    cr_assert_null(schema_table(schema, 2));
    cr_assert_null(schema_table_named(schema, "hotel", "ad_click"));
    cr_assert_eq(schema_table_next(schema, NULL), table);
    cr_assert_eq(schema_table_next(schema, table)->id, 1000);
    cr_assert_null(schema_table_next(schema, schema_table(schema, 1000)));
    cr_assert_str_eq(schema_keyspace_next(schema, NULL)->name, "daybook");
    schema_unref(schema);
}

Test(schema, numbers_are_never_used_again)
{
    struct schema *schema = make();
    struct error err = {0};
    uint32_t id = hotels_id(schema);

    uint32_t column_id = hotel_column(schema, "pois")->id;
    must(schema_drop_column(schema, id, "pois", 77, &err), &err);
    cr_assert_null(schema_column(schema_table(schema, id), column_id));
    struct schema *copy = schema_copy(schema);
    must(schema_add_columns(copy, id,
                            &(struct column_definition){
                                .name = "pois", .type = "set<text>", .kind = COLUMN_REGULAR},
                            1, &err),
         &err);
    cr_assert_gt(hotel_column(copy, "pois")->id, column_id);
    cr_assert_eq(schema_table(copy, id)->dropped_count, 1);
    cr_assert_eq(schema_table(copy, id)->dropped[0].id, column_id);
    cr_assert_eq(schema_table(copy, id)->dropped[0].dropped_us, 77);
    cr_assert_eq(schema_table(copy, id)->version, 2);
    must(schema_drop_table(copy, id, &err), &err);
    must(schema_add_table(copy, &hotels, &err), &err);
    cr_assert_eq(hotels_id(copy), id + 1);
    schema_unref(schema);
    schema_unref(copy);
}

Test(schema, a_copy_is_one_version_on_and_leaves_the_original_alone)
{
    struct schema *schema = make();
    struct schema *copy = schema_copy(schema);
    struct error err = {0};
    uint8_t uuid[16];
    uint8_t other[16];

    cr_assert_eq(schema_version(copy), schema_version(schema) + 1);
    cr_assert_arr_eq(schema_table(copy, 1)->uuid, schema_table(schema, 1)->uuid, 16);
    schema_uuid(schema, uuid);
    must(schema_drop_keyspace(copy, "hotel", &err), &err);
    cr_assert_null(schema_keyspace(copy, "hotel"));
    cr_assert_null(schema_type_at(copy, 0));
    cr_assert_not_null(schema_table(schema, 1000));
    cr_assert_null(schema_table(copy, 1000));
    schema_uuid(schema, other);
    cr_assert_arr_eq(uuid, other, 16);
    schema_uuid(copy, other);
    cr_assert_arr_neq(uuid, other, 16);
    schema_unref(schema_ref(schema));
    schema_unref(schema);
    schema_unref(copy);
}

struct refused_table {
    int rc;
    struct table_definition definition;
};

#define COLUMNS(...)                                                                               \
    .columns = (const struct column_definition[]){__VA_ARGS__},                                    \
    .column_count =                                                                                \
        sizeof((const struct column_definition[]){__VA_ARGS__}) / sizeof(struct column_definition)

Test(schema, tables_that_cannot_be_are_refused_and_nothing_changes)
{
    const struct column_definition key = {0, "k", "int", COLUMN_PARTITION, false};
    const struct column_definition c = {0, "c", "int", COLUMN_CLUSTERING, false};
    const struct refused_table cases[] = {
        {ERROR_NOT_FOUND, {.keyspace = "none", .name = "t", COLUMNS(key)}},
        {ERROR_EXISTS, {.keyspace = "hotel", .name = "hotels", COLUMNS(key)}},
        {ERROR_EXISTS, {.id = 1, .keyspace = "hotel", .name = "t", COLUMNS(key)}},
        {ERROR_INVALID, {.keyspace = "hotel", .name = "", COLUMNS(key)}},
        {ERROR_INVALID, {.keyspace = "hotel", .name = "a-b", COLUMNS(key)}},
        {ERROR_LIMIT,
         {.keyspace = "hotel",
          .name = "a12345678901234567890123456789012345678901234567890",
          COLUMNS(key)}},
        {ERROR_INVALID, {.keyspace = "hotel", .name = "t", COLUMNS(c)}},
        {ERROR_EXISTS, {.keyspace = "hotel", .name = "t", COLUMNS(key, key)}},
        {ERROR_INVALID,
         {.keyspace = "hotel",
          .name = "t",
          COLUMNS({0, "k", "set<int>", COLUMN_PARTITION, false})}},
        {ERROR_INVALID,
         {.keyspace = "hotel", .name = "t", COLUMNS({0, "k", "counter", COLUMN_PARTITION, false})}},
        {ERROR_INVALID,
         {.keyspace = "hotel",
          .name = "t",
          COLUMNS(key, {0, "v", "counter", COLUMN_REGULAR, false})}},
        {ERROR_INVALID,
         {.keyspace = "hotel",
          .name = "t",
          .flags = TABLE_COUNTER,
          COLUMNS(key, {0, "v", "int", COLUMN_REGULAR, false})}},
        {ERROR_INVALID,
         {.keyspace = "hotel", .name = "t", COLUMNS(key, {0, "s", "int", COLUMN_STATIC, false})}},
        {ERROR_INVALID,
         {.keyspace = "hotel",
          .name = "t",
          COLUMNS(key, {0, "v", "addres", COLUMN_REGULAR, false})}},
        {ERROR_INVALID,
         {.keyspace = "hotel", .name = "t", .flags = TABLE_OF_EVENTS, COLUMNS(key, c)}},
    };
    struct schema *schema = make();
    struct buffer before = serialize(schema);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        int rc = schema_add_table(schema, &cases[i].definition, &err);
        struct buffer after = serialize(schema);
        cr_expect_eq(rc, cases[i].rc, "case %zu: %d %s", i, rc, err.text);
        cr_expect(bytes_equal(buffer_view(&before), buffer_view(&after)));
        buffer_release(&after);
    }
    buffer_release(&before);
    schema_unref(schema);
}

Test(schema, columns_that_cannot_change_are_refused)
{
    struct schema *schema = make();
    uint32_t id = hotels_id(schema);

    cr_assert_eq(schema_add_columns(schema, id,
                                    &(struct column_definition){
                                        .name = "pois", .type = "int", .kind = COLUMN_REGULAR},
                                    1, NULL),
                 ERROR_EXISTS);
    cr_assert_eq(schema_add_columns(schema, id,
                                    &(struct column_definition){
                                        .name = "x", .type = "counter", .kind = COLUMN_REGULAR},
                                    1, NULL),
                 ERROR_INVALID);
    cr_assert_eq(schema_add_columns(
                     schema, id,
                     &(struct column_definition){.name = "x", .type = "int", .kind = COLUMN_STATIC},
                     1, NULL),
                 ERROR_INVALID);
    cr_assert_eq(schema_add_columns(schema, 7,
                                    &(struct column_definition){
                                        .name = "x", .type = "int", .kind = COLUMN_REGULAR},
                                    1, NULL),
                 ERROR_NOT_FOUND);
    cr_assert_eq(schema_drop_column(schema, id, "id", 1, NULL), ERROR_INVALID);
    cr_assert_eq(schema_drop_column(schema, id, "x", 1, NULL), ERROR_NOT_FOUND);
    cr_assert_eq(schema_rename_column(schema, id, "pois", "x", NULL), ERROR_INVALID);
    cr_assert_eq(schema_rename_column(schema, id, "id", "pois", NULL), ERROR_EXISTS);
    cr_assert_eq(schema_rename_column(schema, id, "id", "hotel_id", NULL), 0);
    cr_assert_not_null(hotel_column(schema, "hotel_id"));
    cr_assert_eq(schema_set_table(schema, id, "x", -1, 0, NULL), ERROR_INVALID);
    cr_assert_eq(schema_set_table(schema, id, "it's", 60, 0, NULL), 0);
    cr_assert_eq(schema_table(schema, id)->default_ttl_s, 60);
    schema_unref(schema);
}

Test(schema, a_type_grows_in_every_column_that_has_it)
{
    struct schema *schema = make();
    struct error err = {0};
    uint32_t id = hotels_id(schema);

    must(schema_add_type_field(schema, "hotel", "address", "Zip", "int", &err), &err);
    cr_assert_eq(schema_type(schema, "hotel", "address")->type->argument_count, 3);
    cr_assert_eq(hotel_column(schema, "address")->type->argument_count, 3);
    cr_assert_eq(schema_add_type_field(schema, "hotel", "address", "Zip", "int", NULL),
                 ERROR_EXISTS);
    cr_assert_eq(schema_add_type_field(schema, "hotel", "address", "self", "frozen<address>", NULL),
                 ERROR_INVALID);
    cr_assert_eq(schema_drop_type(schema, "hotel", "address", NULL), ERROR_CONFLICT);
    must(schema_drop_column(schema, id, "address", 5, &err), &err);
    must(schema_drop_type(schema, "hotel", "address", &err), &err);
    struct schema *copy = schema_copy(schema);
    cr_assert_null(schema_type(copy, "hotel", "address"));
    schema_unref(copy);
    schema_unref(schema);
}

Test(schema, the_serialized_form_reads_back)
{
    struct schema *schema = make();
    struct error err = {0};
    struct schema *read;

    must(schema_drop_column(schema, 1000, "address", -5, &err), &err);
    must(schema_set_keyspace(schema, "hotel", "{'class': 'x'}", false, &err), &err);
    struct buffer buffer = serialize(schema);
    must(schema_deserialize(buffer_view(&buffer), &read, &err), &err);
    struct buffer again = serialize(read);
    cr_assert(bytes_equal(buffer_view(&buffer), buffer_view(&again)));
    cr_assert(!schema_keyspace(read, "hotel")->durable_writes);
    buffer_release(&again);
    buffer_release(&buffer);
    schema_unref(schema);
    schema_unref(read);
}

/* The schema as a program reads it that does not have the type. */
static struct schema *without_type(const struct schema *schema, const char *type)
{
    struct buffer buffer = serialize(schema);
    struct schema *read;
    struct error err = {0};
    uint8_t *at = memmem(buffer.data, buffer.size, type, strlen(type));

    cr_assert_not_null(at);
    *at = '?';
    must(schema_deserialize(buffer_view(&buffer), &read, &err), &err);
    buffer_release(&buffer);
    return read;
}

Test(schema, the_name_of_a_table_that_is_kept_as_bytes_stays_taken)
{
    struct schema *schema = make();
    struct schema *read = without_type(schema, "set<text>");
    struct table_definition simple = hotels;
    struct error err = {0};

    simple.column_count = 1;
    cr_assert_null(schema_table_named(read, "hotel", "hotels"));
    cr_assert_eq(schema_add_table(read, &simple, &err), ERROR_EXISTS);
    cr_assert_not_null(strstr(err.text, "hotel.hotels exists already, but cannot be read"));
    cr_assert_eq(schema_drop_keyspace(read, "hotel", &err), ERROR_CONFLICT);
    cr_assert_not_null(strstr(err.text, "hotels, which cannot be read"));
    simple.name = "guests";
    must(schema_add_table(read, &simple, &err), &err);
    cr_assert_eq(schema_table_named(read, "hotel", "guests")->id, hotels_id(schema) + 1);
    schema_unref(read);
    schema_unref(schema);
}

Test(schema, a_built_in_table_replaces_the_bytes_that_are_kept_of_it)
{
    struct schema *schema = make();
    struct schema *read = without_type(schema, "decimal");
    struct error err = {0};

    cr_assert(schema_is_unread(read, clicks.id));
    must(schema_add_table(read, &clicks, &err), &err);
    cr_assert_not(schema_is_unread(read, clicks.id));
    must(schema_refuse_unread(read, &err), &err);
    struct buffer before = serialize(schema);
    struct buffer after = serialize(read);
    cr_assert(bytes_equal(buffer_view(&before), buffer_view(&after)));
    buffer_release(&before);
    buffer_release(&after);
    schema_unref(read);
    schema_unref(schema);
}

static void put_text(struct buffer *bytes, const char *text)
{
    buffer_put_sized(bytes, bytes_text(text));
}

/* Directories of before tables had options: no kind of a dropped column, no list of options. */
Test(schema, format_1_is_read_and_written_as_the_present_one)
{
    struct buffer bytes = {0};
    struct error err = {0};
    struct schema *read;

    buffer_put_u8(&bytes, 1);
    buffer_put_u32(&bytes, 5);    /* version */
    buffer_put_u32(&bytes, 1001); /* the next table's number */
    buffer_put_varint(&bytes, 1); /* keyspaces */
    put_text(&bytes, "k");
    put_text(&bytes, "{'class': 'x'}");
    buffer_put_u8(&bytes, 1);
    buffer_put_varint(&bytes, 1); /* user types */
    put_text(&bytes, "k");
    put_text(&bytes, "u");
    buffer_put_varint(&bytes, 1);
    put_text(&bytes, "tags");
    put_text(&bytes, "frozen<set<int>>");
    buffer_put_varint(&bytes, 1); /* tables */
    buffer_put_u32(&bytes, 1000);
    put_text(&bytes, "k");
    put_text(&bytes, "t");
    buffer_put_varint(&bytes, 0);  /* flags */
    buffer_put_varint(&bytes, 5);  /* version */
    buffer_put_varint(&bytes, 3);  /* the next column's number */
    buffer_put_varint(&bytes, 60); /* default_time_to_live */
    put_text(&bytes, "a comment");
    buffer_put_varint(&bytes, 1); /* columns */
    buffer_put_varint(&bytes, 1);
    buffer_put_u8(&bytes, COLUMN_PARTITION);
    buffer_put_u8(&bytes, 0);
    put_text(&bytes, "id");
    put_text(&bytes, "int");
    buffer_put_varint(&bytes, 1); /* dropped columns */
    buffer_put_varint(&bytes, 2);
    buffer_put_signed(&bytes, 77);
    put_text(&bytes, "gone");
    put_text(&bytes, "text");

    must(schema_deserialize(buffer_view(&bytes), &read, &err), &err);
    const struct table *table = schema_table(read, 1000);
    cr_expect_eq(table->dropped[0].kind, 0);
    cr_expect_eq(table->dropped[0].dropped_us, 77);
    cr_expect_eq(table->option_count, 0);
    cr_expect_str_eq(schema_option(table, "gc_grace_seconds"), "864000");
    cr_expect_str_eq(schema_type_at(read, 0)->field_types[0], "frozen<set<int>>");
    struct buffer again = serialize(read);
    cr_expect_eq(again.data[0], 2);
    buffer_release(&again);
    buffer_release(&bytes);
    schema_unref(read);
}

Test(schema, options_are_kept_by_name_and_others_have_their_default)
{
    static const struct table_option given[] = {{"gc_grace_seconds", "5"},
                                                {"caching", "{'keys': 'NONE'}"}};
    static const struct table_option unknown[] = {{"colour", "'red'"}};
    static const struct table_option twice[] = {{"cdc", "true"}, {"cdc", "false"}};
    struct schema *schema = make();
    struct error err = {0};

    must(schema_set_table_options(schema, 1000, given, 2, &err), &err);
    cr_expect_eq(schema_set_table_options(schema, 1000, unknown, 1, NULL), ERROR_INVALID);
    cr_expect_eq(schema_set_table_options(schema, 1000, twice, 2, NULL), ERROR_INVALID);
    cr_expect_eq(schema_set_table_options(schema, 77, given, 2, NULL), ERROR_NOT_FOUND);
    must(schema_truncate_table(schema, 1000, &err), &err);
    struct schema *copy = schema_copy(schema);
    const struct table *table = schema_table_named(copy, "hotel", "hotels");
    cr_assert_eq(table->option_count, 2);
    cr_expect_str_eq(table->options[0].name, "caching");
    cr_expect_str_eq(schema_option(table, "gc_grace_seconds"), "5");
    cr_expect_str_eq(schema_option(table, "cdc"), "false");
    cr_expect_null(schema_option(table, "colour"));
    schema_unref(copy);
    schema_unref(schema);
}

Test(schema, a_dropped_column_keeps_its_kind)
{
    const struct table_definition definition = {
        .keyspace = "hotel",
        .name = "rooms",
        COLUMNS({0, "k", "int", COLUMN_PARTITION, false}, {0, "c", "int", COLUMN_CLUSTERING, false},
                {0, "s", "int", COLUMN_STATIC, false}, {0, "v", "int", COLUMN_REGULAR, false})};
    struct schema *schema = make();
    struct error err = {0};

    must(schema_add_table(schema, &definition, &err), &err);
    uint32_t id = schema_table_named(schema, "hotel", "rooms")->id;
    must(schema_drop_column(schema, id, "s", 5, &err), &err);
    must(schema_drop_column(schema, id, "v", 6, &err), &err);
    struct schema *copy = schema_copy(schema);
    cr_expect_eq(schema_table(copy, id)->dropped[0].kind, COLUMN_STATIC);
    cr_expect_eq(schema_table(copy, id)->dropped[1].kind, COLUMN_REGULAR);
    schema_unref(copy);
    schema_unref(schema);
}

Test(schema, a_field_of_a_type_is_renamed_where_the_type_is_used)
{
    struct schema *schema = make();
    struct error err = {0};

    must(schema_rename_type_field(schema, "hotel", "address", "street", "road", &err), &err);
    cr_expect_str_eq(schema_type(schema, "hotel", "address")->type->field_names[0], "road");
    cr_expect_str_eq(hotel_column(schema, "address")->type->field_names[0], "road");
    cr_expect_str_eq(schema_type_at(schema, 0)->field_types[1], "list<text>");
    cr_expect_eq(schema_rename_type_field(schema, "hotel", "address", "street", "way", NULL),
                 ERROR_NOT_FOUND);
    cr_expect_eq(schema_rename_type_field(schema, "hotel", "address", "road", "phones", NULL),
                 ERROR_EXISTS);
    cr_expect_eq(schema_rename_type_field(schema, "hotel", "address", "road", "", NULL),
                 ERROR_INVALID);
    cr_expect_eq(schema_rename_type_field(schema, "hotel", "none", "road", "way", NULL),
                 ERROR_NOT_FOUND);
    schema_unref(schema);
}

Test(schema, damaged_bytes_are_refused_and_never_crash)
{
    static const struct table_option options[] = {{"gc_grace_seconds", "5"}};
    struct schema *schema = make();
    struct error err = {0};
    struct schema *read;

    must(schema_set_table_options(schema, 1000, options, 1, &err), &err);
    must(schema_drop_column(schema, 1000, "pois", 5, &err), &err);
    struct buffer buffer = serialize(schema);
    for (size_t size = 0; size < buffer.size; size++)
        cr_assert_eq(schema_deserialize(bytes_of(buffer.data, size), &read, NULL), ERROR_CORRUPT);
    for (size_t bit = 0; bit < 8 * buffer.size; bit++) {
        buffer.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (schema_deserialize(buffer_view(&buffer), &read, NULL) == 0) {
            struct buffer again = serialize(read);
            buffer_release(&again);
            schema_unref(read);
        } else {
            cr_assert_null(read);
        }
        buffer.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    buffer.data[0] = 3;
    cr_assert_eq(schema_deserialize(buffer_view(&buffer), &read, NULL), ERROR_NEWER_FORMAT);
    buffer.data[0] = 0;
    cr_assert_eq(schema_deserialize(buffer_view(&buffer), &read, NULL), ERROR_CORRUPT);
    buffer_release(&buffer);
    schema_unref(schema);
}

static void expect_cql(struct buffer *cql, const char *expected)
{
    cr_expect(bytes_equal(buffer_view(cql), bytes_text(expected)), "%.*s", (int)cql->size,
              (const char *)cql->data);
    buffer_clear(cql);
}

/* What Cassandra 5.0.9 shows after the columns of a table made without options. */
#define OPTIONS_BEFORE                                                                             \
    "additional_write_policy = '99p'\n"                                                            \
    "    AND allow_auto_snapshot = true\n"                                                         \
    "    AND bloom_filter_fp_chance = 0.01\n"                                                      \
    "    AND caching = {'keys': 'ALL', 'rows_per_partition': 'NONE'}\n"                            \
    "    AND cdc = false\n"
#define OPTIONS_AFTER                                                                              \
    "    AND compaction = {'class': "                                                              \
    "'org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy', 'max_threshold': '32', "   \
    "'min_threshold': '4'}\n"                                                                      \
    "    AND compression = {'chunk_length_in_kb': '16', 'class': "                                 \
    "'org.apache.cassandra.io.compress.LZ4Compressor'}\n"                                          \
    "    AND memtable = 'default'\n"                                                               \
    "    AND crc_check_chance = 1.0\n"                                                             \
    "    AND default_time_to_live = 0\n"                                                           \
    "    AND extensions = {}\n"                                                                    \
    "    AND gc_grace_seconds = 864000\n"                                                          \
    "    AND incremental_backups = true\n"                                                         \
    "    AND max_index_interval = 2048\n"                                                          \
    "    AND memtable_flush_period_in_ms = 0\n"                                                    \
    "    AND min_index_interval = 128\n"                                                           \
    "    AND read_repair = 'BLOCKING'\n"                                                           \
    "    AND speculative_retry = '99p';"

Test(schema, the_printed_cql_is_what_describe_shows)
{
    struct schema *schema = make();
    struct buffer cql = {0};

    schema_print_table(schema_table(schema, 1), false, &cql);
    expect_cql(&cql,
               "CREATE TABLE daybook.ad_click (\n"
               "    reseller_id text,\n"
               "    day text,\n"
               "    time timestamp,\n"
               "    ad_id text,\n"
               "    click_id bigint,\n"
               "    amount decimal,\n"
               "    PRIMARY KEY ((reseller_id, day), time, ad_id, click_id)\n"
               ") WITH CLUSTERING ORDER BY (time DESC, ad_id ASC, click_id ASC)\n"
               "    AND " OPTIONS_BEFORE "    AND comment = 'one row a click'\n" OPTIONS_AFTER);
    schema_print_table(schema_table_named(schema, "hotel", "hotels"), false, &cql);
    expect_cql(&cql, "CREATE TABLE hotel.hotels (\n"
                     "    id uuid PRIMARY KEY,\n"
                     "    address frozen<address>,\n"
                     "    pois set<text>\n"
                     ") WITH " OPTIONS_BEFORE "    AND comment = ''\n" OPTIONS_AFTER);
    schema_print_keyspace(schema_keyspace(schema, "hotel"), &cql);
    expect_cql(&cql, "CREATE KEYSPACE hotel WITH replication = {'class': 'SimpleStrategy', "
                     "'replication_factor': '1'}  AND durable_writes = true;");
    schema_print_type(schema_type_at(schema, 0), &cql);
    expect_cql(&cql, "CREATE TYPE hotel.address (\n"
                     "    street text,\n"
                     "    phones list<text>\n"
                     ");");
    buffer_release(&cql);
    schema_unref(schema);
}

Test(schema, a_printed_table_may_have_its_id)
{
    struct schema *schema = make();
    struct buffer cql = {0};

    schema_print_table(schema_table_named(schema, "hotel", "hotels"), true, &cql);
    buffer_put_u8(&cql, 0);
    cr_expect_not_null(strstr((const char *)cql.data, "\n) WITH ID = "));
    cr_expect_not_null(strstr((const char *)cql.data, "\n    AND additional_write_policy"));
    buffer_release(&cql);
    schema_unref(schema);
}
