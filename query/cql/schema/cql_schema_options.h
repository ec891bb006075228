/* cql_schema_options: what follows WITH in CREATE and ALTER.
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

/* Names and forms, which are refused whether the keyspace is there or not.  `is_new`: replication
 * must be there. */
int cql_schema_options_check_keyspace(struct cql_execution *execution,
                                      const struct cql_property *properties, bool is_new);
/* What is not in `properties`, which were checked, stays as it is. */
int cql_schema_options_read_keyspace(struct cql_execution *execution, const char *keyspace,
                                     const struct cql_property *properties,
                                     struct cql_keyspace_options *options);

/* ---- cql_table_options.c ---- */

/* What a table was made with.  But for comment and default_ttl_s it means nothing to a store on one
 * node: it is checked, kept and shown. */
struct cql_table_options {
    const char *comment;
    int32_t default_ttl_s;
    struct table_option items[SCHEMA_OPTIONS_MAX];   /* those that were given */
    uint32_t count;
    bool is_changed;                     /* some differ from the table's */
};

/* Names and forms, which are refused whether the table is there or not. */
int cql_table_options_check(struct cql_execution *execution, const struct cql_property *properties);
/* The options of a table after `properties`, whose forms were checked.  `is_new`: of CREATE, which
 * may name an id. */
int cql_table_options_read(struct cql_execution *execution, const struct table *table,
                           const struct cql_property *properties, bool is_new,
                           struct cql_table_options *options);
#endif
