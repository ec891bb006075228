/* segment_format: header and footer blocks.
 *
 * Both blocks have fixed fields, then zeros, and in the last four bytes a CRC-32C of all bytes
 * before.  Magic, version and CRC must keep their places in later versions, so that a newer file
 * can be distinguished from a damaged one.
 *
 * The footer is found by the file's size, so a file that was cut or has grown has no valid
 * footer. */
#include "storage/segment/segment_format.h"

#include <inttypes.h>
#include <string.h>

#include "base/crc32c.h"

#define SEGMENT_MAGIC_HEADER "DAYBKSEG"
#define SEGMENT_MAGIC_FOOTER "DAYBKEND"

enum {
    AT_MAGIC = 0,   /* 8 bytes */
    AT_VERSION = 8, /* u32 */
    AT_KIND = 12,   /* u32 */
    AT_ID = 16,
    AT_TABLE = 24,  /* u32 */
    AT_SCHEMA = 28, /* u32 */
    AT_FRAME_FIRST = 32,
    AT_FRAME_LAST = 40, /* the header's last field before the CRC */
    AT_SIZE = 48,
    AT_ROWS = 56,
    AT_PARTITIONS = 64,
    AT_TIMESTAMP = 72,
    AT_PAGES = 80,
    AT_SECTIONS = 88, /* offset, size, hash of each */
    AT_CRC = SEGMENT_BLOCK - 4
};

enum { SECTION_SIZE = 24 };

static void identity_put(const struct segment_info *info, uint32_t format, const char *magic,
                         uint8_t *block)
{
    memset(block, 0, SEGMENT_BLOCK);
    memcpy(block + AT_MAGIC, magic, 8);
    store_u32(block + AT_VERSION, format);
    store_u32(block + AT_KIND, (uint32_t)info->kind);
    store_u64(block + AT_ID, info->id);
    store_u32(block + AT_TABLE, info->table_id);
    store_u32(block + AT_SCHEMA, info->schema_version);
    store_u64(block + AT_FRAME_FIRST, info->frame_first);
    store_u64(block + AT_FRAME_LAST, info->frame_last);
}

static void block_seal(uint8_t *block)
{
    store_u32(block + AT_CRC, crc32c(0, block, AT_CRC));
}

void segment_format_header(const struct segment_info *info, uint32_t format, uint8_t *block)
{
    identity_put(info, format, SEGMENT_MAGIC_HEADER, block);
    block_seal(block);
}

void segment_format_footer(const struct segment_footer *footer, uint8_t *block)
{
    const struct segment_info *info = &footer->info;
    identity_put(info, footer->format, SEGMENT_MAGIC_FOOTER, block);
    store_u64(block + AT_SIZE, info->size);
    store_u64(block + AT_ROWS, info->rows);
    store_u64(block + AT_PARTITIONS, info->partitions);
    store_u64(block + AT_TIMESTAMP, (uint64_t)info->timestamp_max_us);
    store_u64(block + AT_PAGES, footer->page_count);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        uint8_t *at = block + AT_SECTIONS + i * SECTION_SIZE;
        store_u64(at, footer->sections[i].offset);
        store_u64(at + 8, footer->sections[i].size);
        store_u64(at + 16, footer->sections[i].hash);
    }
    block_seal(block);
}

static int block_check(const uint8_t *block, const char *magic, const char *name,
                       uint32_t *format_out, struct error *err)
{
    if (memcmp(block + AT_MAGIC, magic, 8) != 0)
        return error_set(err, ERROR_CORRUPT, "%s: there is none", name);
    if (load_u32(block + AT_CRC) != crc32c(0, block, AT_CRC))
        return error_set(err, ERROR_CORRUPT, "%s: checksum differs", name);
    uint32_t version = load_u32(block + AT_VERSION);
    if (version > SEGMENT_FORMAT_VERSION)
        return error_set(err, ERROR_NEWER_FORMAT, "%s: format %" PRIu32 ", this program knows %d",
                         name, version, SEGMENT_FORMAT_VERSION);
    if (version != SEGMENT_FORMAT_ROWS && version != SEGMENT_FORMAT_COLUMNS)
        return error_set(err, ERROR_CORRUPT, "%s: no such format: %" PRIu32, name, version);
    uint32_t kind = load_u32(block + AT_KIND);
    if (kind != SEGMENT_COLUMNAR && kind != SEGMENT_ROW)
        return error_set(err, ERROR_CORRUPT, "%s: no such kind: %" PRIu32, name, kind);
    *format_out = version;
    return 0;
}

int segment_format_check_header(const struct segment_info *info, const uint8_t *block,
                                uint32_t *format_out, struct error *err)
{
    int rc = block_check(block, SEGMENT_MAGIC_HEADER, "header at 0", format_out, err);
    if (rc != 0)
        return rc;
    uint8_t expected[SEGMENT_BLOCK];
    segment_format_header(info, *format_out, expected);
    if (memcmp(block, expected, SEGMENT_BLOCK) != 0)
        return error_set(err, ERROR_CORRUPT, "header at 0: of another segment than asked for");
    return 0;
}

/* The sections must follow one another, with less than a block between the last one and the
 * footer. */
static int sections_check(const struct segment_footer *footer, struct error *err)
{
    uint64_t end = footer->info.size - SEGMENT_BLOCK;
    uint64_t offset = footer->sections[SECTION_DIRECTORY].offset;
    if (offset < SEGMENT_BLOCK)
        return error_set(err, ERROR_CORRUPT, "footer: the directory lies in the header");
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        const struct segment_section *section = &footer->sections[i];
        if (section->offset != offset || offset > end || section->size > end - offset)
            return error_set(err, ERROR_CORRUPT, "footer: section %zu lies outside the file", i);
        offset += section->size;
    }
    if (end - offset >= SEGMENT_BLOCK)
        return error_set(err, ERROR_CORRUPT, "footer: bytes that belong to no section");
    return 0;
}

int segment_format_read_footer(const uint8_t *block, uint64_t file_size,
                               struct segment_footer *footer_out, struct error *err)
{
    *footer_out = (struct segment_footer){0};
    int rc = block_check(block, SEGMENT_MAGIC_FOOTER, "footer", &footer_out->format, err);
    if (rc != 0)
        return rc;
    struct segment_info *info = &footer_out->info;
    info->id = load_u64(block + AT_ID);
    info->table_id = load_u32(block + AT_TABLE);
    info->kind = (enum segment_kind)load_u32(block + AT_KIND);
    info->frame_first = load_u64(block + AT_FRAME_FIRST);
    info->frame_last = load_u64(block + AT_FRAME_LAST);
    info->size = load_u64(block + AT_SIZE);
    info->rows = load_u64(block + AT_ROWS);
    info->partitions = load_u64(block + AT_PARTITIONS);
    info->timestamp_max_us = (int64_t)load_u64(block + AT_TIMESTAMP);
    info->schema_version = load_u32(block + AT_SCHEMA);
    uint64_t page_count = load_u64(block + AT_PAGES);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        const uint8_t *at = block + AT_SECTIONS + i * SECTION_SIZE;
        footer_out->sections[i].offset = load_u64(at);
        footer_out->sections[i].size = load_u64(at + 8);
        footer_out->sections[i].hash = load_u64(at + 16);
    }
    if (info->size != file_size || file_size < 2 * SEGMENT_BLOCK)
        return error_set(err, ERROR_CORRUPT,
                         "footer: made for %" PRIu64 " bytes, the file has %" PRIu64, info->size,
                         file_size);
    if (page_count > UINT32_MAX || info->partitions >= UINT32_MAX)
        return error_set(err, ERROR_CORRUPT, "footer: more pages or partitions than can be");
    footer_out->page_count = (uint32_t)page_count;
    return sections_check(footer_out, err);
}
