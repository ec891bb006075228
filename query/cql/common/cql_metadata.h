/* cql_metadata: the columns of a result or of bound values as clients know them: by an MD5.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_METADATA_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_METADATA_H

#include "codec/cql_request.h"

struct arena;

/* The MD5 of all that a client knows of the columns.  They are written in `arena` for it, about as
 * large as in an answer: a guarded step that works out the id also refuses columns which take more
 * memory to describe than a request may (a user type is described once for each column of it). */
void cql_metadata_id(const struct cql_metadata *metadata, struct arena *arena,
                     uint8_t id[CQL_ID_SIZE]);
#endif
