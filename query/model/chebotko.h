/* chebotko: draws a keyspace as a Chebotko diagram, in SVG.
 *
 * Each table is a box: key columns come first, then static columns, then the others by name.  A
 * column has its type and these marks:
 *
 *     K   partition key          S    static                 [a] list    {a} set    <a> map
 *     C↑  clustering, ascending  IDX  secondary index        *a* user type          (a) tuple
 *     C↓  clustering, descending ++   counter
 *
 * User types are boxes below the tables.  Queries (query_flow.h) are lines into and between tables,
 * which then stand in the order in which queries reach them.  Notation: Chebotko, Kashlev, Lu, "A
 * Big Data Modeling Methodology for Apache Cassandra", IEEE BigData 2015.
 *
 * The same schema and queries give the same bytes. */
#ifndef DAYBOOK_QUERY_MODEL_CHEBOTKO_H
#define DAYBOOK_QUERY_MODEL_CHEBOTKO_H

#include "query/model/query_flow.h"
#include "storage/schema/schema.h"

/* ERROR_INVALID: `flow` names a table that does not exist; ERROR_NOT_FOUND: the keyspace does not
 * exist. */
must_check int chebotko_draw(const struct schema *schema, const char *keyspace,
                             const struct query_flow *flow, struct buffer *svg,
                             struct error *err);
#endif
