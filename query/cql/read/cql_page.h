/* cql_page: the paging state of a SELECT, which the client keeps.
 *
 *   byte 0       version, 2
 *   byte 1..8    hash of the statement and its keyspace
 *   byte 9..16   hash of the types and the order of the table's key columns
 *   varint       0: rows are read from the table; otherwise 1 + the id of the column by whose
 *                index they are read
 *   byte         only with an index: its kind (enum cql_index_of)
 *   varint       the unit's number: key number x slices + slice; 0 in a scan (cql_select.c)
 *   varint       1 + the rows that LIMIT still allows; 0: there is no limit
 *   varint       the rows that the client has of the partition in which the page ended
 *   varint n, n  the key of that partition
 *   varint n, n  the store's position.  With a wide index (cql_index.h) these n bytes are:
 *                  varint m, m  the entry's position in the index
 *                  the rest     the position in the entry's partition
 *   4 bytes      CRC-32C of all bytes before
 *
 * The next page is read by the same index as the page before.  If the table's key columns have
 * changed or the index is gone, the SELECT refuses the state. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_PAGE_H
#define DAYBOOK_QUERY_CQL_READ_CQL_PAGE_H

#include "base/buffer.h"

#define CQL_PAGE_NO_LIMIT UINT64_MAX

struct cql_page_state {
    uint64_t statement_hash;
    uint64_t key_hash;
    bool by_index;
    uint32_t index_column_id;
    uint8_t index_of;
    uint64_t unit;
    uint64_t limit_left;                 /* CQL_PAGE_NO_LIMIT: none */
    uint64_t partition_rows;
    struct bytes partition_key;
    struct bytes position;               /* empty: the unit's start */
};

void cql_page_write(const struct cql_page_state *state, struct buffer *buffer);
/* `partition_key` and `position` are views into `bytes`.  ERROR_INVALID: the state is damaged, or
 * belongs to another statement.  ERROR_UNSUPPORTED: the state has another version. */
must_check int cql_page_read(struct bytes bytes, uint64_t statement_hash,
                             struct cql_page_state *state_out);
#endif
