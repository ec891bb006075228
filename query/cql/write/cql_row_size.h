/* cql_row_size: keeps rows small enough to be read.
 *
 * A row is read, merged and written as a whole, so it must fit into memory several times over.
 * Without a limit, a client could make it as large as it likes by statements that are each small:
 * by elements added to a collection, elements deleted one by one (each leaves a tombstone), or
 * large values in many columns.
 *
 * For rows that grow in these ways an upper bound of their size is kept: what the row held when it
 * was last measured, tombstones included, and all that was added since.  A row of which no bound is
 * known, or whose bound has passed the limit, is measured before it is written to: it may have
 * become smaller.  Bounds are a cache of fixed size by a hash of the row: losing one costs a
 * measurement, and a start of the server loses all. */
#ifndef DAYBOOK_QUERY_CQL_WRITE_CQL_ROW_SIZE_H
#define DAYBOOK_QUERY_CQL_WRITE_CQL_ROW_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/cql/common/cql_private.h"
#include "storage/cell/write_batch.h"

enum {
    /* In bytes: values and whole collections of up to so many are not counted, for with them alone
     * a row of SCHEMA_COLUMNS_MAX columns stays small. */
    CQL_ROW_SIZE_SMALL = 1024
};

struct cql_row_size_bounds;

/* Rows may have up to `limit` bytes in memory. */
struct cql_row_size_bounds *cql_row_size_bounds_new(size_t limit);
void cql_row_size_bounds_free(struct cql_row_size_bounds *sizes);

/* The bytes by which a write makes its row grow at most.  0: it cannot make a row large, since it
 * replaces each of its columns by something small. */
size_t cql_row_size_growth(const struct row *row);

/* The bytes of memory of a row without the columns that the write replaces. */
size_t cql_row_size_kept(const struct row *row, const struct row *write);

/* The row is known by its hash.  True: its bound is known, and with `growth`, which is added to it,
 * stays within the limit.  False: the row must be measured, and cql_row_size_measured says whether
 * it has room. */
bool cql_row_size_add(struct cql_row_size_bounds *sizes, uint64_t hash, size_t growth);
bool cql_row_size_measured(struct cql_row_size_bounds *sizes, uint64_t hash, size_t size,
                            size_t growth);

/* Check that every row of a batch stays small enough, and measure rows where that is needed.  The
 * struct is the caller's memory until `ready` is called: once, possibly before
 * cql_row_size_measure_begin returns, with 0, or with a negative code and the execution's fault
 * filled. */
struct cql_row_size_measure {
    struct cql_execution *execution;
    const struct write_batch *batch;
    void (*ready)(void *context, int rc);
    void *context;
    uint32_t mutation, item;             /* private, as the next: where it is */
    size_t growth;                       /* of the row that is being measured */
    bool is_reading, is_answered;
    int rc;
};

void cql_row_size_measure_begin(struct cql_row_size_measure *measure);
#endif
