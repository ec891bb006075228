/* row_memtable: partitions, rows and their versions.
 *
 * Nothing that a reader at an earlier frame could see may ever change.  A row is a chain of
 * versions, newest first, each with its frame and the row packed as on disk.  A reader merges the
 * versions up to its frame:
 *
 *     row ─▶ @12 UPDATE b ─▶ @12 UPDATE a ─▶ @9 INSERT a, b
 *     a reader at 11 sees one version, one at 12 merges three
 *
 * After eight versions the next one is stored as the merge of itself and the eight (depth 0), and a
 * reader stops at it.
 *
 * A reader at a frame applies to each row the strongest deletion up to that frame that covers the
 * row (range_deletions.h). */
#include "storage/memtable/row_memtable.h"

#include <string.h>

#include "base/memory.h"
#include "storage/cell/range_deletions.h"

enum {
    ROW_FOLD_DEPTH = 8, /* a reader merges at most this many versions */
    PASSED_MAX = 8,     /* rows skipped one by one before a search skips the others */
    ROW_SCRATCH_CHUNK = 16384,
    ROW_STREAM_CHUNK = 4096
};

struct row_version {
    struct row_version *older;
    uint64_t frame;
    uint32_t size;
    uint16_t depth;   /* number of older versions that a reader merges with this one; 0: this one
                       * includes them all */
    uint16_t columns; /* the row's packed_rows_columns; 0: not known */
    uint8_t packed[];
};

struct row_node {
    struct row_version *newest;
    const struct row_version *oldest; /* the clustering is read from it */
};

/* Each deletion is stronger than the older ones. */
struct partition_deletion {
    struct partition_deletion *older;
    uint64_t frame;
    struct deletion deletion;
};

struct partition_extras {
    struct row_version *static_row;
    struct partition_deletion *deletions;
    const struct range_run *ranges; /* the newest; NULL: none */
};

struct partition {
    struct memtable_partition base;
    uint64_t frame_first; /* the first frame that wrote to the partition; 0: none yet */
    struct memtable_index rows;
    struct partition_extras *extras;
};

struct row_memtable {
    struct arena *arena;
    struct memtable_partitions partitions;
    uint64_t frame_last;
    struct buffer packed; /* scratch of one apply: the packed row that is being added */
    struct arena *scratch;
};

struct row_memtable *row_memtable_new(struct arena *arena)
{
    struct row_memtable *memtable = memory_zeroed(1, sizeof *memtable);

    memtable->arena = arena;
    memtable_partitions_init(&memtable->partitions, arena, sizeof(struct partition));
    memtable->scratch = arena_new(ROW_SCRATCH_CHUNK);
    return memtable;
}

void row_memtable_free(struct row_memtable *memtable)
{
    memtable_partitions_release(&memtable->partitions);
    buffer_release(&memtable->packed);
    arena_free(memtable->scratch);
    memory_free(memtable);
}

const struct memtable_partitions *row_memtable_partitions(const struct row_memtable *memtable)
{
    return &memtable->partitions;
}

/* ---- partitions ---- */

static struct partition_extras *partition_extras(struct row_memtable *memtable,
                                                 struct partition *partition)
{
    if (partition->extras == NULL)
        partition->extras = arena_alloc_zeroed(memtable->arena, sizeof *partition->extras,
                                               _Alignof(struct partition_extras));
    return partition->extras;
}

bool row_memtable_has(const struct row_memtable *memtable, uint32_t table_id, int64_t token,
                      struct bytes key)
{
    return memtable_partitions_find(&memtable->partitions, table_id, token, key) != NULL;
}

bool row_memtable_has_table(const struct row_memtable *memtable, uint32_t table_id)
{
    check(table_id > 0);
    return memtable_partitions_next_table(&memtable->partitions, table_id - 1) == table_id;
}

/* ---- the order of rows ---- */

/* The first bytes of a value as a big-endian number; missing ones are zeros. */
static uint64_t bytes_prefix(struct bytes value)
{
    uint64_t prefix = 0;

    if (value.size >= 8)
        return load_u64_be(value.data);
    for (size_t i = 0; i < value.size; i++)
        prefix |= (uint64_t)value.data[i] << (56 - 8 * i);
    return prefix;
}

/* Days and other numbers in text often have the same first eight bytes ("2013-11-").  So the prefix
 * of a text that begins with a digit is that byte, and six bits for each of the next nine
 * characters:
 *
 *     bits   63..56   55..50 49..44 ...  7..2
 *            byte 0   char 1 char 2 ... char 9     0 end, 1 up to ' ', 2..62 '!'..']', 63 beyond
 *
 * The codes 1 and 63 stand for several characters, so the bits behind them are zeros. */
static uint64_t digits_prefix(struct bytes value)
{
    enum { CHARACTERS = 9, BITS = 6 };
    uint64_t prefix = (uint64_t)value.data[0] << 56;

    for (size_t i = 1; i < value.size && i <= CHARACTERS; i++) {
        uint8_t byte = value.data[i];
        uint64_t code = byte <= ' ' ? 1 : byte > ']' ? 63 : byte - UINT64_C(0x1F);

        prefix |= code << (56 - BITS * i);
        if (byte <= ' ' || byte > ']')
            break;
    }
    return prefix;
}

static uint64_t text_prefix(struct bytes value)
{
    bool is_number = value.size > 0 && value.data[0] >= '0' && value.data[0] <= '9';

    return is_number ? digits_prefix(value) : bytes_prefix(value);
}

/* A number that orders values as type_compare does, as far as 64 bits can. */
static uint64_t value_prefix(const struct type *type, struct bytes value)
{
    switch ((unsigned)type->kind) {
    case TYPE_BIGINT:
    case TYPE_TIMESTAMP:
    case TYPE_INT:
    case TYPE_SMALLINT:
    case TYPE_TINYINT:
        /* An empty value has the prefix of the least number. */
        return value.size == 0 ? 0 : bytes_prefix(value) ^ (UINT64_C(1) << 63);
    case TYPE_TEXT:
    case TYPE_ASCII:
        return text_prefix(value);
    case TYPE_BLOB:
    case TYPE_DATE:
    case TYPE_TIME:
        return bytes_prefix(value);
    default:
        return 0;
    }
}

uint64_t row_memtable_prefix(const struct table *table, const struct clustering *clustering)
{
    if (clustering->count == 0)
        return 0;
    const struct column *column = &table->columns[table->partition_count];
    uint64_t prefix = value_prefix(column->type, clustering->values[0]);
    return column->descending ? ~prefix : prefix;
}

uint64_t row_memtable_bound_prefix(const struct table *table, const struct bound *bound)
{
    return bound->prefix.count == 0 && bound->side == BOUND_AFTER
               ? UINT64_MAX
               : row_memtable_prefix(table, &bound->prefix);
}

static void row_node_clustering(const struct row_node *node, struct clustering *clustering_out)
{
    struct reader reader = reader_of(bytes_of(node->oldest->packed, node->oldest->size));

    row_unfiltered_unpack_clustering(&reader, clustering_out);
}

static uint64_t row_node_prefix(const void *table, const void *item)
{
    struct clustering clustering;

    row_node_clustering(item, &clustering);
    return row_memtable_prefix(table, &clustering);
}

static int row_node_compare(const void *table, const void *key, const void *item)
{
    struct clustering clustering;

    row_node_clustering(item, &clustering);
    return row_clustering_compare(table, key, &clustering);
}

static int bound_compare_node(const void *table, const void *key, const void *item)
{
    struct clustering clustering;

    row_node_clustering(item, &clustering);
    return row_bound_compare_clustering(table, key, &clustering);
}

static struct memtable_index_search row_search(const struct table *table,
                                               const struct clustering *clustering)
{
    return (struct memtable_index_search){
        .prefix = row_memtable_prefix(table, clustering),
        .key = clustering,
        .compare = row_node_compare,
        .context = table,
        .prefix_of = row_node_prefix,
    };
}

static struct memtable_index_search bound_search(const struct table *table,
                                                 const struct bound *bound)
{
    return (struct memtable_index_search){
        .prefix = row_memtable_bound_prefix(table, bound),
        .key = bound,
        .compare = bound_compare_node,
        .context = table,
        .prefix_of = row_node_prefix,
    };
}

/* ---- writing ---- */

/* How many versions a reader at `frame` merges; *first_out is the newest of them. */
static uint32_t versions_visible(const struct row_version *newest, uint64_t frame,
                                 const struct row_version **first_out)
{
    const struct row_version *version = newest;

    while (version != NULL && version->frame > frame)
        version = version->older;
    *first_out = version;
    return version != NULL ? version->depth + 1 : 0;
}

/* A version was packed by row_unfiltered_pack, so unpacking it cannot fail. */
static void version_unpack(const struct row_version *version, struct arena *arena,
                           struct unfiltered *row_out)
{
    struct reader reader = reader_of(bytes_of(version->packed, version->size));
    int rc = row_unfiltered_unpack(&reader, arena, row_out);
    check(rc == 0 && row_out->kind == UNFILTERED_ROW);
}

static void versions_unpack(const struct row_version *first, uint32_t count, struct arena *arena,
                            const struct row **rows)
{
    struct unfiltered *unpacked =
        arena_alloc(arena, count * sizeof *unpacked, _Alignof(struct unfiltered));

    for (uint32_t i = 0; i < count; i++, first = first->older) {
        version_unpack(first, arena, &unpacked[i]);
        rows[i] = &unpacked[i].row;
    }
}

static void row_fold(struct row_memtable *memtable, const struct table *table,
                     const struct row_version *newest)
{
    const struct row *versions[ROW_FOLD_DEPTH + 1];
    uint32_t count = newest->depth + 1;

    check(count <= ROW_FOLD_DEPTH);
    arena_reset(memtable->scratch);
    struct reader reader = reader_of(arena_copy(memtable->scratch, buffer_view(&memtable->packed)));
    struct unfiltered written;
    int rc = row_unfiltered_unpack(&reader, memtable->scratch, &written);
    check(rc == 0 && written.kind == UNFILTERED_ROW);
    versions_unpack(newest, count, memtable->scratch, versions);
    versions[count] = &written.row;
    struct unfiltered merged = {.kind = UNFILTERED_ROW};
    row_merge(table, versions, count + 1, DELETION_NONE, memtable->scratch, &merged.row);
    buffer_clear(&memtable->packed);
    row_unfiltered_pack(&merged, &memtable->packed);
}

/* Whether a merge of the row in `packed` with the version gives the row in `packed`. */
static bool version_replaces(const struct row_memtable *memtable, const struct row_version *version,
                             uint16_t columns)
{
    struct bytes newer = buffer_view(&memtable->packed);
    struct bytes older = bytes_of(version->packed, version->size);

    if (columns == 0 || version->columns == 0)
        return row_packed_replaces(newer, older);
    return (version->columns & ~columns) == 0 && row_packed_follows(newer, older);
}

/* How many older versions a reader merges with the row in `packed`.  If they are too many, `packed`
 * is replaced by the merge of the row and these versions, and *columns is set to 0 (not known). */
static uint32_t version_depth(struct row_memtable *memtable, const struct table *table,
                              const struct row_version *newest, uint16_t *columns)
{
    if (newest == NULL)
        return 0;
    if (newest->depth == 0 && version_replaces(memtable, newest, *columns))
        return 0;
    if (newest->depth + 1 < ROW_FOLD_DEPTH)
        return newest->depth + 1;
    row_fold(memtable, table, newest);
    *columns = 0;
    return 0;
}

static struct row_version *version_add(struct row_memtable *memtable, const struct table *table,
                                       struct row_version *newest, uint16_t columns)
{
    uint32_t depth = version_depth(memtable, table, newest, &columns);
    struct row_version *version = arena_alloc(
        memtable->arena, sizeof *version + memtable->packed.size, _Alignof(struct row_version));
    version->older = newest;
    version->frame = memtable->frame_last;
    version->size = (uint32_t)memtable->packed.size;
    version->depth = (uint16_t)depth;
    version->columns = columns;
    memcpy(version->packed, memtable->packed.data, memtable->packed.size);
    return version;
}

/* Add the row in `packed`, which has the given clustering and columns (0: not known).  Where rows
 * ascend, `place` is behind the row that was added last; else it is all-zero. */
static void add_packed(struct row_memtable *memtable, const struct table *table,
                       struct partition *partition, const struct clustering *clustering,
                       uint16_t columns, struct memtable_index_cursor *place)
{
    struct memtable_index_search search = row_search(table, clustering);
    struct row_node *node = memtable_index_find_onward(&partition->rows, &search, place);
    if (node != NULL) {
        node->newest = version_add(memtable, table, node->newest, columns);
        place->position++;
        return;
    }
    node = arena_alloc(memtable->arena, sizeof *node, _Alignof(struct row_node));
    node->newest = version_add(memtable, table, NULL, columns);
    node->oldest = node->newest;
    memtable_index_insert(&partition->rows, memtable->arena, &search, place, node);
}

static void apply_row(struct row_memtable *memtable, const struct table *table,
                      struct partition *partition, const struct row *row, int64_t timestamp_us)
{
    struct unfiltered item = {.kind = UNFILTERED_ROW};

    arena_reset(memtable->scratch);
    mutation_fill_row(row, timestamp_us, memtable->scratch, &item.row);
    buffer_clear(&memtable->packed);
    row_unfiltered_pack(&item, &memtable->packed);
    if (row->is_static) {
        struct partition_extras *extras = partition_extras(memtable, partition);
        extras->static_row = version_add(memtable, table, extras->static_row, 0);
        return;
    }
    struct memtable_index_cursor place = {0};
    add_packed(memtable, table, partition, &row->clustering, 0, &place);
}

static void apply_partition_deletion(struct row_memtable *memtable, struct partition *partition,
                                     struct deletion deletion)
{
    struct partition_extras *extras = partition_extras(memtable, partition);
    const struct partition_deletion added = {extras->deletions, memtable->frame_last, deletion};

    if (extras->deletions != NULL &&
        !row_deletion_supersedes(deletion, extras->deletions->deletion))
        return;
    extras->deletions = arena_copy_item(memtable->arena, &added, sizeof added);
}

static struct partition *partition_write(struct row_memtable *memtable, const struct table *table,
                                         int64_t token, struct bytes key, uint64_t frame)
{
    check(frame > 0 && frame >= memtable->frame_last);
    memtable->frame_last = frame;
    struct partition *partition =
        memtable_partitions_get(&memtable->partitions, table->id, token, key);
    if (partition->frame_first == 0)
        partition->frame_first = frame;
    return partition;
}

void row_memtable_apply(struct row_memtable *memtable, const struct table *table,
                        const struct mutation *mutation, uint64_t frame, int64_t timestamp_us)
{
    const struct unfiltered *start = NULL;

    check(mutation->table_id == table->id);
    struct partition *partition =
        partition_write(memtable, table, mutation->token, mutation->key, frame);
    if (mutation->deletion.timestamp_us != TIMESTAMP_NONE)
        apply_partition_deletion(memtable, partition,
                                 mutation_fill_deletion(mutation->deletion, timestamp_us));
    for (uint32_t i = 0; i < mutation->item_count; i++) {
        const struct unfiltered *item = &mutation->items[i];
        if (item->kind == UNFILTERED_ROW) {
            apply_row(memtable, table, partition, &item->row, timestamp_us);
            continue;
        }
        if (start != NULL && item->before.timestamp_us != TIMESTAMP_NONE)
            range_deletions_add(&partition_extras(memtable, partition)->ranges, table,
                                &start->bound, &item->bound,
                                mutation_fill_deletion(item->before, timestamp_us), frame,
                                memtable->arena, &memtable->packed);
        start = item->after.timestamp_us != TIMESTAMP_NONE ? item : NULL;
    }
    check(start == NULL);
}

void row_memtable_apply_rows(struct row_memtable *memtable, const struct table *table,
                             const struct packed_rows *rows, const struct packed_span *span,
                             uint64_t frame, int64_t timestamp_us)
{
    check(span->table_id == table->id);
    struct partition *partition = partition_write(memtable, table, span->token, span->key, frame);
    struct memtable_index_cursor place = {0};
    for (uint32_t i = 0; i < span->row_count; i++) {
        struct bytes packed = packed_rows_get(rows, span->row_first + i);
        struct reader reader = reader_of(packed);
        struct clustering clustering;
        row_unfiltered_unpack_clustering(&reader, &clustering);
        buffer_clear(&memtable->packed);
        row_pack_at(packed, timestamp_us, &memtable->packed);
        add_packed(memtable, table, partition, &clustering,
                   packed_rows_columns(rows, span->row_first + i), &place);
    }
}

/* ---- reading ---- */

/* A write between two pulls makes the cursor invalid.  The cursor is then set again, behind the
 * last row that it gave. */
struct row_stream {
    struct stream base;
    const struct partition *partition;
    struct slice slice;
    uint64_t frame;
    bool static_pending;
    struct memtable_index_cursor cursor;
    uint32_t cursor_rows;
    const struct row_node *head; /* the next row; NULL: not looked up, or there is none */
    const struct row_node *last;
    bool rows_ended;
    struct clustering head_clustering;
    struct bytes passed;   /* rows of this first clustering value are skipped; data NULL: none */
    uint32_t passed_count; /* rows skipped one by one since the last row_memtable_stream_pass */
    uint32_t *looked;      /* see row_memtable_stream_limit; NULL: no limit */
    uint32_t looked_most;
    struct range_sweep *ranges; /* owned; NULL: there are none */
    struct unfiltered bound;    /* the next place of the sweep, if `has_bound` */
    bool has_bound;
    struct deletion open; /* the range deletion in force */
    struct arena *arena;
    bool is_kept; /* the caller owns `arena`, and no pull resets it */
};

static void stream_seek(struct row_stream *stream, const struct bound *place)
{
    struct memtable_index_search search = bound_search(stream->base.table, place);

    stream->cursor = memtable_index_seek(&stream->partition->rows, &search);
    stream->cursor_rows = stream->partition->rows.count;
}

static enum bound_side stream_behind(const struct row_stream *stream)
{
    return stream->slice.reversed ? BOUND_BEFORE : BOUND_AFTER;
}

static void stream_set_cursor(struct row_stream *stream)
{
    struct bound place = stream->slice.reversed ? stream->slice.end : stream->slice.start;

    if (stream->last != NULL) {
        row_node_clustering(stream->last, &place.prefix);
        place.side = stream_behind(stream);
    }
    stream_seek(stream, &place);
}

static void stream_find_head(struct row_stream *stream)
{
    const struct table *table = stream->base.table;
    bool reversed = stream->slice.reversed;

    if (stream->head != NULL || stream->rows_ended)
        return;
    if (stream->cursor_rows != stream->partition->rows.count)
        stream_set_cursor(stream);
    const struct row_node *node =
        reversed ? memtable_index_previous(&stream->cursor) : memtable_index_next(&stream->cursor);
    if (node != NULL) {
        row_node_clustering(node, &stream->head_clustering);
        const struct bound *limit = reversed ? &stream->slice.start : &stream->slice.end;
        int order = row_bound_compare_clustering(table, limit, &stream->head_clustering);
        if (reversed ? order > 0 : order < 0)
            node = NULL;
    }
    stream->rows_ended = node == NULL;
    stream->head = node;
}

/* The row as of the stream's frame under the covering deletion; false: nothing of the row is
 * visible. */
static bool stream_row(struct row_stream *stream, const struct row_version *newest,
                       struct deletion covering, struct unfiltered *out)
{
    const struct row_version *first;
    uint32_t count = versions_visible(newest, stream->frame, &first);

    out->kind = UNFILTERED_ROW;
    out->before = DELETION_NONE;
    out->after = DELETION_NONE;
    if (count == 0)
        return false;
    const struct row *versions[ROW_FOLD_DEPTH];
    if (count == 1 && covering.timestamp_us == TIMESTAMP_NONE) {
        version_unpack(first, stream->arena, out);
        if (out->row.complex_count == 0 && out->row.deletion.timestamp_us == TIMESTAMP_NONE)
            return !row_is_empty(&out->row);
    }
    versions_unpack(first, count, stream->arena, versions);
    row_merge(stream->base.table, versions, count, covering, stream->arena, &out->row);
    return !row_is_empty(&out->row);
}

static bool stream_static(struct row_stream *stream, struct unfiltered *out)
{
    const struct partition_extras *extras = stream->partition->extras;

    if (!stream->static_pending)
        return false;
    stream->static_pending = false;
    return extras != NULL &&
           stream_row(stream, extras->static_row, stream->base.partition_deletion, out);
}

static bool stream_bound_is_next(const struct row_stream *stream)
{
    if (!stream->has_bound)
        return false;
    if (stream->head == NULL)
        return true;
    int order = row_bound_compare_clustering(stream->base.table, &stream->bound.bound,
                                             &stream->head_clustering);
    return stream->slice.reversed ? order > 0 : order < 0;
}

/* Whether to skip the row that the cursor gave last.  After PASSED_MAX such rows a search sets the
 * cursor behind all of them. */
static bool stream_pass(struct row_stream *stream)
{
    if (stream->passed.data == NULL || stream->head_clustering.count == 0 ||
        !bytes_equal(stream->head_clustering.values[0], stream->passed))
        return false;
    if (++stream->passed_count % PASSED_MAX == 0) {
        struct bound place = {.prefix.count = 1, .side = stream_behind(stream)};
        place.prefix.values[0] = stream->passed;
        stream_seek(stream, &place);
    }
    return true;
}

static bool stream_is_at_limit(const struct row_stream *stream)
{
    return stream->looked != NULL && *stream->looked >= stream->looked_most;
}

/* Take the next place of the sweep; false: the deletion in force does not change there. */
static bool stream_bound(struct row_stream *stream, struct unfiltered *out)
{
    *out = stream->bound;
    stream->open = out->after;
    stream->has_bound = range_deletions_next(stream->ranges, &stream->bound);
    if (range_deletions_changes(out))
        return true;
    if (stream->looked != NULL)
        ++*stream->looked;
    return false;
}

static int row_stream_next(struct stream *base, struct unfiltered *out, struct error *err)
{
    struct row_stream *stream = (struct row_stream *)base;

    (void)err;
    for (;;) {
        if (!stream->is_kept)
            arena_reset(stream->arena); /* frees the memory of a row that was left out */
        if (stream_static(stream, out))
            return 1;
        stream_find_head(stream);
        bool is_bound = stream_bound_is_next(stream);
        if ((!is_bound && stream->head == NULL) || stream_is_at_limit(stream))
            return 0;
        if (is_bound) {
            if (stream_bound(stream, out))
                return 1;
            continue;
        }
        struct deletion covering = stream->open;
        if (!row_deletion_supersedes(covering, base->partition_deletion))
            covering = base->partition_deletion;
        stream->last = stream->head;
        stream->head = NULL;
        if (stream_pass(stream))
            continue;
        if (stream->looked != NULL)
            ++*stream->looked;
        if (stream_row(stream, stream->last->newest, covering, out))
            return 1;
    }
}

static void row_stream_close(struct stream *base)
{
    struct row_stream *stream = (struct row_stream *)base;

    range_deletions_end(stream->ranges);
    if (!stream->is_kept)
        arena_free(stream->arena);
    memory_free(stream);
}

uint32_t row_memtable_stream_pass(struct stream *base, struct bytes value)
{
    struct row_stream *stream = (struct row_stream *)base;
    uint32_t count = stream->passed_count;

    check(base->next == row_stream_next);
    stream->passed = value;
    stream->passed_count = 0;
    return count;
}

void row_memtable_stream_limit(struct stream *base, uint32_t *looked, uint32_t most)
{
    struct row_stream *stream = (struct row_stream *)base;

    check(base->next == row_stream_next);
    stream->looked = looked;
    stream->looked_most = most;
}

static struct deletion deletion_visible(const struct partition_extras *extras, uint64_t frame)
{
    const struct partition_deletion *at = extras->deletions;

    while (at != NULL && at->frame > frame)
        at = at->older;
    return at != NULL ? at->deletion : DELETION_NONE;
}

struct stream *row_memtable_stream(const struct row_memtable *memtable, const struct table *table,
                                   int64_t token, struct bytes key, const struct slice *slice,
                                   uint64_t frame, struct arena *kept)
{
    const struct partition *partition =
        memtable_partitions_find(&memtable->partitions, table->id, token, key);

    if (partition == NULL || partition->frame_first > frame)
        return NULL;
    struct row_stream *stream = memory_zeroed(1, sizeof *stream);
    stream->base = (struct stream){
        .table = table,
        .partition_deletion = DELETION_NONE,
        .next = row_stream_next,
        .close = row_stream_close,
    };
    stream->partition = partition;
    stream->slice = *slice;
    stream->frame = frame;
    stream->static_pending = slice->with_static;
    stream->open = DELETION_NONE;
    stream->is_kept = kept != NULL;
    stream->arena = kept != NULL ? kept : arena_new(ROW_STREAM_CHUNK);
    stream_set_cursor(stream);
    if (partition->extras != NULL) {
        stream->base.partition_deletion = deletion_visible(partition->extras, frame);
        stream->ranges = range_deletions_sweep(partition->extras->ranges, table, &stream->slice,
                                               frame, stream->base.partition_deletion);
        stream->has_bound =
            stream->ranges != NULL && range_deletions_next(stream->ranges, &stream->bound);
    }
    return &stream->base;
}
