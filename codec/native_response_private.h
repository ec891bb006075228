/* native_response_private: numbers that the writer and the reader of answers share. */
#ifndef DAYBOOK_CODEC_NATIVE_RESPONSE_PRIVATE_H
#define DAYBOOK_CODEC_NATIVE_RESPONSE_PRIVATE_H

#include "codec/cql_request.h"

enum { NATIVE_UUID_SIZE = 16 };

enum result_kind {
    RESULT_VOID = 1,
    RESULT_ROWS = 2,
    RESULT_SET_KEYSPACE = 3,
    RESULT_PREPARED = 4,
    RESULT_SCHEMA_CHANGE = 5
};

enum metadata_flag {
    METADATA_GLOBAL = 0x01,                /* one keyspace and table for all columns */
    METADATA_MORE = 0x02,                  /* there is a further page */
    METADATA_NONE = 0x04,
    METADATA_CHANGED = 0x08
};

const char *native_response_change_name(enum cql_change change);
const char *native_response_target_name(enum cql_target target);
#endif
