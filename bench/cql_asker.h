/* cql_asker: executes a prepared statement again and again over one connection, as a driver does.
 *
 * The protocol is version 4 of docs/PROTOCOL.md, "The CQL door".  A failure ends the program,
 * because a figure of a failed request is useless. */
#ifndef DAYBOOK_BENCH_CQL_ASKER_H
#define DAYBOOK_BENCH_CQL_ASKER_H

#include "base/bytes.h"

struct cql_asker;

/* Connect to a port of 127.0.0.1 and prepare the statement, which has one `?`, of type text. */
struct cql_asker *cql_asker_new(uint16_t port, const char *statement);
void cql_asker_free(struct cql_asker *asker);                  /* NULL is fine */
/* Execute the statement with the value, and receive all rows of the answer. */
void cql_asker_ask(struct cql_asker *asker, const char *value);
size_t cql_asker_answer_bytes(const struct cql_asker *asker);  /* size of the last answer */
#endif
