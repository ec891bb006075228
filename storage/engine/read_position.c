#include "storage/engine/read_position.h"

#include "base/murmur3.h"

enum { POSITION_VERSION = 1 };

void read_position_put(struct buffer *buffer, enum read_position_kind kind, int64_t token,
                       struct bytes key, const struct clustering *clustering)
{
    buffer_put_u8(buffer, POSITION_VERSION);
    buffer_put_u8(buffer, (uint8_t)kind);
    buffer_put_u64(buffer, (uint64_t)token);
    buffer_put_sized(buffer, key);
    if (kind == AFTER_ROW)
        row_clustering_pack(clustering, buffer);
}

int read_position_parse(struct bytes bytes, struct read_position *position, struct error *err)
{
    *position = (struct read_position){.is_set = bytes.size > 0};
    if (bytes.size == 0)
        return 0;
    struct reader reader = reader_of(bytes);
    uint8_t version = reader_u8(&reader);
    uint8_t kind = reader_u8(&reader);
    position->kind = (enum read_position_kind)kind;
    position->token = (int64_t)reader_u64(&reader);
    position->key = reader_sized(&reader);
    if (kind == AFTER_ROW)
        row_clustering_unpack(&reader, &position->clustering);
    if (reader.failed || version != POSITION_VERSION || kind > AFTER_PARTITION ||
        reader_left(&reader) > 0 ||
        position->token != murmur3_token(position->key.data, position->key.size)) {
        return error_set(err, ERROR_INVALID, "the position to go on from is damaged");
    }
    return 0;
}

int read_position_check(const struct read_position *position, const struct table *table,
                        struct error *err)
{
    const struct clustering *clustering = &position->clustering;
    const struct column *columns = table->columns + table->partition_count;
    bool is_right = clustering->count <= table->clustering_count;
    for (uint32_t i = 0; is_right && i < clustering->count; i++)
        is_right = type_validate(columns[i].type, clustering->values[i], NULL) == 0;
    return is_right ? 0
                    : error_set(err, ERROR_INVALID, "the position to go on from is of no row of %s",
                                table->name);
}

void store_position_after(const struct page_row *row, bool partition, struct buffer *position)
{
    enum read_position_kind kind = partition            ? AFTER_PARTITION
                                   : row->row.is_static ? AFTER_STATIC
                                                        : AFTER_ROW;
    read_position_put(position, kind, row->token, row->key, &row->row.clustering);
}

struct slice read_position_rest(const struct read_position *position, struct slice slice)
{
    slice.with_static = false;
    if (position->kind == AFTER_ROW) {
        struct bound bound = {.prefix = position->clustering,
                              .side = slice.reversed ? BOUND_BEFORE : BOUND_AFTER};
        if (slice.reversed)
            slice.end = bound;
        else
            slice.start = bound;
    }
    return slice;
}
