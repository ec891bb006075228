/* row_memtable: keeps rows of all tables, with all kinds of cells and deletions.
 *
 * It holds the rows of tables that are not written in blocks, and the overwrites and deletions of
 * rows of event tables.  Each write of a row adds a version with its frame, and no version ever
 * changes.  A reader at a frame merges the versions up to that frame.  Partitions are in (table,
 * token, key) order, rows in clustering order.
 *
 * Only the engine thread uses an open memtable; once the memtable is frozen, any thread may read
 * it. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_ROW_MEMTABLE_H
#define DAYBOOK_STORAGE_MEMTABLE_ROW_MEMTABLE_H

#include "storage/cell/packed_rows.h"
#include "storage/cell/stream.h"
#include "storage/memtable/memtable_partitions.h"

struct row_memtable;

/* Memory comes from `arena`, which must outlive the memtable. */
struct row_memtable *row_memtable_new(struct arena *arena);
void row_memtable_free(struct row_memtable *memtable);
const struct memtable_partitions *row_memtable_partitions(const struct row_memtable *memtable);

/* Add a mutation of `frame`; each TIMESTAMP_SERVER in it becomes `timestamp_us`.  The mutation is
 * copied, and must be valid for `table`. */
void row_memtable_apply(struct row_memtable *memtable, const struct table *table,
                        const struct mutation *mutation, uint64_t frame, int64_t timestamp_us);

/* As row_memtable_apply, for a span of packed rows of one partition. */
void row_memtable_apply_rows(struct row_memtable *memtable, const struct table *table,
                             const struct packed_rows *rows, const struct packed_span *span,
                             uint64_t frame, int64_t timestamp_us);

bool row_memtable_has(const struct row_memtable *memtable, uint32_t table_id, int64_t token,
                      struct bytes key);

/* The partition as of `frame` (UINT64_MAX: everything).  Returns NULL if no frame up to `frame`
 * wrote to it.  The stream is used on the engine thread or, once the memtable is frozen, on any
 * thread.  Its items are valid until the next pull; with `kept`, an arena of the caller, as long as
 * both that arena and the memtable.  The slice's bytes must outlive the stream. */
struct stream *row_memtable_stream(const struct row_memtable *memtable, const struct table *table,
                                   int64_t token, struct bytes key, const struct slice *slice,
                                   uint64_t frame, struct arena *kept);

/* Skip rows whose first clustering value is `value` from now on; data NULL: no rows are skipped.
 * Returns how many rows were skipped one by one since the previous call; rows that one search skips
 * together do not count.  `value` must last until the next call or the stream's end. */
uint32_t row_memtable_stream_pass(struct stream *stream, struct bytes value);

/* Add 1 to *looked for each row not skipped, and for each bound left out because the range deletion
 * in force does not change there.  The stream ends when *looked reaches `most`. */
void row_memtable_stream_limit(struct stream *stream, uint32_t *looked, uint32_t most);

/* The prefixes of a row and of a bound, for a memtable_index of a table's rows. */
uint64_t row_memtable_prefix(const struct table *table, const struct clustering *clustering);
uint64_t row_memtable_bound_prefix(const struct table *table, const struct bound *bound);

bool row_memtable_has_table(const struct row_memtable *memtable, uint32_t table_id);
#endif
