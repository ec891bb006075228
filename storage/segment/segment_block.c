/* segment_block: a block consists of columns of numbers, and the bytes of keys.
 *
 * Encoder and decoder must predict a number in the same way, from what the decoder has read before
 * it.  Differences wrap at 64 bits.  Earlier columns give the number of items in each column
 * but the first, which has one (the place of the first entry):
 *
 *     entries    key size, token, rows, pages, place in the page, flags     one for each entry
 *     deleted    timestamp_us, local_s of the deletion       one for each entry with flag 1
 *     stats      rows, first, span, how many scales          one for each entry with flag 2
 *     scales     scale, values, low and high half of sum     as many as the stats have scales
 *
 * The decoder checks counts before it takes memory for them, sizes of keys before it adds them up,
 * and that pages exist. */
#include "storage/segment/segment_block.h"

#include <string.h>

#include "base/memory.h"
#include "base/murmur3.h"
#include "storage/segment/segment.h"
#include "storage/segment/segment_format.h"

enum {
    ENTRIES_FULL = 256,
    KEY_BYTES_FULL = 16 << 10, /* so that a block has fewer entries where keys are long */
    KEY_BYTES_MAX = 1 << 20
};

/* The order of the columns on disk. */
enum block_column {
    COLUMN_PLACE_FIRST, /* of the first entry in its page: one number */
    COLUMN_KEY_SIZE,
    COLUMN_TOKEN,
    COLUMN_ROWS,
    COLUMN_PAGE_FIRST,
    COLUMN_PAGE_COUNT,
    COLUMN_PLACE,
    COLUMN_FLAGS,
    COLUMN_DELETED_US,
    COLUMN_DELETED_S,
    COLUMN_STATS_ROWS,
    COLUMN_STATS_FIRST,
    COLUMN_STATS_SPAN,
    COLUMN_SCALE_COUNT,
    COLUMN_SCALE,
    COLUMN_VALUES,
    COLUMN_SUM_LOW,
    COLUMN_SUM_HIGH,
    COLUMN_COUNT
};

struct numbers {
    int64_t *values;
    uint32_t count;
    uint32_t capacity;
};

static void columns_release(struct numbers *columns)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        memory_free(columns[i].values);
}

static void numbers_reserve(struct numbers *column, uint32_t count)
{
    if (count <= column->capacity)
        return;
    column->capacity = count < ENTRIES_FULL ? ENTRIES_FULL : count * 2;
    column->values = memory_resize(column->values, column->capacity * sizeof *column->values);
}

static void numbers_put(struct numbers *column, uint64_t value)
{
    numbers_reserve(column, column->count + 1);
    column->values[column->count++] = (int64_t)value;
}

/* ---- predictions ---- */

/* Predicts the place of an entry in page `page_first`: behind the entry `before` if that ends in
 * the page, else the first place. */
static uint64_t place_predicted(const struct segment_partition *before, uint32_t page_first)
{
    if (before->page_count > 1)
        return before->page_first + before->page_count - 1 == page_first;
    return before->page_first == page_first ? (uint64_t)before->entry + 1 : 0;
}

static uint64_t token_predicted(struct bytes key)
{
    return (uint64_t)murmur3_token(key.data, key.size);
}

static uint64_t high_predicted(uint64_t low)
{
    return low >> 63 == 0 ? 0 : UINT64_MAX;
}

/* ---- decoded ---- */

void segment_block_clear(struct segment_block *block)
{
    for (uint32_t i = 0; block->stats != NULL && i < block->count; i++)
        stats_release(&block->stats[i]);
    block->count = 0;
    buffer_clear(&block->bytes);
}

void segment_block_release(struct segment_block *block)
{
    segment_block_clear(block);
    buffer_release(&block->bytes);
    memory_free(block->partitions);
    memory_free(block->stats);
}

size_t segment_block_bytes(const struct segment_block *block)
{
    size_t bytes = block->bytes.capacity + block->capacity * sizeof *block->partitions;
    if (block->stats == NULL)
        return bytes;
    for (uint32_t i = 0; i < block->count; i++)
        bytes += stats_bytes(&block->stats[i]);
    return bytes + block->capacity * sizeof *block->stats;
}

/* The entry is counted before it is read, so that clearing the block releases its stats. */
uint32_t segment_block_add(struct segment_block *block, bool has_stats)
{
    uint32_t index = block->count++;
    if (index == block->capacity) {
        block->capacity = block->capacity == 0 ? 16 : block->capacity * 2;
        block->partitions =
            memory_resize(block->partitions, block->capacity * sizeof *block->partitions);
        if (has_stats)
            block->stats = memory_resize(block->stats, block->capacity * sizeof *block->stats);
    }
    block->partitions[index] = (struct segment_partition){.deletion = DELETION_NONE};
    if (has_stats)
        block->stats[index] = (struct partition_stats){0};
    return index;
}

/* ---- encoding ---- */

struct segment_block_encoder {
    struct vector_encoder *vectors;
    struct numbers columns[COLUMN_COUNT];
    struct buffer keys;
    struct buffer turned;
    struct segment_partition before; /* the last entry, without key and stats */
};

struct segment_block_encoder *segment_block_encoder_new(void)
{
    struct segment_block_encoder *encoder = memory_zeroed(1, sizeof *encoder);
    encoder->vectors = vector_codec_encoder_new();
    return encoder;
}

void segment_block_encoder_free(struct segment_block_encoder *encoder)
{
    if (encoder == NULL)
        return;
    vector_codec_encoder_free(encoder->vectors);
    columns_release(encoder->columns);
    buffer_release(&encoder->keys);
    buffer_release(&encoder->turned);
    memory_free(encoder);
}

static void stats_put(struct numbers *columns, const struct segment_partition *partition)
{
    const struct partition_stats *stats = partition->stats;
    const struct scale_sum *sums = stats_sums(stats);
    numbers_put(&columns[COLUMN_STATS_ROWS], stats->rows - partition->rows);
    numbers_put(&columns[COLUMN_STATS_FIRST], (uint64_t)stats->first);
    numbers_put(&columns[COLUMN_STATS_SPAN], (uint64_t)stats->last - (uint64_t)stats->first);
    numbers_put(&columns[COLUMN_SCALE_COUNT], stats->scale_count);
    for (uint8_t i = 0; i < stats->scale_count; i++) {
        uint64_t low = (uint64_t)sums[i].sum;
        uint64_t high = (uint64_t)((uint128)sums[i].sum >> 64);
        numbers_put(&columns[COLUMN_SCALE], sums[i].scale);
        numbers_put(&columns[COLUMN_VALUES], sums[i].count - stats->rows);
        numbers_put(&columns[COLUMN_SUM_LOW], low);
        numbers_put(&columns[COLUMN_SUM_HIGH], high - high_predicted(low));
    }
}

void segment_block_encoder_add(struct segment_block_encoder *encoder,
                               const struct segment_partition *partition)
{
    struct numbers *columns = encoder->columns;
    check(partition->key.size <= SEGMENT_KEY_MAX);
    bool is_first = columns[COLUMN_FLAGS].count == 0;
    bool deleted = partition->deletion.timestamp_us != TIMESTAMP_NONE;
    bool has_stats = partition->stats != NULL && partition->stats->rows > 0;
    uint64_t predicted =
        is_first ? partition->entry : place_predicted(&encoder->before, partition->page_first);
    if (is_first)
        numbers_put(&columns[COLUMN_PLACE_FIRST], partition->entry);
    numbers_put(&columns[COLUMN_KEY_SIZE], partition->key.size);
    numbers_put(&columns[COLUMN_TOKEN],
                (uint64_t)partition->token - token_predicted(partition->key));
    numbers_put(&columns[COLUMN_ROWS], partition->rows);
    numbers_put(&columns[COLUMN_PAGE_FIRST], partition->page_first);
    numbers_put(&columns[COLUMN_PAGE_COUNT], partition->page_count);
    numbers_put(&columns[COLUMN_PLACE], partition->entry - predicted);
    numbers_put(&columns[COLUMN_FLAGS],
                (deleted ? SEGMENT_ENTRY_DELETED : 0U) | (has_stats ? SEGMENT_ENTRY_STATS : 0U));
    if (deleted) {
        numbers_put(&columns[COLUMN_DELETED_US], (uint64_t)partition->deletion.timestamp_us);
        numbers_put(&columns[COLUMN_DELETED_S], (uint64_t)(int64_t)partition->deletion.local_s);
    }
    if (has_stats)
        stats_put(columns, partition);
    buffer_append_bytes(&encoder->keys, partition->key);
    encoder->before = *partition;
}

bool segment_block_encoder_is_full(const struct segment_block_encoder *encoder)
{
    return encoder->columns[COLUMN_FLAGS].count >= ENTRIES_FULL ||
           encoder->keys.size >= KEY_BYTES_FULL;
}

static bool is_one_size(const struct numbers *sizes)
{
    for (uint32_t i = 1; i < sizes->count; i++)
        if (sizes->values[i] != sizes->values[0])
            return false;
    return true;
}

static bool is_common(const uint8_t *keys, size_t size, uint32_t count, size_t position)
{
    for (uint32_t i = 1; i < count; i++)
        if (keys[i * size + position] != keys[position])
            return false;
    return true;
}

/* Append to `directory` the mask of the positions at which all keys have the same byte, and these
 * bytes.  Append the other bytes to `turned`, position by position. */
static void keys_turn(struct segment_block_encoder *encoder, struct buffer *directory)
{
    uint32_t count = encoder->columns[COLUMN_KEY_SIZE].count;
    size_t size = encoder->keys.size / count;
    const uint8_t *keys = encoder->keys.data;
    size_t mask_at = directory->size;
    buffer_put_zeros(directory, (size + 7) / 8);
    for (size_t position = 0; position < size; position++) {
        if (is_common(keys, size, count, position)) {
            directory->data[mask_at + position / 8] |= (uint8_t)(1U << position % 8);
            buffer_put_u8(directory, keys[position]);
            continue;
        }
        for (uint32_t i = 0; i < count; i++)
            buffer_put_u8(&encoder->turned, keys[i * size + position]);
    }
}

static void keys_put(struct segment_block_encoder *encoder, struct buffer *directory)
{
    struct bytes plain = buffer_view(&encoder->keys);
    buffer_clear(&encoder->turned);
    if (is_one_size(&encoder->columns[COLUMN_KEY_SIZE])) {
        keys_turn(encoder, directory);
        plain = buffer_view(&encoder->turned);
    }
    vector_codec_put_text(encoder->vectors, plain, directory);
}

void segment_block_encoder_close(struct segment_block_encoder *encoder, struct buffer *directory)
{
    uint32_t count = encoder->columns[COLUMN_FLAGS].count;
    if (count == 0)
        return;
    buffer_put_u32(directory, count);
    size_t size_at = directory->size;
    buffer_put_u32(directory, 0);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const struct numbers *column = &encoder->columns[i];
        vector_codec_encode(encoder->vectors, column->values, column->count, directory);
    }
    keys_put(encoder, directory);
    for (int i = 0; i < COLUMN_COUNT; i++)
        encoder->columns[i].count = 0;
    buffer_clear(&encoder->keys);
    store_u32(directory->data + size_at, (uint32_t)(directory->size - size_at - sizeof(uint32_t)));
}

/* ---- decoding ---- */

struct segment_block_decoder {
    struct vector_decoder vectors;
    struct numbers columns[COLUMN_COUNT];
    struct buffer turned;
};

struct segment_block_decoder *segment_block_decoder_new(void)
{
    return memory_zeroed(1, sizeof(struct segment_block_decoder));
}

void segment_block_decoder_free(struct segment_block_decoder *decoder)
{
    if (decoder == NULL)
        return;
    vector_codec_decoder_release(&decoder->vectors);
    columns_release(decoder->columns);
    buffer_release(&decoder->turned);
    memory_free(decoder);
}

struct decompressor *segment_block_decompressor(struct segment_block_decoder *decoder)
{
    return vector_codec_decompressor(&decoder->vectors);
}

static int columns_decode(struct segment_block_decoder *decoder, struct reader *reader,
                          enum block_column first, enum block_column last, uint32_t count)
{
    int rc = 0;
    for (enum block_column i = first; rc == 0 && i <= last; i++) {
        struct numbers *column = &decoder->columns[i];
        numbers_reserve(column, count);
        column->count = count;
        rc = vector_codec_decode(&decoder->vectors, reader, count, column->values);
    }
    return rc;
}

static uint32_t flag_count(const struct numbers *flags, uint8_t flag)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < flags->count; i++)
        count += (flags->values[i] & flag) != 0;
    return count;
}

static bool flags_are_known(const struct numbers *flags, bool has_stats)
{
    int64_t known = SEGMENT_ENTRY_DELETED | (has_stats ? SEGMENT_ENTRY_STATS : 0);
    for (uint32_t i = 0; i < flags->count; i++)
        if ((flags->values[i] & ~known) != 0)
            return false;
    return true;
}

/* False: an entry has more than STATS_SCALES_MAX scales. */
static bool scales_add_up(const struct numbers *counts, uint32_t *total_out)
{
    *total_out = 0;
    for (uint32_t i = 0; i < counts->count; i++) {
        if ((uint64_t)counts->values[i] > STATS_SCALES_MAX)
            return false;
        *total_out += (uint32_t)counts->values[i];
    }
    return true;
}

static int numbers_decode(struct segment_block_decoder *decoder, struct reader *reader,
                          uint32_t count, bool has_stats)
{
    const struct numbers *flags = &decoder->columns[COLUMN_FLAGS];
    uint32_t scales = 0;
    int rc = columns_decode(decoder, reader, COLUMN_PLACE_FIRST, COLUMN_PLACE_FIRST, 1);
    if (rc == 0)
        rc = columns_decode(decoder, reader, COLUMN_KEY_SIZE, COLUMN_FLAGS, count);
    if (rc == 0 && !flags_are_known(flags, has_stats))
        rc = ERROR_CORRUPT;
    if (rc == 0)
        rc = columns_decode(decoder, reader, COLUMN_DELETED_US, COLUMN_DELETED_S,
                            flag_count(flags, SEGMENT_ENTRY_DELETED));
    if (rc == 0)
        rc = columns_decode(decoder, reader, COLUMN_STATS_ROWS, COLUMN_SCALE_COUNT,
                            flag_count(flags, SEGMENT_ENTRY_STATS));
    if (rc == 0 && !scales_add_up(&decoder->columns[COLUMN_SCALE_COUNT], &scales))
        rc = ERROR_CORRUPT;
    return rc == 0 ? columns_decode(decoder, reader, COLUMN_SCALE, COLUMN_SUM_HIGH, scales) : rc;
}

static int keys_turn_back(struct segment_block_decoder *decoder, struct reader *reader,
                          uint32_t count, size_t size, struct buffer *keys)
{
    struct bytes mask = reader_bytes(reader, (size + 7) / 8);
    size_t turned_count = 0;
    buffer_reserve(keys, count * size);
    for (size_t position = 0; !reader->failed && position < size; position++) {
        bool is_common = (mask.data[position / 8] >> position % 8 & 1) != 0;
        keys->data[position] = is_common ? reader_u8(reader) : 0;
        turned_count += !is_common;
    }
    buffer_clear(&decoder->turned);
    if (reader->failed || vector_codec_get_text(&decoder->vectors, reader, turned_count * count,
                                                &decoder->turned) != 0)
        return ERROR_CORRUPT;
    keys->size = count * size;
    for (uint32_t i = 1; size > 0 && i < count; i++)
        memcpy(keys->data + i * size, keys->data, size);
    const uint8_t *from = decoder->turned.data;
    for (size_t position = 0; position < size; position++) {
        if ((mask.data[position / 8] >> position % 8 & 1) != 0)
            continue;
        for (uint32_t i = 0; i < count; i++)
            keys->data[i * size + position] = *from++;
    }
    return 0;
}

static int keys_decode(struct segment_block_decoder *decoder, struct reader *reader,
                       struct buffer *keys)
{
    const struct numbers *sizes = &decoder->columns[COLUMN_KEY_SIZE];
    size_t total = 0;
    for (uint32_t i = 0; i < sizes->count; i++) {
        if ((uint64_t)sizes->values[i] > SEGMENT_KEY_MAX)
            return ERROR_CORRUPT;
        total += (size_t)sizes->values[i];
    }
    if (total > KEY_BYTES_MAX)
        return ERROR_CORRUPT;
    if (is_one_size(sizes))
        return keys_turn_back(decoder, reader, sizes->count, (size_t)sizes->values[0], keys);
    return vector_codec_get_text(&decoder->vectors, reader, total, keys);
}

/* Where the next entry's key begins, and the next indexes in columns that only some entries
 * have. */
struct block_places {
    size_t key;
    uint32_t deleted;
    uint32_t stats;
    uint32_t scale;
};

static int stats_make(const struct numbers *columns, struct block_places *places, uint64_t rows,
                      struct partition_stats *stats)
{
    uint32_t at = places->stats++;
    uint64_t first = (uint64_t)columns[COLUMN_STATS_FIRST].values[at];
    uint64_t span = (uint64_t)columns[COLUMN_STATS_SPAN].values[at];
    stats->rows = rows + (uint64_t)columns[COLUMN_STATS_ROWS].values[at];
    stats->first = (int64_t)first;
    stats->last = (int64_t)(first + span);
    if (stats->rows == 0 || stats->last < stats->first)
        return ERROR_CORRUPT;
    int64_t scale_before = -1;
    for (int64_t i = 0; i < columns[COLUMN_SCALE_COUNT].values[at]; i++) {
        uint32_t sum_at = places->scale++;
        int64_t scale = columns[COLUMN_SCALE].values[sum_at];
        uint64_t low = (uint64_t)columns[COLUMN_SUM_LOW].values[sum_at];
        uint64_t high = (uint64_t)columns[COLUMN_SUM_HIGH].values[sum_at] + high_predicted(low);
        uint64_t values = (uint64_t)columns[COLUMN_VALUES].values[sum_at] + stats->rows;
        if (scale <= scale_before || scale >= STATS_SCALES_MAX || values == 0)
            return ERROR_CORRUPT;
        const struct partition_stats more = {
            .scale_count = 1,
            .inline_sum = {(uint8_t)scale, values, (int128)((uint128)high << 64 | low)}};
        stats_add(stats, &more);
        scale_before = scale;
    }
    return 0;
}

static int entry_make(const struct numbers *columns, struct block_places *places, uint32_t i,
                      uint32_t page_count, struct segment_block *block)
{
    struct segment_partition *partition = &block->partitions[i];
    uint64_t page_first = (uint64_t)columns[COLUMN_PAGE_FIRST].values[i];
    uint64_t pages = (uint64_t)columns[COLUMN_PAGE_COUNT].values[i];
    if (page_first > page_count || pages > page_count - page_first)
        return ERROR_CORRUPT;
    uint64_t predicted = i == 0 ? (uint64_t)columns[COLUMN_PLACE_FIRST].values[0]
                                : place_predicted(partition - 1, (uint32_t)page_first);
    uint64_t entry = (uint64_t)columns[COLUMN_PLACE].values[i] + predicted;
    if (entry > UINT32_MAX)
        return ERROR_CORRUPT;
    partition->key =
        bytes_of(block->bytes.data + places->key, (size_t)columns[COLUMN_KEY_SIZE].values[i]);
    places->key += partition->key.size;
    partition->token =
        (int64_t)((uint64_t)columns[COLUMN_TOKEN].values[i] + token_predicted(partition->key));
    partition->rows = (uint64_t)columns[COLUMN_ROWS].values[i];
    partition->page_first = (uint32_t)page_first;
    partition->page_count = (uint32_t)pages;
    partition->entry = (uint32_t)entry;
    int64_t flags = columns[COLUMN_FLAGS].values[i];
    if (flags & SEGMENT_ENTRY_DELETED) {
        uint32_t at = places->deleted++;
        partition->deletion.timestamp_us = columns[COLUMN_DELETED_US].values[at];
        partition->deletion.local_s = columns[COLUMN_DELETED_S].values[at];
    }
    if (flags & SEGMENT_ENTRY_STATS)
        return stats_make(columns, places, partition->rows, &block->stats[i]);
    return 0;
}

int segment_block_decode(struct segment_block_decoder *decoder, struct reader *reader,
                         uint32_t page_count, bool has_stats, struct segment_block *block)
{
    segment_block_clear(block);
    uint32_t count = reader_u32(reader);
    uint32_t size = reader_u32(reader);
    struct reader content = reader_of(reader_bytes(reader, size));
    if (reader->failed || count == 0 || count > SEGMENT_BLOCK_ENTRIES_MAX)
        return ERROR_CORRUPT;
    int rc = numbers_decode(decoder, &content, count, has_stats);
    if (rc == 0)
        rc = keys_decode(decoder, &content, &block->bytes);
    struct block_places places = {0};
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = entry_make(decoder->columns, &places, segment_block_add(block, has_stats), page_count,
                        block);
    return rc;
}
