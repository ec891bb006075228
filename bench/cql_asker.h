/* cql_asker: a prepared statement, asked again and again over a connection that is kept, as a
 * driver asks it: the bytes are those of docs/PROTOCOL.md, "The CQL door", protocol version 4.
 *
 * A call that fails ends the program: a figure of something that failed is none. */
#ifndef DAYBOOK_BENCH_CQL_ASKER_H
#define DAYBOOK_BENCH_CQL_ASKER_H

#include "base/bytes.h"

struct cql_asker;

/* Connect to a port of 127.0.0.1 and prepare the statement, which has one `?`, of type text. */
struct cql_asker *cql_asker_new(uint16_t port, const char *statement);
void cql_asker_free(struct cql_asker *asker);                  /* NULL is fine */
/* Execute it with the value; when it returns, all rows of the answer are here. */
void cql_asker_ask(struct cql_asker *asker, const char *value);
size_t cql_asker_answer_bytes(const struct cql_asker *asker);  /* of the last answer */
#endif
