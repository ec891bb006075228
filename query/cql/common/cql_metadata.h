/* cql_metadata: the MD5 by which clients identify the columns of a result or of bound values.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_METADATA_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_METADATA_H

#include "codec/cql_request.h"

struct arena;

/* Set `id` to the MD5 of the columns' description.  The description is made in `arena`, and is as
 * large as in an answer. */
void cql_metadata_id(const struct cql_metadata *metadata, struct arena *arena,
                     uint8_t id[CQL_ID_SIZE]);
#endif
