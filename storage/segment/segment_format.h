/* segment_format: the first and the last block of a segment file, shared by writer and reader.
 *
 *     0      header block       what the file is
 *     4096   pages              back to back, in the order they were added
 *            directory          partitions in (token, key) order, in blocks
 *            page index         size, checksum and label of each page
 *            extra              bytes whose meaning depends on the segment's kind
 *            zeros              up to the next multiple of 4096
 *     end    footer block       where the sections are, and their hashes
 *
 * docs/FORMATS.md "Segment" has the layout. */
#ifndef DAYBOOK_STORAGE_SEGMENT_SEGMENT_FORMAT_H
#define DAYBOOK_STORAGE_SEGMENT_SEGMENT_FORMAT_H

#include "storage/segment/segment.h"

/* Written to disk: the numbers cannot change. */
enum {
    SEGMENT_FORMAT_ROWS = 1,           /* the directory has entry after entry; only read */
    SEGMENT_FORMAT_COLUMNS = 2,        /* the directory has columns: segment_block.h */
    SEGMENT_FORMAT_VERSION = SEGMENT_FORMAT_COLUMNS,
    SEGMENT_BLOCK = 4096,              /* bytes of header and footer; O_DIRECT needs multiples */
    SEGMENT_DIRECTORY_BLOCK_MAX = 1 << 20  /* plain bytes of a directory block of format 1 */
};

/* Written to disk: flags of a directory entry. */
enum segment_entry_flag { SEGMENT_ENTRY_DELETED = 1, SEGMENT_ENTRY_STATS = 2 };

/* Written to disk: the order of the sections. */
enum segment_section_kind { SECTION_DIRECTORY, SECTION_INDEX, SECTION_EXTRA, SECTION_COUNT };

struct segment_section {
    uint64_t offset;
    uint64_t size;
    uint64_t hash;
};

struct segment_footer {
    uint32_t format;
    struct segment_info info;          /* must agree with the manifest in all members */
    uint32_t page_count;
    struct segment_section sections[SECTION_COUNT];
};

/* Fill a block of SEGMENT_BLOCK bytes. */
void segment_format_header(const struct segment_info *info, uint32_t format, uint8_t *block);
void segment_format_footer(const struct segment_footer *footer, uint8_t *block);

/* Check a header block against the manifest's info.  ERROR_NEWER_FORMAT, ERROR_CORRUPT. */
must_check int segment_format_check_header(const struct segment_info *info, const uint8_t *block,
                                           uint32_t *format_out, struct error *err);
/* Read the footer of a file of `file_size` bytes, and check that its sections follow one another
 * within the file.  ERROR_NEWER_FORMAT, ERROR_CORRUPT. */
must_check int segment_format_read_footer(const uint8_t *block, uint64_t file_size,
                                          struct segment_footer *footer_out, struct error *err);
#endif
