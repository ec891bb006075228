/* cql_metadata: the columns of a result or of bound values as clients know them: by an MD5.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_METADATA_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_METADATA_H

#include "base/buffer.h"
#include "codec/cql_request.h"

/* A line for each column, which has all that a client knows of it. */
void cql_metadata_print(const struct cql_metadata *metadata, struct buffer *text);
/* The MD5 of those lines. */
void cql_metadata_id(const struct cql_metadata *metadata, uint8_t id[CQL_ID_SIZE]);
#endif
