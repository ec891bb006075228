/* segment: an open segment: its directory in memory, its pages on the disk.
 *
 * Opening a file, and reading a page of it, gives what was written or an error, whatever bytes the
 * file has.  Each section is checked by its XXH3 in the footer; each page, on every read, by its
 * XXH3 in the page index.  Counts are compared with the number of remaining bytes before memory is
 * allocated for them.
 *
 * After segment_open only atomic members and the places in the pool change, so that any thread may
 * read. */
#include "storage/segment/segment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/hash64.h"
#include "base/memory.h"
#include "storage/segment/segment_format.h"

enum {
    INDEX_ENTRY_MIN = 13, /* bytes of a page's entry: size, checksum, empty label */
    EXPANDED_PLACES_MAX = 1024
};

struct segment_page {
    uint64_t offset;
    uint64_t hash;
    struct bytes first; /* into `index` */
    uint32_t size;
};

struct segment {
    struct disk *disk;
    struct disk_file *file;
    struct segment_info info;
    char path[64];
    atomic_uint references;
    atomic_bool remove_at_close;
    atomic_bool has_failed_read;
    struct reader_pool *readers;
    struct reader_spare *scratch; /* this and the next two: places in the pool */
    struct reader_spare *cursor;
    struct reader_spare **expanded; /* page i is in place i % expanded_count */
    uint32_t expanded_count;
    struct segment_directory *directory;
    uint64_t zeros; /* offset of the zeros before the footer, fewer than SEGMENT_BLOCK */
    struct segment_page *pages;
    uint32_t page_count;
    struct buffer index; /* the section as read; labels point into it */
    struct buffer extra;
    struct segment_days days;
};

void segment_path(uint64_t segment_id, char path[64])
{
    snprintf(path, 64, "segments/%016" PRIx64 ".seg", segment_id);
}

/* ---- opening: reading what is checked ---- */

static int segment_read(struct segment *segment, uint64_t offset, uint8_t *to, size_t size,
                        struct error *err)
{
    if (size == 0)
        return 0;
    int64_t got = segment->disk->read(segment->disk, segment->file, offset, to, size);
    if (got < 0)
        return error_set(err, (int)got, "read %s at %" PRIu64 ": %s", segment->path, offset,
                         error_text((int)got));
    if ((uint64_t)got != size)
        return error_set(err, ERROR_CORRUPT, "%s is cut: %" PRId64 " of %zu bytes at %" PRIu64,
                         segment->path, got, size, offset);
    return 0;
}

static int segment_read_section(struct segment *segment, const struct segment_section *section,
                                struct buffer *content, struct error *err)
{
    buffer_clear(content);
    buffer_reserve(content, section->size);
    int rc = segment_read(segment, section->offset, content->data, section->size, err);
    if (rc != 0)
        return rc;
    content->size = section->size;
    if (hash64(content->data, content->size) != section->hash)
        return error_set(err, ERROR_CORRUPT,
                         "%s: checksum differs from %" PRIu64 " on, %" PRIu64 " bytes",
                         segment->path, section->offset, section->size);
    return 0;
}

static bool footers_equal(const struct segment_footer *a, const struct segment_footer *b)
{
    uint8_t block_of_a[SEGMENT_BLOCK];
    uint8_t block_of_b[SEGMENT_BLOCK];
    segment_format_footer(a, block_of_a);
    segment_format_footer(b, block_of_b);
    return memcmp(block_of_a, block_of_b, SEGMENT_BLOCK) == 0;
}

static int segment_check_size(struct segment *segment, struct error *err)
{
    int64_t size = segment->disk->size(segment->disk, segment->file);
    if (size < 0)
        return error_set(err, (int)size, "size: %s", error_text((int)size));
    if ((uint64_t)size != segment->info.size || size < 2 * SEGMENT_BLOCK)
        return error_set(err, ERROR_CORRUPT, "%" PRId64 " bytes where the manifest says %" PRIu64,
                         size, segment->info.size);
    return 0;
}

static int segment_load_footer(struct segment *segment, struct segment_footer *footer,
                               struct error *err)
{
    uint64_t size = segment->info.size;
    uint8_t block[SEGMENT_BLOCK];
    int rc = segment_check_size(segment, err);
    if (rc == 0)
        rc = segment_read(segment, size - SEGMENT_BLOCK, block, SEGMENT_BLOCK, err);
    if (rc == 0)
        rc = segment_format_read_footer(block, size, footer, err);
    if (rc != 0)
        return rc;
    struct segment_footer expected = *footer;
    expected.info = segment->info;
    return footers_equal(&expected, footer)
               ? 0
               : error_set(err, ERROR_CORRUPT, "footer: another segment than the manifest has");
}

/* The header is checked first, because a newer format may have another footer. */
static int segment_load_ends(struct segment *segment, struct segment_footer *footer,
                             struct error *err)
{
    uint8_t block[SEGMENT_BLOCK];
    uint32_t format = 0;
    int rc = segment_check_size(segment, err);
    if (rc == 0)
        rc = segment_read(segment, 0, block, SEGMENT_BLOCK, err);
    if (rc == 0)
        rc = segment_format_check_header(&segment->info, block, &format, err);
    if (rc == 0)
        rc = segment_load_footer(segment, footer, err);
    if (rc == 0 && format != footer->format)
        rc = error_set(err, ERROR_CORRUPT, "footer: of another format than the header");
    return rc;
}

/* ---- opening: the page index ---- */

static int segment_load_index(struct segment *segment, const struct segment_footer *footer,
                              struct error *err)
{
    int rc = segment_read_section(segment, &footer->sections[SECTION_INDEX], &segment->index, err);
    if (rc != 0)
        return rc;
    if (footer->page_count > segment->index.size / INDEX_ENTRY_MIN)
        return error_set(err, ERROR_CORRUPT, "page index: too short for its pages");
    segment->pages = memory_zeroed(footer->page_count, sizeof *segment->pages);
    segment->page_count = footer->page_count;
    struct reader reader = reader_of(buffer_view(&segment->index));
    uint64_t offset = SEGMENT_BLOCK;
    for (uint32_t i = 0; i < segment->page_count; i++) {
        struct segment_page *page = &segment->pages[i];
        page->offset = offset;
        page->size = reader_u32(&reader);
        page->hash = reader_u64(&reader);
        page->first = reader_sized(&reader);
        offset += page->size;
        if (page->size > SEGMENT_PAGE_MAX)
            return error_set(err, ERROR_CORRUPT, "page index: page %" PRIu32 " is too large", i);
    }
    if (reader.failed || reader_left(&reader) > 0 ||
        offset != footer->sections[SECTION_DIRECTORY].offset)
        return error_set(err, ERROR_CORRUPT, "page index: it does not cover the pages");
    bool is_small = segment->page_count < EXPANDED_PLACES_MAX;
    segment->expanded_count = is_small ? segment->page_count : EXPANDED_PLACES_MAX;
    segment->expanded = memory_zeroed(segment->expanded_count, sizeof *segment->expanded);
    return 0;
}

/* ---- opening: the directory ---- */

static int segment_load_directory(struct segment *segment, const struct segment_footer *footer,
                                  const struct table *days_of, struct error *err)
{
    struct buffer directory = {0};
    int rc = segment_read_section(segment, &footer->sections[SECTION_DIRECTORY], &directory, err);
    if (rc == 0)
        rc = segment_directory_open(&segment->info, footer->format, segment->page_count, &directory,
                                    days_of, &segment->days, segment->readers, &segment->directory,
                                    err);
    buffer_release(&directory);
    return rc;
}

/* ---- making and freeing ---- */

static void segment_free(struct segment *segment)
{
    if (segment->file != NULL)
        segment->disk->close(segment->disk, segment->file);
    reader_pool_close(segment->readers, segment->expanded, segment->expanded_count);
    reader_pool_close(segment->readers, &segment->scratch, 1);
    reader_pool_close(segment->readers, &segment->cursor, 1);
    reader_pool_unref(segment->readers);
    segment_directory_free(segment->directory);
    memory_free(segment->expanded);
    memory_free(segment->pages);
    buffer_release(&segment->index);
    buffer_release(&segment->extra);
    segment_days_release(&segment->days);
    memory_free(segment);
}

static int segment_load(struct segment *segment, const struct table *days_of, struct error *err)
{
    struct segment_footer footer;
    int rc = segment_load_ends(segment, &footer, err);
    if (rc == 0)
        rc = segment_load_index(segment, &footer, err);
    if (rc == 0)
        rc = segment_load_directory(segment, &footer, days_of, err);
    if (rc == 0)
        rc = segment_read_section(segment, &footer.sections[SECTION_EXTRA], &segment->extra, err);
    if (rc == 0)
        segment->zeros =
            footer.sections[SECTION_EXTRA].offset + footer.sections[SECTION_EXTRA].size;
    return rc;
}

int segment_open(struct world *world, const struct segment_info *info, const struct table *table,
                 struct reader_pool *readers, struct segment **segment_out, struct error *err)
{
    check(readers != NULL);
    *segment_out = NULL;
    struct segment *segment = memory_zeroed(1, sizeof *segment);
    segment->disk = world->disk;
    segment->info = *info;
    atomic_init(&segment->references, 1);
    atomic_init(&segment->remove_at_close, false);
    segment->readers = reader_pool_ref(readers);
    segment_path(info->id, segment->path);
    int rc = world->disk->open(world->disk, segment->path, DISK_READ, &segment->file, err);
    if (rc == 0)
        rc = segment_load(segment, table, err);
    if (rc != 0) {
        error_wrap(err, "open %s", segment->path);
        segment_free(segment);
        return rc;
    }
    *segment_out = segment;
    return 0;
}

static int segment_probe_by(struct world *world, const struct segment_info *info,
                            int (*load)(struct segment *segment, struct segment_footer *footer,
                                        struct error *err),
                            struct segment_footer *footer, struct error *err)
{
    struct segment segment = {.disk = world->disk, .info = *info};
    segment_path(info->id, segment.path);
    int rc = world->disk->open(world->disk, segment.path, DISK_READ, &segment.file, err);
    if (rc != 0)
        return rc;
    rc = load(&segment, footer, err);
    world->disk->close(world->disk, segment.file);
    if (rc != 0)
        error_wrap(err, "%s", segment.path);
    return rc;
}

int segment_probe(struct world *world, const struct segment_info *info, struct error *err)
{
    struct segment_footer footer;
    return segment_probe_by(world, info, segment_load_ends, &footer, err);
}

/* The header is not read, because it may be the damaged part of the file. */
int segment_footer_check(struct world *world, const struct segment_info *info, struct error *err)
{
    struct segment_footer footer;
    return segment_probe_by(world, info, segment_load_footer, &footer, err);
}

int segment_agrees(struct world *world, const struct segment_info *info,
                   const struct segment *other, bool *agrees_out, struct error *err)
{
    struct segment_footer expected, found;
    *agrees_out = false;
    int rc = segment_probe_by(world, info, segment_load_footer, &expected, err);
    if (rc == 0)
        rc = segment_probe_by(world, &other->info, segment_load_ends, &found, err);
    if (rc != 0)
        return rc;
    found.info.id = info->id;
    found.info.schema_version = info->schema_version;
    *agrees_out = footers_equal(&expected, &found);
    return 0;
}

struct segment *segment_ref(struct segment *segment)
{
    unsigned before = atomic_fetch_add_explicit(&segment->references, 1, memory_order_relaxed);
    check(before > 0);
    return segment;
}

void segment_unref(struct segment *segment)
{
    if (segment == NULL)
        return;
    unsigned before = atomic_fetch_sub_explicit(&segment->references, 1, memory_order_acq_rel);
    check(before > 0);
    if (before > 1)
        return;
    /* The next opening of the store removes a file that could not be removed here. */
    if (atomic_load(&segment->remove_at_close))
        (void)segment->disk->remove(segment->disk, segment->path);
    segment_free(segment);
}

void segment_remove_at_close(struct segment *segment)
{
    atomic_store(&segment->remove_at_close, true);
}

const struct segment_days *segment_days(const struct segment *segment)
{
    return &segment->days;
}

/* ---- reading ---- */

bool segment_is_linked(const struct segment *segment)
{
    return segment->disk->is_linked(segment->disk, segment->file);
}

const struct segment_info *segment_info(const struct segment *segment)
{
    return &segment->info;
}

bool segment_is(const struct segment *segment, uint32_t table_id, enum segment_kind kind)
{
    return segment->info.table_id == table_id && segment->info.kind == kind;
}

uint32_t segment_partition_count(const struct segment *segment)
{
    return segment_directory_count(segment->directory);
}

size_t segment_bytes(const struct segment *segment)
{
    return sizeof *segment + segment_directory_bytes(segment->directory) +
           segment->page_count * sizeof *segment->pages + segment->index.capacity +
           segment->extra.capacity + segment->expanded_count * sizeof *segment->expanded;
}

bool segment_may_have(const struct segment *segment, int64_t token)
{
    return segment_directory_may_have(segment->directory, token);
}

bool segment_find(struct segment *segment, int64_t token, struct bytes key,
                  struct segment_partition *partition_out)
{
    if (!segment_may_have(segment, token))
        return false;
    struct segment_cursor *cursor = segment_cursor_take(segment);
    const struct segment_partition *found = segment_directory_find(cursor, token, key);
    if (found != NULL) {
        *partition_out = *found;
        partition_out->key = bytes_of(NULL, 0);
        partition_out->stats = NULL;
    }
    segment_cursor_give(segment, cursor);
    return found != NULL;
}

bool segment_has(struct segment *segment, int64_t token, struct bytes key)
{
    struct segment_partition partition;
    return segment_find(segment, token, key, &partition);
}

struct segment_cursor *segment_cursor_take(struct segment *segment)
{
    return segment_directory_cursor_take(segment->directory, segment->readers, &segment->cursor);
}

void segment_cursor_give(struct segment *segment, struct segment_cursor *cursor)
{
    segment_directory_cursor_give(cursor, &segment->cursor);
}

uint32_t segment_page_count(const struct segment *segment)
{
    return segment->page_count;
}

struct bytes segment_page_first(const struct segment *segment, uint32_t page)
{
    check(page < segment->page_count);
    return segment->pages[page].first;
}

struct bytes segment_extra(const struct segment *segment)
{
    return buffer_view(&segment->extra);
}

struct reader_pool *segment_readers(const struct segment *segment)
{
    return segment->readers;
}

struct reader_spare **segment_scratch(struct segment *segment)
{
    return &segment->scratch;
}

struct reader_spare **segment_page_place(struct segment *segment, uint32_t page)
{
    check(page < segment->page_count && segment->expanded_count > 0);
    return &segment->expanded[page % segment->expanded_count];
}

bool segment_read_budget_take(struct segment_read_budget *read_budget)
{
    bool may = read_budget->pages_left > 0;
    read_budget->pages_left -= may;
    return may;
}

/* Any failure is -EAGAIN; a reader that may wait then gets the error itself. */
static int segment_read_now(struct segment *segment, const struct segment_page *page, uint8_t *to,
                            struct segment_read_budget *read_budget)
{
    if (!segment_read_budget_take(read_budget))
        return -EAGAIN;
    int64_t got =
        segment->disk->read_now(segment->disk, segment->file, page->offset, to, page->size);
    return got == (int64_t)page->size ? 0 : -EAGAIN;
}

int segment_read_page(struct segment *segment, uint32_t page_index,
                      struct segment_read_budget *read_budget, struct buffer *page,
                      struct error *err)
{
    check(page_index < segment->page_count);
    const struct segment_page *entry = &segment->pages[page_index];
    buffer_clear(page);
    buffer_reserve(page, entry->size);
    int rc = read_budget != NULL
                 ? segment_read_now(segment, entry, page->data, read_budget)
                 : segment_read(segment, entry->offset, page->data, entry->size, err);
    page->size = rc == 0 ? entry->size : 0;
    if (rc == 0 && hash64(page->data, page->size) != entry->hash)
        rc = error_set(err, ERROR_CORRUPT, "%s: page %" PRIu32 " at %" PRIu64 ": checksum differs",
                       segment->path, page_index, entry->offset);
    if (rc != 0 && rc != -EAGAIN) {
        segment->disk->failed_reads++;
        atomic_store(&segment->has_failed_read, true);
    }
    return rc;
}

bool segment_has_failed_read(const struct segment *segment)
{
    return atomic_load(&segment->has_failed_read);
}

int segment_check_pages(struct segment *segment, struct error *err)
{
    struct buffer page = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < segment->page_count; i++)
        rc = segment_read_page(segment, i, NULL, &page, err);
    buffer_release(&page);
    return rc;
}

int segment_check_zeros(struct segment *segment, struct error *err)
{
    uint8_t zeros[SEGMENT_BLOCK];
    uint64_t end = segment->info.size - SEGMENT_BLOCK;
    check(segment->zeros <= end && end - segment->zeros < SEGMENT_BLOCK);
    size_t size = (size_t)(end - segment->zeros);
    int rc = segment_read(segment, segment->zeros, zeros, size, err);
    for (size_t i = 0; rc == 0 && i < size; i++)
        if (zeros[i] != 0)
            rc = error_set(err, ERROR_CORRUPT,
                           "%s: the byte at %" PRIu64 " is not zero; it holds nothing, but what "
                           "changed it may have changed more",
                           segment->path, segment->zeros + i);
    return rc;
}
