/* Paging states come back from outside: a checksum tells damage, the hash another statement. */
#include "query/cql/cql_page.h"

#include "storage/base/hash.h"

enum { PAGE_VERSION = 1, CRC_SIZE = 4 };

void cql_page_write(const struct cql_page_state *state, struct buffer *buffer)
{
    size_t start = buffer->size;
    buffer_put_u8(buffer, PAGE_VERSION);
    buffer_put_u64(buffer, state->statement_hash);
    buffer_put_varint(buffer, state->unit);
    buffer_put_varint(buffer, state->limit_left == CQL_PAGE_NO_LIMIT ? 0 : state->limit_left + 1);
    buffer_put_varint(buffer, state->partition_rows);
    buffer_put_sized(buffer, state->partition_key);
    buffer_put_sized(buffer, state->position);
    buffer_put_u32(buffer, crc32c(0, buffer->data + start, buffer->size - start));
}

int cql_page_read(struct bytes bytes, uint64_t statement_hash, struct cql_page_state *state)
{
    if (bytes.size <= CRC_SIZE || load_u32(bytes.data + bytes.size - CRC_SIZE) !=
                                      crc32c(0, bytes.data, bytes.size - CRC_SIZE)) {
        return ERROR_INVALID;
    }
    struct reader reader = reader_of(bytes_of(bytes.data, bytes.size - CRC_SIZE));
    uint8_t version = reader_u8(&reader);
    state->statement_hash = reader_u64(&reader);
    state->unit = reader_varint(&reader);
    uint64_t limit = reader_varint(&reader);
    state->limit_left = limit == 0 ? CQL_PAGE_NO_LIMIT : limit - 1;
    state->partition_rows = reader_varint(&reader);
    state->partition_key = reader_sized(&reader);
    state->position = reader_sized(&reader);
    bool is_ours = !reader.failed && version == PAGE_VERSION && reader_left(&reader) == 0 &&
                   state->statement_hash == statement_hash;
    return is_ours ? 0 : ERROR_INVALID;
}
