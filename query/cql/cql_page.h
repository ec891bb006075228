/* cql_page: the paging state of a SELECT: where the next page begins, in bytes that a client keeps.
 *
 *   byte 0       version, 1
 *   byte 1..8    hash of the statement and its keyspace
 *   varint       which of the statement's keys and slices
 *   varint       rows left of LIMIT plus 1; 0: there is no limit
 *   varint       rows of the partition that were given already
 *   varint n, n  that partition's key
 *   varint n, n  the store's position
 *   4 bytes      CRC-32C of all before
 *
 * Valid: the checksum holds, the version is known, the hash is the statement's, nothing follows. */
#ifndef DAYBOOK_QUERY_CQL_CQL_PAGE_H
#define DAYBOOK_QUERY_CQL_CQL_PAGE_H

#include "storage/base/bytes.h"

#define CQL_PAGE_NO_LIMIT UINT64_MAX

struct cql_page_state {
    uint64_t statement_hash;
    uint64_t unit;
    uint64_t limit_left;                 /* CQL_PAGE_NO_LIMIT: none */
    uint64_t partition_rows;
    struct bytes partition_key;
    struct bytes position;               /* empty: the unit's start */
};

void cql_page_write(const struct cql_page_state *state, struct buffer *buffer);
/* Views into `bytes`.  ERROR_INVALID for what cql_page_write did not write for this statement. */
must_check int cql_page_read(struct bytes bytes, uint64_t statement_hash,
                             struct cql_page_state *state_out);
#endif
