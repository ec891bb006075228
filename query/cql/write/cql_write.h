/* cql_write: carries out statements that change rows.
 *
 * A statement, or all statements of a BATCH, become one write batch of the store.
 *
 * Its specification is tests/cql/cassandra/write_*.cql. */
#ifndef DAYBOOK_QUERY_CQL_WRITE_CQL_WRITE_H
#define DAYBOOK_QUERY_CQL_WRITE_CQL_WRITE_H

#include "query/cql/common/cql_compiled.h"
#include "query/cql/common/cql_scope.h"
#include "query/cql/write/cql_idempotency.h"
#include "query/cql/write/cql_write_plan.h"

/* ---- statements: they are compiled, or carried out and answered ---- */

int cql_write_compile(struct cql_scope *scope, const struct cql_statement *statement,
                      struct cql_write_plan **plan_out);
int cql_write_compile_batch(struct cql_scope *scope, const struct cql_batch *batch,
                            struct cql_batch_plan **plan_out);
/* Find the markers of the partition columns.  Returns the number of these columns; 0: a column has
 * no marker, or the statement is INSERT JSON. */
uint32_t cql_write_key_markers(const struct cql_write_plan *plan, struct arena *arena,
                               const uint16_t **indexes_out);
/* Find these markers in the last statement of the batch that has them.  0: no statement has them,
 * or the statements write to several tables. */
uint32_t cql_write_batch_key_markers(const struct cql_batch_plan *plan, struct arena *arena,
                                     const uint16_t **indexes_out);

void cql_write_run(struct cql_execution *execution);
void cql_write_run_batch(struct cql_execution *execution); /* BEGIN BATCH ... */

/* The protocol's BATCH: begin, add each statement with its values, then run. */
void cql_write_items_begin(struct cql_execution *execution);
uint32_t cql_write_items_count(const struct cql_execution *execution);
/* Takes over the caller's reference to `compiled`. */
void cql_write_items_add(struct cql_execution *execution, struct cql_compiled *compiled,
                         const struct cql_value *values);
void cql_write_items_run(struct cql_execution *execution);

/* ---- what its files share ---- */

struct cql_read_row {
    struct bytes key;
    const struct slice *slice;
    struct row *static_row;
    struct row *rows;
    uint32_t row_count;
    uint32_t row_capacity;
};

struct cql_write_statement {
    const struct cql_write_plan *plan;
    const struct cql_value *values;      /* by the numbers of the statement's markers */
    struct cql_restrict_bound bound;
    struct cql_filter *conditions;
    uint32_t condition_count;
    int64_t timestamp_us;                /* TIMESTAMP_SERVER: the server's own */
    int32_t ttl_s;
    struct cql_read_row *reads;          /* one per key and slice; only if rows are read first */
    uint32_t read_count;
    struct cql_read_row *first;          /* the partition's first row, shown if conditions fail;
                                          * NULL: it is not shown */
};

/* ---- cql_write_bind.c: values of statements, and what a batch may hold ---- */

/* Evaluate the statement's values in the execution's arena.  `timestamp` is the batch's, or NULL.
 * `has_id`: the request has an id, so an INSERT of a click may leave out the click's rank. */
int cql_write_bind(struct cql_execution *execution, struct cql_write_statement *statement,
                   const struct cql_expression *timestamp, bool has_id);
/* Refuse statements that may not be in one batch.  They need not be bound. */
int cql_write_check_batch(struct cql_execution *execution, enum cql_batch_kind kind,
                          const struct cql_write_statement *statements, uint32_t count,
                          bool has_timestamp);
/* Check Cassandra's limits on batches over several partitions: refuse the batch, or warn.  The
 * warning names `table`. */
int cql_write_check_size(struct cql_execution *execution, enum cql_batch_kind kind,
                         const struct table *table, const struct write_batch *batch);

/* ---- cql_write_build.c, cql_write_json.c: what a statement writes ---- */

/* Append the columns' values, read from the text of INSERT JSON, to the statement's values. */
int cql_write_bind_json(struct cql_execution *execution, struct cql_write_statement *statement);

/* Whether the statement deletes rows without naming each row. */
bool cql_write_deletes_range(const struct cql_write_plan *plan);

/* Add the changes of the statement to `batch`.  The rows that the statement needs must have been
 * read. */
int cql_write_build(struct cql_execution *execution, const struct cql_write_statement *statement,
                    struct write_batch *batch);

/* ---- cql_write_answer.c: the answer of a conditional write ---- */

void cql_write_keep_applied(struct cql_execution *execution,
                            struct cql_idempotency_answer *answer_out);
/* Make the answer of a write whose conditions do not hold: the rows against which they were
 * checked.  Fails if the rows have more than CQL_RESULT_BYTES_MAX bytes. */
must_check int cql_write_keep_refused(struct cql_execution *execution,
                                      const struct cql_write_statement *statements, uint32_t count,
                                      bool is_batch, struct cql_idempotency_answer *answer_out);
/* Finish the execution with the answer.  If the answer is empty, the client gets no rows. */
void cql_write_answer(struct cql_execution *execution, const struct table *table,
                      const struct cql_idempotency_answer *answer);
#endif
