/* frame_writer: see frame_writer.h.
 *
 * What must hold: the server has all strings of the dictionary.  After a failed batch the next one
 * clears the dictionary on both sides.
 *
 *     out   ... | STRINGS: the new strings of the batch | BATCH |
 *
 * Times and amounts are written as differences from the least value of their column.  All values of
 * a column have the same width, so that the compiler can vectorize the loops. */
#include "client/frame_writer.h"

#include <stdlib.h>

#include "client/array.h"
#include "client/wire.h"
#include "base/bytes.h"
#include "base/crc32c.h"

enum { OUT_MIN = 64 << 10 };

void frame_writer_release(struct frame_writer *writer)
{
    free(writer->out);
    free(writer->codes);
    string_map_release(&writer->strings);
    *writer = (struct frame_writer){0};
}

/* ---- bytes ---- */

static uint8_t *put_u8(uint8_t *to, uint8_t value)
{
    *to = value;
    return to + 1;
}

static uint8_t *put_u32(uint8_t *to, uint32_t value)
{
    store_u32(to, value);
    return to + sizeof value;
}

static uint8_t *put_u64(uint8_t *to, uint64_t value)
{
    store_u64(to, value);
    return to + sizeof value;
}

static void frame_end(struct frame_writer *writer, enum wire_kind kind, size_t payload)
{
    uint8_t *header = writer->out + writer->out_size;

    memset(header, 0, WIRE_HEADER_SIZE);
    store_u32(header, (uint32_t)payload);
    header[4] = (uint8_t)kind;
    store_u32(header + 8, crc32c(crc32c(0, header, 8), header + WIRE_HEADER_SIZE, payload));
    writer->out_size += WIRE_HEADER_SIZE + payload;
}

/* NULL: memory is out. */
static uint8_t *frame_begin(struct frame_writer *writer, size_t size)
{
    size_t start = writer->out_size + WIRE_HEADER_SIZE;
    bool has_room = array_reserve(&writer->out, &writer->out_capacity, start + size, 1);

    return has_room ? writer->out + start : NULL;
}

int frame_writer_hello(struct frame_writer *writer)
{
    writer->out_size = 0;
    writer->is_stale = false;
    string_map_clear(&writer->strings);
    if (!array_reserve(&writer->out, &writer->out_capacity, OUT_MIN, 1))
        return DAYBOOK_NO_MEMORY;
    memcpy(writer->out, WIRE_MAGIC, WIRE_MAGIC_SIZE);
    writer->out_size = WIRE_MAGIC_SIZE;
    uint8_t *payload = frame_begin(writer, WIRE_HELLO_SIZE);
    put_u32(put_u32(payload, WIRE_VERSION_OLDEST | (uint32_t)WIRE_VERSION << 16), 0);
    frame_end(writer, WIRE_HELLO, WIRE_HELLO_SIZE);
    return 0;
}

int frame_writer_control(struct frame_writer *writer, const char *line)
{
    size_t size = strlen(line);
    uint8_t *payload = frame_begin(writer, size);

    if (payload == NULL)
        return DAYBOOK_NO_MEMORY;
    memcpy(payload, line, size);
    frame_end(writer, WIRE_CONTROL, size);
    return 0;
}

int frame_writer_lines(struct frame_writer *writer, const uint8_t *header, const void *lines,
                       size_t size)
{
    size_t payload = WIRE_LINES_HEADER + size;

    if (payload > WIRE_PAYLOAD_MAX)
        return DAYBOOK_INVALID;
    uint8_t *to = frame_begin(writer, payload);
    if (to == NULL)
        return DAYBOOK_NO_MEMORY;
    memcpy(to, header, WIRE_LINES_HEADER);
    if (size > 0)
        memcpy(to + WIRE_LINES_HEADER, lines, size);
    frame_end(writer, WIRE_LINES, payload);
    return 0;
}

/* ---- strings ---- */

static int strings_add(struct frame_writer *writer, const struct string_map *table, uint32_t *codes)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const char *text = table->text + table->offsets[i];
        size_t size = string_map_size(table, i);
        uint32_t hash = string_map_hash(text, size);
        int64_t code = string_map_find(&writer->strings, hash, text, size);

        if (code == STRING_MAP_NONE) {
            if (writer->strings.count == WIRE_STRINGS_MAX ||
                string_map_bytes(&writer->strings) + size > WIRE_STRINGS_BYTES_MAX)
                return DAYBOOK_INVALID;
            code = string_map_add(&writer->strings, hash, text, size);
        }
        if (code < 0)
            return DAYBOOK_NO_MEMORY;
        codes[i] = (uint32_t)code;
    }
    return 0;
}

/* Write the strings from number `first` on.  If `forgets`, the server empties its dictionary
 * first. */
static int strings_put(struct frame_writer *writer, uint32_t first, bool forgets)
{
    const struct string_map *strings = &writer->strings;
    uint32_t count = strings->count - first;
    size_t start = count == 0 ? 0 : strings->offsets[first];
    size_t bytes = string_map_bytes(strings) - start;
    size_t payload = WIRE_STRINGS_HEADER + (size_t)count * 2 + (count == 0 ? 0 : bytes);

    if (count == 0 && !forgets)
        return 0;
    if (payload > WIRE_PAYLOAD_MAX)
        return DAYBOOK_INVALID;
    uint8_t *to = frame_begin(writer, payload);
    if (to == NULL)
        return DAYBOOK_NO_MEMORY;
    to = put_u32(put_u32(to, forgets ? WIRE_STRINGS_FORGET : 0), count);
    for (uint32_t i = first; i < strings->count; i++, to += 2)
        store_u16(to, (uint16_t)string_map_size(strings, i));
    if (count > 0)
        memcpy(to, strings->text + start, bytes);
    frame_end(writer, WIRE_STRINGS, payload);
    return 0;
}

static int strings_write(struct frame_writer *writer, const struct click_columns *columns)
{
    size_t needed = (size_t)columns->resellers->count + columns->ads->count;
    bool forgets = writer->is_stale;
    int rc = 0;

    if (!array_reserve(&writer->codes, &writer->code_capacity, needed, sizeof *writer->codes))
        return DAYBOOK_NO_MEMORY;
    if (forgets)
        string_map_clear(&writer->strings);
    uint32_t known = writer->strings.count;
    for (int round = 0; round < 2; round++) {
        rc = strings_add(writer, columns->resellers, writer->codes);
        if (rc == 0)
            rc = strings_add(writer, columns->ads, writer->codes + columns->resellers->count);
        if (rc != DAYBOOK_INVALID || forgets)
            break;
        /* The dictionary is full. */
        string_map_clear(&writer->strings);
        forgets = true;
        known = 0;
    }
    if (rc == 0)
        rc = strings_put(writer, known, forgets);
    writer->is_stale = rc != 0;
    return rc;
}

/* ---- columns ---- */

static uint8_t width_of(uint64_t greatest)
{
    if (greatest == 0)
        return 0;
    if (greatest <= UINT8_MAX)
        return 1;
    if (greatest <= UINT16_MAX)
        return 2;
    return greatest <= UINT32_MAX ? 4 : 8;
}

struct column_range {
    int64_t base;
    uint8_t width;
};

static struct column_range range_of(const int64_t *values, uint32_t rows)
{
    int64_t least = rows == 0 ? 0 : values[0];
    int64_t greatest = least;

    for (uint32_t i = 0; i < rows; i++) {
        least = values[i] < least ? values[i] : least;
        greatest = values[i] > greatest ? values[i] : greatest;
    }
    return (struct column_range){least, width_of((uint64_t)greatest - (uint64_t)least)};
}

static uint8_t *put_values(uint8_t *to, const int64_t *values, uint32_t rows,
                           struct column_range range)
{
    uint64_t base = (uint64_t)range.base;

    for (uint32_t i = 0; range.width == 1 && i < rows; i++)
        to[i] = (uint8_t)((uint64_t)values[i] - base);
    for (uint32_t i = 0; range.width == 2 && i < rows; i++)
        store_u16(to + 2 * (size_t)i, (uint16_t)((uint64_t)values[i] - base));
    for (uint32_t i = 0; range.width == 4 && i < rows; i++)
        store_u32(to + 4 * (size_t)i, (uint32_t)((uint64_t)values[i] - base));
    for (uint32_t i = 0; range.width == 8 && i < rows; i++)
        store_u64(to + 8 * (size_t)i, (uint64_t)values[i] - base);
    return to + (size_t)rows * range.width;
}

static uint8_t *put_codes(uint8_t *to, const uint32_t *codes, uint32_t rows, uint8_t width)
{
    for (uint32_t i = 0; width == 1 && i < rows; i++)
        to[i] = (uint8_t)codes[i];
    for (uint32_t i = 0; width == 2 && i < rows; i++)
        store_u16(to + 2 * (size_t)i, (uint16_t)codes[i]);
    if (width == 4 && rows > 0)
        memcpy(to, codes, (size_t)rows * 4);
    return to + (size_t)rows * width;
}

static uint8_t scale_of(const uint8_t *scales, uint32_t rows)
{
    uint8_t scale = rows == 0 ? 0 : scales[0];
    uint8_t differs = 0;

    for (uint32_t i = 0; i < rows; i++)
        differs |= scales[i] ^ scale;
    return differs != 0 ? WIRE_SCALE_OF_ROW : scale;
}

struct batch_shape {
    uint8_t partition_width, ad_width, scale;
    struct column_range time, amount;
    size_t payload;
};

static struct batch_shape shape_of(const struct click_columns *columns)
{
    uint32_t rows = columns->rows;
    uint32_t partitions = columns->partition_count;
    uint32_t ads = columns->ads->count;
    struct batch_shape shape = {
        .partition_width = width_of(partitions == 0 ? 0 : partitions - 1),
        .ad_width = width_of(ads == 0 ? 0 : ads - 1),
        .scale = scale_of(columns->scales, rows),
        .time = range_of(columns->times, rows),
        .amount = range_of(columns->amounts, rows),
    };
    size_t row = (size_t)shape.partition_width + shape.ad_width + shape.time.width +
                 shape.amount.width + (shape.scale == WIRE_SCALE_OF_ROW);

    shape.payload = WIRE_BATCH_HEADER + (size_t)partitions * 8 + (size_t)ads * 4 + rows * row;
    return shape;
}

static uint8_t *put_header(uint8_t *to, const struct click_columns *columns,
                           const struct batch_shape *shape, uint64_t sequence)
{
    to = put_u64(to, sequence);
    to = put_u32(to, columns->rows);
    to = put_u32(to, columns->partition_count);
    to = put_u32(to, columns->ads->count);
    to = put_u8(to, shape->partition_width);
    to = put_u8(to, shape->ad_width);
    to = put_u8(to, shape->time.width);
    to = put_u8(to, shape->amount.width);
    to = put_u64(to, (uint64_t)shape->time.base);
    to = put_u64(to, (uint64_t)shape->amount.base);
    return put_u64(to, shape->scale);
}

static uint8_t *put_tables(uint8_t *to, const struct frame_writer *writer,
                           const struct click_columns *columns)
{
    const uint32_t *ads = writer->codes + columns->resellers->count;

    for (uint32_t i = 0; i < columns->partition_count; i++)
        to = put_u32(to, writer->codes[columns->partitions[i].reseller]);
    for (uint32_t i = 0; i < columns->partition_count; i++)
        to = put_u32(to, (uint32_t)columns->partitions[i].day);
    return put_codes(to, ads, columns->ads->count, 4);
}

/* The batch's strings must be written already. */
static int batch_put(struct frame_writer *writer, const struct click_columns *columns,
                     uint64_t sequence)
{
    struct batch_shape shape = shape_of(columns);
    uint32_t rows = columns->rows;

    if (shape.payload > WIRE_PAYLOAD_MAX || rows > WIRE_BATCH_ROWS_MAX)
        return DAYBOOK_INVALID;
    uint8_t *to = frame_begin(writer, shape.payload);
    if (to == NULL)
        return DAYBOOK_NO_MEMORY;
    to = put_header(to, columns, &shape, sequence);
    to = put_tables(to, writer, columns);
    to = put_codes(to, columns->partition_codes, rows, shape.partition_width);
    to = put_codes(to, columns->ad_codes, rows, shape.ad_width);
    to = put_values(to, columns->times, rows, shape.time);
    to = put_values(to, columns->amounts, rows, shape.amount);
    if (shape.scale == WIRE_SCALE_OF_ROW)
        memcpy(to, columns->scales, rows);
    frame_end(writer, WIRE_BATCH, shape.payload);
    return 0;
}

int frame_writer_batch(struct frame_writer *writer, const struct click_columns *columns,
                       uint64_t sequence)
{
    size_t start = writer->out_size;
    int rc = strings_write(writer, columns);

    if (rc == 0)
        rc = batch_put(writer, columns, sequence);
    if (rc != 0) {
        writer->out_size = start;
        writer->is_stale = true;
    }
    return rc;
}
