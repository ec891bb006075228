/* cql_index: secondary indexes: hidden tables that list the rows with a given value in a column.
 *
 *   index table of k.t (p, c, v) on v        PRIMARY KEY ((value, place), token, key, c)
 *     value    the indexed value: of a column, or an element, key or pair of a collection
 *     place    always 0; it is there because an empty value alone cannot be a key
 *     token    of the row's partition, before `key`, so that rows come in the order of a scan
 *     c...     the row's clustering
 *
 * An index on a partition or static column is wide: its entries stand for partitions and have no
 * clustering.
 *
 * Entries are written in the same batch as their cells, and have the cells' time and TTL.  Entries
 * of key columns have no TTL, because the row may outlive its cells.  Entries are never deleted: a
 * reader skips an entry if its row no longer has the value.  The comment of the hidden table has
 * the name, column and kind of the index.  An index is not read until it has the entries of all
 * rows.
 *
 * Its specification is tests/cql/indexes.cql and tests/cql/cassandra/read_index.cql. */
#ifndef DAYBOOK_QUERY_CQL_INDEX_CQL_INDEX_H
#define DAYBOOK_QUERY_CQL_INDEX_CQL_INDEX_H

#include "query/cql/common/cql_private.h"

#define CQL_INDEX_KEYSPACE "daybook_system"

enum cql_index_of { CQL_INDEX_OF_VALUE, CQL_INDEX_OF_ELEMENTS, CQL_INDEX_OF_KEYS,
                    CQL_INDEX_OF_ENTRIES };

struct cql_index {
    const char *name;
    const struct table *hidden;
    const struct table *table;
    const struct column *column;
    enum cql_index_of of;
    bool is_built;
};

/* List the table's indexes, in the order of their names and in `arena`.  Returns their number. */
uint32_t cql_index_list(const struct schema *schema, const struct table *table,
                        struct arena *arena, const struct cql_index **indexes_out);
/* False: there is no such index. */
bool cql_index_find(const struct schema *schema, const char *keyspace, struct bytes name,
                    struct arena *arena, struct cql_index *index_out);
/* Append v, values(m), keys(m), entries(m) or full(f). */
void cql_index_target(const struct cql_index *index, struct buffer *text);

bool cql_index_is_wide(const struct cql_index *index);

/* Returns the partition key that a value's entries have in the hidden table. */
struct bytes cql_index_key(struct bytes value, struct arena *arena);
/* Get the row for which an entry stands, or the partition if the index is wide.  Both results are
 * views into the entry. */
void cql_index_row(const struct page_row *entry, struct bytes *key_out,
                   struct clustering *clustering_out);

/* Add to `batch` the entries of a row that is being written.  ERROR_INVALID with the fault: a value
 * is too long. */
int cql_index_add(const struct cql_index *indexes, uint32_t count, struct bytes key,
                  const struct row *row, struct write_batch *batch, struct cql_fault *fault);

/* Add an index that is not built yet. */
int cql_index_make(struct schema *schema, const struct table *table, const struct column *column,
                   enum cql_index_of of, const char *name, struct arena *arena,
                   struct cql_fault *fault);
int cql_index_set_built(struct schema *schema, const char *keyspace, const char *name,
                        struct cql_fault *fault);
/* Drop indexes that are not built, or whose table or column is gone.  Do not call this while an
 * index is being built. */
void cql_index_drop_unbuilt(struct schema *schema, struct arena *arena);
/* Drop the indexes of a table that will be dropped. */
void cql_index_drop_all(struct schema *schema, const struct table *table, struct arena *arena);

/* Returns a copy of the schema without the indexes that cql_index_drop_unbuilt drops; NULL: there
 * are none. */
struct schema *cql_index_without_unbuilt(const struct schema *schema);
#endif
