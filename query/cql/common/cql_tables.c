#include "query/cql/common/cql_tables.h"

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static const struct column_definition request_columns[] = {
    {REQUEST_ID, "id", "uuid", COLUMN_PARTITION, false},
    {REQUEST_CONTENT, "content", "blob", COLUMN_REGULAR, false},
    {REQUEST_ANSWER, "answer", "blob", COLUMN_REGULAR, false},
};

static const struct table_definition request = {
    .id = TABLE_REQUEST,
    .keyspace = "daybook_system",
    .name = "request",
    .comment = "Writes over CQL that had an id, so that a copy counts once.",
    .flags = TABLE_KEPT | TABLE_HIDDEN,
    .columns = request_columns,
    .column_count = COUNT_OF(request_columns),
};

static const struct table_definition *const tables[] = {&request};

const struct table_definition *const *cql_tables(uint32_t *count_out)
{
    *count_out = COUNT_OF(tables);
    return tables;
}
