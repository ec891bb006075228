/* binary_decoder: see binary_decoder.h.
 *
 * What must hold: a batch gives the same rows and rejects as lines of text with the same clicks.
 * There are two ways to add its rows:
 *
 *     as columns   if every string, day, time and amount is valid, no day is WIRE_DAY_NONE,
 *                  and every entry of the batch's tables is used.  This is tried first.  The tables
 *                  become the block's dictionaries, and the batch's codes the block's codes.
 *     row by row   otherwise.  An invalid row is passed to row_builder as the line of text that
 *                  has the same meaning, so that it becomes the same reject.
 *
 * If rows were added as columns, a table entry that no row uses would become a partition without
 * clicks, and a repeated entry would become two equal keys.  So a batch with an unused entry is
 * added row by row, and repeated strings and entries are ERROR_CORRUPT.
 *
 * A batch can name a string of 4 KiB by a number of 4 bytes.  So WIRE_PAYLOAD_MAX limits the total
 * size of its header, its columns and all strings that its tables name.
 *
 * Joined batches (binary_decoder_join) share the block's dictionaries.
 *
 *   dictionary   0 "r1" │ 1 "r2" │ 2 "ad42"                          one for each connection
 *   tables       partitions (0, day 16037), (1, day 16037); ads (2)  for each batch
 *   columns      partition 0 1 0 │ ad 0 0 0 │ time … │ amount …      a value for each row */
#include "ingest/parse/binary_decoder.h"

#include <inttypes.h>
#include <stdio.h>

#include "client/wire.h"
#include "base/memory.h"
#include "base/cli/table_print.h"
#include "storage/schema/type.h"
#include "storage/cell/write_batch.h"

#define AMOUNT_END INT64_C(1000000000000000000) /* 18 digits */

#define CODE_NONE UINT32_C(0x7FFFFFFF)

struct string_entry {
    struct hash128 hash;
    uint32_t batch;     /* the last batch that has the string as an ad */
    uint32_t code : 31; /* the ad's code in the block, if `batch` is a joined batch */
    uint32_t is_id : 1; /* valid as the id of a reseller or an ad */
};

/* Times that lie near a partition's day: start <= time < start + span. */
struct day_bounds {
    int64_t start;
    uint64_t span;
};

struct binary_decoder {
    struct block_dictionary strings;
    struct intern intern;
    struct string_entry *entries;
    uint32_t entry_capacity;
    uint32_t batch; /* counts batches, and is the mark of this batch; never 0 */
    bool is_parted; /* marks and codes of earlier batches are invalid */
    bool is_plain;  /* strings and days of this batch are valid, as are marks and
                     * codes of the batches to which it is joined */
    struct day_bounds *bounds;
    uint32_t *slot_at;
    uint8_t *partition_used, *ad_used;
    uint32_t partition_capacity, ad_capacity;
    /* The joined batches' partitions, each marked with the last batch that has it. */
    struct partition_table partitions;
    uint32_t *codes; /* codes in the block, by partition or ad of the batch */
    uint32_t code_capacity;
    struct buffer key, line;
    struct buffer fields[RECORD_FIELDS];
    struct day_memo days;
};

/* ---- life ---- */

struct binary_decoder *binary_decoder_new(uint64_t seed)
{
    struct binary_decoder *decoder = memory_zeroed(1, sizeof *decoder);

    intern_init(&decoder->intern, seed, &decoder->strings);
    partition_table_init(&decoder->partitions);
    return decoder;
}

void binary_decoder_free(struct binary_decoder *decoder)
{
    if (decoder == NULL)
        return;
    intern_release(&decoder->intern);
    buffer_release(&decoder->strings.text);
    memory_free(decoder->strings.offsets);
    memory_free(decoder->entries);
    memory_free(decoder->bounds);
    memory_free(decoder->slot_at);
    memory_free(decoder->partition_used);
    memory_free(decoder->ad_used);
    partition_table_release(&decoder->partitions);
    memory_free(decoder->codes);
    buffer_release(&decoder->key);
    buffer_release(&decoder->line);
    for (int i = 0; i < RECORD_FIELDS; i++)
        buffer_release(&decoder->fields[i]);
    memory_free(decoder);
}

/* ---- the dictionary ---- */

size_t binary_decoder_strings_bytes(const struct binary_decoder *decoder)
{
    return decoder->strings.text.capacity +
           decoder->strings.capacity * sizeof *decoder->strings.offsets +
           ((size_t)decoder->intern.mask + 1) * sizeof *decoder->intern.slots +
           decoder->entry_capacity * sizeof *decoder->entries;
}

static void strings_forget(struct binary_decoder *decoder)
{
    buffer_clear(&decoder->strings.text);
    decoder->strings.count = 0;
    decoder->is_parted = true;
    intern_clear(&decoder->intern);
}

static int strings_add(struct binary_decoder *decoder, struct bytes text)
{
    uint8_t padded[INTERN_SHORT_MAX + INTERN_PADDING] = {0};
    struct bytes id = text;

    if (decoder->strings.count == WIRE_STRINGS_MAX ||
        decoder->strings.text.size + text.size > WIRE_STRINGS_BYTES_MAX)
        return ERROR_LIMIT;
    if (id.size <= INTERN_SHORT_MAX) {
        if (id.size > 0)
            memcpy(padded, id.data, id.size);
        id.data = padded;
    }
    struct intern_key key = intern_key_of(id);
    if (intern_find(&decoder->intern, key, id) != INTERN_NONE)
        return ERROR_CORRUPT;
    uint32_t at = intern_add(&decoder->intern, key, id);
    /* intern_key_of reads past the end of a short string. */
    buffer_reserve(&decoder->strings.text, INTERN_PADDING);
    decoder->entries =
        memory_make_room(decoder->entries, at, &decoder->entry_capacity, sizeof *decoder->entries);
    decoder->entries[at] = (struct string_entry){
        .hash = hash128(text.data, text.size),
        .is_id = row_builder_takes_id(text),
    };
    return 0;
}

int binary_decoder_strings(struct binary_decoder *decoder, struct bytes payload)
{
    struct reader reader = reader_of(payload);
    uint32_t flags = reader_u32(&reader);
    uint32_t count = reader_u32(&reader);
    struct bytes sizes = reader_bytes(&reader, (size_t)count * 2);

    if (reader.failed || (flags & ~(uint32_t)WIRE_STRINGS_FORGET) != 0)
        return ERROR_CORRUPT;
    if (flags & WIRE_STRINGS_FORGET)
        strings_forget(decoder);
    for (uint32_t i = 0; i < count; i++) {
        struct bytes text = reader_bytes(&reader, load_u16(sizes.data + 2 * (size_t)i));
        int rc = reader.failed ? ERROR_CORRUPT : strings_add(decoder, text);

        if (rc != 0)
            return rc;
    }
    return reader_left(&reader) == 0 ? 0 : ERROR_CORRUPT;
}

/* ---- the parts of a batch ---- */

static bool width_is_good(uint8_t width, uint8_t width_max)
{
    return width <= width_max && (width & (width - 1)) == 0;
}

static int batch_read_header(struct reader *reader, struct binary_batch *batch)
{
    batch->sequence = reader_u64(reader);
    batch->rows = reader_u32(reader);
    batch->partition_count = reader_u32(reader);
    batch->ad_count = reader_u32(reader);
    batch->partition_width = reader_u8(reader);
    batch->ad_width = reader_u8(reader);
    batch->time_width = reader_u8(reader);
    batch->amount_width = reader_u8(reader);
    batch->time_base = reader_u64(reader);
    batch->amount_base = reader_u64(reader);
    uint64_t scale = reader_u64(reader); /* one byte, and seven zero bytes */
    batch->scale = (uint8_t)scale;
    if (reader->failed || scale > UINT8_MAX || batch->sequence > INT64_MAX ||
        !width_is_good(batch->partition_width, 4) || !width_is_good(batch->ad_width, 4) ||
        !width_is_good(batch->time_width, 8) || !width_is_good(batch->amount_width, 8) ||
        (batch->scale > WIRE_SCALE_MAX && batch->scale != WIRE_SCALE_OF_ROW))
        return ERROR_CORRUPT;
    if (batch->rows > BLOCK_ROWS_MAX)
        return ERROR_LIMIT;
    /* A table with more entries than rows is refused: some are unused, and only take memory. */
    return batch->partition_count <= batch->rows && batch->ad_count <= batch->rows ? 0
                                                                                   : ERROR_CORRUPT;
}

static const uint8_t *batch_part(struct reader *reader, uint32_t count, size_t width)
{
    return reader_bytes(reader, count * width).data;
}

int binary_decoder_read_batch(struct bytes payload, struct binary_batch *batch_out)
{
    struct binary_batch *batch = batch_out;
    struct reader reader = reader_of(payload);

    *batch = (struct binary_batch){0};
    int rc = batch_read_header(&reader, batch);
    if (rc != 0)
        return rc;
    batch->shape = bytes_of(payload.data + 8, WIRE_BATCH_HEADER - 8);
    batch->resellers = batch_part(&reader, batch->partition_count, 4);
    batch->days = batch_part(&reader, batch->partition_count, 4);
    batch->ads = batch_part(&reader, batch->ad_count, 4);
    batch->columns = bytes_of(payload.data + reader.offset, reader_left(&reader));
    batch->partition_codes = batch_part(&reader, batch->rows, batch->partition_width);
    batch->ad_codes = batch_part(&reader, batch->rows, batch->ad_width);
    batch->times = batch_part(&reader, batch->rows, batch->time_width);
    batch->amounts = batch_part(&reader, batch->rows, batch->amount_width);
    batch->scales = batch_part(&reader, batch->rows, batch->scale == WIRE_SCALE_OF_ROW ? 1 : 0);
    return reader.failed || reader_left(&reader) > 0 ? ERROR_CORRUPT : 0;
}

/* The value of `row`; 0 if `width` is 0, because such a column has no bytes. */
static inline uint64_t load_width(const uint8_t *column, uint8_t width, uint32_t row)
{
    switch (width) {
    case 1:
        return column[row];
    case 2:
        return load_u16(column + 2 * (size_t)row);
    case 4:
        return load_u32(column + 4 * (size_t)row);
    case 8:
        return load_u64(column + 8 * (size_t)row);
    default:
        return 0;
    }
}

static uint32_t batch_reseller(const struct binary_batch *batch, uint32_t partition)
{
    return load_u32(batch->resellers + 4 * (size_t)partition);
}

static int32_t batch_day(const struct binary_batch *batch, uint32_t partition)
{
    return (int32_t)load_u32(batch->days + 4 * (size_t)partition);
}

static uint32_t batch_ad(const struct binary_batch *batch, uint32_t ad)
{
    return load_u32(batch->ads + 4 * (size_t)ad);
}

/* ---- the tables of a batch ---- */

/* Add a partition of the batch.  False: the batch has it already. */
static bool partition_add(struct binary_decoder *decoder, uint32_t reseller, int32_t day,
                          uint32_t *at_out)
{
    struct partition_table *partitions = &decoder->partitions;
    struct partition_slot *slot = partition_table_find(partitions, reseller, day);

    *at_out = (uint32_t)(slot - partitions->slots);
    if (slot->mark == decoder->batch)
        return false;
    if (partition_table_is_free(partitions, slot))
        partition_table_put(partitions, slot,
                            (struct partition_slot){reseller, day, CODE_NONE, decoder->batch});
    slot->mark = decoder->batch;
    return true;
}

/* A span of 0: `day` is invalid or WIRE_DAY_NONE. */
static struct day_bounds bounds_of(int32_t day)
{
    int64_t start = (int64_t)day * DAY_MS - DAY_MS;
    int64_t end = start + 3 * DAY_MS;

    if (day < DAY_MIN || day > DAY_MAX)
        return (struct day_bounds){0, 0};
    start = start < TIME_MS_MIN ? TIME_MS_MIN : start;
    end = end > TIME_MS_MAX + 1 ? TIME_MS_MAX + 1 : end;
    return (struct day_bounds){start, end > start ? (uint64_t)(end - start) : 0};
}

static size_t string_size(const struct binary_decoder *decoder, uint32_t code)
{
    return decoder->strings.offsets[code + 1] - decoder->strings.offsets[code];
}

static int begin_partitions(struct binary_decoder *decoder, const struct binary_batch *batch,
                            uint64_t *bytes)
{
    uint32_t count = batch->partition_count;

    if (count > decoder->partition_capacity) {
        decoder->bounds = memory_resize(decoder->bounds, count * sizeof *decoder->bounds);
        decoder->slot_at = memory_resize(decoder->slot_at, count * sizeof *decoder->slot_at);
        decoder->partition_used = memory_resize(decoder->partition_used, count);
        decoder->partition_capacity = count;
    }
    partition_table_reserve(&decoder->partitions, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t reseller = batch_reseller(batch, i);
        int32_t day = batch_day(batch, i);

        if (reseller >= decoder->strings.count ||
            !partition_add(decoder, reseller, day, &decoder->slot_at[i]))
            return ERROR_CORRUPT;
        *bytes += string_size(decoder, reseller);
        decoder->bounds[i] = bounds_of(day);
        decoder->is_plain &= decoder->entries[reseller].is_id && decoder->bounds[i].span > 0;
    }
    return 0;
}

static int begin_ads(struct binary_decoder *decoder, const struct binary_batch *batch,
                     uint64_t *bytes)
{
    uint32_t count = batch->ad_count;

    if (count > decoder->ad_capacity) {
        decoder->ad_used = memory_resize(decoder->ad_used, count);
        decoder->ad_capacity = count;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t ad = batch_ad(batch, i);

        if (ad >= decoder->strings.count || decoder->entries[ad].batch == decoder->batch)
            return ERROR_CORRUPT;
        struct string_entry *entry = &decoder->entries[ad];
        if (entry->batch < decoder->partitions.first)
            entry->code = CODE_NONE;
        entry->batch = decoder->batch;
        *bytes += string_size(decoder, ad);
        decoder->is_plain &= entry->is_id;
    }
    return 0;
}

/* When the counter wraps, the marks of earlier batches are cleared, because later batches get the
 * same numbers. */
static void batch_count(struct binary_decoder *decoder)
{
    if (++decoder->batch != 0)
        return;
    decoder->batch = 1;
    decoder->is_parted = true;
    for (uint32_t i = 0; i < decoder->strings.count; i++)
        decoder->entries[i].batch = 0;
}

int binary_decoder_begin(struct binary_decoder *decoder, const struct binary_batch *batch,
                         bool is_next)
{
    uint64_t bytes = batch->shape.size + batch->columns.size;

    batch_count(decoder);
    decoder->is_plain = !is_next || !decoder->is_parted;
    if (!is_next || decoder->is_parted) {
        partition_table_clear(&decoder->partitions, decoder->batch);
        decoder->is_parted = is_next;
    }
    int rc = begin_partitions(decoder, batch, &bytes);
    if (rc == 0)
        rc = begin_ads(decoder, batch, &bytes);
    return rc != 0 ? rc : bytes > WIRE_PAYLOAD_MAX ? ERROR_LIMIT : 0;
}

static uint8_t *put_hash(uint8_t *to, struct hash128 hash)
{
    store_u64(to, hash.low);
    store_u64(to + 8, hash.high);
    return to + 16;
}

void binary_decoder_hash(struct binary_decoder *decoder, const struct binary_batch *batch,
                         struct hash128_stream *hash)
{
    struct buffer *tables = &decoder->line;

    buffer_clear(tables);
    buffer_reserve(tables, (size_t)batch->partition_count * 20 + (size_t)batch->ad_count * 16);
    uint8_t *to = tables->data;
    for (uint32_t i = 0; i < batch->partition_count; i++) {
        to = put_hash(to, decoder->entries[batch_reseller(batch, i)].hash);
        store_u32(to, (uint32_t)batch_day(batch, i));
        to += 4;
    }
    for (uint32_t i = 0; i < batch->ad_count; i++)
        to = put_hash(to, decoder->entries[batch_ad(batch, i)].hash);
    hash128_stream_add(hash, batch->shape.data, batch->shape.size);
    hash128_stream_add(hash, tables->data, (size_t)(to - tables->data));
    hash128_stream_add(hash, batch->columns.data, batch->columns.size);
}

/* ---- rows as columns ---- */

/* Widen a column of codes to 4 bytes.  False: a code is not below `count`. */
static bool widen_codes(const uint8_t *column, uint8_t width, uint32_t rows, uint32_t count,
                        uint32_t *codes)
{
    uint32_t greatest = 0;

    if (width == 0)
        memset(codes, 0, rows * sizeof *codes);
    else if (width == 4 && rows > 0)
        memcpy(codes, column, rows * sizeof *codes);
    for (uint32_t i = 0; width == 1 && i < rows; i++)
        codes[i] = column[i];
    for (uint32_t i = 0; width == 2 && i < rows; i++)
        codes[i] = load_u16(column + 2 * (size_t)i);
    for (uint32_t i = 0; i < rows; i++)
        greatest = codes[i] > greatest ? codes[i] : greatest;
    return rows == 0 || greatest < count;
}

/* Add `base` to each value of a column, modulo 2^64. */
static void widen_values(const uint8_t *column, uint8_t width, uint32_t rows, uint64_t base,
                         int64_t *values)
{
    for (uint32_t i = 0; width == 0 && i < rows; i++)
        values[i] = (int64_t)base;
    for (uint32_t i = 0; width == 1 && i < rows; i++)
        values[i] = (int64_t)(base + column[i]);
    for (uint32_t i = 0; width == 2 && i < rows; i++)
        values[i] = (int64_t)(base + load_u16(column + 2 * (size_t)i));
    for (uint32_t i = 0; width == 4 && i < rows; i++)
        values[i] = (int64_t)(base + load_u32(column + 4 * (size_t)i));
    for (uint32_t i = 0; width == 8 && i < rows; i++)
        values[i] = (int64_t)(base + load_u64(column + 8 * (size_t)i));
}

static bool all_set(const uint8_t *flags, uint32_t count)
{
    return count == 0 || memchr(flags, 0, count) == NULL;
}

static bool columns_are_plain(struct binary_decoder *decoder, const struct binary_batch *batch,
                              const struct row_builder *builder)
{
    const uint32_t *partitions = builder->block->partition_codes + builder->block->rows;
    const uint32_t *ads = builder->ad->codes + builder->block->rows;
    const int64_t *times = builder->time->integers + builder->block->rows;
    const int64_t *amounts = builder->amount->integers + builder->block->rows;
    uint32_t rows = batch->rows;
    unsigned doubts = 0;

    if (batch->partition_count > 0)
        memset(decoder->partition_used, 0, batch->partition_count);
    if (batch->ad_count > 0)
        memset(decoder->ad_used, 0, batch->ad_count);
    for (uint32_t i = 0; i < rows; i++) {
        struct day_bounds bounds = decoder->bounds[partitions[i]];

        doubts |= (uint64_t)times[i] - (uint64_t)bounds.start >= bounds.span;
        decoder->partition_used[partitions[i]] = 1;
        decoder->ad_used[ads[i]] = 1;
    }
    for (uint32_t i = 0; i < rows; i++)
        doubts |= (uint64_t)amounts[i] >= (uint64_t)AMOUNT_END;
    return doubts == 0 && all_set(decoder->partition_used, batch->partition_count) &&
           all_set(decoder->ad_used, batch->ad_count);
}

static int columns_widen(const struct binary_batch *batch, const struct row_builder *builder)
{
    uint32_t rows = batch->rows;
    uint32_t first = builder->block->rows;
    uint8_t *scales = builder->amount->scales + first;

    if (!widen_codes(batch->partition_codes, batch->partition_width, rows, batch->partition_count,
                     builder->block->partition_codes + first) ||
        !widen_codes(batch->ad_codes, batch->ad_width, rows, batch->ad_count,
                     builder->ad->codes + first))
        return ERROR_CORRUPT;
    widen_values(batch->times, batch->time_width, rows, batch->time_base,
                 builder->time->integers + first);
    widen_values(batch->amounts, batch->amount_width, rows, batch->amount_base,
                 builder->amount->integers + first);
    if (batch->scale != WIRE_SCALE_OF_ROW) {
        memset(scales, batch->scale, rows);
        return 0;
    }
    memcpy(scales, batch->scales, rows);
    for (uint32_t i = 0; i < rows; i++)
        if (scales[i] > WIRE_SCALE_MAX)
            return ERROR_CORRUPT;
    return 0;
}

/* Replace the batch's codes, which stand behind the block's rows, by the block's codes.  In the
 * first batch of a block the codes are equal. */
static void codes_translate(const struct binary_decoder *decoder, const struct block *block,
                            uint32_t *codes, uint32_t rows)
{
    uint32_t first = block->rows;

    for (uint32_t i = first; first > 0 && i < first + rows; i++)
        codes[i] = decoder->codes[codes[i]];
}

static void partitions_take(struct binary_decoder *decoder, const struct binary_batch *batch,
                            const struct row_builder *builder)
{
    for (uint32_t i = 0; i < batch->partition_count; i++) {
        struct partition_slot *slot = &decoder->partitions.slots[decoder->slot_at[i]];

        if (slot->code == CODE_NONE) {
            buffer_clear(&decoder->key);
            type_key_put_component(&decoder->key, 2,
                                   block_dictionary_get(&decoder->strings, slot->reseller));
            type_key_put_component(&decoder->key, 2, day_memo_format(&decoder->days, slot->day));
            slot->code =
                block_dictionary_add(&builder->block->partitions, buffer_view(&decoder->key));
        }
        decoder->codes[i] = slot->code;
    }
    codes_translate(decoder, builder->block, builder->block->partition_codes, batch->rows);
}

static void ads_take(struct binary_decoder *decoder, const struct binary_batch *batch,
                     const struct row_builder *builder)
{
    for (uint32_t i = 0; i < batch->ad_count; i++) {
        struct string_entry *entry = &decoder->entries[batch_ad(batch, i)];
        uint32_t code = entry->code;

        if (code == CODE_NONE) {
            code =
                block_dictionary_add(&builder->ad->dictionary,
                                     block_dictionary_get(&decoder->strings, batch_ad(batch, i)));
            entry->code = code & CODE_NONE;
        }
        decoder->codes[i] = code;
    }
    codes_translate(decoder, builder->block, builder->ad->codes, batch->rows);
}

static void columns_take(struct binary_decoder *decoder, const struct binary_batch *batch,
                         const struct row_builder *builder)
{
    uint32_t codes =
        batch->partition_count > batch->ad_count ? batch->partition_count : batch->ad_count;

    if (codes > decoder->code_capacity) {
        decoder->codes = memory_resize(decoder->codes, codes * sizeof *decoder->codes);
        decoder->code_capacity = codes;
    }
    partitions_take(decoder, batch, builder);
    ads_take(decoder, batch, builder);
    if (builder->day_derived != NULL)
        memset(builder->day_derived->integers + builder->block->rows, 0,
               batch->rows * sizeof(int64_t));
    builder->block->rows += batch->rows;
}

int binary_decoder_join(struct binary_decoder *decoder, const struct binary_batch *batch,
                        struct row_builder *builder)
{
    if (batch->rows == 0)
        return 1;
    block_reserve(builder->block, batch->rows);
    int rc = columns_widen(batch, builder);
    if (rc != 0)
        return rc;
    if (!decoder->is_plain || !columns_are_plain(decoder, batch, builder))
        return 0;
    columns_take(decoder, batch, builder);
    return 1;
}

/* ---- row by row ---- */

/* The fields of an invalid row, as text; valid until the next call. */
static struct record row_text(struct binary_decoder *decoder, const struct plain_record *plain,
                              int32_t day)
{
    struct buffer *fields = decoder->fields;
    struct record record = {
        .fields = {
            [FIELD_RESELLER] = plain->reseller, [FIELD_AD] = plain->ad, [FIELD_DAY] = plain->day}};

    for (int i = 0; i < RECORD_FIELDS; i++)
        buffer_clear(&fields[i]);
    buffer_printf(&fields[FIELD_TIME], "%" PRId64, plain->time_ms);
    record.fields[FIELD_TIME] = buffer_view(&fields[FIELD_TIME]);
    decimal_append(&fields[FIELD_AMOUNT], decimal_from(plain->amount, plain->amount_scale));
    record.fields[FIELD_AMOUNT] = buffer_view(&fields[FIELD_AMOUNT]);
    if (day != WIRE_DAY_NONE && (day < DAY_MIN || day > DAY_MAX)) {
        buffer_printf(&fields[FIELD_DAY], "%" PRId32, day);
        record.fields[FIELD_DAY] = buffer_view(&fields[FIELD_DAY]);
    }
    return record;
}

static struct bytes row_line(struct binary_decoder *decoder, const struct record *record)
{
    buffer_clear(&decoder->line);
    for (int i = 0; i < RECORD_FIELDS; i++) {
        if (i > 0)
            buffer_put_u8(&decoder->line, ',');
        table_print_csv_field(&decoder->line, record->fields[i]);
    }
    return buffer_view(&decoder->line);
}

/* The codes in the builder, by partition and by ad of a batch. */
struct row_codes {
    int32_t *resellers, *ads;
};

static void row_add(struct binary_decoder *decoder, const struct binary_batch *batch, uint32_t row,
                    const struct row_codes *codes, struct row_builder *builder, uint64_t number)
{
    uint32_t partition = (uint32_t)load_width(batch->partition_codes, batch->partition_width, row);
    uint32_t ad = (uint32_t)load_width(batch->ad_codes, batch->ad_width, row);
    int32_t day = batch_day(batch, partition);
    struct plain_record plain = {
        .reseller = block_dictionary_get(&decoder->strings, batch_reseller(batch, partition)),
        .ad = block_dictionary_get(&decoder->strings, batch_ad(batch, ad)),
        .time_ms = (int64_t)(batch->time_base + load_width(batch->times, batch->time_width, row)),
        .amount =
            (int64_t)(batch->amount_base + load_width(batch->amounts, batch->amount_width, row)),
        .amount_scale = batch->scale == WIRE_SCALE_OF_ROW ? batch->scales[row] : batch->scale,
    };
    bool is_day = day >= DAY_MIN && day <= DAY_MAX;
    bool are_ids = decoder->entries[batch_reseller(batch, partition)].is_id &&
                   decoder->entries[batch_ad(batch, ad)].is_id;

    if (is_day)
        plain.day = day_memo_format(&decoder->days, day);
    if (are_ids && (is_day || day == WIRE_DAY_NONE) && plain.time_ms >= TIME_MS_MIN &&
        plain.time_ms <= TIME_MS_MAX && plain.amount >= 0 && plain.amount < AMOUNT_END &&
        row_builder_add_coded(builder, &plain, &codes->resellers[partition], &codes->ads[ad]))
        return;
    struct record record = row_text(decoder, &plain, day);
    row_builder_add(builder, &record, number, row_line(decoder, &record));
}

/* Whether there is more text than a write batch may have.  The frame's size does not limit the
 * text, because many short rows can name one long string. */
static bool builder_is_overfull(const struct row_builder *builder)
{
    return builder->block->partitions.text.size > WRITE_BATCH_BYTES_MAX ||
           builder->rejects.bytes.size > WRITE_BATCH_BYTES_MAX;
}

int binary_decoder_rows(struct binary_decoder *decoder, const struct binary_batch *batch,
                        struct row_builder *builder, uint64_t first_row)
{
    check(builder->block->rows == 0 && decoder->partitions.first == decoder->batch);
    int rc = binary_decoder_join(decoder, batch, builder);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    size_t count = (size_t)batch->partition_count + batch->ad_count;
    int32_t *known = memory_alloc(count * sizeof *known);
    const struct row_codes codes = {known, known + batch->partition_count};
    for (size_t i = 0; i < count; i++)
        known[i] = INTERN_NONE;
    for (uint32_t row = 0; row < batch->rows && rc == 0; row++) {
        row_add(decoder, batch, row, &codes, builder, first_row + row);
        rc = builder_is_overfull(builder) ? ERROR_LIMIT : 0;
    }
    memory_free(known);
    return rc;
}
