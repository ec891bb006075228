/* cql_write: statements that change rows, carried out with their values: the reads that they need
 * first, their conditions, and the mutations that are made of them.
 *
 * One statement or a batch is a struct cql_write; all of it becomes one store batch.
 *
 * Its specification is tests/cql/cassandra/write_*.cql. */
#ifndef DAYBOOK_QUERY_CQL_WRITE_CQL_WRITE_H
#define DAYBOOK_QUERY_CQL_WRITE_CQL_WRITE_H

#include "query/cql/common/cql_compiled.h"
#include "query/cql/common/cql_scope.h"
#include "query/cql/write/cql_idempotency.h"
#include "query/cql/write/cql_write_plan.h"

/* ---- statements: each is resolved, or runs until cql_execution_finish ---- */

int cql_write_compile(struct cql_scope *scope, const struct cql_statement *statement,
                      struct cql_write_plan **plan_out);
int cql_write_compile_batch(struct cql_scope *scope, const struct cql_batch *batch,
                            struct cql_batch_plan **plan_out);
/* Which markers make up the partition key; 0: not all of its parts are markers. */
uint32_t cql_write_key_markers(const struct cql_write_plan *plan, struct arena *arena,
                               const uint16_t **indexes_out);
/* The same of a batch whose statements are all of one table: the markers of its last statement that
 * has them. */
uint32_t cql_write_batch_key_markers(const struct cql_batch_plan *plan, struct arena *arena,
                                     const uint16_t **indexes_out);

void cql_write_run(struct cql_execution *execution);
void cql_write_run_batch(struct cql_execution *execution); /* BEGIN BATCH ... */

/* The protocol's BATCH: begin, add each statement of the request with its values, then run. */
void cql_write_items_begin(struct cql_execution *execution);
/* The number of statements that were added. */
uint32_t cql_write_items_count(const struct cql_execution *execution);
/* Takes the reference over. */
void cql_write_items_add(struct cql_execution *execution, struct cql_compiled *compiled,
                         const struct cql_value *values);
void cql_write_items_run(struct cql_execution *execution);

/* ---- what its files share ---- */

/* A row that a statement read first; NULL where there is none. */
struct cql_read_row {
    struct bytes key;
    const struct slice *slice;
    struct row *static_row;
    struct row *rows;
    uint32_t row_count;
    uint32_t row_capacity;
};

/* A statement of a batch, its values bound. */
struct cql_write_statement {
    const struct cql_write_plan *plan;
    const struct cql_value *values;      /* by the number of its own markers */
    struct cql_restrict_bound bound;
    struct cql_filter *conditions;
    uint32_t condition_count;
    int64_t timestamp_us;                /* TIMESTAMP_SERVER: the server's own */
    int32_t ttl_s;
    struct cql_read_row *reads;          /* one per key and slice, if it reads first */
    uint32_t read_count;
    struct cql_read_row *first;          /* the partition's first row, for a refusal; else NULL */
};

/* ---- cql_write_bind.c: values of statements, and what a batch may hold ---- */

/* The statement's values, write timestamp and TTL, all in the execution's arena.  `timestamp`: its
 * batch's, or NULL.  `has_id`: whether the request has an id, by which clicks may leave out theirs.
 * A refusal is in the execution's fault. */
int cql_write_bind(struct cql_execution *execution, struct cql_write_statement *statement,
                   const struct cql_expression *timestamp, bool has_id);
/* Whether the statements may be one batch; they need not be bound. */
int cql_write_check_batch(struct cql_execution *execution, enum cql_batch_kind kind,
                          const struct cql_write_statement *statements, uint32_t count,
                          bool has_timestamp);
/* Cassandra's limits on batches over several partitions: a refusal, or a warning that names
 * `table`. */
int cql_write_check_size(struct cql_execution *execution, enum cql_batch_kind kind,
                         const struct table *table, const struct write_batch *batch);

/* ---- cql_write_build.c, cql_write_json.c: what a statement writes ---- */

/* INSERT JSON: the statement's values, with those of the columns from the text behind them. */
int cql_write_bind_json(struct cql_execution *execution, struct cql_write_statement *statement);

/* Whether it deletes rows without naming each. */
bool cql_write_deletes_range(const struct cql_write_plan *plan);

/* Append the statement's mutations to the batch.  What it reads first must have been read. */
int cql_write_build(struct cql_execution *execution, const struct cql_write_statement *statement,
                    struct write_batch *batch);

/* ---- cql_write_answer.c: what a conditional write answers ---- */

void cql_write_keep_applied(struct cql_execution *execution,
                            struct cql_idempotency_answer *answer_out);
/* Keep the rows that the statements' conditions were checked against. */
void cql_write_keep_refused(struct cql_execution *execution,
                            const struct cql_write_statement *statements, uint32_t count,
                            bool is_batch, struct cql_idempotency_answer *answer_out);
/* Ends the execution: with the row of `answer`, or with nothing where it is empty. */
void cql_write_answer(struct cql_execution *execution, const struct table *table,
                      const struct cql_idempotency_answer *answer);
#endif
