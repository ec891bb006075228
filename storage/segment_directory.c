/* segment_directory: compressed blocks, where each begins, and half of every token.
 *
 * Correct means: every entry was decoded and checked when the directory was opened, so that what a
 * cursor decodes later cannot be wrong; and entries hold differences to the one before, so each
 * block keeps what the one before it ended with.
 *
 *     halves   -7a31f2c4  -79e0001b  ...  |  0012a3f0 ...  |  ...       by partition, ascending
 *     blocks   entries 0 to 211              212 to 420       421 ...   compressed
 *
 * To find a partition: the first half that is not less, then, as long as halves are equal, entries
 * are decoded and compared.  Tokens are hashes, so more than one is as rare as n in 2^32. */
#include "storage/segment_directory.h"

#include <inttypes.h>

#include "storage/base/memory.h"
#include "storage/compress.h"
#include "storage/segment.h"
#include "storage/segment_format.h"

enum {
    DIRECTORY_ENTRY_MIN = 7, /* bytes of an entry: at least one for each field */
    CURSOR_BLOCKS = 4        /* all there are of a segment of some hundred partitions */
};

/* What comes before a block's first entry, and where the block is. */
struct directory_block {
    size_t offset; /* of its head in the section */
    int64_t token;
    uint32_t first; /* its first entry's number */
    uint32_t page_first;
};

struct segment_directory {
    struct buffer content; /* the section as it was read */
    struct directory_block *blocks;
    uint32_t block_count;
    uint32_t block_capacity;
    uint32_t *halves; /* by partition: the token's upper half, in the order of tokens */
    uint32_t count;
    uint32_t capacity;
    uint32_t page_count;
    bool has_stats;
};

/* Entries of one block, decoded. */
struct decoded_block {
    uint32_t first; /* number of the first entry */
    uint32_t count; /* 0: nothing is decoded */
    uint32_t capacity;
    struct buffer plain;
    struct segment_partition *partitions; /* keys point into `plain` */
    struct partition_stats *stats;        /* NULL in narrow segments */
};

struct segment_cursor {
    const struct segment_directory *directory;
    struct decompressor *decompressor; /* NULL before the first use */
    struct decoded_block decoded[CURSOR_BLOCKS];
    uint32_t next; /* the one to give way */
};

static const struct partition_stats no_stats;

/* Tokens are signed: the sign turned, they order as unsigned numbers. */
static uint32_t token_half(int64_t token)
{
    return (uint32_t)(((uint64_t)token ^ UINT64_C(1) << 63) >> 32);
}

/* ---- cursors ---- */

struct segment_cursor *segment_cursor_new(const struct segment_directory *directory)
{
    struct segment_cursor *cursor = memory_zeroed(1, sizeof *cursor);
    cursor->directory = directory;
    return cursor;
}

static void decoded_clear(struct decoded_block *block)
{
    for (uint32_t i = 0; block->stats != NULL && i < block->count; i++)
        stats_release(&block->stats[i]);
    block->count = 0;
    buffer_clear(&block->plain);
}

void segment_cursor_free(struct segment_cursor *cursor)
{
    if (cursor == NULL)
        return;
    for (uint32_t i = 0; i < CURSOR_BLOCKS; i++) {
        struct decoded_block *block = &cursor->decoded[i];
        decoded_clear(block);
        buffer_release(&block->plain);
        memory_free(block->partitions);
        memory_free(block->stats);
    }
    decompressor_free(cursor->decompressor);
    memory_free(cursor);
}

/* An entry more, empty; counted at once, so that clearing releases the stats about to be read. */
static uint32_t decoded_add(struct decoded_block *block, bool has_stats)
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

/* The entry that `reader` stands at; `before` is what comes before it and moves on.  False unless
 * it is one and names pages that are there. */
static bool entry_read(const struct segment_directory *directory, struct decoded_block *block,
                       struct directory_block *before, struct reader *reader)
{
    uint32_t page_count = directory->page_count;
    uint32_t index = decoded_add(block, directory->has_stats);
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

/* Decode the block at `section`, which moves on to the next; so does `before`. */
static int block_read(struct segment_cursor *cursor, struct decoded_block *block,
                      struct directory_block *before, struct reader *section, struct error *err)
{
    size_t at = section->offset;
    uint32_t plain_size = reader_u32(section);
    uint32_t size = reader_u32(section);
    struct bytes packed = reader_bytes(section, size);
    decoded_clear(block);
    block->first = before->first;
    if (cursor->decompressor == NULL)
        cursor->decompressor = decompressor_new();
    if (decompressor_append(cursor->decompressor, packed, plain_size, &block->plain) != 0)
        return error_set(err, ERROR_CORRUPT, "directory: block at %zu does not decompress", at);
    struct reader reader = reader_of(buffer_view(&block->plain));
    while (reader_left(&reader) > 0) {
        if (!entry_read(cursor->directory, block, before, &reader))
            return error_set(err, ERROR_CORRUPT, "directory: partition %" PRIu32 " is no entry",
                             before->first);
        before->first++;
    }
    for (uint32_t i = 0; i < block->count; i++)
        block->partitions[i].stats = block->stats != NULL ? &block->stats[i] : &no_stats;
    return 0;
}

/* ---- opening ---- */

/* The plain size of all blocks together, by their heads alone; 0 when they do not fit. */
static uint64_t directory_plain_size(struct bytes content)
{
    struct reader reader = reader_of(content);
    uint64_t total = 0;
    while (reader_left(&reader) > 0) {
        uint32_t plain = reader_u32(&reader);
        uint32_t size = reader_u32(&reader);
        reader_bytes(&reader, size);
        if (reader.failed || plain == 0 || plain > SEGMENT_DIRECTORY_BLOCK_MAX)
            return 0;
        total += plain;
    }
    return total;
}

static void block_add(struct segment_directory *directory, const struct directory_block *block)
{
    if (directory->block_count == directory->block_capacity) {
        directory->block_capacity = directory->block_capacity * 2 + 1;
        directory->blocks =
            memory_resize(directory->blocks, directory->block_capacity * sizeof *directory->blocks);
    }
    directory->blocks[directory->block_count++] = *block;
}

/* What opening carries from block to block. */
struct directory_walk {
    struct segment_cursor *cursor;
    struct buffer key; /* the last one of the block before */
    uint64_t rows;
};

/* As many as were decoded, not as many as a footer claims. */
static void halves_reserve(struct segment_directory *directory, uint32_t count)
{
    if (directory->capacity - directory->count >= count)
        return;
    directory->capacity = directory->count + count + directory->count / 2;
    directory->halves =
        memory_resize(directory->halves, directory->capacity * sizeof *directory->halves);
}

/* Entries are in strict order, and no more than the footer has. */
static int block_check(struct segment_directory *directory, struct directory_walk *walk,
                       uint64_t partitions, struct error *err)
{
    const struct decoded_block *block = &walk->cursor->decoded[0];
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
    }
    buffer_clear(&walk->key);
    buffer_append_bytes(&walk->key, block->partitions[block->count - 1].key);
    return 0;
}

static int directory_read(struct segment_directory *directory, struct directory_walk *walk,
                          const struct segment_info *info, struct error *err)
{
    uint64_t plain_size = directory_plain_size(buffer_view(&directory->content));
    if (info->partitions > plain_size / DIRECTORY_ENTRY_MIN)
        return error_set(err, ERROR_CORRUPT, "directory: too short for its partitions");
    if (plain_size == 0 && directory->content.size > 0)
        return error_set(err, ERROR_CORRUPT, "directory: its blocks do not add up");
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

int segment_directory_open(const struct segment_info *info, uint32_t page_count,
                           struct buffer *content, struct segment_directory **directory_out,
                           struct error *err)
{
    struct segment_directory *directory = memory_zeroed(1, sizeof *directory);
    directory->content = *content;
    *content = (struct buffer){0};
    directory->page_count = page_count;
    directory->has_stats = info->kind == SEGMENT_WIDE;
    struct directory_walk walk = {.cursor = segment_cursor_new(directory)};
    int rc = directory_read(directory, &walk, info, err);
    segment_cursor_free(walk.cursor);
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

/* The first partition whose token's half is not less. */
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

/* The block that has the entry. */
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

/* The decoded block that has the entry, or NULL. */
static const struct decoded_block *decoded_find(const struct segment_cursor *cursor, uint32_t index)
{
    for (uint32_t i = 0; i < CURSOR_BLOCKS; i++) {
        const struct decoded_block *block = &cursor->decoded[i];
        if (index >= block->first && index - block->first < block->count)
            return block;
    }
    return NULL;
}

const struct segment_partition *segment_partition_at(struct segment_cursor *cursor, uint32_t index)
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
    return &found->partitions[index - found->first];
}

static int partition_compare(const struct segment_partition *partition, int64_t token,
                             struct bytes key)
{
    if (partition->token != token)
        return partition->token < token ? -1 : 1;
    return bytes_compare(partition->key, key);
}

uint32_t segment_seek(struct segment_cursor *cursor, int64_t token, struct bytes key)
{
    const struct segment_directory *directory = cursor->directory;
    uint32_t half = token_half(token);
    uint32_t at = half_seek(directory, half);
    while (at < directory->count && directory->halves[at] == half &&
           partition_compare(segment_partition_at(cursor, at), token, key) < 0)
        at++;
    return at;
}

const struct segment_partition *segment_find(struct segment_cursor *cursor, int64_t token,
                                             struct bytes key)
{
    const struct segment_directory *directory = cursor->directory;
    uint32_t at = segment_seek(cursor, token, key);
    if (at == directory->count || directory->halves[at] != token_half(token))
        return NULL;
    const struct segment_partition *partition = segment_partition_at(cursor, at);
    return partition_compare(partition, token, key) == 0 ? partition : NULL;
}
