/* row: the order of rows and bounds, and their packed form (docs/FORMATS.md "Row").
 *
 * Rows that no writer makes are refused as corrupt, because merging does not check for them. */
#include "storage/cell/row.h"

#include <string.h>

#include "counters/counter_cell.h"
#include "base/arena.h"

/* The first byte of a packed unfiltered: its kind in the low bits, and flags. */
enum {
    PACK_KIND = 3,
    ROW_STATIC = 4,
    ROW_MARKER = 8,
    ROW_MARKER_EXPIRES = 16,
    ROW_DELETION = 32,
    ROW_COMPLEX = 64,
    ROW_UNUSED = 128,
    BOUND_IS_AFTER = 4,
    BOUND_HAS_BEFORE = 8,
    BOUND_HAS_AFTER = 16,
    BOUND_UNUSED = 224
};

/* The flag byte of a packed cell; the two lowest bits are those of enum cell_flag. */
enum {
    PACK_CELL_TTL = 4,  /* ttl and expiry follow */
    PACK_CELL_MADE = 8, /* a tombstone's expiry_s follows: the second when it was made */
    PACK_CELL_PATH = 16,
    PACK_CELL_SAME_TIME = 32, /* the cell has the marker's timestamp */
    PACK_CELL_UNUSED = 192
};

enum { CELL_PACKED_MAX = 1 + 6 * VARINT_SIZE_MAX };

/* ---- order ---- */

static int clustering_compare_value(const struct table *table, uint32_t index, struct bytes a,
                                    struct bytes b)
{
    const struct column *column = &table->columns[table->partition_count + index];
    bool is_text = column->type->kind == TYPE_TEXT || column->type->kind == TYPE_ASCII;
    int order = is_text ? bytes_compare(a, b) : type_compare(column->type, a, b);

    return column->descending ? -order : order;
}

static int clustering_compare_common(const struct table *table, const struct clustering *a,
                                     const struct clustering *b)
{
    uint32_t count = a->count < b->count ? a->count : b->count;

    check(count <= table->clustering_count);
    for (uint32_t i = 0; i < count; i++) {
        int order = clustering_compare_value(table, i, a->values[i], b->values[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

int row_clustering_compare(const struct table *table, const struct clustering *a,
                           const struct clustering *b)
{
    int order = clustering_compare_common(table, a, b);

    return order != 0 ? order : (a->count > b->count) - (a->count < b->count);
}

int row_bound_compare(const struct table *table, const struct bound *a, const struct bound *b)
{
    int order = clustering_compare_common(table, &a->prefix, &b->prefix);

    if (order != 0)
        return order;
    /* The shorter prefix is before or after everything that begins with it. */
    if (a->prefix.count != b->prefix.count)
        return a->prefix.count < b->prefix.count ? (int)a->side : -(int)b->side;
    return ((int)a->side > (int)b->side) - ((int)a->side < (int)b->side);
}

int row_bound_compare_clustering(const struct table *table, const struct bound *bound,
                                 const struct clustering *clustering)
{
    int order = clustering_compare_common(table, &bound->prefix, clustering);

    return order != 0 ? order : (int)bound->side;
}

/* ---- packing ---- */

void row_clustering_pack(const struct clustering *clustering, struct buffer *buffer)
{
    check(clustering->count <= CLUSTERING_MAX);
    buffer_put_u8(buffer, (uint8_t)clustering->count);
    for (uint32_t i = 0; i < clustering->count; i++)
        buffer_put_sized(buffer, clustering->values[i]);
}

void row_clustering_unpack(struct reader *reader, struct clustering *clustering_out)
{
    uint8_t count = reader_u8(reader);

    clustering_out->count = 0;
    if (count > CLUSTERING_MAX)
        reader->failed = true;
    for (uint8_t i = 0; i < count && !reader->failed; i++)
        clustering_out->values[i] = reader_sized(reader);
    if (!reader->failed)
        clustering_out->count = count;
}

void row_deletion_pack(struct deletion deletion, struct buffer *buffer)
{
    buffer_put_signed(buffer, deletion.timestamp_us);
    buffer_put_signed(buffer, deletion.local_s);
}

struct deletion row_deletion_unpack(struct reader *reader)
{
    struct deletion deletion;

    deletion.timestamp_us = reader_signed(reader);
    deletion.local_s = reader_signed(reader);
    if (deletion.timestamp_us == TIMESTAMP_NONE)
        reader->failed = true;
    return deletion;
}

static void expiry_pack(int32_t ttl_s, int64_t expiry_s, struct buffer *buffer)
{
    buffer_put_varint(buffer, (uint64_t)ttl_s);
    buffer_put_signed(buffer, expiry_s);
}

static void expiry_unpack(struct reader *reader, int32_t *ttl_s_out, int64_t *expiry_s_out)
{
    uint64_t ttl_s = reader_varint(reader);

    *expiry_s_out = reader_signed(reader);
    if (ttl_s == 0 || ttl_s > INT32_MAX || *expiry_s_out == EXPIRY_NONE)
        reader->failed = true;
    *ttl_s_out = reader->failed ? 0 : (int32_t)ttl_s;
}

static uint8_t cell_pack_flags(const struct cell *cell, const struct liveness *marker)
{
    unsigned flags = cell->flags;

    if (cell->ttl_s > 0)
        flags |= PACK_CELL_TTL;
    if ((cell->flags & CELL_TOMBSTONE) != 0 && cell->expiry_s != EXPIRY_NONE)
        flags |= PACK_CELL_MADE;
    if (cell->path.data != NULL)
        flags |= PACK_CELL_PATH;
    if (cell->timestamp_us == marker->timestamp_us)
        flags |= PACK_CELL_SAME_TIME;
    return (uint8_t)flags;
}

static void cell_pack(const struct cell *cell, const struct liveness *marker, struct buffer *buffer)
{
    uint8_t flags = cell_pack_flags(cell, marker);

    check(cell->timestamp_us != TIMESTAMP_NONE);
    if ((flags & CELL_TOMBSTONE) != 0)
        check((flags & (PACK_CELL_TTL | CELL_COUNTER)) == 0);
    else
        check((cell->ttl_s > 0) == (cell->expiry_s != EXPIRY_NONE));
    buffer_reserve(buffer, CELL_PACKED_MAX + cell->path.size + cell->value.size);
    uint8_t *to = store_varint(buffer->data + buffer->size, cell->column_id);
    *to++ = flags;
    if ((flags & PACK_CELL_SAME_TIME) == 0)
        to = store_signed(to, cell->timestamp_us);
    if ((flags & PACK_CELL_TTL) != 0) {
        to = store_varint(to, (uint64_t)cell->ttl_s);
        to = store_signed(to, cell->expiry_s);
    }
    if ((flags & PACK_CELL_MADE) != 0)
        to = store_signed(to, cell->expiry_s);
    if ((flags & PACK_CELL_PATH) != 0)
        to = store_sized(to, cell->path);
    if ((flags & CELL_TOMBSTONE) == 0)
        to = store_sized(to, cell->value);
    buffer->size = (size_t)(to - buffer->data);
}

void row_pack_insert(const struct clustering *clustering, int64_t timestamp_us, uint32_t cell_count,
                     struct buffer *buffer)
{
    size_t most = 2 + 2 * VARINT_SIZE_MAX;

    check(clustering->count <= CLUSTERING_MAX);
    for (uint32_t i = 0; i < clustering->count; i++)
        most += VARINT_SIZE_MAX + clustering->values[i].size;
    buffer_reserve(buffer, most);
    uint8_t *to = buffer->data + buffer->size;
    *to++ = UNFILTERED_ROW | ROW_MARKER;
    *to++ = (uint8_t)clustering->count;
    for (uint32_t i = 0; i < clustering->count; i++)
        to = store_sized(to, clustering->values[i]);
    to = store_signed(to, timestamp_us);
    to = store_varint(to, cell_count);
    buffer->size = (size_t)(to - buffer->data);
}

void row_pack_insert_cell(uint32_t column_id, struct bytes path, const struct bytes *value,
                          struct buffer *buffer)
{
    uint8_t flags = PACK_CELL_SAME_TIME;
    size_t value_size = value != NULL ? value->size : 0;

    flags |= path.data != NULL ? PACK_CELL_PATH : 0;
    flags |= value == NULL ? CELL_TOMBSTONE : 0;
    buffer_reserve(buffer, CELL_PACKED_MAX + path.size + value_size);
    uint8_t *to = store_varint(buffer->data + buffer->size, column_id);
    *to++ = flags;
    if (path.data != NULL)
        to = store_sized(to, path);
    if (value != NULL)
        to = store_sized(to, *value);
    buffer->size = (size_t)(to - buffer->data);
}

static void cell_unpack(struct reader *reader, const struct liveness *marker, struct cell *cell)
{
    cell->column_id = reader_varint32(reader);
    cell->ttl_s = 0;
    cell->expiry_s = EXPIRY_NONE;
    cell->path = bytes_of(NULL, 0);
    cell->value = bytes_of(NULL, 0);
    uint8_t flags = reader_u8(reader);
    /* Nearly all cells are live, of simple columns, and have the marker's timestamp. */
    if (flags == PACK_CELL_SAME_TIME && marker->timestamp_us != TIMESTAMP_NONE) {
        cell->flags = 0;
        cell->timestamp_us = marker->timestamp_us;
        cell->value = reader_sized(reader);
        return;
    }
    bool is_tombstone = (flags & CELL_TOMBSTONE) != 0;

    cell->flags = flags & (CELL_TOMBSTONE | CELL_COUNTER);
    cell->timestamp_us =
        (flags & PACK_CELL_SAME_TIME) != 0 ? marker->timestamp_us : reader_signed(reader);
    if ((flags & PACK_CELL_TTL) != 0)
        expiry_unpack(reader, &cell->ttl_s, &cell->expiry_s);
    if ((flags & PACK_CELL_MADE) != 0)
        cell->expiry_s = reader_signed(reader);
    if ((flags & PACK_CELL_PATH) != 0)
        cell->path = reader_sized(reader);
    if (!is_tombstone)
        cell->value = reader_sized(reader);
    bool impossible = (flags & PACK_CELL_UNUSED) != 0 || cell->timestamp_us == TIMESTAMP_NONE ||
                      (is_tombstone && (flags & (PACK_CELL_TTL | CELL_COUNTER)) != 0) ||
                      (!is_tombstone && (flags & PACK_CELL_MADE) != 0);
    if (impossible || ((flags & CELL_COUNTER) != 0 && counter_cell_validate(cell->value) < 0))
        reader->failed = true;
}

static void cells_unpack(struct reader *reader, struct arena *arena, struct row *row)
{
    uint64_t count = reader_count(reader, 2);
    struct cell *cells = NULL;

    if (!reader->failed && count > 0)
        cells = arena_array(arena, count, sizeof *cells);
    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        cell_unpack(reader, &row->marker, &cells[i]);
        if (i == 0)
            continue;
        bool follows = cells[i - 1].column_id < cells[i].column_id ||
                       (cells[i - 1].column_id == cells[i].column_id &&
                        cells[i - 1].path.data != NULL && cells[i].path.data != NULL);
        if (!follows)
            reader->failed = true;
    }
    row->cells = cells;
    row->cell_count = reader->failed ? 0 : (uint32_t)count;
}

static void complex_unpack(struct reader *reader, struct arena *arena, struct row *row)
{
    uint64_t count = reader_count(reader, 3);
    struct complex_deletion *complex = NULL;

    if (!reader->failed && count > 0)
        complex = arena_array(arena, count, sizeof *complex);
    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        complex[i].column_id = reader_varint32(reader);
        complex[i].deletion = row_deletion_unpack(reader);
        if (i > 0 && complex[i - 1].column_id >= complex[i].column_id)
            reader->failed = true;
    }
    row->complex = complex;
    row->complex_count = reader->failed ? 0 : (uint32_t)count;
}

static void row_pack(const struct row *row, struct buffer *buffer)
{
    bool has_marker = row->marker.timestamp_us != TIMESTAMP_NONE;
    bool has_deletion = row->deletion.timestamp_us != TIMESTAMP_NONE;
    bool expires = has_marker && row->marker.ttl_s > 0;
    unsigned flags = UNFILTERED_ROW;

    flags |= row->is_static ? ROW_STATIC : 0;
    flags |= has_marker ? ROW_MARKER : 0;
    flags |= expires ? ROW_MARKER_EXPIRES : 0;
    flags |= has_deletion ? ROW_DELETION : 0;
    flags |= row->complex_count > 0 ? ROW_COMPLEX : 0;
    buffer_put_u8(buffer, (uint8_t)flags);
    if (!row->is_static)
        row_clustering_pack(&row->clustering, buffer);
    if (has_marker)
        buffer_put_signed(buffer, row->marker.timestamp_us);
    if (expires)
        expiry_pack(row->marker.ttl_s, row->marker.expiry_s, buffer);
    if (has_deletion)
        row_deletion_pack(row->deletion, buffer);
    if (row->complex_count > 0)
        buffer_put_varint(buffer, row->complex_count);
    for (uint32_t i = 0; i < row->complex_count; i++) {
        buffer_put_varint(buffer, row->complex[i].column_id);
        row_deletion_pack(row->complex[i].deletion, buffer);
    }
    buffer_put_varint(buffer, row->cell_count);
    for (uint32_t i = 0; i < row->cell_count; i++)
        cell_pack(&row->cells[i], &row->marker, buffer);
}

/* Read a packed INSERT up to its timestamp; false: the row is not an INSERT. */
static bool insert_pass_clustering(struct reader *reader)
{
    if (reader_u8(reader) != (UNFILTERED_ROW | ROW_MARKER))
        return false;
    for (uint8_t left = reader_u8(reader); left > 0; left--)
        (void)reader_sized(reader);
    return true;
}

void row_pack_at(struct bytes packed, int64_t timestamp_us, struct buffer *buffer)
{
    struct reader reader = reader_of(packed);

    bool is_insert = insert_pass_clustering(&reader);
    check(is_insert);
    struct bytes head = bytes_of(packed.data, reader.offset);
    (void)reader_signed(&reader);
    check(!reader.failed);
    buffer_reserve(buffer, packed.size + VARINT_SIZE_MAX);
    uint8_t *to = buffer->data + buffer->size;
    memcpy(to, head.data, head.size);
    to = store_signed(to + head.size, timestamp_us);
    memcpy(to, packed.data + reader.offset, packed.size - reader.offset);
    buffer->size = (size_t)(to - buffer->data) + packed.size - reader.offset;
}

static void row_unpack(struct reader *reader, uint8_t flags, struct arena *arena, struct row *row)
{
    /* Most of struct row is clustering values, which need not be zeroed. */
    row->is_static = (flags & ROW_STATIC) != 0;
    row->clustering.count = 0;
    row->marker = LIVENESS_NONE;
    row->deletion = DELETION_NONE;
    row->complex = NULL;
    row->complex_count = 0;
    row->cells = NULL;
    row->cell_count = 0;
    bool impossible = (flags & ROW_UNUSED) != 0 ||
                      (flags & (ROW_MARKER | ROW_MARKER_EXPIRES)) == ROW_MARKER_EXPIRES;
    if (impossible) {
        reader->failed = true;
        return;
    }
    if (!row->is_static)
        row_clustering_unpack(reader, &row->clustering);
    if ((flags & ROW_MARKER) != 0) {
        row->marker.timestamp_us = reader_signed(reader);
        if (row->marker.timestamp_us == TIMESTAMP_NONE)
            reader->failed = true;
    }
    if ((flags & ROW_MARKER_EXPIRES) != 0)
        expiry_unpack(reader, &row->marker.ttl_s, &row->marker.expiry_s);
    if ((flags & ROW_DELETION) != 0)
        row->deletion = row_deletion_unpack(reader);
    if ((flags & ROW_COMPLEX) != 0)
        complex_unpack(reader, arena, row);
    cells_unpack(reader, arena, row);
}

static void bound_pack(const struct unfiltered *unfiltered, struct buffer *buffer)
{
    bool has_before = unfiltered->before.timestamp_us != TIMESTAMP_NONE;
    bool has_after = unfiltered->after.timestamp_us != TIMESTAMP_NONE;
    unsigned flags = UNFILTERED_BOUND;

    flags |= unfiltered->bound.side == BOUND_AFTER ? BOUND_IS_AFTER : 0;
    flags |= has_before ? BOUND_HAS_BEFORE : 0;
    flags |= has_after ? BOUND_HAS_AFTER : 0;
    buffer_put_u8(buffer, (uint8_t)flags);
    row_clustering_pack(&unfiltered->bound.prefix, buffer);
    if (has_before)
        row_deletion_pack(unfiltered->before, buffer);
    if (has_after)
        row_deletion_pack(unfiltered->after, buffer);
}

static void bound_unpack(struct reader *reader, uint8_t flags, struct unfiltered *unfiltered)
{
    unfiltered->bound.side = (flags & BOUND_IS_AFTER) != 0 ? BOUND_AFTER : BOUND_BEFORE;
    row_clustering_unpack(reader, &unfiltered->bound.prefix);
    if ((flags & BOUND_HAS_BEFORE) != 0)
        unfiltered->before = row_deletion_unpack(reader);
    if ((flags & BOUND_HAS_AFTER) != 0)
        unfiltered->after = row_deletion_unpack(reader);
    if ((flags & BOUND_UNUSED) != 0)
        reader->failed = true;
}

void row_unfiltered_pack(const struct unfiltered *unfiltered, struct buffer *buffer)
{
    if (unfiltered->kind == UNFILTERED_ROW)
        row_pack(&unfiltered->row, buffer);
    else
        bound_pack(unfiltered, buffer);
}

/* A packed INSERT without TTL whose cells are simple and have the timestamp of its marker. */
struct packed_insert {
    struct bytes clustering;
    int64_t timestamp_us;
    uint64_t columns;
};

/* False: the row is not such an INSERT, or has a column id of COLUMNS or more. */
static bool packed_insert_read(struct bytes packed, struct packed_insert *insert_out)
{
    enum { COLUMNS = 64 };
    struct reader reader = reader_of(packed);

    if (!insert_pass_clustering(&reader))
        return false;
    insert_out->clustering = bytes_of(packed.data, reader.offset);
    insert_out->timestamp_us = reader_signed(&reader);
    insert_out->columns = 0;
    for (uint64_t left = reader_varint(&reader); left > 0; left--) {
        uint64_t column_id = reader_varint(&reader);
        uint8_t flags = reader_u8(&reader);
        if (column_id >= COLUMNS || (flags & ~CELL_TOMBSTONE) != PACK_CELL_SAME_TIME)
            return false;
        insert_out->columns |= UINT64_C(1) << column_id;
        if ((flags & CELL_TOMBSTONE) == 0)
            (void)reader_sized(&reader);
    }
    check(!reader.failed);
    return true;
}

bool row_packed_replaces(struct bytes newer, struct bytes older)
{
    struct packed_insert now;
    struct packed_insert before;

    return packed_insert_read(newer, &now) && packed_insert_read(older, &before) &&
           now.timestamp_us > before.timestamp_us && (before.columns & ~now.columns) == 0 &&
           bytes_equal(now.clustering, before.clustering);
}

bool row_packed_follows(struct bytes newer, struct bytes older)
{
    struct reader now = reader_of(newer);
    struct reader before = reader_of(older);

    bool are_inserts = insert_pass_clustering(&now) && insert_pass_clustering(&before);
    check(are_inserts);
    return bytes_equal(bytes_of(newer.data, now.offset), bytes_of(older.data, before.offset)) &&
           reader_signed(&now) > reader_signed(&before);
}

void row_unfiltered_unpack_clustering(struct reader *reader, struct clustering *clustering_out)
{
    uint8_t flags = reader_u8(reader);

    check((flags & (PACK_KIND | ROW_STATIC)) == UNFILTERED_ROW);
    row_clustering_unpack(reader, clustering_out);
}

int row_unfiltered_unpack(struct reader *reader, struct arena *arena,
                          struct unfiltered *unfiltered_out)
{
    uint8_t flags = reader_u8(reader);

    unfiltered_out->before = DELETION_NONE;
    unfiltered_out->after = DELETION_NONE;
    switch (flags & PACK_KIND) {
    case UNFILTERED_ROW:
        unfiltered_out->kind = UNFILTERED_ROW;
        row_unpack(reader, flags, arena, &unfiltered_out->row);
        break;
    case UNFILTERED_BOUND:
        unfiltered_out->kind = UNFILTERED_BOUND;
        bound_unpack(reader, flags, unfiltered_out);
        break;
    default:
        reader->failed = true;
        break;
    }
    return reader->failed ? ERROR_CORRUPT : 0;
}

/* ---- deep copies ---- */

size_t row_clustering_bytes(const struct clustering *clustering)
{
    size_t size = 0;
    for (uint32_t i = 0; i < clustering->count; i++)
        size += clustering->values[i].size;
    return size;
}

static struct bytes bytes_put(struct bytes bytes, uint8_t **to)
{
    uint8_t *start = *to;
    if (bytes.size > 0)
        memcpy(start, bytes.data, bytes.size);
    *to += bytes.size;
    return bytes_of(start, bytes.size);
}

void row_clustering_put(const struct clustering *from, uint8_t **to, struct clustering *copy_out)
{
    copy_out->count = from->count;
    for (uint32_t i = 0; i < from->count; i++)
        copy_out->values[i] =
            from->values[i].data == NULL ? from->values[i] : bytes_put(from->values[i], to);
}

struct clustering row_clustering_copy(const struct clustering *from, struct arena *arena)
{
    struct clustering copy = {0};
    uint8_t *to = arena_alloc(arena, row_clustering_bytes(from), 1);
    row_clustering_put(from, &to, &copy);
    return copy;
}

size_t row_memory(const struct row *row)
{
    size_t size = row_clustering_bytes(&row->clustering) + row->cell_count * sizeof(struct cell) +
                  row->complex_count * sizeof(struct complex_deletion);
    for (uint32_t i = 0; i < row->cell_count; i++)
        size += row->cells[i].path.size + row->cells[i].value.size;
    return size;
}

/* The copy is one allocation: cells, complex deletions, bytes. */
void row_copy(const struct row *from, struct arena *arena, struct row *copy_out)
{
    size_t complex_size = from->complex_count * sizeof(struct complex_deletion);
    struct cell *cells = arena_alloc(arena, row_memory(from), 16);
    struct complex_deletion *complex = (struct complex_deletion *)(cells + from->cell_count);
    uint8_t *to = (uint8_t *)(complex + from->complex_count);
    if (complex_size > 0)
        memcpy(complex, from->complex, complex_size);
    copy_out->cells = cells;
    copy_out->cell_count = from->cell_count;
    copy_out->complex = complex;
    copy_out->complex_count = from->complex_count;
    copy_out->is_static = from->is_static;
    copy_out->marker = from->marker;
    copy_out->deletion = from->deletion;
    row_clustering_put(&from->clustering, &to, &copy_out->clustering);
    for (uint32_t i = 0; i < from->cell_count; i++) {
        cells[i] = from->cells[i];
        cells[i].value = bytes_put(from->cells[i].value, &to);
        if (from->cells[i].path.data != NULL)
            cells[i].path = bytes_put(from->cells[i].path, &to);
    }
}
