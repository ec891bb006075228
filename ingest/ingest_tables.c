/* ingest_tables: defines the tables that ingest keeps. */
#include "ingest/ingest_tables.h"

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static const struct column_definition reject_columns[] = {
    {REJECT_DAY, "day", "text", COLUMN_PARTITION, false},
    {REJECT_ID, "id", "timeuuid", COLUMN_CLUSTERING, false},
    {REJECT_DOOR, "door", "text", COLUMN_REGULAR, false},
    {REJECT_PRODUCER, "producer", "uuid", COLUMN_REGULAR, false},
    {REJECT_BATCH, "batch", "bigint", COLUMN_REGULAR, false},
    {REJECT_LINE, "line", "bigint", COLUMN_REGULAR, false},
    {REJECT_CODE, "code", "text", COLUMN_REGULAR, false},
    {REJECT_REASON, "reason", "text", COLUMN_REGULAR, false},
    {REJECT_CONTENT, "content", "blob", COLUMN_REGULAR, false},
};

static const struct column_definition producer_columns[] = {
    {PRODUCER_ID, "id", "uuid", COLUMN_PARTITION, false},
    {PRODUCER_SLOT, "slot", "int", COLUMN_CLUSTERING, false},
    {PRODUCER_EPOCH, "epoch", "bigint", COLUMN_REGULAR, false},
    {PRODUCER_SEQUENCE, "sequence", "bigint", COLUMN_REGULAR, false},
    {PRODUCER_HASH, "content_hash", "blob", COLUMN_REGULAR, false},
    {PRODUCER_ACCEPTED, "accepted", "bigint", COLUMN_REGULAR, false},
    {PRODUCER_REJECTED, "rejected", "bigint", COLUMN_REGULAR, false},
};

static const struct column_definition loaded_file_columns[] = {
    {LOADED_FILE_KEY, "file", "blob", COLUMN_PARTITION, false},
    {LOADED_FILE_PRODUCER, "producer", "uuid", COLUMN_CLUSTERING, false},
    {LOADED_FILE_BATCH, "batch", "bigint", COLUMN_REGULAR, false},
    {LOADED_FILE_BYTES, "bytes", "bigint", COLUMN_REGULAR, false},
    {LOADED_FILE_HASH, "content_hash", "blob", COLUMN_REGULAR, false},
    {LOADED_FILE_LINES, "lines", "bigint", COLUMN_REGULAR, false},
    {LOADED_FILE_ENDS_LINE, "ends_line", "boolean", COLUMN_REGULAR, false},
};

static const struct table_definition reject = {
    .id = TABLE_REJECT,
    .keyspace = "daybook",
    .name = "reject",
    .comment = "Lines that were refused, and why.",
    .flags = TABLE_KEPT,
    .columns = reject_columns,
    .column_count = COUNT_OF(reject_columns),
};

static const struct table_definition producer = {
    .id = TABLE_PRODUCER,
    .keyspace = "daybook_system",
    .name = "producer",
    .comment = "The last batches of each producer, so that a copy counts once.",
    .flags = TABLE_KEPT | TABLE_HIDDEN,
    .columns = producer_columns,
    .column_count = COUNT_OF(producer_columns),
};

static const struct table_definition loaded_file = {
    .id = TABLE_LOADED_FILE,
    .keyspace = "daybook_system",
    .name = "loaded_file",
    .comment = "How far files were loaded, known by their content.",
    .flags = TABLE_KEPT | TABLE_HIDDEN,
    .columns = loaded_file_columns,
    .column_count = COUNT_OF(loaded_file_columns),
};

static const struct table_definition *const tables[] = {&reject, &producer, &loaded_file};

const struct table_definition *const *ingest_tables(uint32_t *count_out)
{
    *count_out = COUNT_OF(tables);
    return tables;
}
