/* query_flow: reads a file of an application's queries and of the tables that they connect.
 *
 *     # name  from              to                      what it answers
 *     Q1                     -> hotels_by_poi           Hotels near a point of interest
 *     Q2      hotels_by_poi  -> hotels                  One hotel
 *
 * The application begins with the queries that have no table before the arrow.  Blanks separate
 * words.  Empty lines and lines that begin with # are skipped.  Queries are read from a file
 * because no schema has them. */
#ifndef DAYBOOK_QUERY_MODEL_QUERY_FLOW_H
#define DAYBOOK_QUERY_MODEL_QUERY_FLOW_H

#include "base/bytes.h"

struct arena;

enum {
    QUERY_FLOW_LINES_MAX = 1000,
    QUERY_FLOW_NAME_MAX = 16,          /* bytes */
    QUERY_FLOW_TEXT_MAX = 200          /* bytes */
};

/* The texts are views into the file's text. */
struct query_flow_line {
    struct bytes name;
    struct bytes from;                 /* empty: the application begins with this query */
    struct bytes to;
    struct bytes text;                 /* may be empty */
    uint32_t line;
};

struct query_flow {
    const struct query_flow_line *lines;       /* in the arena, in the file's order */
    uint32_t count;
};

/* `text` and `arena` must outlive the flow.  ERROR_INVALID: the error begins with "line N:". */
must_check int query_flow_parse(struct bytes text, struct arena *arena,
                                struct query_flow *flow_out, struct error *err);
#endif
