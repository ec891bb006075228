/* clicks_fixture: the clicks stream and its table, as tests of the ingest room need them. */
#ifndef DAYBOOK_TESTS_CLICKS_FIXTURE_H
#define DAYBOOK_TESTS_CLICKS_FIXTURE_H

#include "ingest/parse/line_parser.h"
#include "ingest/parse/stream_map.h"
#include "storage/schema/schema.h"

enum { CLICKS_TABLE = 1 };

static const struct column_definition clicks_columns[] = {
    {1, "reseller_id", "text", COLUMN_PARTITION, false},
    {2, "day", "text", COLUMN_PARTITION, false},
    {3, "time", "timestamp", COLUMN_CLUSTERING, true},
    {4, "ad_id", "text", COLUMN_CLUSTERING, false},
    {5, "click_id", "bigint", COLUMN_CLUSTERING, false},
    {6, "amount", "decimal", COLUMN_REGULAR, false},
    {7, "day_derived", "boolean", COLUMN_REGULAR, false},
};

static const struct table_definition clicks_definition = {
    .id = CLICKS_TABLE,
    .keyspace = "daybook",
    .name = "ad_click",
    .flags = TABLE_OF_EVENTS | TABLE_STREAM,
    .columns = clicks_columns,
    .column_count = sizeof clicks_columns / sizeof clicks_columns[0],
};

static const struct ingest_stream clicks_stream = {
    .name = "clicks",
    .table_id = CLICKS_TABLE,
    .column_ids = {1, 2, 3, 4, 6},
    .day_derived_column_id = 7,
};

static const struct line_columns clicks_line_columns = {
    .names =
        {
            {(const uint8_t *)"reseller_id", 11},
            {(const uint8_t *)"day", 3},
            {(const uint8_t *)"time", 4},
            {(const uint8_t *)"ad_id", 5},
            {(const uint8_t *)"amount", 6},
        },
};
#endif
