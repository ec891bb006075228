/* cql_batch: the protocol's BATCH: statements by text or by prepared id, with their values.
 *
 * Its specification is tests/unit/test_cql_session.c and tests/cql/cassandra/write_batches.cql. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_BATCH_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_BATCH_H

#include "query/cql/common/cql_private.h"

void cql_batch_run(struct cql_execution *execution);
#endif
