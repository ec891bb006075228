/* test_segment: the container of immutable runs: round trips, damage, failing disks. */
#include "storage/segment/segment.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/hash64.h"
#include "base/memory.h"
#include "base/murmur3.h"
#include "storage/segment/segment_format.h"
#include "tests/lib/golden.h"
#include "tests/lib/segment_alone.h"
#include "tests/sim/ram_disk.h"

static const struct segment_info columnar_info = {.id = 0xa1,
                                                  .table_id = 3,
                                                  .kind = SEGMENT_COLUMNAR,
                                                  .frame_first = 7,
                                                  .frame_last = 19,
                                                  .schema_version = 2};

static const char final_path[] = "segments/00000000000000a1.seg";
static const char temporary_path[] = "segments/00000000000000a1.tmp";

enum { SAMPLE_PARTITIONS = 3, SAMPLE_PAGES = 3 };

static const char *const sample_pages[SAMPLE_PAGES] = {"first page", "", "the third page"};
static const char *const sample_labels[SAMPLE_PAGES] = {"", "l1", "l2"};

/* Partitions of the sample: one with stats of two scales, one deleted, one plain. */
struct sample {
    struct partition_stats stats;
    struct segment_partition partitions[SAMPLE_PARTITIONS];
};

static void sample_init(struct sample *sample)
{
    *sample = (struct sample){0};
    for (int64_t i = 0; i < 5; i++) {
        stats_add_row(&sample->stats, 1000 + i);
        stats_add_value(&sample->stats, -70 * i, (uint8_t)(i % 2 + 2));
    }
    sample->partitions[0] = (struct segment_partition){.token = -5,
                                                       .key = bytes_text("b"),
                                                       .rows = 5,
                                                       .page_count = 2,
                                                       .deletion = DELETION_NONE,
                                                       .stats = &sample->stats};
    sample->partitions[1] = (struct segment_partition){
        .token = 9,
        .key = bytes_text(""),
        .rows = 1,
        .page_first = 2,
        .page_count = 1,
        .deletion = {.timestamp_us = 1700000000000000, .local_s = 1700000000}};
    sample->partitions[2] = (struct segment_partition){.token = 9,
                                                       .key = bytes_text("key"),
                                                       .rows = 8,
                                                       .page_first = 2,
                                                       .page_count = 1,
                                                       .entry = 1,
                                                       .deletion = DELETION_NONE};
}

/* Write the sample; what the disk says on the way. */
static int sample_write(struct world *world, struct segment_info *info_out)
{
    struct sample sample;
    sample_init(&sample);
    struct segment_writer *writer;
    int rc = segment_writer_open(world, &columnar_info, &writer, NULL);
    for (uint32_t i = 0; rc == 0 && i < SAMPLE_PAGES; i++) {
        cr_assert_eq(segment_writer_page_next(writer), i);
        rc = segment_writer_page(writer, bytes_text(sample_pages[i]), bytes_text(sample_labels[i]),
                                 NULL);
    }
    for (uint32_t i = 0; rc == 0 && i < SAMPLE_PARTITIONS; i++)
        rc = segment_writer_partition(writer, &sample.partitions[i], NULL);
    if (rc == 0) {
        segment_writer_timestamp(writer, 1600000000000000);
        rc = segment_writer_extra(writer, bytes_text("dictionary"), NULL);
    }
    if (rc == 0)
        rc = segment_writer_finish(writer, info_out, NULL);
    segment_writer_close(writer);
    stats_release(&sample.stats);
    return rc;
}

static bool partition_equal(const struct segment_partition *a, const struct segment_partition *b)
{
    struct partition_stats none = {0};
    return a->token == b->token && bytes_equal(a->key, b->key) && a->rows == b->rows &&
           a->page_first == b->page_first && a->page_count == b->page_count &&
           a->entry == b->entry && a->deletion.timestamp_us == b->deletion.timestamp_us &&
           a->deletion.local_s == b->deletion.local_s &&
           stats_equal(a->stats != NULL ? a->stats : &none, b->stats != NULL ? b->stats : &none);
}

/* Open and read everything: 0 when it is the sample, the error otherwise.  Anything else that can
 * be read fails the test. */
static int sample_read(struct world *world, const struct segment_info *info, struct error *err)
{
    struct segment *segment;
    int rc = segment_open_alone(world, info, &segment, err);
    if (rc != 0)
        return rc;
    struct sample sample;
    sample_init(&sample);
    cr_assert_eq(segment_partition_count(segment), SAMPLE_PARTITIONS);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    for (uint32_t i = 0; i < SAMPLE_PARTITIONS; i++)
        cr_assert(partition_equal(segment_directory_at(cursor, i), &sample.partitions[i]));
    segment_cursor_give(segment, cursor);
    cr_assert(bytes_equal(segment_extra(segment), bytes_text("dictionary")));
    cr_assert_eq(segment_page_count(segment), SAMPLE_PAGES);
    struct buffer page = {0};
    for (uint32_t i = 0; rc == 0 && i < SAMPLE_PAGES; i++) {
        cr_assert(bytes_equal(segment_page_first(segment, i), bytes_text(sample_labels[i])));
        rc = segment_read_page(segment, i, NULL, &page, err);
        cr_assert(rc != 0 || bytes_equal(buffer_view(&page), bytes_text(sample_pages[i])));
    }
    buffer_release(&page);
    stats_release(&sample.stats);
    segment_unref(segment);
    return rc;
}

Test(segment, what_was_written_is_read_back)
{
    struct ram_disk *ram = ram_disk_new();
    struct segment_info info;
    struct error err = {0};
    cr_assert_eq(sample_write(ram_disk_world(ram), &info), 0);
    cr_assert_eq(sample_read(ram_disk_world(ram), &info, &err), 0, "%s", err.text);
    cr_assert_eq(info.rows, 14);
    cr_assert_eq(info.partitions, SAMPLE_PARTITIONS);
    cr_assert_eq(info.timestamp_max_us, 1700000000000000);
    cr_assert_eq(info.size, ram_disk_content(ram, final_path)->size);
    cr_assert_eq(ram_disk_file_count(ram), 1);
    ram_disk_free(ram);
}

Test(segment, an_empty_one_is_read_back)
{
    struct ram_disk *ram = ram_disk_new();
    struct segment_writer *writer;
    struct segment_info info;
    struct segment *segment;
    cr_assert_eq(segment_writer_open(ram_disk_world(ram), &columnar_info, &writer, NULL), 0);
    cr_assert_eq(segment_writer_finish(writer, &info, NULL), 0);
    segment_writer_close(writer);
    cr_assert_eq(segment_open_alone(ram_disk_world(ram), &info, &segment, NULL), 0);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    cr_assert_eq(segment_directory_seek(cursor, INT64_MIN, bytes_text("")), 0);
    cr_assert_null(segment_directory_find(cursor, 0, bytes_text("")));
    cr_assert(!segment_may_have(segment, 0));
    segment_cursor_give(segment, cursor);
    segment_unref(segment);
    ram_disk_free(ram);
}

/* The key of partition i of the large sample: long enough that many blocks are needed. */
static struct bytes large_key(uint32_t i, char text[64])
{
    int length = snprintf(text, 64, "reseller-%08" PRIu32 "/2013-11-%02" PRIu32, i * 7919, i % 30);
    return bytes_of(text, (size_t)length);
}

/* Pages larger than the write buffer, and a directory of many blocks. */
Test(segment, large_pages_and_directories_are_read_back)
{
    enum { PARTITIONS = 20000, PAGE_SIZE = 5000000 };
    struct ram_disk *ram = ram_disk_new();
    struct segment_writer *writer;
    struct segment_info info;
    cr_assert_eq(segment_writer_open(ram_disk_world(ram), &columnar_info, &writer, NULL), 0);
    uint8_t *large = memory_alloc(PAGE_SIZE);
    for (uint32_t i = 0; i < PAGE_SIZE; i++)
        large[i] = (uint8_t)(i * 2654435761U >> 24);
    cr_assert_eq(segment_writer_page(writer, bytes_of(large, PAGE_SIZE), bytes_text(""), NULL), 0);
    char text[64];
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        struct segment_partition partition = {.token = (int64_t)(i / 2) * 1000000007 -
                                                       INT64_C(4000000000),
                                              .page_count = 1,
                                              .key = large_key(i, text),
                                              .rows = i,
                                              .entry = i,
                                              .deletion = DELETION_NONE};
        cr_assert_eq(segment_writer_partition(writer, &partition, NULL), 0);
    }
    cr_assert_eq(segment_writer_finish(writer, &info, NULL), 0);
    segment_writer_close(writer);

    struct segment *segment;
    struct buffer read = {0};
    cr_assert_eq(segment_open_alone(ram_disk_world(ram), &info, &segment, NULL), 0);
    cr_assert_eq(segment_read_page(segment, 0, NULL, &read, NULL), 0);
    cr_assert(bytes_equal(buffer_view(&read), bytes_of(large, PAGE_SIZE)));
    struct segment_cursor *cursor = segment_cursor_take(segment);
    for (uint32_t n = 0; n < PARTITIONS; n++) {
        uint32_t i = n * 7919 % PARTITIONS;
        int64_t token = (int64_t)(i / 2) * 1000000007 - INT64_C(4000000000);
        const struct segment_partition *found =
            segment_directory_find(cursor, token, large_key(i, text));
        cr_assert_not_null(found);
        cr_assert_eq(found->entry, i);
        cr_assert(bytes_equal(found->key, large_key(i, text)));
        cr_assert(segment_has(segment, token, large_key(i, text)));
        cr_assert_eq(segment_directory_seek(cursor, token, large_key(i, text)), i);
        cr_assert_null(segment_directory_find(cursor, token + 1, large_key(i, text)));
        cr_assert(!segment_has(segment, token + 1, large_key(i, text)));
    }
    cr_assert_eq(segment_directory_seek(cursor, INT64_MIN, bytes_text("")), 0);
    cr_assert_eq(segment_directory_seek(cursor, INT64_MAX, bytes_text("")), PARTITIONS);
    segment_cursor_give(segment, cursor);
    /* What it costs in memory is what these keys take compressed, not what they take decoded. */
    cr_assert_lt(segment_bytes(segment), (size_t)PARTITIONS * 40);
    segment_unref(segment);
    buffer_release(&read);
    memory_free(large);
    ram_disk_free(ram);
}

Test(segment, a_file_cut_anywhere_is_corrupt)
{
    struct ram_disk *ram = ram_disk_new();
    struct segment_info info;
    cr_assert_eq(sample_write(ram_disk_world(ram), &info), 0);
    struct buffer *content = ram_disk_content(ram, final_path);
    while (content->size > 0) {
        content->size--;
        cr_assert_eq(sample_read(ram_disk_world(ram), &info, NULL), ERROR_CORRUPT);
        /* Also when the manifest believes the size. */
        struct segment_info cut = info;
        cut.size = content->size;
        cr_assert_eq(sample_read(ram_disk_world(ram), &cut, NULL), ERROR_CORRUPT);
    }
    ram_disk_free(ram);
}

/* Open it, and ask for the zeros alone. */
static int zeros_read(struct world *world, const struct segment_info *info)
{
    struct segment *segment;
    struct error err = {0};
    cr_assert_eq(segment_open_alone(world, info, &segment, &err), 0, "%s", err.text);
    int rc = segment_check_zeros(segment, &err);
    segment_unref(segment);
    return rc;
}

Test(segment, a_flipped_bit_is_corrupt_or_does_not_matter)
{
    struct ram_disk *ram = ram_disk_new();
    struct segment_info info;
    cr_assert_eq(sample_write(ram_disk_world(ram), &info), 0);
    struct buffer *content = ram_disk_content(ram, final_path);
    uint32_t harmless = 0;
    for (size_t bit = 0; bit < content->size * 8; bit++) {
        content->data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        struct error err = {0};
        int rc = sample_read(ram_disk_world(ram), &info, &err);
        cr_assert(rc == 0 || rc == ERROR_CORRUPT, "bit %zu: %d %s", bit, rc, err.text);
        cr_assert(rc != 0 || zeros_read(ram_disk_world(ram), &info) == ERROR_CORRUPT, "bit %zu",
                  bit);
        harmless += rc == 0;
        content->data[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    /* Only the zeros before the footer may change unseen by who does not ask for them. */
    cr_assert_lt(harmless, 8 * SEGMENT_BLOCK);
    cr_assert_eq(sample_read(ram_disk_world(ram), &info, NULL), 0);
    cr_assert_eq(zeros_read(ram_disk_world(ram), &info), 0);
    ram_disk_free(ram);
}

/* The checks of directory and page index hold without their checksums too: flip their bits and sign
 * the file anew. */
static void lie_everywhere(struct ram_disk *ram, const char *path)
{
    struct buffer *content = ram_disk_content(ram, path);
    uint8_t *footer_block = content->data + content->size - SEGMENT_BLOCK;
    struct segment_footer footer;
    cr_assert_eq(segment_format_read_footer(footer_block, content->size, &footer, NULL), 0);
    struct segment_footer signed_anew = footer;
    for (size_t kind = SECTION_DIRECTORY; kind <= SECTION_INDEX; kind++) {
        struct segment_section *section = &signed_anew.sections[kind];
        uint8_t *bytes = content->data + section->offset;
        for (size_t bit = 0; bit < section->size * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
            section->hash = hash64(bytes, section->size);
            segment_format_footer(&signed_anew, footer_block);
            struct segment *segment;
            int rc = segment_open_alone(ram_disk_world(ram), &footer.info, &segment, NULL);
            cr_assert(rc == 0 || rc == ERROR_CORRUPT);
            segment_unref(segment);
            bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        section->hash = footer.sections[kind].hash;
    }
}

Test(segment, a_directory_that_lies_is_corrupt_or_harmless)
{
    struct ram_disk *ram = ram_disk_new();
    struct segment_info info;
    cr_assert_eq(sample_write(ram_disk_world(ram), &info), 0);
    lie_everywhere(ram, final_path);
    ram_disk_free(ram);
}

/* A file of format 1, whose directory has its entries row by row. */
static struct ram_disk *older_disk(struct segment_info *info_out)
{
    static const char path[] = "segments/0000000000000001.seg";
    struct ram_disk *ram = ram_disk_new();
    struct disk *disk = ram_disk_world(ram)->disk;
    struct buffer content = golden_read("tests/golden/v1/data/segments/0000000000000001.seg");
    struct disk_file *file;
    struct segment_footer footer;
    cr_assert_eq(disk->open(disk, path, DISK_WRITE | DISK_CREATE, &file, NULL), 0);
    cr_assert_eq(disk->write(disk, file, 0, content.data, content.size), 0);
    disk->close(disk, file);
    cr_assert_eq(segment_format_read_footer(content.data + content.size - SEGMENT_BLOCK,
                                            content.size, &footer, NULL),
                 0);
    cr_assert_eq(footer.format, SEGMENT_FORMAT_ROWS);
    *info_out = footer.info;
    buffer_release(&content);
    return ram;
}

Test(segment, of_format_1_is_read)
{
    struct segment_info info;
    struct ram_disk *ram = older_disk(&info);
    struct segment *segment;
    uint64_t rows = 0;
    cr_assert_eq(segment_open_alone(ram_disk_world(ram), &info, &segment, NULL), 0);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    cr_assert_gt(info.partitions, 0);
    for (uint32_t i = 0; i < info.partitions; i++) {
        const struct segment_partition partition = *segment_directory_at(cursor, i);
        char key[64] = {0};
        cr_assert_lt(partition.key.size, sizeof key);
        memcpy(key, partition.key.data, partition.key.size);
        cr_assert_eq(partition.token, murmur3_token(key, partition.key.size));
        cr_assert_eq(partition.stats->rows, partition.rows);
        cr_assert_eq(
            segment_directory_seek(cursor, partition.token, bytes_of(key, partition.key.size)), i);
        rows += partition.rows;
    }
    cr_assert_eq(rows, info.rows);
    segment_cursor_give(segment, cursor);
    segment_unref(segment);
    ram_disk_free(ram);
}

Test(segment, of_format_1_whose_directory_lies_is_corrupt_or_harmless)
{
    struct segment_info info;
    struct ram_disk *ram = older_disk(&info);
    lie_everywhere(ram, "segments/0000000000000001.seg");
    ram_disk_free(ram);
}

/* Header and footer are both right, each of another format. */
Test(segment, header_and_footer_of_two_formats_are_corrupt)
{
    struct ram_disk *ram = ram_disk_new();
    struct segment_info info;
    cr_assert_eq(sample_write(ram_disk_world(ram), &info), 0);
    uint8_t *header = ram_disk_content(ram, final_path)->data;
    segment_format_header(&info, SEGMENT_FORMAT_ROWS, header);
    cr_assert_eq(sample_read(ram_disk_world(ram), &info, NULL), ERROR_CORRUPT);
    segment_format_header(&info, SEGMENT_FORMAT_COLUMNS, header);
    cr_assert_eq(sample_read(ram_disk_world(ram), &info, NULL), 0);
    ram_disk_free(ram);
}

Test(segment, a_newer_format_is_told_from_damage)
{
    struct ram_disk *ram = ram_disk_new();
    struct segment_info info;
    cr_assert_eq(sample_write(ram_disk_world(ram), &info), 0);
    uint8_t *header = ram_disk_content(ram, final_path)->data;
    store_u32(header + 8, SEGMENT_FORMAT_VERSION + 1);
    cr_assert_eq(sample_read(ram_disk_world(ram), &info, NULL), ERROR_CORRUPT);
    store_u32(header + SEGMENT_BLOCK - 4, crc32c(0, header, SEGMENT_BLOCK - 4));
    cr_assert_eq(sample_read(ram_disk_world(ram), &info, NULL), ERROR_NEWER_FORMAT);
    ram_disk_free(ram);
}

Test(segment, another_segment_than_the_manifest_has_is_corrupt)
{
    struct ram_disk *ram = ram_disk_new();
    struct segment_info info;
    cr_assert_eq(sample_write(ram_disk_world(ram), &info), 0);
    struct segment_info others[] = {info, info, info, info, info, info, info, info};
    others[0].table_id++;
    others[1].kind = SEGMENT_ROW;
    others[2].frame_first--;
    others[3].frame_last++;
    others[4].rows--;
    others[5].partitions++;
    others[6].timestamp_max_us--;
    others[7].schema_version++;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_assert_eq(sample_read(ram_disk_world(ram), &others[i], NULL), ERROR_CORRUPT);
    ram_disk_free(ram);
}

Test(segment, what_a_crash_left_under_the_temporary_name_is_replaced)
{
    struct ram_disk *ram = ram_disk_new();
    struct disk *disk = ram_disk_world(ram)->disk;
    struct disk_file *file;
    struct segment_info info;
    cr_assert_eq(disk->open(disk, temporary_path, DISK_WRITE | DISK_CREATE, &file, NULL), 0);
    cr_assert_eq(disk->write(disk, file, 0, "left over", 9), 0);
    disk->close(disk, file);
    cr_assert_eq(sample_write(ram_disk_world(ram), &info), 0);
    cr_assert_eq(sample_read(ram_disk_world(ram), &info, NULL), 0);
    cr_assert_eq(ram_disk_file_count(ram), 1);
    ram_disk_free(ram);
}

Test(segment, a_writer_closed_before_its_end_leaves_no_file)
{
    struct ram_disk *ram = ram_disk_new();
    struct segment_writer *writer;
    cr_assert_eq(segment_writer_open(ram_disk_world(ram), &columnar_info, &writer, NULL), 0);
    cr_assert_eq(ram_disk_file_count(ram), 1);
    segment_writer_close(writer);
    cr_assert_eq(ram_disk_file_count(ram), 0);
    ram_disk_free(ram);
}

/* Whichever call of the disk is the first to fail: the writer says so, and if the file has its
 * final name already, it is whole. */
Test(segment, a_failing_disk_never_leaves_half_a_segment)
{
    int rc = -EIO;
    for (int calls = 0; rc != 0; calls++) {
        cr_assert_lt(calls, 20);
        struct ram_disk *ram = ram_disk_new();
        struct segment_info info;
        ram_disk_fail_after(ram, calls);
        rc = sample_write(ram_disk_world(ram), &info);
        cr_assert(rc == 0 || rc == -EIO);
        if (ram_disk_content(ram, final_path) != NULL)
            cr_assert_eq(sample_read(ram_disk_world(ram), &info, NULL), 0);
        ram_disk_free(ram);
    }
}

Test(segment, pages_that_cannot_be_read_are_counted)
{
    struct ram_disk *ram = ram_disk_new();
    struct disk *disk = ram_disk_world(ram)->disk;
    struct segment_info info;
    struct segment *segment;
    struct buffer page = {0};
    cr_assert_eq(sample_write(ram_disk_world(ram), &info), 0);
    cr_assert_eq(segment_open_alone(ram_disk_world(ram), &info, &segment, NULL), 0);
    struct buffer *content = ram_disk_content(ram, final_path);
    content->data[SEGMENT_BLOCK] ^= 1;
    cr_assert_eq(segment_read_page(segment, 0, NULL, &page, NULL), ERROR_CORRUPT);
    cr_assert_eq(segment_read_page(segment, 1, NULL, &page, NULL), 0);
    cr_assert_eq(disk->failed_reads, 1);
    content->size = SEGMENT_BLOCK + 1;
    cr_assert_eq(segment_read_page(segment, 2, NULL, &page, NULL), ERROR_CORRUPT);
    cr_assert_eq(disk->failed_reads, 2);
    buffer_release(&page);
    segment_unref(segment);
    ram_disk_free(ram);
}

Test(segment, a_removed_one_stays_readable_until_its_last_reference_goes)
{
    struct ram_disk *ram = ram_disk_new();
    struct segment_info info;
    struct segment *segment;
    cr_assert_eq(sample_write(ram_disk_world(ram), &info), 0);
    cr_assert_eq(segment_open_alone(ram_disk_world(ram), &info, &segment, NULL), 0);
    struct segment *reader = segment_ref(segment);
    segment_remove_at_close(segment);
    segment_unref(segment);
    cr_assert_eq(ram_disk_file_count(ram), 1);
    struct buffer page = {0};
    cr_assert_eq(segment_read_page(reader, 2, NULL, &page, NULL), 0);
    buffer_release(&page);
    segment_unref(reader);
    cr_assert_eq(ram_disk_file_count(ram), 0);
    ram_disk_free(ram);
}

Test(segment, partitions_out_of_order_are_a_bug_of_the_caller, .signal = SIGABRT)
{
    struct ram_disk *ram = ram_disk_new();
    struct segment_writer *writer;
    struct segment_partition partition = {
        .token = 5, .key = bytes_text("k"), .deletion = DELETION_NONE};
    cr_assert_eq(segment_writer_open(ram_disk_world(ram), &columnar_info, &writer, NULL), 0);
    cr_assert_eq(segment_writer_partition(writer, &partition, NULL), 0);
    int rc = segment_writer_partition(writer, &partition, NULL);
    cr_assert_eq(rc, 0);
}
