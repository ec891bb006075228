/* test_storage_conf: the keyspaces of storage-conf.xml. */
#include <criterion/criterion.h>

#include "query/model/storage_conf.h"
#include "tests/lib/definitions_text.h"

#define MADE(keyspace, factor)                                                                     \
    "CREATE KEYSPACE " keyspace " WITH replication = {'class': 'SimpleStrategy', "                 \
    "'replication_factor': '" factor "'}\n"

static void expect(const char *text, const char *wanted)
{
    const struct definitions_options options = {.keyspace = "k"};

    definitions_expect(storage_conf_read, text, &options, wanted);
}

Test(storage_conf, a_whole_file_gives_its_keyspaces)
{
    expect(
        "<?xml version='1.0' encoding='ISO-8859-1'?>\n<Storage>\n"
        "  <ClusterName>Test</ClusterName>\n"
        "  <Keyspaces>\n"
        "    <Keyspace Name=\"Keyspace1\">\n"
        "      <ColumnFamily Name=\"Standard1\" CompareWith=\"BytesType\" KeysCached=\"10%\"/>\n"
        "      <ColumnFamily Name=\"Super1\" ColumnType=\"Super\" CompareWith=\"LongType\"\n"
        "          CompareSubcolumnsWith=\"UTF8Type\" Comment=\"caf\xe9's\"/>\n"
        "      <ReplicationFactor> 3\n</ReplicationFactor>\n"
        "    </Keyspace>\n"
        "    <Keyspace Name='empty'/>\n"
        "  </Keyspaces>\n"
        "  <Partitioner>org.apache.cassandra.dht.OrderPreservingPartitioner</Partitioner>\n"
        "</Storage>\n",
        MADE("\"Keyspace1\"", "3") MADE(
            "empty",
            "1") "CREATE TABLE \"Keyspace1\".\"Standard1\" (key text, column1 blob, value blob, "
                 "PRIMARY "
                 "KEY (key, column1))\n"
                 "CREATE TABLE \"Keyspace1\".\"Super1\" (key text, column1 bigint, column2 text, "
                 "value "
                 "blob, PRIMARY KEY (key, column1, column2)) WITH comment = 'caf\xc3\xa9''s'\n"
                 "line 14: rows came in the order of their keys; here they come in that of their "
                 "tokens\n");
}

Test(storage_conf, pieces_need_no_root_and_no_keyspace)
{
    expect("<!-- one -->\n<ColumnFamily Name='a' CompareWith='TimeUUIDType'/> text\n"
           "<ColumnFamily Name='b'/>",
           MADE("k",
                "1") "CREATE TABLE k.a (key text, column1 timeuuid, value blob, PRIMARY KEY (key, "
                     "column1))\n"
                     "CREATE TABLE k.b (key text, column1 blob, value blob, PRIMARY KEY (key, "
                     "column1))\n");
}

Test(storage_conf, a_table_of_version_0_3_is_a_keyspace_whose_columns_are_named_by_text)
{
    expect("<Tables><Table Name='t'><ColumnFamily Name='f' ColumnSort='Name'/></Table></Tables>",
           MADE("t", "1") "CREATE TABLE t.f (key text, column1 text, value blob, PRIMARY KEY (key, "
                          "column1))\n");
    expect("<ColumnFamily Name='f'\n ColumnSort='Time'/>",
           "! line 1: ColumnSort=\"Time\": no table sorts by the time of writing\n");
}

Test(storage_conf, bytes_are_text_where_that_is_asked_for)
{
    const struct definitions_options options = {.keyspace = "k", .texts = {"f"}, .text_count = 1};

    definitions_expect(storage_conf_read,
                       "<ColumnFamily Name='f' ColumnType='Super' CompareWith='TimeUUIDType'/>",
                       &options,
                       MADE("k", "1") "CREATE TABLE k.f (key text, column1 timeuuid, column2 text, "
                                      "value text, PRIMARY KEY (key, column1, column2))\n");
}

Test(storage_conf, what_is_wrong_is_told_with_its_line)
{
    expect("<Keyspace Name='a'>\n<ColumnFamily/></Keyspace>",
           "! line 2: a ColumnFamily has no Name\n");
    expect("<Keyspace/>", "! line 1: a keyspace has no Name\n");
    expect("<Keyspace Name='a'>\n<Keyspace Name='b'/>\n</Keyspace>",
           "! line 2: a keyspace begins within a\n");
    expect("<Keyspace Name='a'>", "! line 1: the XML is not well formed: mismatched tag\n");
    expect("<ColumnFamily Name='a' CompareWidth='UTF8Type'/>",
           "! line 1: ColumnFamily has no attribute CompareWidth\n");
    expect("\n<ColumnFamily Name='a' CompareWith='com.example.Sorter'/>",
           "! line 2: comparator of a: 'com.example.Sorter' is no type that CQL has: no column "
           "would sort as its class does\n");
    expect("<ColumnFamily Name='a' ColumnType='super'/>",
           "! line 1: ColumnType is Standard or Super, not 'super'\n");
    expect("<Keyspace Name='a'>\n<ReplicationFactor>x</ReplicationFactor></Keyspace>",
           "! line 2: ReplicationFactor is a number from 1 to 1000, not 'x'\n");
    expect("<ColumnFamily Name='a'/>\n<ColumnFamily Name='a'/>",
           "! line 2: a is defined on line 1 already\n");
}

/* Entities that hold entities would grow without bound. */
Test(storage_conf, a_file_cannot_define_entities)
{
    struct buffer shown = {0};

    definitions_show(storage_conf_read,
                     bytes_text("<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>"
                                "<Keyspace Name='&b;'/>"),
                     &(struct definitions_options){0}, NULL, &shown);
    cr_assert_eq(shown.data[0], '!', "%s", (const char *)shown.data);
    buffer_release(&shown);
}

Test(storage_conf, a_text_cut_at_every_byte_or_with_any_bit_turned_is_read_or_refused)
{
    static const char text[] =
        "\xef\xbb\xbf<?xml version='1.0'?><Keyspace Name='a'><ColumnFamily Name='s' "
        "ColumnType='Super' CompareWith='LongType' CompareSubcolumnsWith='UTF8Type'/>"
        "<ReplicationFactor>1</ReplicationFactor></Keyspace>";
    const struct definitions_options options = {.keyspace = "k"};
    struct buffer shown = {0};
    char turned[sizeof(text)];

    for (size_t size = 0; size < sizeof(text); size++) {
        buffer_clear(&shown);
        definitions_show(storage_conf_read, bytes_of(text, size), &options, NULL, &shown);
    }
    for (size_t bit = 0; bit < (sizeof(text) - 1) * 8; bit++) {
        memcpy(turned, text, sizeof(text));
        turned[bit / 8] = (char)(turned[bit / 8] ^ (1 << bit % 8));
        buffer_clear(&shown);
        definitions_show(storage_conf_read, bytes_of(turned, sizeof(text) - 1), &options, NULL,
                         &shown);
    }
    buffer_release(&shown);
}
