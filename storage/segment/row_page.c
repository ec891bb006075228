/* row_page: the bytes of a row page.
 *
 * Encoded (offset, size in bytes, meaning):
 *
 *     0  1  codec: 0 stored, 1 zstd
 *     1  4  plain size
 *     5     the plain page, or its zstd frame
 *
 * Plain, in the same columns:
 *
 *     0     4      number of entries n, at least 1
 *     4     4 * n  where each entry ends, counted from the start of the first entry
 *     4+4n         entries
 *
 * Entry, in the same columns:
 *
 *     0  1  1: a range deletion is in force before the first item, 0: none is
 *     1     if so: its timestamp_us and local_s (struct deletion), signed varints
 *           items: varint (size * 4 + kind), then the packed unfiltered of `size` bytes;
 *           kinds: 0 row, 1 bound, 2 static row
 *
 * Whatever the bytes are, decoding must stay inside them.
 *
 * Each row is packed whole, because zstd compresses what rows have in common, and because whole
 * rows can be read in either direction. */
#include "storage/segment/row_page.h"

#include <string.h>

#include "base/memory.h"
#include "storage/segment/segment.h"

enum {
    ROW_PAGE_HEAD = 5,
    ROW_PAGE_MAX = SEGMENT_PAGE_MAX - (1 << 24), /* plain bytes; encoded, they take at most
                                                  * SEGMENT_PAGE_MAX */
    ROW_ITEM_KIND_BITS = 2,
    LABEL_BEFORE = 0,
    LABEL_ROW = 1,
    LABEL_AFTER = 2
};

enum row_page_codec { CODEC_STORED = 0, CODEC_ZSTD = 1 };

/* ---- writing ---- */

void row_page_builder_release(struct row_page_builder *builder)
{
    buffer_release(&builder->entries);
    buffer_release(&builder->ends);
    buffer_release(&builder->plain);
}

static enum row_item_kind item_kind(const struct unfiltered *item)
{
    if (item->kind == UNFILTERED_BOUND)
        return ITEM_BOUND;
    return item->row.is_static ? ITEM_STATIC : ITEM_ROW;
}

void row_page_put_item(const struct unfiltered *item, struct buffer *scratch, struct buffer *items)
{
    buffer_clear(scratch);
    row_unfiltered_pack(item, scratch);
    buffer_put_varint(items, (uint64_t)scratch->size << ROW_ITEM_KIND_BITS | item_kind(item));
    buffer_append_bytes(items, buffer_view(scratch));
}

uint32_t row_page_add(struct row_page_builder *builder, struct deletion open, struct bytes items)
{
    uint32_t index = row_page_entry_count(builder);
    bool is_open = open.timestamp_us != TIMESTAMP_NONE;
    buffer_put_u8(&builder->entries, is_open);
    if (is_open)
        row_deletion_pack(open, &builder->entries);
    buffer_append_bytes(&builder->entries, items);
    buffer_put_u32(&builder->ends, (uint32_t)builder->entries.size);
    return index;
}

uint32_t row_page_entry_count(const struct row_page_builder *builder)
{
    return (uint32_t)(builder->ends.size / 4);
}

size_t row_page_size(const struct row_page_builder *builder)
{
    return builder->entries.size + builder->ends.size;
}

int row_page_encode(struct row_page_builder *builder, struct compressor *compressor,
                    struct buffer *page)
{
    check(row_page_entry_count(builder) > 0);
    struct buffer *plain = &builder->plain;
    buffer_clear(page);
    buffer_clear(plain);
    if (row_page_size(builder) + 4 > ROW_PAGE_MAX)
        return ERROR_LIMIT;
    buffer_put_u32(plain, row_page_entry_count(builder));
    buffer_append_bytes(plain, buffer_view(&builder->ends));
    buffer_append_bytes(plain, buffer_view(&builder->entries));
    buffer_clear(&builder->entries);
    buffer_clear(&builder->ends);

    buffer_put_u8(page, CODEC_ZSTD);
    buffer_put_u32(page, (uint32_t)plain->size);
    if (compressor_append(compressor, buffer_view(plain), page) >= plain->size) {
        page->data[0] = CODEC_STORED;
        page->size = ROW_PAGE_HEAD;
        buffer_append_bytes(page, buffer_view(plain));
    }
    return 0;
}

/* ---- reading ---- */

void row_page_entry_release(struct row_entry *entry)
{
    memory_free(entry->items);
    *entry = (struct row_entry){0};
}

int row_page_expand(struct bytes page, struct decompressor *decompressor, struct buffer *plain)
{
    struct reader reader = reader_of(page);
    uint8_t codec = reader_u8(&reader);
    uint32_t plain_size = reader_u32(&reader);
    struct bytes body = reader_bytes(&reader, reader_left(&reader));
    buffer_clear(plain);
    if (reader.failed || plain_size > ROW_PAGE_MAX)
        return ERROR_CORRUPT;
    if (codec == CODEC_ZSTD)
        return decompressor_append(decompressor, body, plain_size, plain);
    if (codec != CODEC_STORED || body.size != plain_size)
        return ERROR_CORRUPT;
    buffer_append_bytes(plain, body);
    return 0;
}

static int page_entry(struct bytes plain, uint32_t index, struct bytes *entry_out)
{
    struct reader reader = reader_of(plain);
    uint32_t count = reader_u32(&reader);
    if (reader.failed || index >= count || count > reader_left(&reader) / 4)
        return ERROR_CORRUPT;
    const uint8_t *ends = plain.data + reader.offset;
    size_t base = 4 + (size_t)count * 4;
    uint32_t begin = index > 0 ? load_u32(ends + (size_t)(index - 1) * 4) : 0;
    uint32_t end = load_u32(ends + (size_t)index * 4);
    if (begin > end || end > plain.size - base)
        return ERROR_CORRUPT;
    *entry_out = bytes_of(plain.data + base + begin, end - begin);
    return 0;
}

static void entry_add_item(struct row_entry *entry, const struct row_item *item)
{
    entry->items = memory_make_room(entry->items, entry->item_count, &entry->item_capacity,
                                    sizeof *entry->items);
    entry->items[entry->item_count++] = *item;
}

static int entry_scan(struct row_entry *entry)
{
    struct reader reader = reader_of(entry->bytes);
    entry->open = DELETION_NONE;
    uint8_t is_open = reader_u8(&reader);
    if (is_open > 1)
        return ERROR_CORRUPT;
    if (is_open) {
        entry->open.timestamp_us = reader_signed(&reader);
        entry->open.local_s = reader_signed(&reader);
    }
    while (reader_left(&reader) > 0) {
        uint64_t head = reader_varint(&reader);
        uint64_t size = head >> ROW_ITEM_KIND_BITS;
        uint64_t kind = head & ((1U << ROW_ITEM_KIND_BITS) - 1);
        struct row_item item = {.offset = (uint32_t)reader.offset,
                                .size = (uint32_t)size,
                                .kind = (enum row_item_kind)kind};
        reader_bytes(&reader, size);
        if (reader.failed || kind > ITEM_STATIC)
            return ERROR_CORRUPT;
        entry_add_item(entry, &item);
    }
    return reader.failed ? ERROR_CORRUPT : 0;
}

int row_page_entry_decode(struct bytes plain, uint32_t index, struct row_entry *entry)
{
    entry->item_count = 0;
    int rc = page_entry(plain, index, &entry->bytes);
    return rc != 0 ? rc : entry_scan(entry);
}

int row_page_entry_unpack(const struct row_entry *entry, uint32_t item, struct arena *arena,
                          struct unfiltered *unfiltered_out)
{
    check(item < entry->item_count);
    const struct row_item *place = &entry->items[item];
    struct reader reader = reader_of(bytes_of(entry->bytes.data + place->offset, place->size));
    int rc = row_unfiltered_unpack(&reader, arena, unfiltered_out);
    if (rc != 0)
        return rc;
    if (reader_left(&reader) > 0 || item_kind(unfiltered_out) != place->kind)
        return ERROR_CORRUPT;
    return 0;
}

/* ---- labels ---- */

void row_page_label_pack(const struct unfiltered *item, struct buffer *label)
{
    if (item->kind == UNFILTERED_ROW) {
        buffer_put_u8(label, LABEL_ROW);
        row_clustering_pack(&item->row.clustering, label);
        return;
    }
    buffer_put_u8(label, item->bound.side == BOUND_BEFORE ? LABEL_BEFORE : LABEL_AFTER);
    row_clustering_pack(&item->bound.prefix, label);
}

int row_page_label_compare(const struct table *table, struct bytes label, const struct bound *bound,
                           int *order_out)
{
    struct reader reader = reader_of(label);
    struct unfiltered item = {.kind = UNFILTERED_ROW};
    *order_out = 0;
    uint8_t side = reader_u8(&reader);
    struct clustering *position = side == LABEL_ROW ? &item.row.clustering : &item.bound.prefix;
    row_clustering_unpack(&reader, position);
    if (reader.failed || reader_left(&reader) > 0 || side > LABEL_AFTER)
        return ERROR_CORRUPT;
    if (position->count > table->clustering_count ||
        (side == LABEL_ROW && position->count != table->clustering_count))
        return ERROR_CORRUPT;
    if (side != LABEL_ROW) {
        item.kind = UNFILTERED_BOUND;
        item.bound.side = side == LABEL_BEFORE ? BOUND_BEFORE : BOUND_AFTER;
    }
    *order_out = row_page_item_compare(table, &item, bound);
    return 0;
}

int row_page_item_compare(const struct table *table, const struct unfiltered *item,
                          const struct bound *bound)
{
    if (item->kind == UNFILTERED_BOUND)
        return row_bound_compare(table, &item->bound, bound);
    return -row_bound_compare_clustering(table, bound, &item->row.clustering);
}
