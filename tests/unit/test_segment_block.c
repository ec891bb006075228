/* test_segment_block: blocks of a directory in columns: round trips of every form, size, damage. */
#include "storage/segment/segment_block.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/murmur3.h"

enum { SAMPLE_MAX = 300, PAGES = 1000 };

/* What an entry is made of; the key is `key`'s, the stats are `stats`'s. */
struct entry {
    struct segment_partition partition;
    struct partition_stats stats;
    char key[64];
};

static void entry_key(struct entry *entry, const char *text)
{
    size_t size = strlen(text);
    memcpy(entry->key, text, size);
    entry->partition.key = bytes_of(entry->key, size);
    entry->partition.token = murmur3_token(entry->key, size);
}

/* A day of a few clicks: all but key, times and amounts is as expected. */
static void small_day(uint32_t i, struct entry *entry)
{
    char text[64];
    snprintf(text, sizeof text, "reseller-%06" PRIu32 "/2013-11-%02" PRIu32, i * 7919 % 100000,
             i % 30);
    entry_key(entry, text);
    entry->partition.page_first = 7 + i / 200;
    entry->partition.page_count = 1;
    entry->partition.entry = i % 200;
    for (uint32_t row = 0; row <= i % 4; row++) {
        stats_add_row(&entry->stats, INT64_C(1385605012000) + i * INT64_C(1000003) % 86400000);
        stats_add_value(&entry->stats, 1 + i * 37 % 200, 2);
    }
    entry->partition.rows = entry->stats.rows;
    entry->partition.stats = &entry->stats;
}

/* Keys of many sizes, deletions, several scales, tokens that are not the key's, pages in leaps. */
static void anything(uint32_t i, struct entry *entry)
{
    static const char letters[] = "a long key whose front is taken: none, some or all of it";
    char text[64] = {0};
    memcpy(text, letters, i * 11 % sizeof letters);
    entry_key(entry, text);
    entry->partition.token += i % 5 == 0 ? 1 : 0;
    entry->partition.rows = i % 7 == 0 ? UINT64_MAX : i;
    entry->partition.page_first = i * 2;
    entry->partition.page_count = i % 6;
    entry->partition.entry = i % 3 == 0 ? UINT32_MAX - i : 0;
    if (i % 3 == 1)
        entry->partition.deletion = (struct deletion){INT64_MAX - i, -(int64_t)i};
    if (i % 4 == 0)
        return;
    stats_add_row(&entry->stats, i % 8 == 1 ? INT64_MIN : -5);
    stats_add_row(&entry->stats, i % 8 == 1 ? INT64_MAX : i);
    for (uint8_t scale = 0; scale < i % 20; scale++)
        stats_add_value(&entry->stats, scale % 2 == 0 ? INT64_MIN : INT64_MAX, scale % 19);
    entry->partition.stats = &entry->stats;
}

/* Partitions of several pages, and small ones that begin in the last page of a large one. */
static void large_days(uint32_t i, struct entry *entry)
{
    char text[64];
    snprintf(text, sizeof text, "%08" PRIu32, i);
    entry_key(entry, text);
    bool is_large = i % 2 == 0;
    entry->partition.page_first = i / 2 * 3 + (is_large ? 0 : 2);
    entry->partition.page_count = is_large ? 3 : 1;
    entry->partition.entry = is_large ? 0 : 1;
    entry->partition.rows = 100000 + i;
}

static void no_key(uint32_t i, struct entry *entry)
{
    (void)i;
    entry_key(entry, "");
    entry->partition.rows = 1;
}

struct sample {
    const char *name;
    void (*fill)(uint32_t i, struct entry *entry);
    uint32_t count;
};

static const struct sample samples[] = {
    {"small days", small_day, 256}, {"one small day", small_day, 1},
    {"anything", anything, 120},    {"more than a page of them", small_day, SAMPLE_MAX},
    {"large days", large_days, 50}, {"no key", no_key, 1},
};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

static struct entry *sample_make(const struct sample *sample)
{
    struct entry *entries = memory_zeroed(sample->count, sizeof *entries);
    for (uint32_t i = 0; i < sample->count; i++) {
        entries[i].partition.deletion = DELETION_NONE;
        sample->fill(i, &entries[i]);
    }
    return entries;
}

static void sample_free(const struct sample *sample, struct entry *entries)
{
    for (uint32_t i = 0; i < sample->count; i++)
        stats_release(&entries[i].stats);
    memory_free(entries);
}

static struct buffer sample_encode(const struct sample *sample, const struct entry *entries)
{
    struct segment_block_encoder *encoder = segment_block_encoder_new();
    struct buffer directory = {0};
    for (uint32_t i = 0; i < sample->count; i++)
        segment_block_encoder_add(encoder, &entries[i].partition);
    segment_block_encoder_close(encoder, &directory);
    /* Nothing is left of it. */
    size_t size = directory.size;
    segment_block_encoder_close(encoder, &directory);
    cr_assert_eq(directory.size, size);
    segment_block_encoder_free(encoder);
    return directory;
}

static void expect_entry(const struct entry *expected, const struct segment_block *block,
                         uint32_t i)
{
    const struct segment_partition *a = &expected->partition;
    const struct segment_partition *b = &block->partitions[i];
    cr_assert(bytes_equal(a->key, b->key), "%" PRIu32, i);
    cr_assert(a->token == b->token && a->rows == b->rows, "%" PRIu32, i);
    cr_assert(a->page_first == b->page_first && a->page_count == b->page_count &&
                  a->entry == b->entry,
              "%" PRIu32, i);
    cr_assert(a->deletion.timestamp_us == b->deletion.timestamp_us &&
                  a->deletion.local_s == b->deletion.local_s,
              "%" PRIu32, i);
    cr_assert(stats_equal(&expected->stats, &block->stats[i]), "%" PRIu32, i);
}

Test(segment_block, what_was_encoded_is_decoded)
{
    struct segment_block_decoder *decoder = segment_block_decoder_new();
    struct segment_block block = {0};
    for (size_t s = 0; s < SAMPLES; s++) {
        struct entry *entries = sample_make(&samples[s]);
        struct buffer directory = sample_encode(&samples[s], entries);
        struct reader reader = reader_of(buffer_view(&directory));
        cr_assert_eq(segment_block_decode(decoder, &reader, PAGES, true, &block), 0, "%s",
                     samples[s].name);
        cr_assert_eq(reader_left(&reader), 0);
        cr_assert_eq(block.count, samples[s].count);
        for (uint32_t i = 0; i < block.count; i++)
            expect_entry(&entries[i], &block, i);
        buffer_release(&directory);
        sample_free(&samples[s], entries);
    }
    segment_block_release(&block);
    segment_block_decoder_free(decoder);
}

Test(segment_block, a_day_of_a_few_clicks_takes_less_than_eleven_bytes)
{
    struct entry *entries = sample_make(&samples[0]);
    struct buffer directory = sample_encode(&samples[0], entries);
    cr_assert_lt(directory.size, (size_t)11 * samples[0].count, "%zu", directory.size);
    buffer_release(&directory);
    sample_free(&samples[0], entries);
}

Test(segment_block, is_full_after_some_hundred_entries_or_of_long_keys)
{
    static const uint8_t zeros[10000];
    struct buffer directory = {0};
    for (uint32_t key_size = 8; key_size <= sizeof zeros; key_size += sizeof zeros - 8) {
        struct segment_block_encoder *encoder = segment_block_encoder_new();
        const struct segment_partition partition = {.key = bytes_of(zeros, key_size),
                                                    .deletion = DELETION_NONE};
        uint32_t count = 0;
        while (!segment_block_encoder_is_full(encoder)) {
            segment_block_encoder_add(encoder, &partition);
            count++;
        }
        cr_assert_eq(count, key_size == 8 ? 256 : 2);
        segment_block_encoder_close(encoder, &directory);
        cr_assert(!segment_block_encoder_is_full(encoder));
        segment_block_encoder_free(encoder);
    }
    buffer_release(&directory);
}

/* Decode what is damaged: corrupt, or entries that keep what readers rely on. */
static int decode_damaged(struct segment_block_decoder *decoder, struct bytes bytes, bool has_stats)
{
    struct segment_block block = {0};
    struct reader reader = reader_of(bytes);
    int rc = segment_block_decode(decoder, &reader, PAGES, has_stats, &block);
    cr_assert(rc == 0 || rc == ERROR_CORRUPT);
    for (uint32_t i = 0; rc == 0 && i < block.count; i++) {
        const struct segment_partition *partition = &block.partitions[i];
        cr_assert_leq((uint64_t)partition->page_first + partition->page_count, PAGES);
        cr_assert_leq(partition->key.size, UINT16_MAX);
    }
    cr_assert_leq(block.count, SEGMENT_BLOCK_ENTRIES_MAX);
    segment_block_release(&block);
    return rc;
}

Test(segment_block, one_that_is_cut_anywhere_is_corrupt)
{
    struct segment_block_decoder *decoder = segment_block_decoder_new();
    for (size_t s = 0; s < SAMPLES; s++) {
        struct entry *entries = sample_make(&samples[s]);
        struct buffer directory = sample_encode(&samples[s], entries);
        for (size_t size = directory.size - 1; size > 0; size--) {
            struct bytes cut = bytes_of(directory.data, size);
            cr_assert_eq(decode_damaged(decoder, cut, true), ERROR_CORRUPT);
            /* Also when its head believes the size. */
            if (size < 8)
                continue;
            store_u32(directory.data + 4, (uint32_t)size - 8);
            cr_assert_eq(decode_damaged(decoder, cut, true), ERROR_CORRUPT, "%s: %zu",
                         samples[s].name, size);
        }
        buffer_release(&directory);
        sample_free(&samples[s], entries);
    }
    segment_block_decoder_free(decoder);
}

Test(segment_block, a_flipped_bit_gives_an_error_or_other_entries)
{
    struct segment_block_decoder *decoder = segment_block_decoder_new();
    for (size_t s = 0; s < SAMPLES; s++) {
        struct entry *entries = sample_make(&samples[s]);
        struct buffer directory = sample_encode(&samples[s], entries);
        for (size_t bit = 0; bit < directory.size * 8; bit++) {
            directory.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
            (void)decode_damaged(decoder, buffer_view(&directory), bit % 2 == 0);
            directory.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        cr_assert_eq(decode_damaged(decoder, buffer_view(&directory), true), 0);
        buffer_release(&directory);
        sample_free(&samples[s], entries);
    }
    segment_block_decoder_free(decoder);
}

Test(segment_block, stats_where_there_can_be_none_and_pages_that_are_not_there_are_corrupt)
{
    struct segment_block_decoder *decoder = segment_block_decoder_new();
    struct segment_block block = {0};
    struct entry *entries = sample_make(&samples[0]);
    struct buffer directory = sample_encode(&samples[0], entries);
    uint32_t pages = entries[samples[0].count - 1].partition.page_first + 1;
    struct reader reader = reader_of(buffer_view(&directory));
    cr_assert_eq(segment_block_decode(decoder, &reader, pages, true, &block), 0);
    reader = reader_of(buffer_view(&directory));
    cr_assert_eq(segment_block_decode(decoder, &reader, pages, false, &block), ERROR_CORRUPT);
    reader = reader_of(buffer_view(&directory));
    cr_assert_eq(segment_block_decode(decoder, &reader, pages - 1, true, &block), ERROR_CORRUPT);
    segment_block_release(&block);
    buffer_release(&directory);
    sample_free(&samples[0], entries);
    segment_block_decoder_free(decoder);
}
