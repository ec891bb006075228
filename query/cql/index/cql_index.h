/* cql_index: secondary indexes: hidden tables from a column's values to the rows that have them.
 *
 *   index table of k.t (p, c, v) on v        PRIMARY KEY ((value, place), token, key, c)
 *     value    what is indexed: the cell, or an element, key or pair of a collection
 *     place    always 0: an empty value may not be a key by itself
 *     token    of the row's partition, and `key`: so that rows come in the order of a scan
 *     c...     the row's clustering
 *
 * An index on a partition column or a static one is wide: its entries stand for partitions and have
 * no clustering.
 *
 * Entries are written with the cells they stand for, in the same batch and with their time and TTL;
 * those of key columns with anything that is written to the row, and without a TTL, as the row may
 * outlive any of its cells.  They are never taken back: a reader looks at the row and drops what is
 * not so any more.  An index's
 * name, column and kind are the hidden table's comment; one whose rows are still being gathered is
 * fed but not read.
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

/* The indexes of a table by name, in the arena. */
uint32_t cql_index_list(const struct schema *schema, const struct table *table,
                        struct arena *arena, const struct cql_index **indexes_out);
/* The one of a keyspace that has the name; false: there is none. */
bool cql_index_find(const struct schema *schema, const char *keyspace, struct bytes name,
                    struct arena *arena, struct cql_index *index_out);
/* v, values(m), keys(m), entries(m) or full(f), as system_schema and DESCRIBE have it. */
void cql_index_target(const struct cql_index *index, struct buffer *text);

/* Whether its entries stand for partitions. */
bool cql_index_is_wide(const struct cql_index *index);

/* The partition key of a value's entries. */
struct bytes cql_index_key(struct bytes value, struct arena *arena);
/* The place of a row from an entry, of a wide index its partition: views into it. */
void cql_index_row(const struct page_row *entry, struct bytes *key_out,
                   struct clustering *clustering_out);

/* Add the entries of a row that is being written to `batch`. */
int cql_index_add(const struct cql_index *indexes, uint32_t count, struct bytes key,
                  const struct row *row, struct write_batch *batch, struct cql_fault *fault);

/* Add the hidden table of a new index that is not built yet. */
int cql_index_make(struct schema *schema, const struct table *table, const struct column *column,
                   enum cql_index_of of, const char *name, struct arena *arena,
                   struct cql_fault *fault);
/* Say that it is built. */
int cql_index_set_built(struct schema *schema, const char *keyspace, const char *name,
                        struct cql_fault *fault);
/* Drop the hidden tables of indexes that are not built, or of none: one was begun and did not come
 * to its end.  While the schema changes there is no other that is being built. */
void cql_index_drop_unbuilt(struct schema *schema, struct arena *arena);
/* Drop the hidden tables of a table that goes. */
void cql_index_drop_all(struct schema *schema, const struct table *table, struct arena *arena);

/* What a server starts with: a changed copy of the schema without the tables of indexes that a
 * crash left half built, to be applied; NULL: there are none. */
struct schema *cql_index_without_unbuilt(const struct schema *schema);
#endif
