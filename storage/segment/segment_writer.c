/* segment_writer: writes pages as they are added, and the sections and the footer at the end.
 *
 * A file that has a segment's final name must be complete.
 *
 * What each call does:
 *
 *   open        header block into the write buffer
 *   page        into the write buffer, which goes to the disk whenever it is full; size, checksum
 *               and label into the page index, in memory
 *   partition   an entry into the directory block, which is encoded when it is full, in memory
 *   finish      directory, page index, extra, footer; sync, rename, sync the folder
 *
 * The write buffer is large and aligned, because large writes past the page cache are much faster.
 * Columnar segments are written past the page cache, because clicks are rarely read soon.  Row
 * segments are written through it, because their rows may be read right after a flush.
 *
 * After an error the writer can only be closed. */
#include "storage/segment/segment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash64.h"
#include "base/memory.h"
#include "storage/segment/segment_block.h"
#include "storage/segment/segment_format.h"

enum {
    SEGMENT_WRITE_SIZE = 2 << 20,
    BUFFER_SIZE_MIN = 64 << 10,
    CACHED_SYNC_SIZE = 16 << 20 /* bytes written through the page cache between two syncs; without
                                 * these syncs the kernel would write very many bytes at an unknown
                                 * time */
};

struct segment_writer {
    struct disk *disk;
    struct disk_file *file;
    struct segment_footer footer;
    bool finished;
    char path[64]; /* the temporary name while not finished */

    uint8_t *buffer; /* aligned */
    size_t capacity; /* doubles up to SEGMENT_WRITE_SIZE: many segments are small */
    size_t buffered;
    uint64_t written; /* bytes of the file before the buffer */

    struct segment_block_encoder *block;
    struct buffer directory;
    struct buffer index;
    struct buffer extra;

    int64_t token; /* of the last partition, to check the order of partitions */
    struct buffer key;
    uint32_t page_first; /* of the last partition; must not decrease */
};

/* ---- the file ---- */

static int writer_flush(struct segment_writer *writer, struct error *err)
{
    check(writer->buffered % SEGMENT_BLOCK == 0);
    int rc = writer->disk->write(writer->disk, writer->file, writer->written, writer->buffer,
                                 writer->buffered);
    if (rc != 0)
        return error_set(err, rc, "write %s at %" PRIu64 ": %s", writer->path, writer->written,
                         error_text(rc));
    writer->written += writer->buffered;
    writer->buffered = 0;
    if (writer->footer.info.kind == SEGMENT_COLUMNAR || writer->written % CACHED_SYNC_SIZE != 0)
        return 0;
    rc = writer->disk->sync(writer->disk, writer->file);
    return rc == 0 ? 0 : error_set(err, rc, "sync %s: %s", writer->path, error_text(rc));
}

static void writer_grow(struct segment_writer *writer)
{
    uint8_t *grown = memory_aligned(2 * writer->capacity);
    memcpy(grown, writer->buffer, writer->buffered);
    memory_free(writer->buffer);
    writer->buffer = grown;
    writer->capacity *= 2;
}

static int writer_append(struct segment_writer *writer, struct bytes bytes, struct error *err)
{
    while (bytes.size > 0) {
        if (writer->buffered == writer->capacity)
            writer_grow(writer);
        size_t room = writer->capacity - writer->buffered;
        size_t piece = bytes.size < room ? bytes.size : room;
        memcpy(writer->buffer + writer->buffered, bytes.data, piece);
        writer->buffered += piece;
        bytes = bytes_of(bytes.data + piece, bytes.size - piece);
        if (writer->buffered == SEGMENT_WRITE_SIZE) {
            int rc = writer_flush(writer, err);
            if (rc != 0)
                return rc;
        }
    }
    return 0;
}

static uint64_t writer_offset(const struct segment_writer *writer)
{
    return writer->written + writer->buffered;
}

static int writer_create(struct segment_writer *writer, struct error *err)
{
    struct disk *disk = writer->disk;
    int flags =
        DISK_WRITE | DISK_CREATE | (writer->footer.info.kind == SEGMENT_COLUMNAR ? DISK_DIRECT : 0);
    snprintf(writer->path, sizeof writer->path, "segments/%016" PRIx64 ".tmp",
             writer->footer.info.id);
    int rc = disk->open(disk, writer->path, flags, &writer->file, err);
    if (rc == 0 || disk->remove(disk, writer->path) != 0)
        return rc;
    return disk->open(disk, writer->path, flags, &writer->file, err);
}

int segment_writer_open(struct world *world, const struct segment_info *info,
                        struct segment_writer **writer_out, struct error *err)
{
    *writer_out = NULL;
    struct segment_writer *writer = memory_zeroed(1, sizeof *writer);
    writer->disk = world->disk;
    writer->footer.info = *info;
    writer->footer.info.size = 0;
    writer->footer.info.rows = 0;
    writer->footer.info.partitions = 0;
    writer->footer.info.timestamp_max_us = TIMESTAMP_NONE;
    int rc = writer_create(writer, err);
    if (rc != 0) {
        error_wrap(err, "make segment %s", writer->path);
        memory_free(writer);
        return rc;
    }
    writer->capacity = BUFFER_SIZE_MIN;
    writer->buffer = memory_aligned(writer->capacity);
    writer->block = segment_block_encoder_new();
    writer->footer.format = SEGMENT_FORMAT_VERSION;
    segment_format_header(&writer->footer.info, SEGMENT_FORMAT_VERSION, writer->buffer);
    writer->buffered = SEGMENT_BLOCK;
    *writer_out = writer;
    return 0;
}

/* ---- pages, partitions and extra ---- */

uint32_t segment_writer_page_next(const struct segment_writer *writer)
{
    return writer->footer.page_count;
}

int segment_writer_page(struct segment_writer *writer, struct bytes encoded, struct bytes first,
                        struct error *err)
{
    check(!writer->finished);
    if (encoded.size > SEGMENT_PAGE_MAX || writer->footer.page_count == UINT32_MAX)
        return error_set(err, ERROR_LIMIT, "segment %s: page %" PRIu32 " of %zu bytes",
                         writer->path, writer->footer.page_count, encoded.size);
    buffer_put_u32(&writer->index, (uint32_t)encoded.size);
    buffer_put_u64(&writer->index, hash64(encoded.data, encoded.size));
    buffer_put_sized(&writer->index, first);
    writer->footer.page_count++;
    return writer_append(writer, encoded, err);
}

int segment_writer_partition(struct segment_writer *writer,
                             const struct segment_partition *partition, struct error *err)
{
    check(!writer->finished);
    check(writer->footer.info.partitions == 0 ||
          segment_directory_compare(partition, writer->token, buffer_view(&writer->key)) > 0);
    check(partition->page_first >= writer->page_first);
    struct segment_info *info = &writer->footer.info;
    if (partition->key.size > SEGMENT_KEY_MAX)
        return error_set(err, ERROR_LIMIT, "segment %s: a partition key of %zu bytes", writer->path,
                         partition->key.size);
    if (info->partitions == UINT32_MAX - 1)
        return error_set(err, ERROR_LIMIT, "segment %s: more partitions than a segment holds",
                         writer->path);
    segment_block_encoder_add(writer->block, partition);
    writer->token = partition->token;
    writer->page_first = partition->page_first;
    buffer_clear(&writer->key);
    buffer_append_bytes(&writer->key, partition->key);
    info->partitions++;
    info->rows += partition->rows;
    if (partition->deletion.timestamp_us != TIMESTAMP_NONE)
        segment_writer_timestamp(writer, partition->deletion.timestamp_us);
    if (segment_block_encoder_is_full(writer->block))
        segment_block_encoder_close(writer->block, &writer->directory);
    return 0;
}

int segment_writer_extra(struct segment_writer *writer, struct bytes extra, struct error *err)
{
    check(!writer->finished && writer->extra.size == 0);
    if (extra.size > SEGMENT_EXTRA_MAX)
        return error_set(err, ERROR_LIMIT, "segment %s: extra of %zu bytes", writer->path,
                         extra.size);
    buffer_append_bytes(&writer->extra, extra);
    return 0;
}

void segment_writer_timestamp(struct segment_writer *writer, int64_t timestamp_us)
{
    if (timestamp_us > writer->footer.info.timestamp_max_us)
        writer->footer.info.timestamp_max_us = timestamp_us;
}

/* ---- sections and footer ---- */

static int writer_section(struct segment_writer *writer, enum segment_section_kind kind,
                          const struct buffer *content, struct error *err)
{
    struct segment_section *section = &writer->footer.sections[kind];
    section->offset = writer_offset(writer);
    section->size = content->size;
    section->hash = hash64(content->data, content->size);
    return writer_append(writer, buffer_view(content), err);
}

static int writer_footer(struct segment_writer *writer, struct error *err)
{
    uint8_t block[SEGMENT_BLOCK] = {0};
    size_t over = writer_offset(writer) % SEGMENT_BLOCK;
    size_t padding = over > 0 ? SEGMENT_BLOCK - over : 0;
    int rc = writer_append(writer, bytes_of(block, padding), err);
    if (rc != 0)
        return rc;
    writer->footer.info.size = writer_offset(writer) + SEGMENT_BLOCK;
    segment_format_footer(&writer->footer, block);
    rc = writer_append(writer, bytes_of(block, SEGMENT_BLOCK), err);
    if (rc == 0 && writer->buffered > 0)
        rc = writer_flush(writer, err);
    return rc;
}

/* The bytes are durable before the file has its final name, and the name is durable before the call
 * returns. */
static int writer_publish(struct segment_writer *writer, struct error *err)
{
    struct disk *disk = writer->disk;
    int rc = disk->sync(disk, writer->file);
    if (rc != 0)
        return error_set(err, rc, "sync %s: %s", writer->path, error_text(rc));
    char path[64];
    segment_path(writer->footer.info.id, path);
    rc = disk->rename(disk, writer->path, path);
    if (rc != 0)
        return error_set(err, rc, "rename %s to %s: %s", writer->path, path, error_text(rc));
    memcpy(writer->path, path, sizeof path);
    writer->finished = true;
    rc = disk->sync_directory(disk, "segments");
    if (rc != 0)
        return error_set(err, rc, "sync directory segments: %s", error_text(rc));
    return 0;
}

int segment_writer_finish(struct segment_writer *writer, struct segment_info *info_out,
                          struct error *err)
{
    check(!writer->finished);
    segment_block_encoder_close(writer->block, &writer->directory);
    int rc = writer_section(writer, SECTION_DIRECTORY, &writer->directory, err);
    if (rc == 0)
        rc = writer_section(writer, SECTION_INDEX, &writer->index, err);
    if (rc == 0)
        rc = writer_section(writer, SECTION_EXTRA, &writer->extra, err);
    if (rc == 0)
        rc = writer_footer(writer, err);
    if (rc == 0)
        rc = writer_publish(writer, err);
    *info_out = writer->footer.info;
    return rc;
}

bool segment_writer_is_empty(const struct segment_writer *writer, struct segment_info *info_out)
{
    *info_out = writer->footer.info;
    return writer->footer.info.partitions == 0;
}

void segment_writer_close(struct segment_writer *writer)
{
    if (writer == NULL)
        return;
    writer->disk->close(writer->disk, writer->file);
    /* The next opening of the store removes a file that could not be removed here. */
    if (!writer->finished)
        (void)writer->disk->remove(writer->disk, writer->path);
    segment_block_encoder_free(writer->block);
    buffer_release(&writer->directory);
    buffer_release(&writer->index);
    buffer_release(&writer->extra);
    buffer_release(&writer->key);
    memory_free(writer->buffer);
    memory_free(writer);
}
