/* cql_idempotency: writes that are carried out once, however often they are sent.
 *
 * A client gives a request an id of 16 bytes in its custom payload, under `daybook-request-id`.  A
 * driver without payloads puts `daybook-request-id: <32 hex digits>`, and nothing else, into a
 * comment that begins the text.  The id is stored as a row of daybook_system.request, in the same
 * frame as the write.  A copy of the request gets the answer of the first request.  The id expires
 * CQL_IDEMPOTENCY_WINDOW_S after the first request.
 *
 *     read the id's row, even if it is not durable
 *     ├─▶ no row: write, with the row, if there is still none
 *     ├─▶ row of the same statement: wait until it is durable, answer again
 *     └─▶ row of another statement: refuse */
#ifndef DAYBOOK_QUERY_CQL_WRITE_CQL_IDEMPOTENCY_H
#define DAYBOOK_QUERY_CQL_WRITE_CQL_IDEMPOTENCY_H

#include "base/hash128.h"
#include "query/cql/common/cql_compiled.h"

#define CQL_IDEMPOTENCY_NAME "daybook-request-id"

enum { CQL_IDEMPOTENCY_WINDOW_S = 24 * 60 * 60 };

/* The answer of a conditional write; the cells are in the form of the protocol. */
struct cql_idempotency_answer {
    const char **names;
    uint32_t count;                      /* 0: the write was not conditional */
    uint32_t row_count;
    struct bytes cells;
};

/* Unpacking copies to `arena`; false: the bytes are damaged. */
void cql_idempotency_answer_pack(const struct cql_idempotency_answer *answer,
                                 struct buffer *packed);
bool cql_idempotency_answer_unpack(struct bytes packed, struct arena *arena,
                                   struct cql_idempotency_answer *answer_out);

enum cql_idempotency_verdict { CQL_IDEMPOTENCY_NEW, CQL_IDEMPOTENCY_KNOWN, CQL_IDEMPOTENCY_FAILED };

struct cql_idempotency {
    struct cql_execution *execution;
    struct bytes id;
    struct hash128_stream *content;
    struct store_version version;        /* of the id's partition, when the id was looked up */
    struct cql_idempotency_answer answer; /* of the first request, if the id is known */
    void (*looked)(void *context, enum cql_idempotency_verdict verdict);
    void *context;
};

/* Find the id in the comment that begins a statement.  Without an id the result is 0, and *id_out
 * is empty.  A malformed id is refused, because a retry without an id would count twice. */
int cql_idempotency_hint(struct bytes text, struct arena *arena, struct bytes *id_out,
                         struct cql_fault *fault);

/* Take the request's id from its payload, or else from `hint`, which may be empty.  If both have an
 * id, the ids must be equal.  Without an id *idempotency_out is NULL.  Call cql_idempotency_free
 * afterwards. */
int cql_idempotency_new(struct cql_execution *execution, struct bytes hint,
                        struct cql_idempotency **idempotency_out);
void cql_idempotency_free(struct cql_idempotency *idempotency); /* NULL: nothing is done */

/* Add a statement with its values to the hash of the request's content.  A retry must have the same
 * statements and values in the same order. */
void cql_idempotency_add_statement(struct cql_idempotency *idempotency,
                                   const struct cql_compiled *compiled,
                                   const struct cql_value *values);

/* Look the id up.  `looked` is called once, perhaps before this function returns.  After
 * CQL_IDEMPOTENCY_FAILED the execution's fault says why. */
void cql_idempotency_look(struct cql_idempotency *idempotency,
                          void (*looked)(void *context, enum cql_idempotency_verdict verdict),
                          void *context);

/* Returns the expectation that the id's row was not written since the id was looked up.
 * cql_idempotency_add adds that row to the batch. */
struct store_expectation cql_idempotency_expectation(const struct cql_idempotency *idempotency);
void cql_idempotency_add(const struct cql_idempotency *idempotency,
                         const struct cql_idempotency_answer *answer, struct write_batch *batch);

/* Make the answer's payload say `duplicate` or `applied`. */
void cql_idempotency_set_echo(struct cql_execution *execution, bool is_duplicate);
#endif
