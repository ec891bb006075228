/* stream_map: the table of a stream, and the columns for the fields of its records. */
#ifndef DAYBOOK_INGEST_PARSE_STREAM_MAP_H
#define DAYBOOK_INGEST_PARSE_STREAM_MAP_H

#include <stdint.h>

#include "base/calendar.h"
#include "storage/schema/type.h"

enum record_field {
    FIELD_RESELLER,
    FIELD_DAY,                         /* empty or missing: the day of the time */
    FIELD_TIME,
    FIELD_AD,
    FIELD_AMOUNT,
    FIELD_CLICK_ID
};
enum { RECORD_FIELDS = 5, RECORD_FIELDS_MAX = 6 };     /* without and with the click id */

struct ingest_counter {
    uint32_t table_id;                 /* 0: none */
    uint32_t column_id;
};

struct ingest_stream {
    const char *name;
    uint32_t table_id;                 /* its key: ((reseller, day), time, ad, rank or click id) */
    uint32_t column_ids[RECORD_FIELDS];/* by enum record_field */
    /* The next four are set if the stream's clicks have ids (click_dedup.h).  The id is the last
     * key column, of type uuid, text or bigint.  Column id 0: the table has ranks instead of
     * ids. */
    uint32_t click_id_column_id;
    const struct type *click_id_type;
    struct ingest_counter per_ad;
    struct ingest_counter per_reseller;
    uint32_t day_derived_column_id;    /* boolean: the day was computed from the time; 0: none */
    const struct zone *zone;           /* of days that are computed from times; NULL: UTC */
};
#endif
