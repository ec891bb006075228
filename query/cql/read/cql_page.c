#include "query/cql/read/cql_page.h"

#include "base/crc32c.h"
#include "base/reader.h"

enum { PAGE_VERSION = 2, CRC_SIZE = 4 };

void cql_page_write(const struct cql_page_state *state, struct buffer *buffer)
{
    size_t start = buffer->size;
    buffer_put_u8(buffer, PAGE_VERSION);
    buffer_put_u64(buffer, state->statement_hash);
    buffer_put_u64(buffer, state->key_hash);
    buffer_put_varint(buffer, state->by_index ? (uint64_t)state->index_column_id + 1 : 0);
    if (state->by_index)
        buffer_put_u8(buffer, state->index_of);
    buffer_put_varint(buffer, state->unit);
    buffer_put_varint(buffer, state->limit_left == CQL_PAGE_NO_LIMIT ? 0 : state->limit_left + 1);
    buffer_put_varint(buffer, state->partition_rows);
    buffer_put_sized(buffer, state->partition_key);
    buffer_put_sized(buffer, state->position);
    buffer_put_u32(buffer, crc32c(0, buffer->data + start, buffer->size - start));
}

static void read_use(struct reader *reader, struct cql_page_state *state)
{
    uint64_t column = reader_varint(reader);
    state->by_index = column > 0;
    state->index_column_id = column > 0 ? (uint32_t)(column - 1) : 0;
    state->index_of = column > 0 ? reader_u8(reader) : 0;
    reader->failed |= column > (uint64_t)UINT32_MAX + 1;
}

int cql_page_read(struct bytes bytes, uint64_t statement_hash, struct cql_page_state *state)
{
    if (bytes.size <= CRC_SIZE || load_u32(bytes.data + bytes.size - CRC_SIZE) !=
                                      crc32c(0, bytes.data, bytes.size - CRC_SIZE)) {
        return ERROR_INVALID;
    }
    struct reader reader = reader_of(bytes_of(bytes.data, bytes.size - CRC_SIZE));
    if (reader_u8(&reader) != PAGE_VERSION)
        return ERROR_UNSUPPORTED;
    state->statement_hash = reader_u64(&reader);
    state->key_hash = reader_u64(&reader);
    read_use(&reader, state);
    state->unit = reader_varint(&reader);
    uint64_t limit = reader_varint(&reader);
    state->limit_left = limit == 0 ? CQL_PAGE_NO_LIMIT : limit - 1;
    state->partition_rows = reader_varint(&reader);
    state->partition_key = reader_sized(&reader);
    state->position = reader_sized(&reader);
    bool is_ours =
        !reader.failed && reader_left(&reader) == 0 && state->statement_hash == statement_hash;
    return is_ours ? 0 : ERROR_INVALID;
}
