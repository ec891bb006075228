/* stream_map: the table of a stream, and the columns for the fields of its records.
 *
 * The caller of ingest_open passes the streams, so that ingest does not depend on the built-in
 * tables. */
#ifndef DAYBOOK_INGEST_PARSE_STREAM_MAP_H
#define DAYBOOK_INGEST_PARSE_STREAM_MAP_H

#include <stdint.h>

#include "base/calendar.h"
#include "storage/schema/type.h"

/* The fields of a record, in the order that lines have without a header. */
enum record_field {
    FIELD_RESELLER,
    FIELD_DAY,                         /* may be empty or missing: then it is the day of the time */
    FIELD_TIME,
    FIELD_AD,
    FIELD_AMOUNT,
    FIELD_CLICK_ID                     /* only of a stream whose clicks have ids */
};
enum { RECORD_FIELDS = 5, RECORD_FIELDS_MAX = 6 };     /* without and with the click id */

/* The counter column in which new clicks are counted. */
struct ingest_counter {
    uint32_t table_id;                 /* 0: there is no such column */
    uint32_t column_id;
};

struct ingest_stream {
    const char *name;                  /* "clicks" */
    uint32_t table_id;                 /* its key: ((reseller, day), time, ad, rank or click id) */
    uint32_t column_ids[RECORD_FIELDS];/* by enum record_field */
    /* The next four are set for a stream whose clicks have ids (click_dedup.h).  The id's column is
     * the last key column; its type is uuid, text or bigint.  Column id 0: the table has ranks
     * instead of ids, and ingest does not count its clicks. */
    uint32_t click_id_column_id;
    const struct type *click_id_type;  /* a built-in type */
    struct ingest_counter per_ad;
    struct ingest_counter per_reseller;
    uint32_t day_derived_column_id;    /* boolean: the day was computed from the time; 0: none */
    const struct zone *zone;           /* for days that are computed from times; NULL: UTC */
};
#endif
