/* query_flow: reads a file of an application's queries and of the tables that they connect.
 *
 *     # name  from              to                      what it answers
 *     Q1                     -> hotels_by_poi           Hotels near a point of interest
 *     Q2      hotels_by_poi  -> hotels                  One hotel
 *
 * The application begins with the queries that have no table before the arrow.  Blanks separate
 * words; empty lines and lines that begin with # are skipped.  A Chebotko diagram draws these
 * queries as lines between tables; they are read from a file because no schema has them. */
#ifndef DAYBOOK_QUERY_MODEL_QUERY_FLOW_H
#define DAYBOOK_QUERY_MODEL_QUERY_FLOW_H

#include "base/bytes.h"

struct arena;

enum {
    QUERY_FLOW_LINES_MAX = 1000,
    QUERY_FLOW_NAME_MAX = 16,          /* bytes of a query's name */
    QUERY_FLOW_TEXT_MAX = 200          /* bytes of its description */
};

/* The texts are views into the file's text. */
struct query_flow_line {
    struct bytes name;
    struct bytes from;                 /* empty: the application begins with this query */
    struct bytes to;
    struct bytes text;                 /* may be empty */
    uint32_t line;                     /* in the file */
};

struct query_flow {
    const struct query_flow_line *lines;       /* in the arena, in the file's order */
    uint32_t count;
};

/* `text` and `arena` must outlive the flow.  ERROR_INVALID: the error begins with "line N:". */
must_check int query_flow_parse(struct bytes text, struct arena *arena,
                                struct query_flow *flow_out, struct error *err);
#endif
