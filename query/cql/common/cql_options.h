/* cql_options: the options and the limits of a CQL server. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_OPTIONS_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_OPTIONS_H

#include "base/metrics.h"
#include "base/world/world.h"
#include "storage/engine/store.h"

enum {
    CQL_PREPARED_BYTES_DEFAULT = 16 << 20,
    CQL_PAGE_ROWS_MAX = 10000,           /* also if the client asks for more */
    CQL_PAGE_BYTES_MAX = 16 << 20,       /* a page ends after the row that passes this or a quarter
                                          * of `work_bytes_max` */
    CQL_RESULT_BYTES_MAX = 64 << 20,     /* bytes of an answer without pages */
    CQL_PAGE_BYTES_SHORT = 32 << 10,     /* instead of CQL_PAGE_BYTES_MAX while memory is short */
    CQL_WORK_BYTES_DEFAULT = 128 << 20,
    CQL_ROW_SHARE = 2,                   /* a row may take `work_bytes_max` / CQL_ROW_SHARE */
    CQL_LITTLE_BYTES = 256 << 10         /* a quarter of `work_bytes_max` is reserved for requests
                                          * that hold at most this */
};

struct streams;

struct cql_options {
    struct store *store;                 /* outlives the struct cql */
    struct world *world;                 /* the store's */
    struct streams *streams;             /* NULL in tests whose store has no tables of streams */
    const uint8_t *host_id;              /* 16 bytes (engine_directory_id) */
    struct metrics *metrics;             /* may be NULL */
    size_t prepared_bytes_max;           /* 0: CQL_PREPARED_BYTES_DEFAULT */
    size_t work_bytes_max;               /* bytes of all requests under way with their answers; 0:
                                          * CQL_WORK_BYTES_DEFAULT */
};
#endif
