/* cql_row_size: keeps rows small enough to be read.
 *
 * A row is read, merged and written as a whole, so it must fit into memory several times over.
 * Without a limit, small statements could make a row of any size: by elements added to a
 * collection, elements deleted one by one (each leaves a tombstone), or large values in many
 * columns.
 *
 * For rows that grow in these ways an upper bound of their size is kept: the row's size when it was
 * last measured, tombstones included, plus all that was added since.  A row is measured before it
 * is written if its bound is unknown, or if the write would take the bound past the limit, since
 * the row may have become smaller.  The bounds are a cache of fixed size, by a hash of the row.  A
 * lost bound costs a measurement; all bounds are lost when the server starts. */
#ifndef DAYBOOK_QUERY_CQL_WRITE_CQL_ROW_SIZE_H
#define DAYBOOK_QUERY_CQL_WRITE_CQL_ROW_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/cql/common/cql_private.h"
#include "storage/cell/write_batch.h"

enum {
    /* Bytes.  A value or a replaced collection up to this size does not make its row grow, because
     * a row of SCHEMA_COLUMNS_MAX such columns is still small. */
    CQL_ROW_SIZE_SMALL = 1024
};

struct cql_row_size_bounds;

/* Rows may have up to `limit` bytes in memory. */
struct cql_row_size_bounds *cql_row_size_bounds_new(size_t limit);
void cql_row_size_bounds_free(struct cql_row_size_bounds *sizes);

/* The most bytes by which a write makes its row grow.  0: the write cannot make a row large, since
 * it replaces each of its columns by something small. */
size_t cql_row_size_growth(const struct row *row);

/* The bytes of memory of a row without the columns that the write replaces. */
size_t cql_row_size_kept(const struct row *row, const struct row *write);

/* Add `growth` to the bound of the row with this hash.  False: the bound is unknown or would exceed
 * the limit, and nothing was added.  The caller then measures the row and calls
 * cql_row_size_measured.  That function keeps `size` plus `growth` as the bound; or, if the sum
 * exceeds the limit, it keeps nothing and returns false: the row may not grow. */
bool cql_row_size_add(struct cql_row_size_bounds *sizes, uint64_t hash, size_t growth);
bool cql_row_size_measured(struct cql_row_size_bounds *sizes, uint64_t hash, size_t size,
                            size_t growth);

/* Check that every row of a batch stays small enough, and measure rows where that is needed.  The
 * caller keeps the struct until `ready` is called.  `ready` is called once, possibly before
 * cql_row_size_measure_begin returns; a negative `rc` means that the batch is refused, and that the
 * execution's fault says why. */
struct cql_row_size_measure {
    struct cql_execution *execution;
    const struct write_batch *batch;
    void (*ready)(void *context, int rc);
    void *context;
    uint32_t mutation, item;             /* private, like all below: the row being measured */
    size_t growth;                       /* of the row that is being measured */
    int rc;
};

void cql_row_size_measure_begin(struct cql_row_size_measure *measure);
#endif
