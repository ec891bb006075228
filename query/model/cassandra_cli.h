/* cassandra_cli: reads definitions in the language of cassandra-cli (Cassandra 0.7 to 2.1).
 *
 *     create keyspace K with placement_strategy = 'SimpleStrategy'
 *         and strategy_options = {replication_factor: 1};
 *     use K;
 *     create column family users with comparator = UTF8Type
 *         and column_metadata = [
 *             {column_name: user_name, validation_class: UTF8Type, index_type: KEYS}];
 *
 * Keywords may be in any case; names are case-sensitive.  Statements end in semicolons.  A comment
 * is the rest of a line after `--`, or a block comment as in C.  Statements that define nothing
 * (set, get, drop, update ...) are refused. */
#ifndef DAYBOOK_QUERY_MODEL_CASSANDRA_CLI_H
#define DAYBOOK_QUERY_MODEL_CASSANDRA_CLI_H

#include "query/model/definitions.h"

enum { CASSANDRA_CLI_DEPTH_MAX = 8 };  /* arrays and maps nested in one another */

/* Add the definitions in `text`.  ERROR_INVALID: the error begins with "line N:", and the
 * definitions before that line stay added. */
must_check int cassandra_cli_read(struct bytes text, struct definitions *definitions,
                                  struct error *err);
#endif
