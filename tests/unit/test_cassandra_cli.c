/* test_cassandra_cli: statements of cassandra-cli, and the tables that families become. */
#include <criterion/criterion.h>

#include "query/model/cassandra_cli.h"
#include "tests/lib/definitions_text.h"

#define MADE                                                                                       \
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', "                            \
    "'replication_factor': '1'}\n"

static void expect(const char *text, const char *wanted)
{
    const struct definitions_options options = {.keyspace = "k"};
    struct buffer all = {0};

    buffer_append_text(&all, wanted[0] == '!' ? "" : MADE);
    buffer_append_text(&all, wanted);
    buffer_put_u8(&all, '\0');
    definitions_expect(cassandra_cli_read, text, &options, (const char *)all.data);
    buffer_release(&all);
}

Test(cassandra_cli, a_family_without_metadata_is_a_wide_row)
{
    expect("create column family f;",
           "CREATE TABLE k.f (key blob, column1 blob, value blob, PRIMARY KEY (key, column1))\n");
    expect("create column family likes with comparator = 'UUIDType' and "
           "default_validation_class = IntegerType and key_validation_class=UTF8Type",
           "CREATE TABLE k.likes (key text, column1 uuid, value varint, PRIMARY KEY (key, "
           "column1))\n");
}

Test(cassandra_cli, declared_columns_are_columns_and_indexes)
{
    expect("CREATE COLUMN FAMILY users WITH comparator=UTF8Type AND column_metadata="
           "[{column_name: user_name, validation_class: UTF8Type, index_type: KEYS},\n"
           "{column_name: json_data, validation_class: UTF8Type, index_name: by_json, "
           "index_type: 0}, {column_name: 'Age'}];",
           "CREATE TABLE k.users (key blob, user_name text, json_data text, \"Age\" blob, "
           "PRIMARY KEY (key))\n"
           "CREATE INDEX ON k.users (user_name)\n"
           "CREATE INDEX by_json ON k.users (json_data)\n");
}

Test(cassandra_cli, columns_without_a_class_have_the_default_one)
{
    expect("create column family song_data with default_validation_class=CounterColumnType "
           "and column_metadata=[{column_name: likes}, {column_name: views}];",
           "CREATE TABLE k.song_data (key blob, likes counter, views counter, PRIMARY KEY "
           "(key))\n");
}

Test(cassandra_cli, names_that_a_declared_column_has_are_not_given_again)
{
    expect("create column family f with key_validation_class='CompositeType(UTF8Type,UTF8Type)'"
           " and column_metadata=[{column_name: key}, {column_name: key3}];",
           "CREATE TABLE k.f (key2 text, key4 text, key blob, key3 blob, PRIMARY KEY ((key2, "
           "key4)))\n");
}

Test(cassandra_cli, composites_are_several_columns)
{
    expect("create column family f with comparator='CompositeType(UTF8Type, "
           "Int32Type(reversed=true))';",
           "CREATE TABLE k.f (key blob, column1 text, column2 int, value blob, PRIMARY KEY (key, "
           "column1, column2)) WITH CLUSTERING ORDER BY (column1 ASC, column2 DESC)\n");
    expect("create column family f with key_validation_class = 'CompositeType(UTF8Type,"
           "LongType)' and comparator='CompositeType(TimeUUIDType, UTF8Type)' and "
           "column_metadata=[{column_name: body, validation_class: UTF8Type}];",
           "CREATE TABLE k.f (key text, key2 bigint, column1 timeuuid, body text, PRIMARY KEY "
           "((key, key2), column1))\n");
}

Test(cassandra_cli, super_columns_are_one_more_clustering_column)
{
    expect("create column family f with column_type=Super and comparator=TimeUUIDType and "
           "subcomparator=UTF8Type and default_validation_class=UTF8Type;",
           "CREATE TABLE k.f (key blob, column1 timeuuid, column2 text, value text, PRIMARY KEY "
           "(key, column1, column2))\n");
    expect("create column family f with column_type=Super and comparator=LongType and "
           "column_metadata=[{column_name: city, validation_class: UTF8Type}];",
           "CREATE TABLE k.f (key blob, column1 bigint, city text, PRIMARY KEY (key, "
           "column1))\n");
}

Test(cassandra_cli, keyspaces_are_made_and_used)
{
    definitions_expect(
        cassandra_cli_read,
        "create keyspace Music with placement_strategy = "
        "'org.apache.cassandra.locator.SimpleStrategy'\n"
        "  and strategy_options = [{replication_factor:3}];\n"
        "use Music;\n"
        "create column family a;\n"
        "use other; create column family a;",
        &(struct definitions_options){0},
        "CREATE KEYSPACE \"Music\" WITH replication = {'class': 'SimpleStrategy', "
        "'replication_factor': '3'}\n"
        "CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', "
        "'replication_factor': '1'}\n"
        "CREATE TABLE \"Music\".a (key blob, column1 blob, value blob, PRIMARY KEY (key, "
        "column1))\n"
        "CREATE TABLE other.a (key blob, column1 blob, value blob, PRIMARY KEY (key, column1))\n");
    definitions_expect(cassandra_cli_read,
                       "create keyspace n with strategy_options = {east: 2, west: 3};",
                       &(struct definitions_options){0},
                       "CREATE KEYSPACE n WITH replication = {'class': 'SimpleStrategy', "
                       "'replication_factor': '3'}\n"
                       "line 1: n is replicated by datacenter, of which there is one here\n");
}

Test(cassandra_cli, a_keyspace_that_is_there_is_not_made)
{
    const struct definitions_options options = {.keyspace = "k"};
    struct buffer shown = {0};

    definitions_show(cassandra_cli_read, bytes_text("create column family f"), &options, "k",
                     &shown);
    cr_assert_str_eq((const char *)shown.data, "CREATE TABLE k.f (key blob, column1 blob, value "
                                               "blob, PRIMARY KEY (key, column1))\n");
    buffer_release(&shown);
}

Test(cassandra_cli, comments_strings_and_what_nodes_did_with_files_are_read_over)
{
    expect("-- first\n/* all\n of\n it */ create column family f with comment='Ann\\'s; -- \"x\"'"
           " and gc_grace=864000 and compression_options={sstable_compression: SnappyCompressor,"
           " chunk_length_kb: 64} and caching='KEYS_ONLY' and default_time_to_live = 60;; ;",
           "CREATE TABLE k.f (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) "
           "WITH comment = 'Ann''s; -- \"x\"' AND default_time_to_live = 60\n");
}

Test(cassandra_cli, an_order_that_cql_has_not_is_told)
{
    expect("\ncreate column family f with comparator=LexicalUUIDType;",
           "CREATE TABLE k.f (key blob, column1 uuid, value blob, PRIMARY KEY (key, column1))\n"
           "line 2: comparator of f: values of LexicalUUIDType are sorted in another order "
           "by CQL's type\n");
    expect("create column family f with column_type=Super and comparator=LongType and "
           "subcomparator=LexicalUUIDType;",
           "CREATE TABLE k.f (key blob, column1 bigint, column2 uuid, value blob, PRIMARY KEY "
           "(key, column1, column2))\n"
           "line 1: subcomparator of f: values of LexicalUUIDType are sorted in another order "
           "by CQL's type\n");
    expect(
        "create column family f with comparator=DateType and "
        "column_metadata=[];",
        "CREATE TABLE k.f (key blob, column1 timestamp, value blob, PRIMARY KEY (key, column1))\n"
        "line 1: comparator of f: values of DateType are sorted in another order by CQL's "
        "type\n");
}

Test(cassandra_cli, options_say_what_the_file_does_not)
{
    const struct definitions_options options = {.keyspace = "k",
                                                .keys = {"users=uuid"},
                                                .key_count = 1,
                                                .texts = {"users"},
                                                .text_count = 1};
    definitions_expect(cassandra_cli_read, "create column family users; create column family user;",
                       &options,
                       MADE "CREATE TABLE k.users (key uuid, column1 text, value text, PRIMARY "
                            "KEY (key, column1))\n"
                            "CREATE TABLE k.user (key blob, column1 blob, value blob, PRIMARY "
                            "KEY (key, column1))\n");
}

Test(cassandra_cli, an_option_for_a_family_that_is_not_there_is_refused)
{
    static const struct {
        struct definitions_options options;
        const char *wanted;
    } cases[] = {
        {{.keyspace = "k", .keys = {"user=uuid"}, .key_count = 1},
         "! --key user=uuid: the file has no such column family\n"},
        {{.keyspace = "k", .texts = {"Users"}, .text_count = 1},
         "! --text Users: the file has no such column family\n"},
        {{.keyspace = "k", .keys = {"users=uid"}, .key_count = 1},
         "! --key users: unknown type uid\n"},
        {{0},
         "! line 1: users is in no keyspace, and --keyspace does not say which it belongs "
         "to\n"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        definitions_expect(cassandra_cli_read, "create column family users;", &cases[i].options,
                           cases[i].wanted);
}

Test(cassandra_cli, what_is_wrong_is_told_with_its_line)
{
    expect("create column family f;\nset f['a']['b'] = 1;",
           "! line 2: create or use is expected, not 'set'\n");
    expect("create table f;", "! line 1: keyspace or column family is expected, not 'table'\n");
    expect("create column family f\nwith comparater=UTF8Type;",
           "! line 2: column families have no attribute 'comparater'\n");
    expect("create column family f with comparator=com.example.Order;",
           "! line 1: comparator of f: 'com.example.Order' is no type that CQL has: no column "
           "would sort as its class does\n");
    expect("create column family f with column_metadata=[{validation_class: UTF8Type}];",
           "! line 1: a column has no column_name\n");
    expect("create column family f with column_metadata=[{column_name: a, index_type: CUSTOM}];",
           "! line 1: there are no indexes of type 'CUSTOM'\n");
    expect("create column family f with column_metadata=[{column_name: a},{column_name: a}];",
           "! line 1: column a of f is declared twice\n");
    expect("create column family f;\n\ncreate column family f;",
           "! line 3: f is defined on line 1 already\n");
    expect("create column family f create column family g",
           "! line 1: ';' is expected, not 'create'\n");
    expect("create column family f with comment = 'open", "! line 1: a string is not closed\n");
    expect("/* open\n\n", "! line 1: a comment is not closed\n");
    expect("create column family f with", "! line 1: an attribute is expected, but the file "
                                          "ends\n");
    expect("create column family f with subcomparator=UTF8Type",
           "! line 1: f has a subcomparator and is not of column_type Super\n");
    expect("create keyspace k; create keyspace k;",
           "! line 1: keyspace k is defined on line 1 already\n");
    expect("create column family f with id=[[[[[[[[[[1]]]]]]]]]];",
           "! line 1: values are over 8 deep within each other\n");
    expect("create column family \xff;", "! line 1: the text is not UTF-8\n");
    expect("create keyspace q with strategy_options={replication_factor: many};",
           "! line 1: a replication factor is a number from 0 to 1000, not 'many'\n");
}

Test(cassandra_cli, a_text_cut_at_every_byte_or_with_any_bit_turned_is_read_or_refused)
{
    static const char text[] =
        "create keyspace q with strategy_options={replication_factor:1}; use q; /* c */\n"
        "create column family f with column_type=Super and comparator='LongType(reversed=true)' "
        "and subcomparator=UTF8Type and column_metadata=[{column_name: \"a\\n\", validation_class: "
        "UTF8Type, index_type: KEYS}] and gc_grace=[{a:b},1]; -- end";
    const struct definitions_options options = {.keyspace = "k"};
    struct buffer shown = {0};
    char turned[sizeof(text)];

    for (size_t size = 0; size < sizeof(text); size++) {
        buffer_clear(&shown);
        definitions_show(cassandra_cli_read, bytes_of(text, size), &options, NULL, &shown);
    }
    for (size_t bit = 0; bit < (sizeof(text) - 1) * 8; bit++) {
        memcpy(turned, text, sizeof(text));
        turned[bit / 8] = (char)(turned[bit / 8] ^ (1 << bit % 8));
        buffer_clear(&shown);
        definitions_show(cassandra_cli_read, bytes_of(turned, sizeof(text) - 1), &options, NULL,
                         &shown);
    }
    buffer_release(&shown);
}
