/* marshal: parses class names of Cassandra's types into CQL types.
 *
 *     UTF8Type                                     text
 *     org.apache.cassandra.db.marshal.LongType     bigint
 *     LongType(reversed=true), ReversedType(LongType)          bigint, descending
 *     CompositeType(UTF8Type, Int32Type)           two columns: text, int
 *     MapType(UTF8Type, LongType)                  map<text, bigint>
 *
 * Two classes sort values in another order than their CQL types.  DateType compares bytes, so dates
 * before 1970 come last.  LexicalUUIDType compares UUIDs as two signed numbers. */
#ifndef DAYBOOK_QUERY_MODEL_MARSHAL_H
#define DAYBOOK_QUERY_MODEL_MARSHAL_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/schema/schema.h"

struct arena;

struct marshal_part {
    const char *cql;                   /* in the arena */
    bool descending;
};

struct marshal {
    struct marshal_part parts[SCHEMA_CLUSTERING_MAX];
    uint32_t count;                    /* at least 1; 1 unless it is a composite */
    bool is_composite;
    const char *other_order;           /* DateType or LexicalUUIDType, if the text names it; else
                                        * NULL */
};

/* `bytes_as`: the CQL type for BytesType, blob or text.  ERROR_INVALID: the text has a mistake,
 * or a class that has no CQL type. */
must_check int marshal_parse(struct bytes text, const char *bytes_as, struct arena *arena,
                             struct marshal *marshal_out, struct error *err);
#endif
