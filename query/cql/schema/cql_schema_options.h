/* cql_schema_options: the options of keyspaces and tables after WITH.
 *
 * Its specification is tests/cql/cassandra/ddl_options.cql and
 * tests/cql/cassandra/ddl_keyspaces.cql. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_OPTIONS_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_OPTIONS_H

#include "query/cql/common/cql_private.h"

struct cql_keyspace_options {
    const char *replication;             /* a CQL map literal */
    bool durable_writes;
};

/* Make the checks that Cassandra makes before it looks for the keyspace.  The options of a new
 * keyspace must include `replication`. */
int cql_schema_options_check_keyspace(struct cql_execution *execution,
                                      const struct cql_property *properties, bool is_new);
/* Set `options` from properties that have been checked.  Options without a property stay
 * unchanged. */
int cql_schema_options_read_keyspace(struct cql_execution *execution, const char *keyspace,
                                     const struct cql_property *properties,
                                     struct cql_keyspace_options *options);
/* Read the boolean value of option `name`.  CQL_SYNTAX_ERROR: `text` is none of 1, true, yes, 0,
 * false and no, in upper or lower case. */
int cql_schema_options_read_boolean(struct cql_execution *execution, const char *name,
                                    const char *text, bool *value_out);

/* ---- cql_table_options.c ---- */

/* Options in `items` have no effect on one node, but are checked, kept and shown. */
struct cql_table_options {
    const char *comment;
    int32_t default_ttl_s;
    struct table_option items[SCHEMA_OPTIONS_MAX];   /* of this and earlier statements */
    uint32_t count;
    bool is_changed;
};

/* Make the checks that Cassandra makes before it looks for the table. */
int cql_table_options_check(struct cql_execution *execution, const struct cql_property *properties);
/* Set `options` to the table's options, changed by properties that have been checked.  Only a new
 * table may have the property `id`. */
int cql_table_options_read(struct cql_execution *execution, const struct table *table,
                           const struct cql_property *properties, bool is_new,
                           struct cql_table_options *options);
#endif
