/* cql_schema_options: what follows WITH in CREATE and ALTER. */
#ifndef DAYBOOK_QUERY_CQL_CQL_SCHEMA_OPTIONS_H
#define DAYBOOK_QUERY_CQL_CQL_SCHEMA_OPTIONS_H

#include "query/cql/cql_private.h"

struct cql_keyspace_options {
    const char *replication;             /* a CQL map literal */
    bool durable_writes;
};

/* Names and forms, which are refused whether the keyspace is there or not.  `is_new`: replication
 * must be there. */
int cql_keyspace_options_check(struct cql_work *work, const struct cql_property *properties,
                               bool is_new);
/* What is not in `properties`, which were checked, stays as it is. */
int cql_keyspace_options_read(struct cql_work *work, const char *keyspace,
                              const struct cql_property *properties,
                              struct cql_keyspace_options *options);

/* What daybook keeps of a table's options.  The others are known, checked by name only, and mean
 * nothing to a store on one node. */
struct cql_table_options {
    const char *comment;
    int32_t default_ttl_s;
};

int cql_table_options_check(struct cql_work *work, const struct cql_property *properties);
int cql_table_options_read(struct cql_work *work, const struct cql_property *properties,
                           bool is_counter, struct cql_table_options *options);
#endif
