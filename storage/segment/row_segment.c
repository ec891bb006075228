/* row_segment: streams are written as pages of packed rows, and read back.
 *
 * A partition's items are collected as one entry.  A partition that ends before it has filled a
 * page is never cut: its entry goes to the open page, or to a new one.  A partition that fills a
 * page gets pages of its own:
 *
 *     target size   |----------------|----------------|
 *     a, b, c       [a a|b b b|c c]
 *     d (large)                      [d d d d d d d d][d d d d d d d][d d]
 *     e, f                                                               [e|f
 *
 * A slice must yield exactly the items between its bounds.  A range deletion that reaches into the
 * slice is opened at the bound where reading begins, and closed at the other bound.  Reading can
 * begin in any page, because an entry has the deletion that is in force before its first item:
 *
 *     page 1   open: none  | row 1 | bound 3: none -> D | row 5 |
 *     page 2   open: D     | row 7 | row 8 | bound 9: D -> none |
 *
 * When a stream is closed, the next stream of the segment takes over its page, so that a scan of
 * small partitions decodes each page once.
 *
 * Pages that a stream with a read budget expands are kept in the pool for later streams.  The pages
 * of scans and merges are not kept, because they would displace pages that are read again. */
#include "storage/segment/row_segment.h"

#include <errno.h>
#include <inttypes.h>

#include "base/arena.h"
#include "base/memory.h"
#include "storage/segment/row_page.h"
#include "storage/segment/row_span.h"
#include "storage/segment/segment_block.h"

enum {
    ROW_PAGE_TARGET = 8 << 10, /* plain bytes; a whole page is expanded to read any row */
    ROW_SCRATCH_MAX = 1 << 20, /* bytes of a page that an idle segment may keep */
    ROW_ARENA_CHUNK = 16 << 10
};

static bool deletion_is_some(struct deletion deletion)
{
    return deletion.timestamp_us != TIMESTAMP_NONE;
}

/* ---- writing ---- */

struct row_segment_writer {
    struct segment_writer *segment;
    uint64_t id;
    struct compressor *compressor;
    struct row_page_builder page; /* the open page, which will be the segment's next one */
    struct buffer encoded;
    struct buffer scratch;
    struct row_span span;

    /* The partition that is being written. */
    struct segment_partition partition;
    struct buffer items;        /* of its entry */
    struct buffer label;        /* of its entry; empty in the partition's first page */
    struct deletion entry_open; /* in force before the entry's first item */
    struct deletion open;
};

int row_segment_writer_open(struct world *world, const struct segment_info *info,
                            struct row_segment_writer **writer_out, struct error *err)
{
    *writer_out = NULL;
    struct segment_writer *segment;
    int rc = segment_writer_open(world, info, &segment, err);
    if (rc != 0)
        return rc;
    struct row_segment_writer *writer = memory_zeroed(1, sizeof *writer);
    writer->segment = segment;
    writer->id = info->id;
    writer->compressor = compressor_new(COMPRESS_LEVEL);
    *writer_out = writer;
    return 0;
}

static int writer_page_close(struct row_segment_writer *writer, struct bytes label,
                             struct error *err)
{
    if (row_page_entry_count(&writer->page) == 0)
        return 0;
    int rc = row_page_encode(&writer->page, writer->compressor, &writer->encoded);
    if (rc != 0)
        return error_set(err, rc, "segment %016" PRIx64 ": page %" PRIu32 " is too large",
                         writer->id, segment_writer_page_next(writer->segment));
    return segment_writer_page(writer->segment, buffer_view(&writer->encoded), label, err);
}

static void writer_entry_add(struct row_segment_writer *writer)
{
    uint32_t entry = row_page_add(&writer->page, writer->entry_open, buffer_view(&writer->items));
    if (writer->partition.page_count++ == 0) {
        writer->partition.page_first = segment_writer_page_next(writer->segment);
        writer->partition.entry = entry;
    }
    writer->entry_open = writer->open;
    buffer_clear(&writer->items);
}

/* The entry becomes a page without other entries. */
static int writer_entry_spill(struct row_segment_writer *writer, struct error *err)
{
    int rc = writer_page_close(writer, bytes_of(NULL, 0), err);
    if (rc != 0)
        return rc;
    writer_entry_add(writer);
    return writer_page_close(writer, buffer_view(&writer->label), err);
}

static void writer_note_timestamps(struct segment_writer *segment, const struct unfiltered *item)
{
    if (item->kind == UNFILTERED_BOUND) {
        segment_writer_timestamp(segment, item->before.timestamp_us);
        segment_writer_timestamp(segment, item->after.timestamp_us);
        return;
    }
    const struct row *row = &item->row;
    segment_writer_timestamp(segment, row->marker.timestamp_us);
    segment_writer_timestamp(segment, row->deletion.timestamp_us);
    for (uint32_t i = 0; i < row->complex_count; i++)
        segment_writer_timestamp(segment, row->complex[i].deletion.timestamp_us);
    for (uint32_t i = 0; i < row->cell_count; i++)
        segment_writer_timestamp(segment, row->cells[i].timestamp_us);
}

static int writer_item(struct row_segment_writer *writer, const struct table *table,
                       const struct unfiltered *item, struct error *err)
{
    if (writer->items.size >= ROW_PAGE_TARGET) {
        int rc = writer_entry_spill(writer, err);
        if (rc != 0)
            return rc;
        buffer_clear(&writer->label);
        row_page_label_pack(item, &writer->label);
    }
    row_span_add(&writer->span, table, item, writer->partition.rows == 0);
    row_page_put_item(item, &writer->scratch, &writer->items);
    writer_note_timestamps(writer->segment, item);
    writer->partition.rows++;
    if (item->kind == UNFILTERED_BOUND)
        writer->open = item->after;
    return 0;
}

static int writer_partition_end(struct row_segment_writer *writer, struct error *err)
{
    struct segment_partition *partition = &writer->partition;
    int rc = 0;
    if (partition->page_count > 0) {
        rc = writer_entry_spill(writer, err);
    } else if (partition->rows > 0) {
        if (row_page_size(&writer->page) + writer->items.size > ROW_PAGE_TARGET)
            rc = writer_page_close(writer, bytes_of(NULL, 0), err);
        if (rc == 0)
            writer_entry_add(writer);
    } else {
        partition->page_first = segment_writer_page_next(writer->segment);
    }
    if (rc != 0)
        return rc;
    if (deletion_is_some(partition->deletion)) {
        writer->span.is_open = true;
        partition->rows++;
    }
    return segment_writer_partition(writer->segment, partition, err);
}

int row_segment_writer_partition(struct row_segment_writer *writer, int64_t token, struct bytes key,
                                 struct stream *stream, struct error *err)
{
    writer->partition = (struct segment_partition){
        .token = token, .key = key, .deletion = stream->partition_deletion};
    writer->entry_open = DELETION_NONE;
    writer->open = DELETION_NONE;
    buffer_clear(&writer->items);
    buffer_clear(&writer->label);
    struct unfiltered item;
    int rc;
    while ((rc = stream->next(stream, &item, err)) > 0) {
        rc = writer_item(writer, stream->table, &item, err);
        if (rc != 0)
            return rc;
    }
    if (rc < 0)
        return rc;
    if (writer->partition.rows == 0 && !deletion_is_some(writer->partition.deletion))
        return 0;
    return writer_partition_end(writer, err);
}

int row_segment_writer_finish(struct row_segment_writer *writer, struct segment_info *info_out,
                              struct error *err)
{
    if (segment_writer_is_empty(writer->segment, info_out))
        return 0;
    int rc = writer_page_close(writer, bytes_of(NULL, 0), err);
    buffer_clear(&writer->scratch);
    row_span_put(&writer->span, &writer->scratch);
    if (rc == 0 && writer->scratch.size > 0)
        rc = segment_writer_extra(writer->segment, buffer_view(&writer->scratch), err);
    return rc != 0 ? rc : segment_writer_finish(writer->segment, info_out, err);
}

void row_segment_writer_close(struct row_segment_writer *writer)
{
    if (writer == NULL)
        return;
    segment_writer_close(writer->segment);
    compressor_free(writer->compressor);
    row_page_builder_release(&writer->page);
    row_span_release(&writer->span);
    buffer_release(&writer->encoded);
    buffer_release(&writer->scratch);
    buffer_release(&writer->items);
    buffer_release(&writer->label);
    memory_free(writer);
}

bool row_segment_may_meet(const struct segment *segment, const struct table *table,
                          const struct slice *slice)
{
    return row_span_may_meet(segment_extra(segment), table, slice);
}

/* ---- reading: what the next stream takes over ---- */

struct row_expanded {
    struct reader_spare base;
    uint32_t page;
    struct buffer plain;
};

static void row_expanded_free(struct reader_spare *base)
{
    struct row_expanded *expanded = (struct row_expanded *)base;
    if (expanded == NULL)
        return;
    buffer_release(&expanded->plain);
    memory_free(expanded);
}

static size_t row_expanded_bytes(const struct row_expanded *expanded)
{
    return sizeof *expanded + expanded->plain.capacity;
}

struct row_scratch {
    struct reader_spare base;
    struct arena *arena;
    struct row_expanded *expanded; /* NULL: no page yet */
    struct row_entry entry;
};

static void row_scratch_free(struct reader_spare *base)
{
    struct row_scratch *scratch = (struct row_scratch *)base;
    arena_free(scratch->arena);
    row_expanded_free((struct reader_spare *)scratch->expanded);
    row_page_entry_release(&scratch->entry);
    memory_free(scratch);
}

static struct row_scratch *row_scratch_of(struct segment *segment)
{
    struct reader_spare *left =
        reader_pool_take(segment_readers(segment), segment_scratch(segment));
    if (left != NULL)
        return (struct row_scratch *)left;
    struct row_scratch *scratch = memory_zeroed(1, sizeof *scratch);
    scratch->base.free = row_scratch_free;
    scratch->arena = arena_new(ROW_ARENA_CHUNK);
    return scratch;
}

static void row_scratch_leave(struct row_scratch *scratch, struct segment *segment)
{
    size_t page_bytes = scratch->expanded == NULL ? 0 : row_expanded_bytes(scratch->expanded);
    if (page_bytes > ROW_SCRATCH_MAX) {
        row_scratch_free(&scratch->base);
        return;
    }
    scratch->base.bytes = sizeof *scratch + arena_held(scratch->arena) + page_bytes +
                          scratch->entry.item_capacity * sizeof *scratch->entry.items;
    reader_pool_give(segment_readers(segment), segment_scratch(segment), &scratch->base);
}

/* Give the scratch's page to the pool, and take page `page` from the pool, if it is there. */
static void row_scratch_swap(struct row_scratch *scratch, struct segment *segment, uint32_t page)
{
    struct reader_pool *readers = segment_readers(segment);
    struct row_expanded *left = scratch->expanded;
    struct row_expanded *taken =
        (struct row_expanded *)reader_pool_take(readers, segment_page_place(segment, page));
    bool is_wanted = taken != NULL && taken->page == page;
    scratch->expanded = is_wanted ? taken : NULL;
    if (!is_wanted)
        row_expanded_free((struct reader_spare *)taken);
    if (left == NULL)
        return;
    left->base =
        (struct reader_spare){.free = row_expanded_free, .bytes = row_expanded_bytes(left)};
    reader_pool_give(readers, segment_page_place(segment, left->page), &left->base);
}

/* ---- reading: the stream ---- */

enum row_phase { PHASE_STATIC, PHASE_BEGIN, PHASE_ITEMS, PHASE_END };

struct row_stream {
    struct stream base;
    struct segment *segment;
    struct segment_partition partition; /* without key and stats */
    struct row_scratch *scratch;
    struct segment_read_budget *read_budget; /* NULL: the stream may wait */
    bool reversed;
    bool with_static;
    struct bound from; /* of the slice, in order of reading */
    struct bound to;
    uint8_t *bound_bytes; /* what `from` and `to` point to */
    enum row_phase phase;
    uint32_t page;        /* counted from the partition's first */
    uint32_t index;       /* the read position is just before this item of the page */
    uint32_t index_first; /* the page's first item that is not a static row */
    struct deletion open; /* range deletion yielded and not closed yet */
};

static int row_stream_damaged(const struct row_stream *stream, const char *what, struct error *err)
{
    return error_set(err, ERROR_CORRUPT, "segment %016" PRIx64 ": page %" PRIu32 ": %s",
                     segment_info(stream->segment)->id, stream->partition.page_first + stream->page,
                     what);
}

static int row_stream_read(struct row_stream *stream, uint32_t page_index, struct error *err)
{
    struct row_scratch *scratch = stream->scratch;
    if (scratch->expanded == NULL)
        scratch->expanded = memory_zeroed(1, sizeof *scratch->expanded);
    scratch->expanded->page = page_index;
    struct reader_pool *readers = segment_readers(stream->segment);
    struct reader_workspace *work = reader_pool_borrow(readers);
    int rc = segment_read_page(stream->segment, page_index, stream->read_budget, &work->page, err);
    if (rc == 0 &&
        row_page_expand(buffer_view(&work->page), segment_block_decompressor(work->blocks),
                        &scratch->expanded->plain) != 0)
        rc = row_stream_damaged(stream, "it does not decompress", err);
    reader_pool_give_back(readers, work);
    if (rc != 0) {
        row_expanded_free((struct reader_spare *)scratch->expanded);
        scratch->expanded = NULL;
    }
    return rc;
}

static bool row_scratch_has(const struct row_scratch *scratch, uint32_t page)
{
    return scratch->expanded != NULL && scratch->expanded->page == page;
}

static int row_stream_page(struct row_stream *stream, uint32_t page_index, struct error *err)
{
    struct row_scratch *scratch = stream->scratch;
    if (row_scratch_has(scratch, page_index))
        return 0;
    if (stream->read_budget != NULL)
        row_scratch_swap(scratch, stream->segment, page_index);
    if (!row_scratch_has(scratch, page_index))
        return row_stream_read(stream, page_index, err);
    return segment_read_budget_take(stream->read_budget) ? 0 : -EAGAIN;
}

/* Load a page of the partition; the caller sets `index`. */
static int row_stream_load(struct row_stream *stream, uint32_t page, struct error *err)
{
    struct row_scratch *scratch = stream->scratch;
    uint32_t page_index = stream->partition.page_first + page;
    stream->page = page;
    int rc = row_stream_page(stream, page_index, err);
    if (rc != 0)
        return rc;
    struct row_entry *entry = &scratch->entry;
    uint32_t index = page == 0 ? stream->partition.entry : 0;
    if (row_page_entry_decode(buffer_view(&scratch->expanded->plain), index, entry) != 0)
        return row_stream_damaged(stream, "its entry is none", err);
    stream->index_first = entry->item_count > 0 && entry->items[0].kind == ITEM_STATIC;
    return 0;
}

static int row_stream_unpack(struct row_stream *stream, uint32_t index, struct unfiltered *item,
                             struct error *err)
{
    const struct table *table = stream->base.table;
    arena_reset(stream->scratch->arena);
    if (row_page_entry_unpack(&stream->scratch->entry, index, stream->scratch->arena, item) != 0)
        return row_stream_damaged(stream, "an item is none", err);
    bool fits = item->kind == UNFILTERED_BOUND
                    ? item->bound.prefix.count <= table->clustering_count
                    : item->row.is_static || item->row.clustering.count == table->clustering_count;
    return fits ? 0 : row_stream_damaged(stream, "an item is not of this table", err);
}

/* Whether an item or label lies, in clustering order, before the bound where reading begins;
 * `order` is its order against that bound.  An item at the bound is not read: it counts as before
 * the bound when reading forward, and as behind it in reverse. */
static bool row_stream_is_before(const struct row_stream *stream, int order)
{
    return order < 0 || (order == 0 && !stream->reversed);
}

/* The last page whose first item lies before the bound where reading begins, or the first page. */
static int row_stream_seek_page(struct row_stream *stream, uint32_t *page_out, struct error *err)
{
    uint32_t low = 0;
    uint32_t high = stream->partition.page_count - 1;
    *page_out = 0;
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        struct bytes label =
            segment_page_first(stream->segment, stream->partition.page_first + middle);
        int order;
        if (row_page_label_compare(stream->base.table, label, &stream->from, &order) != 0) {
            stream->page = middle;
            return row_stream_damaged(stream, "its label is none", err);
        }
        if (row_stream_is_before(stream, order))
            low = middle;
        else
            high = middle - 1;
    }
    *page_out = low;
    return 0;
}

static int row_stream_seek_item(struct row_stream *stream, struct unfiltered *item,
                                struct error *err)
{
    uint32_t low = stream->index_first;
    uint32_t high = stream->scratch->entry.item_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int rc = row_stream_unpack(stream, middle, item, err);
        if (rc != 0)
            return rc;
        int order = row_page_item_compare(stream->base.table, item, &stream->from);
        if (row_stream_is_before(stream, order))
            low = middle + 1;
        else
            high = middle;
    }
    stream->index = low;
    return 0;
}

/* Find the range deletion in force at `index`: the last bound before `index` gives it or, if there
 * is no bound, the entry. */
static int row_stream_find_open(struct row_stream *stream, struct unfiltered *item,
                                struct error *err)
{
    const struct row_entry *entry = &stream->scratch->entry;
    stream->open = entry->open;
    for (uint32_t i = stream->index; i > stream->index_first; i--) {
        if (entry->items[i - 1].kind != ITEM_BOUND)
            continue;
        int rc = row_stream_unpack(stream, i - 1, item, err);
        if (rc == 0)
            stream->open = item->after;
        return rc;
    }
    return 0;
}

static void bound_yield(const struct bound *bound, struct deletion before, struct deletion after,
                        struct unfiltered *out)
{
    out->kind = UNFILTERED_BOUND;
    out->bound = *bound;
    out->before = before;
    out->after = after;
}

/* The functions of the phases return 1 with `out` filled, 0 when the phase is over, or an error. */

static int row_stream_static(struct row_stream *stream, struct unfiltered *out, struct error *err)
{
    stream->phase = PHASE_BEGIN;
    if (stream->partition.page_count == 0) {
        stream->phase = PHASE_END;
        return 0;
    }
    if (!stream->with_static || stream->base.table->static_count == 0)
        return 0;
    int rc = row_stream_load(stream, 0, err);
    if (rc != 0 || stream->index_first == 0)
        return rc;
    rc = row_stream_unpack(stream, 0, out, err);
    return rc != 0 ? rc : 1;
}

static int row_stream_begin(struct row_stream *stream, struct unfiltered *out, struct error *err)
{
    int direction = row_bound_compare(stream->base.table, &stream->from, &stream->to);
    bool is_empty = stream->reversed ? direction <= 0 : direction >= 0;
    stream->phase = is_empty ? PHASE_END : PHASE_ITEMS;
    if (is_empty)
        return 0;
    uint32_t page;
    int rc = row_stream_seek_page(stream, &page, err);
    if (rc == 0)
        rc = row_stream_load(stream, page, err);
    if (rc == 0)
        rc = row_stream_seek_item(stream, out, err);
    if (rc == 0)
        rc = row_stream_find_open(stream, out, err);
    if (rc != 0 || !deletion_is_some(stream->open))
        return rc;
    bound_yield(&stream->from, DELETION_NONE, stream->open, out);
    return 1;
}

static int row_stream_end(struct row_stream *stream, struct unfiltered *out)
{
    stream->phase = PHASE_END;
    if (!deletion_is_some(stream->open))
        return 0;
    bound_yield(&stream->to, stream->open, DELETION_NONE, out);
    return 1;
}

/* Move to the next page, in order of reading, while the present page has no items left.  1: the
 * page has items; 0: there is no further page; or an error. */
static int row_stream_next_page(struct row_stream *stream, struct error *err)
{
    for (;;) {
        uint32_t count = stream->scratch->entry.item_count;
        if (stream->reversed ? stream->index > stream->index_first : stream->index < count)
            return 1;
        if (stream->page == (stream->reversed ? 0 : stream->partition.page_count - 1))
            return 0;
        int rc =
            row_stream_load(stream, stream->reversed ? stream->page - 1 : stream->page + 1, err);
        if (rc != 0)
            return rc;
        stream->index = stream->reversed ? stream->scratch->entry.item_count : stream->index_first;
    }
}

static int row_stream_item(struct row_stream *stream, struct unfiltered *out, struct error *err)
{
    int rc = row_stream_next_page(stream, err);
    if (rc <= 0)
        return rc < 0 ? rc : row_stream_end(stream, out);
    uint32_t index = stream->reversed ? --stream->index : stream->index++;
    rc = row_stream_unpack(stream, index, out, err);
    if (rc != 0)
        return rc;
    if (out->kind == UNFILTERED_ROW && out->row.is_static)
        return row_stream_damaged(stream, "a static row among rows", err);
    int order = row_page_item_compare(stream->base.table, out, &stream->to);
    if (stream->reversed ? order <= 0 : order >= 0)
        return row_stream_end(stream, out);
    if (out->kind == UNFILTERED_BOUND) {
        if (stream->reversed)
            bound_yield(&out->bound, out->after, out->before, out);
        stream->open = out->after;
    }
    return 1;
}

static int row_stream_next(struct stream *base, struct unfiltered *out, struct error *err)
{
    struct row_stream *stream = (struct row_stream *)base;
    int rc = 0;
    if (stream->phase == PHASE_STATIC)
        rc = row_stream_static(stream, out, err);
    if (rc == 0 && stream->phase == PHASE_BEGIN)
        rc = row_stream_begin(stream, out, err);
    if (rc == 0 && stream->phase == PHASE_ITEMS)
        rc = row_stream_item(stream, out, err);
    return rc;
}

static void row_stream_close(struct stream *base)
{
    struct row_stream *stream = (struct row_stream *)base;
    row_scratch_leave(stream->scratch, stream->segment);
    segment_unref(stream->segment);
    memory_free(stream->bound_bytes);
    memory_free(stream);
}

void row_segment_stream_limit(struct stream *stream, struct segment_read_budget *read_budget)
{
    check(stream->next == row_stream_next);
    ((struct row_stream *)stream)->read_budget = read_budget;
}

int row_segment_stream(struct segment *segment, const struct table *table, int64_t token,
                       struct bytes key, const struct slice *slice, struct stream **stream_out,
                       struct error *err)
{
    *stream_out = NULL;
    if (segment_info(segment)->kind != SEGMENT_ROW)
        return error_set(err, ERROR_INVALID, "segment %016" PRIx64 " is not a narrow one",
                         segment_info(segment)->id);
    struct segment_partition partition;
    if (!segment_find(segment, token, key, &partition))
        return 0;
    struct row_stream *stream = memory_zeroed(1, sizeof *stream);
    stream->base.table = table;
    stream->base.partition_deletion = partition.deletion;
    stream->base.next = row_stream_next;
    stream->base.close = row_stream_close;
    stream->segment = segment_ref(segment);
    stream->partition = partition;
    stream->scratch = row_scratch_of(segment);
    stream->reversed = slice->reversed;
    stream->with_static = slice->with_static;
    stream->from = slice->reversed ? slice->end : slice->start;
    stream->to = slice->reversed ? slice->start : slice->end;
    struct clustering *from = &stream->from.prefix;
    struct clustering *to = &stream->to.prefix;
    uint8_t *bytes = memory_alloc(row_clustering_bytes(from) + row_clustering_bytes(to));
    stream->bound_bytes = bytes;
    row_clustering_put(from, &bytes, from);
    row_clustering_put(to, &bytes, to);
    stream->open = DELETION_NONE;
    *stream_out = &stream->base;
    return 0;
}
