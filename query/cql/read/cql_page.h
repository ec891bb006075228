/* cql_page: the paging state of a SELECT: bytes, kept by the client, that say where the next page
 * begins.
 *
 *   byte 0       version, 2
 *   byte 1..8    hash of the statement and its keyspace
 *   byte 9..16   hash of the types and the order of the table's key columns
 *   varint       0: rows are read from the table; otherwise by the index of a column, 1 + its id
 *   byte         only with an index: its kind (enum cql_index_of)
 *   varint       which of the statement's keys and slices
 *   varint       rows left of LIMIT plus 1; 0: there is no limit
 *   varint       rows of the partition that were given already
 *   varint n, n  that partition's key
 *   varint n, n  the store's position
 *   4 bytes      CRC-32C of all before
 *
 * A state is valid if the checksum holds, the version is known, the hash is the statement's, and
 * nothing follows.  The next page is read by the same index as the one before, even if other
 * indexes were made in the meantime.  If the table's keys or the index have changed, a position
 * means something else, and the state is refused.  Version 1 did not name the index. */
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
/* Views into `bytes`.  ERROR_INVALID for what cql_page_write did not write for this statement,
 * ERROR_UNSUPPORTED for a state of another version of this program. */
must_check int cql_page_read(struct bytes bytes, uint64_t statement_hash,
                             struct cql_page_state *state_out);
#endif
