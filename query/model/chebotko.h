/* chebotko: a keyspace as a Chebotko diagram, in SVG.
 *
 * Each table is a box: its name, then its columns with their types and marks,
 *
 *     K   partition key          S    static                 [a] list    {a} set    <a> map
 *     C↑  clustering, ascending  IDX  secondary index        *a* user type          (a) tuple
 *     C↓  clustering, descending ++   counter
 *
 * in the order of the key, then static ones, then the others by name.  User types are boxes below.
 * Queries (query_flow.h) are lines into and between tables; tables then stand in the order in which
 * queries reach them, from left to right.  Notation: Chebotko, Kashlev, Lu, "A Big Data Modeling
 * Methodology for Apache Cassandra", IEEE BigData 2015.
 *
 * The same schema and queries give the same bytes. */
#ifndef DAYBOOK_QUERY_MODEL_CHEBOTKO_H
#define DAYBOOK_QUERY_MODEL_CHEBOTKO_H

#include "query/model/query_flow.h"
#include "storage/schema/schema.h"

/* `flow` may be NULL.  ERROR_INVALID where it names a table that is not there, ERROR_NOT_FOUND:
 * there is no such keyspace. */
must_check int chebotko_draw(const struct schema *schema, const char *keyspace,
                             const struct query_flow *flow, struct buffer *svg,
                             struct error *err);
#endif
