/* cql_write: carries out statements that change rows: reads the rows that they need, checks their
 * conditions, and makes their mutations.
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
/* Find the markers that give the columns of the partition key.  Returns the number of columns, or 0
 * if one of the columns has no marker, or for INSERT JSON. */
uint32_t cql_write_key_markers(const struct cql_write_plan *plan, struct arena *arena,
                               const uint16_t **indexes_out);
/* Find these markers of a batch: those of its last statement that has them.  0: no statement has
 * them, or the statements write to several tables. */
uint32_t cql_write_batch_key_markers(const struct cql_batch_plan *plan, struct arena *arena,
                                     const uint16_t **indexes_out);

void cql_write_run(struct cql_execution *execution);
void cql_write_run_batch(struct cql_execution *execution); /* BEGIN BATCH ... */

/* The protocol's BATCH: begin, add each statement of the request with its values, then run. */
void cql_write_items_begin(struct cql_execution *execution);
/* The number of statements that were added. */
uint32_t cql_write_items_count(const struct cql_execution *execution);
/* Add a statement; its reference is taken over. */
void cql_write_items_add(struct cql_execution *execution, struct cql_compiled *compiled,
                         const struct cql_value *values);
void cql_write_items_run(struct cql_execution *execution);

/* ---- what its files share ---- */

/* The rows that a statement has read for one key and slice. */
struct cql_read_row {
    struct bytes key;
    const struct slice *slice;
    struct row *static_row;
    struct row *rows;
    uint32_t row_count;
    uint32_t row_capacity;
};

/* A statement, alone or in a batch, with its values. */
struct cql_write_statement {
    const struct cql_write_plan *plan;
    const struct cql_value *values;      /* by the numbers of the statement's markers */
    struct cql_restrict_bound bound;
    struct cql_filter *conditions;
    uint32_t condition_count;
    int64_t timestamp_us;                /* TIMESTAMP_SERVER: the server's own */
    int32_t ttl_s;
    struct cql_read_row *reads;          /* one per key and slice, if rows are read first */
    uint32_t read_count;
    struct cql_read_row *first;          /* the partition's first row, for a refusal; else NULL */
};

/* ---- cql_write_bind.c: values of statements, and what a batch may hold ---- */

/* Evaluate the statement's values, write timestamp and TTL, in the execution's arena.  `timestamp`:
 * that of the batch, or NULL.  `has_id`: the request has an id, so that an INSERT of a click may
 * leave out the click's rank.  A refusal is in the execution's fault. */
int cql_write_bind(struct cql_execution *execution, struct cql_write_statement *statement,
                   const struct cql_expression *timestamp, bool has_id);
/* Refuse statements that may not be one batch; they need not be bound. */
int cql_write_check_batch(struct cql_execution *execution, enum cql_batch_kind kind,
                          const struct cql_write_statement *statements, uint32_t count,
                          bool has_timestamp);
/* Check Cassandra's limits on batches over several partitions: refuse the batch, or warn, with
 * `table` in the warning. */
int cql_write_check_size(struct cql_execution *execution, enum cql_batch_kind kind,
                         const struct table *table, const struct write_batch *batch);

/* ---- cql_write_build.c, cql_write_json.c: what a statement writes ---- */

/* INSERT JSON: append the columns' values, which are read from the JSON text, to the statement's
 * values. */
int cql_write_bind_json(struct cql_execution *execution, struct cql_write_statement *statement);

/* Whether the statement deletes rows without naming each row. */
bool cql_write_deletes_range(const struct cql_write_plan *plan);

/* Append what the statement writes to the batch: mutations, increments, or the block of a click.
 * The rows that the statement needs must have been read. */
int cql_write_build(struct cql_execution *execution, const struct cql_write_statement *statement,
                    struct write_batch *batch);

/* ---- cql_write_answer.c: the answer of a conditional write ---- */

void cql_write_keep_applied(struct cql_execution *execution,
                            struct cql_idempotency_answer *answer_out);
/* Make the answer of a refused write: the rows that its conditions were checked against.  An error:
 * they have more than CQL_RESULT_BYTES_MAX bytes. */
must_check int cql_write_keep_refused(struct cql_execution *execution,
                                      const struct cql_write_statement *statements, uint32_t count,
                                      bool is_batch, struct cql_idempotency_answer *answer_out);
/* End the execution with the rows of `answer`, or without rows if `answer` is empty. */
void cql_write_answer(struct cql_execution *execution, const struct table *table,
                      const struct cql_idempotency_answer *answer);
#endif
