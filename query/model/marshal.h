/* marshal: the names that Cassandra's classes of types have, as CQL types.
 *
 *     UTF8Type                                     text
 *     org.apache.cassandra.db.marshal.LongType     bigint
 *     LongType(reversed=true), ReversedType(LongType)          bigint, descending
 *     CompositeType(UTF8Type, Int32Type)           two columns: text, int
 *     MapType(UTF8Type, LongType)                  map<text, bigint>
 *
 * Two differ from the type they become: DateType compared bytes, so dates before 1970 came last,
 * and LexicalUUIDType compared UUIDs as two signed numbers. */
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
    uint32_t count;                    /* at least 1; more than that only of a composite */
    bool is_composite;
    const char *other_order;           /* the class whose order CQL does not have; NULL: none */
};

/* `bytes_as`: what BytesType becomes, blob or text.  ERROR_INVALID names what there is no CQL type
 * for. */
must_check int marshal_parse(struct bytes text, const char *bytes_as, struct arena *arena,
                             struct marshal *marshal_out, struct error *err);
#endif
