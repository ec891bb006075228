/* query_flow: an application's queries and the way from one to the next, as a small file says it.
 *
 *     # name  from              to                      what it answers
 *     Q1                     -> hotels_by_poi           Hotels near a point of interest
 *     Q2      hotels_by_poi  -> hotels                  One hotel
 *
 * A query without a table before the arrow is one the application begins with.  Words are apart by
 * blanks; empty lines, and lines that begin with #, are passed over.  It is what the lines of a
 * Chebotko diagram show, and what no schema can know. */
#ifndef DAYBOOK_QUERY_MODEL_QUERY_FLOW_H
#define DAYBOOK_QUERY_MODEL_QUERY_FLOW_H

#include "base/bytes.h"

struct arena;

enum {
    QUERY_FLOW_LINES_MAX = 1000,
    QUERY_FLOW_NAME_MAX = 16,          /* bytes of a query's name */
    QUERY_FLOW_TEXT_MAX = 200          /* of what it answers */
};

/* Views into the file. */
struct query_flow_line {
    struct bytes name;
    struct bytes from;                 /* empty: the application begins with it */
    struct bytes to;
    struct bytes text;                 /* may be empty */
    uint32_t line;                     /* in the file */
};

struct query_flow {
    const struct query_flow_line *lines;       /* in the arena, in the file's order */
    uint32_t count;
};

/* `text` outlives the flow.  ERROR_INVALID: "line N: ...". */
must_check int query_flow_parse(struct bytes text, struct arena *arena,
                                struct query_flow *flow_out, struct error *err);
#endif
