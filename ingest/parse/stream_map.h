/* stream_map: the table of a stream, and the columns that its fields go to.
 *
 * The caller of ingest_open gives it, so that ingest does not depend on the built-in tables. */
#ifndef DAYBOOK_INGEST_PARSE_STREAM_MAP_H
#define DAYBOOK_INGEST_PARSE_STREAM_MAP_H

#include <stdint.h>

#include "base/calendar.h"
#include "storage/schema/type.h"

/* The fields of a record, in the order they have without a header. */
enum record_field {
    FIELD_RESELLER,
    FIELD_DAY,                         /* may be empty or left out: then it follows from the time */
    FIELD_TIME,
    FIELD_AD,
    FIELD_AMOUNT,
    FIELD_CLICK_ID                     /* only of a stream whose clicks have ids of their own */
};
enum { RECORD_FIELDS = 5, RECORD_FIELDS_MAX = 6 };     /* of every stream; with the click's id */

/* Where new clicks are counted. */
struct ingest_counter {
    uint32_t table_id;
    uint32_t column_id;
};

struct ingest_stream {
    const char *name;                  /* "clicks" */
    uint32_t table_id;                 /* its key: ((reseller, day), time, ad, rank or click id) */
    uint32_t column_ids[RECORD_FIELDS];/* by enum record_field */
    /* Of a stream whose clicks have ids: the last key column, of type uuid, text or bigint, and the
     * counters by ad and by reseller (click_dedup.h).  0: the table is ranked, and others count. */
    uint32_t click_id_column_id;
    const struct type *click_id_type;  /* a built-in one */
    struct ingest_counter per_ad;
    struct ingest_counter per_reseller;
    uint32_t day_derived_column_id;    /* boolean, true where the day followed; 0: none */
    const struct zone *zone;           /* of the days that follow from times; NULL: UTC */
};
#endif
