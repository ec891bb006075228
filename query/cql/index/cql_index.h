/* cql_index: secondary indexes: hidden tables that list the rows with a given value in a column.
 *
 *   index table of k.t (p, c, v) on v        PRIMARY KEY ((value, place), token, key, c)
 *     value    the indexed value: of a column, or an element, key or pair of a collection
 *     place    always 0; it is there because an empty value alone cannot be a key
 *     token    of the row's partition, before `key`, so that rows come in the order of a scan
 *     c...     the row's clustering
 *
 * An index on a partition column or a static one is wide: its entries stand for partitions and have
 * no clustering.
 *
 * Entries are written with the cells for which they stand, in the same batch and with the cells'
 * time and TTL.  Entries of key columns are written with every write to the row and without a TTL,
 * because the row may outlive any of its cells.  Entries are never deleted: a reader reads the row
 * and skips entries that are not true any more.  The name, column and kind of an index are in the
 * comment of its hidden table.  An index is written to, but not read, until the entries of all rows
 * are in it.
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

/* The indexes of a table in the order of their names, in the arena. */
uint32_t cql_index_list(const struct schema *schema, const struct table *table,
                        struct arena *arena, const struct cql_index **indexes_out);
/* The index of a name in a keyspace; false: there is none. */
bool cql_index_find(const struct schema *schema, const char *keyspace, struct bytes name,
                    struct arena *arena, struct cql_index *index_out);
/* Append v, values(m), keys(m), entries(m) or full(f), for system_schema and DESCRIBE. */
void cql_index_target(const struct cql_index *index, struct buffer *text);

/* Whether an index is wide: its entries stand for partitions. */
bool cql_index_is_wide(const struct cql_index *index);

/* The partition key of the entries of a value. */
struct bytes cql_index_key(struct bytes value, struct arena *arena);
/* The key and clustering of the row for which an entry stands, or of the partition if the index is
 * wide.  Both are views into the entry. */
void cql_index_row(const struct page_row *entry, struct bytes *key_out,
                   struct clustering *clustering_out);

/* Add to `batch` the entries of a row that is being written.  ERROR_INVALID with the fault: a value
 * is too long to be indexed. */
int cql_index_add(const struct cql_index *indexes, uint32_t count, struct bytes key,
                  const struct row *row, struct write_batch *batch, struct cql_fault *fault);

/* Add the hidden table of a new index, which is not built yet. */
int cql_index_make(struct schema *schema, const struct table *table, const struct column *column,
                   enum cql_index_of of, const char *name, struct arena *arena,
                   struct cql_fault *fault);
/* Mark an index as built. */
int cql_index_set_built(struct schema *schema, const char *keyspace, const char *name,
                        struct cql_fault *fault);
/* Drop the hidden tables of indexes that are not built, or whose table or column is gone.  Call
 * this in a change of the schema, while no index is being built. */
void cql_index_drop_unbuilt(struct schema *schema, struct arena *arena);
/* Drop the hidden tables of a table that will be dropped. */
void cql_index_drop_all(struct schema *schema, const struct table *table, struct arena *arena);

/* A copy of the schema without the hidden tables that cql_index_drop_unbuilt drops; NULL: there are
 * none.  A server applies the copy when it starts, because a crash may leave such tables. */
struct schema *cql_index_without_unbuilt(const struct schema *schema);
#endif
