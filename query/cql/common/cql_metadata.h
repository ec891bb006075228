/* cql_metadata: the MD5 by which clients identify the columns of a result or of bound values.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_METADATA_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_METADATA_H

#include "codec/cql_request.h"

struct arena;

/* The MD5 of all that an answer says of the columns.  For it they are written to `arena`, about as
 * large as in an answer.  A guarded step that makes the id therefore also refuses columns whose
 * description takes more memory than a request may (a user type is described for each column). */
void cql_metadata_id(const struct cql_metadata *metadata, struct arena *arena,
                     uint8_t id[CQL_ID_SIZE]);
#endif
