/* ingest_tables: the built-in tables that ingest keeps: rejects, producers, loaded files.
 *
 * Table and column numbers are on disk and never change. */
#ifndef DAYBOOK_INGEST_INGEST_TABLES_H
#define DAYBOOK_INGEST_INGEST_TABLES_H

#include "storage/schema/schema.h"

enum ingest_table {
    TABLE_REJECT = 9,
    TABLE_PRODUCER = 21,
    TABLE_LOADED_FILE = 22
};

enum reject_column {
    REJECT_DAY = 1,                    /* of the arrival, in UTC */
    REJECT_ID = 2,
    REJECT_DOOR = 3,
    REJECT_PRODUCER = 4,               /* null outside of batches, as is REJECT_BATCH */
    REJECT_BATCH = 5,
    REJECT_LINE = 6,
    REJECT_CODE = 7,
    REJECT_REASON = 8,
    REJECT_CONTENT = 9
};

/* One row per producer and slot.  A batch's slot is its number modulo PRODUCER_WINDOW. */
enum producer_column {
    PRODUCER_ID = 1,
    PRODUCER_SLOT = 2,
    PRODUCER_EPOCH = 3,
    PRODUCER_SEQUENCE = 4,
    PRODUCER_HASH = 5,                 /* 16 bytes: XXH3-128 of the batch, low half first */
    PRODUCER_ACCEPTED = 6,
    PRODUCER_REJECTED = 7
};

enum loaded_file_column {
    LOADED_FILE_KEY = 1,               /* 16 bytes: the file's key (load_file.h) */
    LOADED_FILE_PRODUCER = 2,
    LOADED_FILE_BATCH = 3,
    LOADED_FILE_BYTES = 4,             /* of uncompressed content, up to that batch's end */
    LOADED_FILE_HASH = 5,              /* of the content's first LOADED_FILE_BYTES bytes */
    LOADED_FILE_LINES = 6,             /* in those bytes; a header is not counted */
    LOADED_FILE_ENDS_LINE = 7          /* false: the content's last line had no end */
};

const struct table_definition *const *ingest_tables(uint32_t *count_out);
#endif
