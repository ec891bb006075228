/* cql_row_size: refuses writes by which a row would become too large to be read.
 *
 * A row is read, merged and written as a whole, so it must fit into memory several times over.
 * Adding or deleting elements of a collection makes a row grow, and so do large values.
 *
 * For such a row an upper bound is kept: its last measured size plus the bytes added since.  A row
 * is measured before a write if its bound is unknown or would exceed the limit.  The bounds are a
 * cache in memory, of fixed size. */
#ifndef DAYBOOK_QUERY_CQL_WRITE_CQL_ROW_SIZE_H
#define DAYBOOK_QUERY_CQL_WRITE_CQL_ROW_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/cql/common/cql_private.h"
#include "storage/cell/write_batch.h"

enum {
    /* Bytes.  A value or a replaced collection of up to this size is not counted as growth. */
    CQL_ROW_SIZE_SMALL = 1024
};

struct cql_row_size_bounds;

/* Rows may have up to `limit` bytes in memory. */
struct cql_row_size_bounds *cql_row_size_bounds_new(size_t limit);
void cql_row_size_bounds_free(struct cql_row_size_bounds *sizes);

/* Returns the most bytes by which the write makes its row grow.  0: the write cannot make a row
 * large. */
size_t cql_row_size_growth(const struct row *row);

/* Returns the bytes of memory of a row without the columns that the write replaces. */
size_t cql_row_size_kept(const struct row *row, const struct row *write);

/* Add `growth` to the row's bound.  False: the bound is unknown or would exceed the limit, and
 * nothing was added.  The caller then measures the row and calls cql_row_size_measured, which keeps
 * `size` plus `growth` as the bound. cql_row_size_measured returns false if the sum exceeds the
 * limit: the row may not grow. */
bool cql_row_size_add(struct cql_row_size_bounds *sizes, uint64_t hash, size_t growth);
bool cql_row_size_measured(struct cql_row_size_bounds *sizes, uint64_t hash, size_t size,
                            size_t growth);

/* Checks that every row of a batch stays small enough.  The caller keeps the struct until `ready`
 * is called.  `ready` is called once, perhaps before cql_row_size_measure_begin returns.  A
 * negative `rc`: the batch is refused, and the execution's fault says why. */
struct cql_row_size_measure {
    struct cql_execution *execution;
    const struct write_batch *batch;
    void (*ready)(void *context, int rc);
    void *context;
    uint32_t mutation, item;             /* private, like all below: the row being measured */
    size_t growth;
    int rc;
};

void cql_row_size_measure_begin(struct cql_row_size_measure *measure);
#endif
