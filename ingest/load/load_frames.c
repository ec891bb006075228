/* load_frames: see load_frames.h.
 *
 * What must hold: a batch is the same on every attempt, because only its lines and the stream
 * decide whether it is sent as columns.  A row without a day is sent with WIRE_DAY_NONE, because
 * this process does not have the stream's time zone.  The day that the parser computes for such a
 * row, in UTC, is not sent. */
#include "ingest/load/load_frames.h"

#include "client/frame_reader.h"
#include "client/frame_writer.h"
#include "client/wire.h"
#include "ingest/parse/line_batch.h"
#include "base/memory.h"
#include "storage/cell/block.h"
#include "storage/schema/type.h"

enum { COLUMN_RESELLER = 1, COLUMN_DAY, COLUMN_TIME, COLUMN_AD, COLUMN_AMOUNT, COLUMN_DERIVED };

static const struct ingest_stream lines_stream = {
    .name = "lines",
    .table_id = ROW_BUILDER_TABLE,
    .column_ids = {COLUMN_RESELLER, COLUMN_DAY, COLUMN_TIME, COLUMN_AD, COLUMN_AMOUNT},
    .day_derived_column_id = COLUMN_DERIVED,
};

struct load_frames {
    struct frame_writer writer;
    struct frame_reader reader;
    bool is_taken;
    struct schema *schema;
    struct row_builder *builder;
    struct line_parser parser;
    struct ndjson *ndjson; /* NULL: the file is CSV, or unread */
    bool is_begun;
    const struct line_columns *columns;
    struct string_map resellers;
    struct string_map pairs; /* each is a struct click_partition */
    uint32_t *pair_codes;    /* index: 2 * partition of the block, + 1 if the day was computed from
                              * a time; value: the pair's code + 1, or 0 if the batch does not have
                              * the pair yet */
    uint32_t *codes;         /* by row: the code of its pair */
    size_t pair_capacity, row_capacity;
};

/* ---- life ---- */

struct load_frames *load_frames_new(uint64_t seed)
{
    struct load_frames *frames = memory_zeroed(1, sizeof *frames);

    frames->schema = row_builder_schema(&lines_stream);
    check(row_builder_new(&lines_stream, schema_table(frames->schema, ROW_BUILDER_TABLE), seed,
                          &frames->builder, NULL) == 0);
    line_parser_init(&frames->parser);
    check(frame_writer_hello(&frames->writer) == 0);
    return frames;
}

void load_frames_free(struct load_frames *frames)
{
    if (frames == NULL)
        return;
    frame_writer_release(&frames->writer);
    frame_reader_release(&frames->reader);
    row_builder_free(frames->builder);
    schema_unref(frames->schema);
    line_parser_release(&frames->parser);
    ndjson_free(frames->ndjson);
    string_map_release(&frames->resellers);
    string_map_release(&frames->pairs);
    memory_free(frames->pair_codes);
    memory_free(frames->codes);
    memory_free(frames);
}

/* ---- bytes ---- */

struct bytes load_frames_take(struct load_frames *frames)
{
    frames->is_taken = true;
    return bytes_of(frames->writer.out, frames->writer.out_size);
}

static struct frame_writer *frames_writer(struct load_frames *frames)
{
    if (frames->is_taken)
        frames->writer.out_size = 0;
    frames->is_taken = false;
    return &frames->writer;
}

void load_frames_control(struct load_frames *frames, const char *line)
{
    check(frame_writer_control(frames_writer(frames), line) == 0);
}

int load_frames_answers(struct load_frames *frames, struct bytes bytes, struct buffer *lines)
{
    enum frame_reader_result result;
    const char *text;
    size_t size;

    check(frame_reader_add(&frames->reader, bytes.data, bytes.size) == 0);
    while ((result = frame_reader_next(&frames->reader, &text, &size)) == FRAME_READER_TEXT)
        buffer_append(lines, text, size);
    return result == FRAME_READER_NONE ? 0 : ERROR_CORRUPT;
}

/* ---- files ---- */

int load_frames_file(struct load_frames *frames, const struct line_columns *columns,
                     struct bytes header, struct error *err)
{
    frames->columns = columns;
    frames->is_begun = false;
    ndjson_free(frames->ndjson);
    frames->ndjson = NULL;
    line_parser_release(&frames->parser);
    line_parser_init(&frames->parser);
    line_parser_fields(&frames->parser, line_parser_column_count(columns));
    if (header.size == 0)
        return 0;
    return line_parser_header(&frames->parser, bytes_of(header.data, header.size - 1), columns,
                              err);
}

/* ---- columns ---- */

/* Add the pair of reseller and day.  A day that was computed from a time becomes WIRE_DAY_NONE. */
static uint32_t pair_add(struct load_frames *frames, uint32_t partition, bool is_derived)
{
    struct bytes key = block_dictionary_get(&frames->builder->block->partitions, partition);
    struct click_partition pair = {.day = WIRE_DAY_NONE};
    struct bytes reseller;
    struct bytes day;

    check(type_key_component(key, 2, 0, &reseller) == 0 &&
          type_key_component(key, 2, 1, &day) == 0);
    if (!is_derived)
        check(calendar_day_parse(day, &pair.day));
    int64_t code = string_map_add(&frames->resellers, string_map_hash(reseller.data, reseller.size),
                                  reseller.data, reseller.size);
    check(code >= 0);
    pair.reseller = (uint32_t)code;
    code = string_map_add(&frames->pairs, string_map_hash(&pair, sizeof pair), &pair, sizeof pair);
    check(code >= 0);
    return (uint32_t)code;
}

static void codes_reserve(struct load_frames *frames)
{
    const struct block *block = frames->builder->block;
    size_t pairs = 2 * (size_t)block->partitions.count;

    if (pairs > frames->pair_capacity) {
        frames->pair_codes = memory_resize(frames->pair_codes, pairs * sizeof *frames->pair_codes);
        frames->pair_capacity = pairs;
    }
    if (block->rows > frames->row_capacity) {
        frames->codes = memory_resize(frames->codes, block->rows * sizeof *frames->codes);
        frames->row_capacity = block->rows;
    }
    memset(frames->pair_codes, 0, pairs * sizeof *frames->pair_codes);
    string_map_clear(&frames->resellers);
    string_map_clear(&frames->pairs);
}

static void columns_write(struct load_frames *frames, uint64_t sequence)
{
    struct block *block = frames->builder->block;
    const struct block_column *ad = block_column_at(block, COLUMN_AD);
    const struct block_column *amount = block_column_at(block, COLUMN_AMOUNT);
    const int64_t *derived = block_column_at(block, COLUMN_DERIVED)->integers;
    struct string_map ads = {
        .text = (char *)ad->dictionary.text.data,
        .offsets = ad->dictionary.offsets,
        .count = ad->dictionary.count,
    };

    codes_reserve(frames);
    for (uint32_t i = 0; i < block->rows; i++) {
        uint32_t partition = block->partition_codes[i];
        uint32_t *code = &frames->pair_codes[2 * partition + (derived[i] != 0)];

        if (*code == 0)
            *code = pair_add(frames, partition, derived[i] != 0) + 1;
        frames->codes[i] = *code - 1;
    }
    const void *partitions = frames->pairs.text;
    struct click_columns columns = {
        .rows = block->rows,
        .partition_count = frames->pairs.count,
        .partitions = partitions,
        .resellers = &frames->resellers,
        .ads = &ads,
        .partition_codes = frames->codes,
        .ad_codes = ad->codes,
        .times = block_column_at(block, COLUMN_TIME)->integers,
        .amounts = amount->integers,
        .scales = amount->scales,
    };
    check(frame_writer_batch(frames_writer(frames), &columns, sequence) == 0);
}

static void lines_write(struct load_frames *frames, uint64_t sequence, uint64_t lines,
                        struct bytes text)
{
    uint8_t header[WIRE_LINES_HEADER] = {0};
    bool is_json = frames->ndjson != NULL;

    store_u64(header, sequence);
    store_u32(header + 8, (uint32_t)lines);
    header[12] = is_json ? WIRE_LINES_NDJSON : WIRE_LINES_CSV;
    header[13] = is_json ? 0 : frames->parser.order.field_count;
    memset(header + 14, WIRE_FIELD_NONE, RECORD_FIELDS);
    if (!is_json) {
        memcpy(header + 14, frames->parser.order.line_field, RECORD_FIELDS);
        /* The field's place plus one; LINE_FIELD_NONE becomes 0. */
        header[19] = (uint8_t)(frames->parser.order.line_field[FIELD_CLICK_ID] + 1);
    }
    check(frame_writer_lines(frames_writer(frames), header, text.data, text.size) == 0);
}

void load_frames_batch(struct load_frames *frames, uint64_t sequence, uint64_t lines,
                       struct bytes text)
{
    if (!frames->is_begun && text.size > 0 && text.data[0] == '{')
        frames->ndjson = ndjson_new(frames->columns);
    frames->is_begun = true;
    /* A BATCH frame has no column for click ids. */
    if (line_parser_column_count(frames->columns) > RECORD_FIELDS) {
        lines_write(frames, sequence, lines, text);
        return;
    }
    row_builder_clear(frames->builder);
    frames->parser.line = 1;
    line_batch_parse(&frames->parser, frames->ndjson, frames->builder, text);
    if (frames->builder->rejects.count > 0)
        lines_write(frames, sequence, lines, text);
    else
        columns_write(frames, sequence);
}
