/* segment_directory: encoded blocks, the offset of each, and half of every token.
 *
 * Opening a directory decodes and checks every entry, so that blocks that a cursor decodes later
 * cannot be wrong.  Entries of format 1 have differences from the entry before, so the last values
 * of the previous block are kept for each block.
 *
 *     halves   -7a31f2c4  -79e0001b  ...  |  0012a3f0 ...  |  ...       by partition, ascending
 *     blocks   entries 0 to 255              256 to 511       512 ...   encoded */
#include "storage/segment/segment_directory.h"

#include <inttypes.h>

#include "base/memory.h"
#include "storage/segment/reader_pool.h"
#include "storage/segment/segment_block.h"
#include "storage/segment/segment_days.h"
#include "storage/segment/segment_format.h"

enum { CURSOR_BLOCKS = 4 };

/* Where a block is, the index of its first entry, and token and page of the entry before that. */
struct directory_block {
    size_t offset;
    int64_t token;
    uint32_t first;
    uint32_t page_first;
};

struct segment_directory {
    struct buffer content; /* the section as read */
    struct directory_block *blocks;
    uint32_t block_count;
    uint32_t block_capacity;
    uint32_t *halves; /* by partition: the token's upper half, in the order of tokens */
    uint32_t count;
    uint32_t capacity;
    uint32_t format;
    uint32_t page_count;
    bool has_stats;
};

struct decoded_block {
    uint32_t first;
    struct segment_block entries;
};

struct segment_cursor {
    struct reader_spare spare; /* first member: the pool has the cursor between two readers */
    const struct segment_directory *directory;
    struct reader_pool *readers;
    struct decoded_block decoded[CURSOR_BLOCKS];
    uint32_t next;
};

static const struct partition_stats no_stats;

/* With the sign bit inverted, signed tokens order as unsigned numbers. */
static uint32_t token_half(int64_t token)
{
    return (uint32_t)(((uint64_t)token ^ UINT64_C(1) << 63) >> 32);
}

/* ---- cursors ---- */

static void cursor_free(struct reader_spare *spare)
{
    struct segment_cursor *cursor = (struct segment_cursor *)(void *)spare;
    for (uint32_t i = 0; i < CURSOR_BLOCKS; i++)
        segment_block_release(&cursor->decoded[i].entries);
    memory_free(cursor);
}

static struct segment_cursor *cursor_new(const struct segment_directory *directory,
                                         struct reader_pool *readers)
{
    struct segment_cursor *cursor = memory_zeroed(1, sizeof *cursor);
    cursor->spare.free = cursor_free;
    cursor->directory = directory;
    cursor->readers = readers;
    return cursor;
}

struct segment_cursor *segment_directory_cursor_take(const struct segment_directory *directory,
                                                     struct reader_pool *readers,
                                                     struct reader_spare **place)
{
    struct reader_spare *left = reader_pool_take(readers, place);
    return left != NULL ? (struct segment_cursor *)(void *)left : cursor_new(directory, readers);
}

void segment_directory_cursor_give(struct segment_cursor *cursor, struct reader_spare **place)
{
    if (cursor == NULL)
        return;
    cursor->spare.bytes = sizeof *cursor;
    for (uint32_t i = 0; i < CURSOR_BLOCKS; i++)
        cursor->spare.bytes += segment_block_bytes(&cursor->decoded[i].entries);
    reader_pool_give(cursor->readers, place, &cursor->spare);
}

/* `before` has the values of the previous entry, and is set to the values of this entry.  False:
 * the bytes are not an entry, or the segment does not have its pages. */
static bool entry_read(const struct segment_directory *directory, struct segment_block *block,
                       struct directory_block *before, struct reader *reader)
{
    uint32_t page_count = directory->page_count;
    uint32_t index = segment_block_add(block, directory->has_stats);
    struct segment_partition *partition = &block->partitions[index];
    uint64_t token_delta = reader_varint(reader);
    partition->token = (int64_t)((uint64_t)before->token + token_delta);
    partition->key = reader_sized(reader);
    uint8_t flags = reader_u8(reader);
    partition->rows = reader_varint(reader);
    uint64_t page_delta = reader_varint(reader);
    uint64_t pages = reader_varint(reader);
    uint64_t entry = reader_varint(reader);
    if (flags & SEGMENT_ENTRY_DELETED) {
        partition->deletion.timestamp_us = reader_signed(reader);
        partition->deletion.local_s = reader_signed(reader);
    }
    if (flags & SEGMENT_ENTRY_STATS &&
        (block->stats == NULL || stats_deserialize(reader, &block->stats[index]) != 0))
        reader->failed = true;
    if (reader->failed || partition->key.size > SEGMENT_KEY_MAX ||
        partition->token < before->token || flags > (SEGMENT_ENTRY_DELETED | SEGMENT_ENTRY_STATS) ||
        entry > UINT32_MAX)
        return false;
    if (page_delta > page_count || pages > page_count ||
        before->page_first + page_delta + pages > page_count)
        return false;
    before->token = partition->token;
    before->page_first += (uint32_t)page_delta;
    partition->page_first = before->page_first;
    partition->page_count = (uint32_t)pages;
    partition->entry = (uint32_t)entry;
    return true;
}

static int rows_read(const struct segment_directory *directory,
                     struct segment_block_decoder *decoder, struct segment_block *block,
                     struct directory_block *before, struct reader *section)
{
    uint32_t plain_size = reader_u32(section);
    uint32_t size = reader_u32(section);
    struct bytes packed = reader_bytes(section, size);
    segment_block_clear(block);
    if (section->failed || plain_size > SEGMENT_DIRECTORY_BLOCK_MAX ||
        decompressor_append(segment_block_decompressor(decoder), packed, plain_size,
                            &block->bytes) != 0)
        return ERROR_CORRUPT;
    struct reader reader = reader_of(buffer_view(&block->bytes));
    while (reader_left(&reader) > 0)
        if (!entry_read(directory, block, before, &reader))
            return ERROR_CORRUPT;
    return block->count > 0 ? 0 : ERROR_CORRUPT;
}

static int columns_read(const struct segment_directory *directory,
                        struct segment_block_decoder *decoder, struct segment_block *block,
                        struct directory_block *before, struct reader *section)
{
    int rc =
        segment_block_decode(decoder, section, directory->page_count, directory->has_stats, block);
    for (uint32_t i = 0; rc == 0 && i < block->count; i++) {
        const struct segment_partition *partition = &block->partitions[i];
        if (partition->token < before->token || partition->page_first < before->page_first)
            rc = ERROR_CORRUPT;
        before->token = partition->token;
        before->page_first = partition->page_first;
    }
    return rc;
}

/* `section` and `before` are moved to the next block. */
static int block_read(struct segment_cursor *cursor, struct decoded_block *block,
                      struct directory_block *before, struct reader *section, struct error *err)
{
    size_t at = section->offset;
    struct segment_block *entries = &block->entries;
    block->first = before->first;
    struct reader_workspace *work = reader_pool_borrow(cursor->readers);
    int rc = cursor->directory->format == SEGMENT_FORMAT_ROWS
                 ? rows_read(cursor->directory, work->blocks, entries, before, section)
                 : columns_read(cursor->directory, work->blocks, entries, before, section);
    reader_pool_give_back(cursor->readers, work);
    if (rc != 0)
        return error_set(err, rc, "directory: no block at %zu, partition %" PRIu32, at,
                         before->first);
    before->first += entries->count;
    for (uint32_t i = 0; i < entries->count; i++)
        entries->partitions[i].stats = entries->stats != NULL ? &entries->stats[i] : &no_stats;
    return 0;
}

/* ---- opening ---- */

static void block_add(struct segment_directory *directory, const struct directory_block *block)
{
    directory->blocks = memory_make_room(directory->blocks, directory->block_count,
                                         &directory->block_capacity, sizeof *directory->blocks);
    directory->blocks[directory->block_count++] = *block;
}

struct directory_walk {
    struct segment_cursor *cursor;
    struct buffer key; /* the last key of the block before */
    uint64_t rows;
    const struct table *days_of; /* NULL: rows are not counted by day */
    struct segment_days *days;
};

/* The array grows with the decoded blocks, because the number in the footer may be wrong. */
static void halves_reserve(struct segment_directory *directory, uint32_t count)
{
    if (directory->capacity - directory->count >= count)
        return;
    directory->capacity = directory->count + count + directory->count / 2;
    directory->halves =
        memory_resize(directory->halves, directory->capacity * sizeof *directory->halves);
}

/* Entries must be in strict order, and not more than the footer says. */
static int block_check(struct segment_directory *directory, struct directory_walk *walk,
                       uint64_t partitions, struct error *err)
{
    const struct segment_block *block = &walk->cursor->decoded[0].entries;
    if (block->count > partitions - directory->count)
        return error_set(err, ERROR_CORRUPT, "directory: more partitions than the footer has");
    halves_reserve(directory, block->count);
    for (uint32_t i = 0; i < block->count; i++) {
        const struct segment_partition *partition = &block->partitions[i];
        struct bytes before = i > 0 ? block->partitions[i - 1].key : buffer_view(&walk->key);
        int64_t token = i > 0 ? block->partitions[i - 1].token
                              : directory->blocks[directory->block_count - 1].token;
        if (directory->count > 0 && partition->token == token &&
            bytes_compare(partition->key, before) <= 0)
            return error_set(err, ERROR_CORRUPT, "directory: partition %" PRIu32 " is no entry",
                             directory->count);
        directory->halves[directory->count++] = token_half(partition->token);
        walk->rows += partition->rows;
        if (walk->days_of != NULL)
            segment_days_add(walk->days, segment_days_of_key(walk->days_of, partition->key),
                             partition->rows);
    }
    buffer_clear(&walk->key);
    buffer_append_bytes(&walk->key, block->partitions[block->count - 1].key);
    return 0;
}

static int directory_read(struct segment_directory *directory, struct directory_walk *walk,
                          const struct segment_info *info, struct error *err)
{
    struct directory_block before = {.token = INT64_MIN};
    struct reader section = reader_of(buffer_view(&directory->content));
    while (reader_left(&section) > 0) {
        before.offset = section.offset;
        block_add(directory, &before);
        int rc = block_read(walk->cursor, &walk->cursor->decoded[0], &before, &section, err);
        if (rc == 0)
            rc = block_check(directory, walk, info->partitions, err);
        if (rc != 0)
            return rc;
    }
    if (directory->count != info->partitions || walk->rows != info->rows)
        return error_set(err, ERROR_CORRUPT, "directory: totals differ from the footer's");
    directory->capacity = directory->count;
    directory->halves =
        memory_resize(directory->halves, directory->count * sizeof *directory->halves);
    return 0;
}

int segment_directory_open(const struct segment_info *info, uint32_t format, uint32_t page_count,
                           struct buffer *content, const struct table *days_of,
                           struct segment_days *days, struct reader_pool *readers,
                           struct segment_directory **directory_out, struct error *err)
{
    struct segment_directory *directory = memory_zeroed(1, sizeof *directory);
    directory->content = *content;
    *content = (struct buffer){0};
    directory->format = format;
    directory->page_count = page_count;
    directory->has_stats = info->kind == SEGMENT_COLUMNAR;
    struct directory_walk walk = {
        .cursor = cursor_new(directory, readers), .days_of = days_of, .days = days};
    int rc = directory_read(directory, &walk, info, err);
    cursor_free(&walk.cursor->spare);
    buffer_release(&walk.key);
    if (rc != 0) {
        segment_directory_free(directory);
        directory = NULL;
    }
    *directory_out = directory;
    return rc;
}

void segment_directory_free(struct segment_directory *directory)
{
    if (directory == NULL)
        return;
    buffer_release(&directory->content);
    memory_free(directory->blocks);
    memory_free(directory->halves);
    memory_free(directory);
}

uint32_t segment_directory_count(const struct segment_directory *directory)
{
    return directory->count;
}

size_t segment_directory_bytes(const struct segment_directory *directory)
{
    return sizeof *directory + directory->content.capacity +
           directory->block_capacity * sizeof *directory->blocks +
           directory->capacity * sizeof *directory->halves;
}

/* ---- finding ---- */

static uint32_t half_seek(const struct segment_directory *directory, uint32_t half)
{
    uint32_t low = 0;
    uint32_t high = directory->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (directory->halves[middle] < half)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool segment_directory_may_have(const struct segment_directory *directory, int64_t token)
{
    uint32_t at = half_seek(directory, token_half(token));
    return at < directory->count && directory->halves[at] == token_half(token);
}

static uint32_t block_of(const struct segment_directory *directory, uint32_t index)
{
    uint32_t low = 0;
    uint32_t high = directory->block_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (directory->blocks[middle].first <= index)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static const struct decoded_block *decoded_find(const struct segment_cursor *cursor, uint32_t index)
{
    for (uint32_t i = 0; i < CURSOR_BLOCKS; i++) {
        const struct decoded_block *block = &cursor->decoded[i];
        if (index >= block->first && index - block->first < block->entries.count)
            return block;
    }
    return NULL;
}

const struct segment_partition *segment_directory_at(struct segment_cursor *cursor, uint32_t index)
{
    const struct segment_directory *directory = cursor->directory;
    check(index < directory->count);
    const struct decoded_block *found = decoded_find(cursor, index);
    if (found == NULL) {
        struct decoded_block *block = &cursor->decoded[cursor->next];
        struct directory_block before = directory->blocks[block_of(directory, index)];
        struct reader section = reader_of(buffer_view(&directory->content));
        reader_bytes(&section, before.offset);
        int rc = block_read(cursor, block, &before, &section, NULL);
        check(rc == 0);
        cursor->next = (cursor->next + 1) % CURSOR_BLOCKS;
        found = block;
    }
    return &found->entries.partitions[index - found->first];
}

uint32_t segment_directory_seek(struct segment_cursor *cursor, int64_t token, struct bytes key)
{
    const struct segment_directory *directory = cursor->directory;
    uint32_t half = token_half(token);
    uint32_t at = half_seek(directory, half);
    while (at < directory->count && directory->halves[at] == half &&
           segment_directory_compare(segment_directory_at(cursor, at), token, key) < 0)
        at++;
    return at;
}

const struct segment_partition *segment_directory_find(struct segment_cursor *cursor, int64_t token,
                                                       struct bytes key)
{
    const struct segment_directory *directory = cursor->directory;
    uint32_t at = segment_directory_seek(cursor, token, key);
    if (at == directory->count || directory->halves[at] != token_half(token))
        return NULL;
    const struct segment_partition *partition = segment_directory_at(cursor, at);
    return segment_directory_compare(partition, token, key) == 0 ? partition : NULL;
}
