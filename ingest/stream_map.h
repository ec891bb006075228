/* stream_map: which columns of which table a stream's fields go to.
 *
 * Given by the caller of ingest_open, so that this room need not know the built-in tables. */
#ifndef DAYBOOK_INGEST_STREAM_MAP_H
#define DAYBOOK_INGEST_STREAM_MAP_H

#include <stdint.h>

#include "storage/base/calendar.h"

/* The fields of a record, in the order they have without a header. */
enum record_field {
    FIELD_RESELLER,
    FIELD_DAY,                         /* may be empty or left out: follows from the time */
    FIELD_TIME,
    FIELD_AD,
    FIELD_AMOUNT
};
enum { RECORD_FIELDS = 5 };

struct ingest_stream {
    const char *name;                  /* "clicks" */
    uint32_t table_id;                 /* a ranked table with key ((reseller, day), time, ad) */
    uint32_t column_ids[RECORD_FIELDS];/* by enum record_field */
    uint32_t day_derived_column_id;    /* boolean, true where the day followed; 0: none */
    const struct zone *zone;           /* of the days that follow from times; NULL: UTC */
};
#endif
