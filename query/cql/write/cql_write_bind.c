/* Values, write timestamps and TTLs of statements that write, and the rules for batches.
 *
 * A timestamp of the statement or of its batch takes precedence over the request's.  A conditional
 * statement does not use the request's timestamp.  In a stream's table every write has the server's
 * time, so that no client's clock can hide later clicks. */
#include "query/cql/expression/cql_key.h"
#include "query/cql/write/cql_condition.h"
#include "query/cql/write/cql_write.h"
#include "storage/engine/store.h"

enum {
    TTL_MAX_S = 630720000,
    /* Cassandra's thresholds for batches over several partitions. */
    BATCH_WARN_BYTES = 5 * 1024,
    BATCH_FAIL_BYTES = 50 * 1024,
    BATCH_WARN_PARTITIONS = 10
};

/* ---- a statement ---- */

/* The last timestamp that clients may not use.  It is TIMESTAMP_SERVER + 1, because a write of a
 * whole collection deletes older cells 1 us before its own timestamp. */
#define TIMESTAMP_OWN_LAST (TIMESTAMP_SERVER + 1)

static int check_clusterings(struct cql_fault *fault, const struct cql_restrict_bound *bound)
{
    int rc = 0;
    for (uint32_t i = 0; i < bound->slice_count && rc == 0; i++) {
        const struct clustering *start = &bound->slices[i].start.prefix;
        rc = cql_key_check(fault, start->values, start->count, 0);
    }
    return rc;
}

static int bind_timestamp(struct cql_execution *execution, struct cql_write_statement *statement,
                          const struct cql_expression *of_batch)
{
    const struct cql_write_plan *plan = statement->plan;
    const struct cql_expression *given = plan->timestamp != NULL ? plan->timestamp : of_batch;
    struct cql_context context = cql_expression_context(execution, execution->arena);
    struct bytes value = CQL_NULL;
    context.values = plan->timestamp != NULL ? statement->values : execution->values;
    bool is_stream = (plan->table->flags & TABLE_STREAM) != 0;
    statement->timestamp_us = TIMESTAMP_SERVER;
    int rc = given == NULL ? CQL_UNSET : cql_expression_value(given, &context, &value);
    if (rc < 0)
        return rc;
    if (rc == 0) {
        if (value.size != 8)
            return cql_invalid(&execution->fault, "Invalid null value of timestamp");
        if (type_value_bigint(value) == INT64_MIN) {
            return cql_invalid(&execution->fault, "Out of bound timestamp, must be in "
                                                  "[-9223372036854775807, 9223372036854775807]");
        }
        if (type_value_bigint(value) <= TIMESTAMP_OWN_LAST) {
            return cql_invalid(&execution->fault,
                               "Timestamps up to -9223372036854775806 are daybook's own");
        }
        if (is_stream) {
            cql_execution_warn(execution,
                               "Table %s.%s is used by a stream: the timestamp was ignored",
                               plan->table->keyspace, plan->table->name);
        } else {
            statement->timestamp_us = type_value_bigint(value);
        }
    } else if (execution->request.has_timestamp && !is_stream && !plan->is_conditional) {
        statement->timestamp_us = execution->request.timestamp_us > TIMESTAMP_OWN_LAST
                                      ? execution->request.timestamp_us
                                      : TIMESTAMP_SERVER;
    }
    return 0;
}

static int bind_ttl(struct cql_execution *execution, struct cql_write_statement *statement)
{
    struct cql_context context = cql_expression_context(execution, execution->arena);
    struct bytes value = CQL_NULL;
    statement->ttl_s = statement->plan->table->default_ttl_s;
    context.values = statement->values;
    if (statement->plan->ttl == NULL)
        return 0;
    int rc = cql_expression_value(statement->plan->ttl, &context, &value);
    if (rc != 0)
        return rc == CQL_UNSET ? 0 : rc;
    int32_t ttl_s = value.size == 4 ? type_value_int(value) : 0;
    if (ttl_s < 0)
        return cql_invalid(&execution->fault, "A TTL must be greater or equal to 0, but was %d",
                           ttl_s);
    if (ttl_s > TTL_MAX_S) {
        return cql_invalid(&execution->fault, "ttl is too large. requested (%d) maximum (%d)",
                           ttl_s, TTL_MAX_S);
    }
    statement->ttl_s = ttl_s;
    return 0;
}

int cql_write_bind(struct cql_execution *execution, struct cql_write_statement *statement,
                   const struct cql_expression *timestamp, bool has_id)
{
    const struct cql_write_plan *plan = statement->plan;
    struct cql_context context = cql_expression_context(execution, execution->arena);
    int rc = plan->json != NULL ? cql_write_bind_json(execution, statement) : 0;
    if (rc == 0 && plan->is_ranked && !has_id) {
        rc = cql_invalid(&execution->fault,
                         "Some clustering keys are missing: click_id (only a request with a "
                         "%s, which makes no second click of a retry, may leave it out)",
                         CQL_IDEMPOTENCY_NAME);
    }
    if (rc != 0)
        return rc;
    context.values = statement->values;
    rc = cql_restrict_bind(&plan->where, &context, &statement->bound);
    if (rc == 0)
        rc = check_clusterings(&execution->fault, &statement->bound);
    if (rc == 0)
        rc = bind_timestamp(execution, statement, timestamp);
    if (rc == 0)
        rc = bind_ttl(execution, statement);
    return rc == 0 ? cql_condition_bind(execution, &context, statement) : rc;
}

/* ---- batches ---- */

static int check_kinds(struct cql_fault *fault, enum cql_batch_kind kind,
                       const struct cql_write_statement *statements, uint32_t count)
{
    uint32_t counters = 0;
    for (uint32_t i = 0; i < count; i++)
        counters += statements[i].plan->is_counter;
    if (kind == CQL_BATCH_COUNTER && counters < count)
        return cql_invalid(fault, "Cannot include non-counter statement in a counter batch");
    if (counters > 0 && counters < count) {
        return cql_invalid(fault,
                           "Counter and non-counter mutations cannot exist in the same batch");
    }
    if (kind == CQL_BATCH_LOGGED && counters > 0)
        return cql_invalid(fault, "Cannot include a counter statement in a logged batch");
    return 0;
}

int cql_write_check_batch(struct cql_execution *execution, enum cql_batch_kind kind,
                          const struct cql_write_statement *statements, uint32_t count,
                          bool has_timestamp)
{
    struct cql_fault *fault = &execution->fault;
    int rc = check_kinds(fault, kind, statements, count);
    bool is_conditional = false;
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        const struct cql_write_plan *plan = statements[i].plan;
        is_conditional |= plan->is_conditional;
        if (has_timestamp && plan->timestamp != NULL) {
            rc = cql_invalid(fault,
                             "Timestamp must be set either on BATCH or individual statements");
        }
    }
    if (rc == 0 && has_timestamp && count > 0 && statements[0].plan->is_counter)
        rc = cql_invalid(fault, "Cannot provide custom timestamp for a BATCH containing counters");
    if (rc == 0 && is_conditional && has_timestamp)
        rc = cql_invalid(fault, "Cannot provide custom timestamp for conditional BATCH");
    return rc;
}

static bool is_new_partition(const struct mutation *mutations, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++) {
        if (mutations[j].table_id == mutations[i].table_id &&
            mutations[j].token == mutations[i].token &&
            bytes_equal(mutations[j].key, mutations[i].key)) {
            return false;
        }
    }
    return true;
}

int cql_write_check_size(struct cql_execution *execution, enum cql_batch_kind kind,
                         const struct table *table, const struct write_batch *batch)
{
    uint32_t partitions = 0;
    struct buffer packed = {.arena = execution->arena};
    if (batch->mutation_count < 2)
        return 0;
    for (uint32_t i = 0; i < batch->mutation_count; i++) {
        const struct table *written =
            schema_table(store_schema(execution->cql->options.store), batch->mutations[i].table_id);
        if ((written->flags & TABLE_HIDDEN) != 0)
            continue;
        /* Only the first 1,000 mutations are compared; each further one counts as a new
         * partition. */
        partitions += i < 1000 ? is_new_partition(batch->mutations, i) : 1;
        mutation_pack(&batch->mutations[i], &packed);
    }
    size_t size = packed.size;
    if (partitions < 2)
        return 0;
    if (size > BATCH_FAIL_BYTES)
        return cql_invalid(&execution->fault, "Batch too large");
    if (size > BATCH_WARN_BYTES) {
        cql_execution_warn(
            execution,
            "Batch for [%s.%s] is of size %zu, exceeding specified threshold of %d by %zu.",
            table->keyspace, table->name, size, BATCH_WARN_BYTES, size - BATCH_WARN_BYTES);
    }
    if (kind != CQL_BATCH_LOGGED && partitions > BATCH_WARN_PARTITIONS) {
        cql_execution_warn(
            execution,
            "Unlogged batch covering %u partitions detected against table [%s.%s]. You should "
            "use a logged batch for atomicity, or asynchronous writes for performance.",
            partitions, table->keyspace, table->name);
    }
    return 0;
}
