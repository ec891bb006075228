/* fuzz_binary_decoder: frames of the binary door: whatever they say, the rows that come out keep
 * what the block's consumers rely on, and nothing that the text door would refuse is among them.
 *
 * Input: frames, the first of which have strings; a size past the end is cut to the rest. */
#include "client/wire.h"
#include "ingest/parse/decoded_frame.h"
#include "rollup/tables.h"
#include "base/memory.h"
#include "storage/schema/type.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_stream.h"

enum { JOINED_ROWS_MAX = 4096 };

static void check_used(const uint32_t *codes, uint32_t rows, uint32_t count)
{
    uint8_t *used = memory_zeroed(count, 1);
    for (uint32_t i = 0; i < rows; i++) {
        check(codes[i] < count);
        used[codes[i]] = 1;
    }
    check(count == 0 || memchr(used, 0, count) == NULL);
    memory_free(used);
}

static void check_key(struct bytes key, int64_t time_ms)
{
    struct bytes reseller, day_text;
    int32_t day;
    check(type_key_component(key, 2, 0, &reseller) == 0 &&
          type_key_component(key, 2, 1, &day_text) == 0);
    check(row_builder_takes_id(reseller) && calendar_day_parse(day_text, &day));
    check(day - time_ms / DAY_MS >= -1 && day - time_ms / DAY_MS <= 1);
}

static void check_rows(struct row_builder *builder)
{
    struct block *block = builder->block;
    const struct block_column *time = block_column_at(block, AD_CLICK_TIME);
    const struct block_column *ad = block_column_at(block, AD_CLICK_AD_ID);
    const struct block_column *amount = block_column_at(block, AD_CLICK_AMOUNT);
    check_used(block->partition_codes, block->rows, block->partitions.count);
    check_used(ad->codes, block->rows, ad->dictionary.count);
    for (uint32_t i = 0; i < block->rows; i++) {
        check(time->integers[i] >= TIME_MS_MIN && time->integers[i] <= TIME_MS_MAX);
        check(amount->integers[i] >= 0 && amount->integers[i] < INT64_C(1000000000000000000));
        check(amount->scales[i] <= WIRE_SCALE_MAX);
        check_key(block_dictionary_get(&block->partitions, block->partition_codes[i]),
                  time->integers[i]);
        check(row_builder_takes_id(block_dictionary_get(&ad->dictionary, ad->codes[i])));
    }
}

/* The batch by itself, when it cannot be joined to those before it. */
static int decode_alone(struct binary_decoder *decoder, const struct binary_batch *batch,
                        struct row_builder *builder)
{
    row_builder_clear(builder);
    check(binary_decoder_begin(decoder, batch, false) == 0);
    int rc = binary_decoder_rows(decoder, batch, builder, 1);
    if (rc == 0) {
        check(builder->block->rows + builder->rejects.count == batch->rows);
        check_rows(builder);
        row_builder_finish(builder);
    }
    row_builder_clear(builder);
    return rc;
}

/* Joined to the batches before it, whose rows are in the builder, as long as that goes. */
static int decode_batch(struct binary_decoder *decoder, struct bytes payload,
                        struct row_builder *builder)
{
    struct binary_batch batch;
    uint32_t before = builder->block->rows;
    int rc = binary_decoder_read_batch(payload, &batch);
    if (rc != 0)
        return rc;
    if (batch.rows > JOINED_ROWS_MAX - before) {
        row_builder_clear(builder);
        before = 0;
    }
    rc = binary_decoder_begin(decoder, &batch, before > 0);
    if (rc != 0)
        return rc;
    struct hash128_stream *hash = hash128_stream_new();
    binary_decoder_hash(decoder, &batch, hash);
    hash128_stream_free(hash);
    if (batch.rows <= JOINED_ROWS_MAX && binary_decoder_join(decoder, &batch, builder) == 1) {
        check(builder->block->rows == before + batch.rows);
        check_rows(builder);
        return 0;
    }
    check(builder->block->rows == before);
    return decode_alone(decoder, &batch, builder);
}

/* What would be decoded ahead is whole frames, of which none lies past the end. */
static void check_plan(struct bytes input)
{
    uint32_t runs;
    size_t planned = decoded_frame_plan(input, &runs);
    size_t at = 0;
    while (at < planned) {
        runs -= decoded_frame_has_kind(input.data[at + 4]);
        at += WIRE_HEADER_SIZE + load_u32(input.data + at);
    }
    check(at == planned && planned <= input.size && runs == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes rest = bytes_of(data, size);
    struct binary_decoder *decoder = binary_decoder_new(1);
    struct row_builder *builder = fuzz_builder();
    int rc = 0;
    check_plan(rest);
    while (rc == 0 && rest.size >= WIRE_HEADER_SIZE) {
        size_t left = rest.size - WIRE_HEADER_SIZE;
        size_t claimed = load_u32(rest.data);
        size_t payload_size = claimed < left ? claimed : left;
        /* Of its own, so that a read past it shows. */
        uint8_t *payload = memory_copy(rest.data + WIRE_HEADER_SIZE, payload_size);
        rc = rest.data[4] == WIRE_STRINGS
                 ? binary_decoder_strings(decoder, bytes_of(payload, payload_size))
                 : decode_batch(decoder, bytes_of(payload, payload_size), builder);
        memory_free(payload);
        rest = bytes_of(rest.data + WIRE_HEADER_SIZE + payload_size, left - payload_size);
    }
    row_builder_free(builder);
    binary_decoder_free(decoder);
    return 0;
}
