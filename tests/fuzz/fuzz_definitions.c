/* fuzz_definitions: files of old definitions: what is made of them must be CQL.
 *
 * Input: a byte (odd: storage-conf.xml, even: cassandra-cli), then the file. */
#include "query/cql/syntax/cql_parse.h"
#include "query/model/cassandra_cli.h"
#include "query/model/storage_conf.h"
#include "base/arena.h"
#include "tests/fuzz/fuzz.h"

static bool has_none(void *context, const char *keyspace)
{
    (void)context;
    (void)keyspace;
    return false;
}

static void check_statements(const struct definition *statements, uint32_t count)
{
    struct arena *arena = arena_new(4096);
    const struct cql_statement *statement;
    struct error err = {0};

    for (uint32_t i = 0; i < count; i++)
        check(cql_parse(bytes_text(statements[i].cql), arena, NULL, &statement, &err) == 0);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct definitions_options options = {.keyspace = "fuzz"};
    struct definitions *definitions = definitions_new(&options);
    struct bytes text = bytes_of(data, size);
    bool is_xml = fuzz_take_byte(&text) % 2 == 1;
    const struct definition *statements;
    struct error err = {0};
    uint32_t count;
    int rc = is_xml ? storage_conf_read(text, definitions, &err)
                    : cassandra_cli_read(text, definitions, &err);

    rc = rc == 0 ? definitions_write(definitions, has_none, NULL, &statements, &count, &err) : rc;
    check((rc == 0) == (err.code == 0));
    if (rc == 0)
        check_statements(statements, count);
    definitions_free(definitions);
    return 0;
}
