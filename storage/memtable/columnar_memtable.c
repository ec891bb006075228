/* columnar_memtable: chunks of packed rows by partition.
 *
 * What decides correctness: rows of a partition are only appended, so a number of rows identifies
 * each earlier state of the partition.  A struct columnar_slot has the stats of such a state: they
 * count n rows, and must be the stats of the partition's first n rows.
 *
 * A row in a chunk has its columns side by side, so that an append writes to one cache line.  A
 * column takes 0, 1, 2, 4 or 8 bytes (codes 0, 2 or 4), the same in all partitions.  A click takes
 * 8 to 12 bytes:
 *
 *     time - base   4 bytes   the base is the partition's first time
 *     ad code       2         4 once there are more than 65,536 ads
 *     amount        2         4 once an amount is far from the partition's first
 *     day_derived   0         as long as no partition mixes its values
 *
 * The layout says how wide each column is.  A column begins as a constant of each partition (width
 * 0), and is widened, for all partitions, when a row does not fit.  A chunk keeps its layout; after
 * a change of the layout, a partition begins a new chunk.  As columns are only widened, the layout
 * changes only a few times in a memtable, whatever the input is. */
#include "storage/memtable/columnar_memtable.h"

#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "storage/cell/partition_index.h"
#include "storage/cell/string_table.h"
#include "storage/memtable/columnar_partitions.h"

enum {
    CHUNK_ROWS_FIRST = 4,
    CHUNK_ROWS_MIN = 8, /* of the second and later chunks */
    CHUNK_ROWS_MAX = 256,
    PREFETCH_PARTITIONS = 8,
};

/* A column in a row: the value at `offset`, then one byte for the scale and one for the absence, if
 * the layout has them. */
struct cell_layout {
    uint16_t offset;
    uint8_t width; /* bytes of the value: 0 (constant), 1, 2, 4, 8 */
    bool has_scales;
    bool has_absent;
};

struct row_layout {
    uint32_t row_size;
    uint16_t number;
    struct cell_layout cells[]; /* by column */
};

struct chunk {
    struct chunk *next;
    const struct row_layout *layout;
    uint32_t rows;  /* of a partition's last chunk: its capacity */
    uint8_t data[]; /* rows * layout->row_size bytes */
};

struct common {
    bool is_known;
    uint8_t flags;     /* of the first partition */
    uint8_t differing; /* bits in which the flags of any partition differ from `flags` */
};

struct columnar_memtable {
    const struct table *table;
    struct arena *arena;
    uint32_t column_count;
    uint32_t stats_column; /* UINT32_MAX: none */
    bool has_times;        /* the first column is a clustering column of integers */
    bool is_frozen;
    uint64_t rows;
    const struct row_layout *layout;
    struct common common[BLOCK_COLUMNS_MAX]; /* by column */
    struct columnar_partitions partitions;
    uint32_t *order;                                 /* frozen only */
    struct string_table *strings[BLOCK_COLUMNS_MAX]; /* by column; NULL where it has no codes */
    uint32_t *mapped[BLOCK_COLUMNS_MAX]; /* by column: from codes of the last block to the
                                          * memtable's */
    uint32_t *mapped_partitions;
    uint32_t mapped_capacity;                   /* in items: of mapped_partitions, and of each array
                                                 * in `mapped` */
    struct columnar_partition **row_partitions; /* of the block being applied */
    uint8_t **row_data;                         /* by row: where it is stored */
    uint32_t row_capacity;
};

/* ---- making and freeing ---- */

static struct row_layout *layout_new(struct arena *arena, uint32_t column_count)
{
    size_t size = sizeof(struct row_layout) + column_count * sizeof(struct cell_layout);
    return arena_alloc_zeroed(arena, size, _Alignof(struct row_layout));
}

struct columnar_memtable *columnar_memtable_new(const struct table *table, struct arena *arena)
{
    struct columnar_memtable *memtable = memory_zeroed(1, sizeof *memtable);
    memtable->table = table;
    memtable->arena = arena;
    memtable->column_count = block_column_count(table);
    memtable->stats_column = columnar_rows_stats_column(table);
    memtable->has_times = table->clustering_count > 1 &&
                          block_vector_kind(block_column_of(table, 0)->type) == VECTOR_INTEGER;
    memtable->layout = layout_new(arena, memtable->column_count);
    columnar_partitions_init(&memtable->partitions, arena, memtable->column_count);
    for (uint32_t i = 0; i < memtable->column_count; i++)
        if (block_vector_kind(block_column_of(table, i)->type) == VECTOR_CODE)
            memtable->strings[i] = string_table_new(arena);
    return memtable;
}

void columnar_memtable_free(struct columnar_memtable *memtable)
{
    for (uint32_t i = 0; i < memtable->column_count; i++) {
        string_table_free(memtable->strings[i]);
        memory_free(memtable->mapped[i]);
    }
    columnar_partitions_release(&memtable->partitions);
    memory_free(memtable->mapped_partitions);
    memory_free(memtable->order);
    memory_free(memtable->row_partitions);
    memory_free(memtable->row_data);
    memory_free(memtable);
}

/* ---- partitions of a block ---- */

static struct columnar_partition *mapped_partition(const struct columnar_memtable *memtable,
                                                   uint32_t code)
{
    return memtable->partitions.items[memtable->mapped_partitions[code]];
}

/* Prefetches ahead, because the partitions of a block are scattered over memory. */
static void partitions_touch(struct columnar_memtable *memtable, uint32_t count, uint64_t frame,
                             int64_t timestamp_us)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i + PREFETCH_PARTITIONS < count) {
            const struct columnar_partition *ahead =
                mapped_partition(memtable, i + PREFETCH_PARTITIONS);
            __builtin_prefetch(ahead, 1);
            __builtin_prefetch(ahead->bases, 1);
        }
        struct columnar_partition *partition = mapped_partition(memtable, i);
        if (partition->room > 0)
            __builtin_prefetch(partition->next, 1);
        columnar_partitions_touch(&memtable->partitions, partition, frame, timestamp_us);
    }
}

static void common_add(struct common *common, uint8_t flags)
{
    if (!common->is_known)
        *common = (struct common){.is_known = true, .flags = flags};
    common->differing |= common->flags ^ flags;
}

static void constants_begin(struct columnar_memtable *memtable,
                            struct columnar_partition *partition, const struct block *block,
                            uint32_t row)
{
    uint8_t *flags = columnar_partition_flags(&memtable->partitions, partition);
    for (uint32_t i = 0; i < memtable->column_count; i++) {
        const struct block_column *column = &block->columns[i];
        bool is_absent = column->absent != NULL && column->absent[row];
        if (column->kind != VECTOR_CODE)
            partition->bases[i] = column->integers[row];
        else if (!is_absent)
            partition->bases[i] = memtable->mapped[i][column->codes[row]];
        if (column->kind == VECTOR_DECIMAL) {
            check(column->scales[row] <= COLUMNAR_FLAG_SCALE);
            flags[i] = column->scales[row];
        }
        flags[i] |= is_absent ? COLUMNAR_FLAG_ABSENT : 0;
        common_add(&memtable->common[i], flags[i]);
    }
}

/* A new partition takes its constants from its first row. */
static void rows_locate(struct columnar_memtable *memtable, const struct block *block)
{
    for (uint32_t row = 0; row < block->rows; row++) {
        struct columnar_partition *partition =
            mapped_partition(memtable, block->partition_codes[row]);
        memtable->row_partitions[row] = partition;
        if (!partition->has_constants) {
            constants_begin(memtable, partition, block, row);
            partition->has_constants = true;
        }
    }
}

/* ---- the layout ---- */

/* Whether all rows have the flag or scale `value`; `flags` NULL stands for zeros. */
static bool flags_are(const uint8_t *flags, uint8_t value, uint32_t rows)
{
    if (flags == NULL || rows == 0)
        return value == 0;
    return flags[0] == value && memcmp(flags, flags + 1, rows - 1) == 0;
}

/* The number of bytes that hold every row's offset from its partition's base, as a signed number.
 * Differences wrap around, so 8 bytes hold any offset. */
static uint8_t integers_width(struct columnar_partition *const *partitions,
                              const struct block_column *column, uint32_t index, uint32_t rows)
{
    /* The bits in which any offset differs from its sign, and bit 0 for any offset but 0, because
     * -1 differs in none.  The width must also hold the sign. */
    uint64_t bits = 0;
    if (flags_are(column->absent, 1, rows))
        return 0;
    for (uint32_t row = 0; row < rows; row++) {
        if (column->absent != NULL && column->absent[row])
            continue;
        uint64_t base = (uint64_t)partitions[row]->bases[index];
        int64_t offset = (int64_t)((uint64_t)column->integers[row] - base);
        bits |= (uint64_t)(offset ^ offset >> 63) | (offset != 0);
    }
    return bits == 0 ? 0 : bits <= INT8_MAX ? 1 : bits <= INT16_MAX ? 2 : bits <= INT32_MAX ? 4 : 8;
}

/* 0: the column has no width yet, and each row's code is the constant of its partition.  Else 2 or
 * 4, as the number of strings in the whole memtable needs. */
static uint8_t codes_width(const struct columnar_memtable *memtable,
                           const struct block_column *column, uint32_t index, uint32_t rows)
{
    const uint32_t *mapped = memtable->mapped[index];
    uint8_t width = string_table_count(memtable->strings[index]) <= UINT16_MAX + 1 ? 2 : 4;
    if (memtable->layout->cells[index].width > 0)
        return width;
    for (uint32_t row = 0; row < rows; row++) {
        if (column->absent != NULL && column->absent[row])
            continue;
        if (mapped[column->codes[row]] != memtable->row_partitions[row]->bases[index])
            return width;
    }
    return 0;
}

/* Whether all scales, or all absences, of the block's rows (`flags`; NULL stands for zeros) equal
 * the constants of the rows' partitions.  `part` selects scale or absence in a partition's flags.
 * The scales of absent rows do not matter. */
static bool flags_are_constant(const struct columnar_memtable *memtable, const uint8_t *flags,
                               uint8_t part, uint32_t index, const struct block *block)
{
    const struct common *common = &memtable->common[index];
    const uint8_t *ignored = part == COLUMNAR_FLAG_SCALE ? block->columns[index].absent : NULL;
    uint8_t shift = part == COLUMNAR_FLAG_SCALE ? 0 : COLUMNAR_ABSENT_SHIFT;
    if ((common->differing & part) == 0 &&
        flags_are(flags, (uint8_t)((common->flags & part) >> shift), block->rows))
        return true;
    for (uint32_t row = 0; row < block->rows; row++) {
        const uint8_t *flags_of =
            columnar_partition_flags(&memtable->partitions, memtable->row_partitions[row]);
        uint8_t constant = flags_of[index] & part;
        bool is_ignored = ignored != NULL && ignored[row];
        if (!is_ignored && (flags != NULL ? flags[row] : 0) != constant >> shift)
            return false;
    }
    return true;
}

static struct cell_layout cell_widen(const struct columnar_memtable *memtable,
                                     const struct block *block, uint32_t index)
{
    const struct block_column *column = &block->columns[index];
    struct cell_layout cell = memtable->layout->cells[index];
    if (cell.width < 8) {
        uint8_t width = column->kind == VECTOR_CODE
                            ? codes_width(memtable, column, index, block->rows)
                            : integers_width(memtable->row_partitions, column, index, block->rows);
        cell.width = width > cell.width ? width : cell.width;
    }
    if (column->kind == VECTOR_DECIMAL && !cell.has_scales)
        cell.has_scales =
            !flags_are_constant(memtable, column->scales, COLUMNAR_FLAG_SCALE, index, block);
    if (!cell.has_absent)
        cell.has_absent =
            !flags_are_constant(memtable, column->absent, COLUMNAR_FLAG_ABSENT, index, block);
    return cell;
}

static void layout_widen(struct columnar_memtable *memtable, const struct block *block)
{
    struct cell_layout cells[BLOCK_COLUMNS_MAX];
    const struct row_layout *old = memtable->layout;
    bool is_wider = false;
    for (uint32_t i = 0; i < memtable->column_count; i++) {
        cells[i] = cell_widen(memtable, block, i);
        is_wider = is_wider || cells[i].width != old->cells[i].width ||
                   cells[i].has_scales != old->cells[i].has_scales ||
                   cells[i].has_absent != old->cells[i].has_absent;
    }
    if (!is_wider)
        return;
    struct row_layout *layout = layout_new(memtable->arena, memtable->column_count);
    layout->number = (uint16_t)(old->number + 1);
    for (uint32_t i = 0; i < memtable->column_count; i++) {
        cells[i].offset = (uint16_t)layout->row_size;
        layout->row_size += (uint32_t)cells[i].width + cells[i].has_scales + cells[i].has_absent;
        layout->cells[i] = cells[i];
    }
    memtable->layout = layout;
}

/* ---- rows ---- */

/* A chunk after the first has room for half as many rows as the partition has, within
 * CHUNK_ROWS_MIN and CHUNK_ROWS_MAX.  So at most about a third of a large partition's memory is
 * unused. */
static void chunk_begin(struct columnar_memtable *memtable, struct columnar_partition *partition)
{
    uint64_t rows = packed_stats_rows(&partition->newest.stats);
    uint16_t capacity = rows == 0                   ? CHUNK_ROWS_FIRST
                        : rows / 2 < CHUNK_ROWS_MIN ? CHUNK_ROWS_MIN
                        : rows / 2 < CHUNK_ROWS_MAX ? (uint16_t)(rows / 2)
                                                    : CHUNK_ROWS_MAX;
    size_t size = sizeof(struct chunk) + (size_t)capacity * memtable->layout->row_size;
    struct chunk *chunk = arena_alloc(memtable->arena, size, _Alignof(struct chunk));
    *chunk = (struct chunk){.layout = memtable->layout, .rows = capacity};
    if (partition->tail != NULL) {
        partition->tail->next = chunk;
        partition->tail->rows -= partition->room;
    } else {
        partition->head = chunk;
    }
    partition->tail = chunk;
    partition->layout = chunk->layout->number;
    partition->next = chunk->data;
    partition->room = capacity;
}

static void stats_take(struct columnar_memtable *memtable, struct packed_stats *stats,
                       const struct partition_stats *more)
{
    memtable->partitions.sums_bytes -= packed_stats_bytes(stats);
    packed_stats_add(stats, more);
    memtable->partitions.sums_bytes += packed_stats_bytes(stats);
}

static inline void stats_take_row(struct columnar_memtable *memtable, struct packed_stats *stats,
                                  int64_t time)
{
    if (!packed_stats_take_row(stats, time)) {
        const struct partition_stats more = {.rows = 1, .first = time, .last = time};
        stats_take(memtable, stats, &more);
    }
}

static inline void stats_take_value(struct columnar_memtable *memtable, struct packed_stats *stats,
                                    const struct block_column *column, uint32_t row)
{
    if (column->absent != NULL && column->absent[row])
        return;
    if (!packed_stats_take_value(stats, column->integers[row], column->scales[row])) {
        const struct partition_stats more = {
            .scale_count = 1, .inline_sum = {column->scales[row], 1, column->integers[row]}};
        stats_take(memtable, stats, &more);
    }
}

static void rows_place(struct columnar_memtable *memtable, const struct block *block)
{
    const struct row_layout *layout = memtable->layout;
    const int64_t *times = memtable->has_times ? block->columns[0].integers : NULL;
    const struct block_column *summed =
        memtable->stats_column == UINT32_MAX ? NULL : &block->columns[memtable->stats_column];
    for (uint32_t row = 0; row < block->rows; row++) {
        struct columnar_partition *partition = memtable->row_partitions[row];
        if (partition->room == 0 || partition->layout != layout->number)
            chunk_begin(memtable, partition);
        memtable->row_data[row] = partition->next;
        __builtin_prefetch(partition->next, 1);
        partition->next += layout->row_size;
        partition->room--;
        struct packed_stats *stats = &partition->newest.stats;
        check(packed_stats_rows(stats) < UINT32_MAX);
        stats_take_row(memtable, stats, times != NULL ? times[row] : 0);
        if (summed != NULL)
            stats_take_value(memtable, stats, summed, row);
    }
}

static void store_offset(uint8_t *to, uint64_t offset, uint8_t width)
{
    if (width == 1)
        *to = (uint8_t)offset;
    else if (width == 2)
        store_u16(to, (uint16_t)offset);
    else if (width == 4)
        store_u32(to, (uint32_t)offset);
    else if (width == 8)
        store_u64(to, offset);
}

/* Called with constant widths, so that the compiler makes a loop for each. */
static inline void integers_scatter(const struct columnar_memtable *memtable,
                                    const struct block_column *column, uint32_t index,
                                    uint32_t rows, uint8_t width)
{
    size_t offset = memtable->layout->cells[index].offset;
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t base = (uint64_t)memtable->row_partitions[row]->bases[index];
        store_offset(memtable->row_data[row] + offset, (uint64_t)column->integers[row] - base,
                     width);
    }
}

static inline void codes_scatter(const struct columnar_memtable *memtable,
                                 const struct block_column *column, uint32_t index, uint32_t rows,
                                 uint8_t width)
{
    size_t offset = memtable->layout->cells[index].offset;
    const uint32_t *mapped = memtable->mapped[index];
    for (uint32_t row = 0; row < rows; row++) {
        bool is_absent = column->absent != NULL && column->absent[row];
        store_offset(memtable->row_data[row] + offset, is_absent ? 0 : mapped[column->codes[row]],
                     width);
    }
}

static void flags_scatter(uint8_t *const *row_data, const uint8_t *flags, size_t offset,
                          uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++)
        row_data[row][offset] = flags != NULL ? flags[row] : 0;
}

static void column_scatter(const struct columnar_memtable *memtable, const struct block *block,
                           uint32_t index)
{
    const struct block_column *column = &block->columns[index];
    struct cell_layout cell = memtable->layout->cells[index];
    if (column->kind == VECTOR_CODE) {
        if (cell.width == 2)
            codes_scatter(memtable, column, index, block->rows, 2);
        else if (cell.width == 4)
            codes_scatter(memtable, column, index, block->rows, 4);
    } else if (cell.width == 1) {
        integers_scatter(memtable, column, index, block->rows, 1);
    } else if (cell.width == 2) {
        integers_scatter(memtable, column, index, block->rows, 2);
    } else if (cell.width == 4) {
        integers_scatter(memtable, column, index, block->rows, 4);
    } else if (cell.width == 8) {
        integers_scatter(memtable, column, index, block->rows, 8);
    }
    size_t offset = (size_t)cell.offset + cell.width;
    if (cell.has_scales)
        flags_scatter(memtable->row_data, column->scales, offset++, block->rows);
    if (cell.has_absent)
        flags_scatter(memtable->row_data, column->absent, offset, block->rows);
}

static void scratch_reserve(struct columnar_memtable *memtable, const struct block *block)
{
    if (block->rows > memtable->row_capacity) {
        memtable->row_capacity = block->rows;
        memtable->row_partitions =
            memory_resize(memtable->row_partitions, block->rows * sizeof *memtable->row_partitions);
        memtable->row_data =
            memory_resize(memtable->row_data, block->rows * sizeof *memtable->row_data);
    }
    uint32_t strings = block->partitions.count;
    for (uint32_t i = 0; i < block->column_count; i++)
        if (block->columns[i].dictionary.count > strings)
            strings = block->columns[i].dictionary.count;
    if (strings <= memtable->mapped_capacity && memtable->mapped_partitions != NULL)
        return;
    size_t size = strings * sizeof(uint32_t);
    memtable->mapped_capacity = strings;
    memtable->mapped_partitions = memory_resize(memtable->mapped_partitions, size);
    for (uint32_t i = 0; i < memtable->column_count; i++)
        if (memtable->strings[i] != NULL)
            memtable->mapped[i] = memory_resize(memtable->mapped[i], size);
}

void columnar_memtable_apply(struct columnar_memtable *memtable, const struct block *block,
                             uint64_t frame, int64_t timestamp_us)
{
    check(!memtable->is_frozen && block->table_id == memtable->table->id &&
          block->column_count == memtable->column_count);
    scratch_reserve(memtable, block);
    columnar_partitions_add_all(&memtable->partitions, &block->partitions,
                                memtable->mapped_partitions);
    for (uint32_t i = 0; i < memtable->column_count; i++)
        if (memtable->strings[i] != NULL)
            string_table_add_all(memtable->strings[i], &block->columns[i].dictionary,
                                 memtable->mapped[i]);
    partitions_touch(memtable, block->partitions.count, frame, timestamp_us);
    rows_locate(memtable, block);
    layout_widen(memtable, block);
    rows_place(memtable, block);
    for (uint32_t i = 0; i < memtable->column_count; i++)
        column_scatter(memtable, block, i);
    memtable->rows += block->rows;
}

/* ---- reading ---- */

const uint32_t *columnar_memtable_mapped_codes(const struct columnar_memtable *memtable,
                                               uint32_t column_id)
{
    for (uint32_t i = 0; i < memtable->column_count; i++)
        if (block_column_of(memtable->table, i)->id == column_id)
            return memtable->mapped[i];
    return NULL;
}

const uint32_t *columnar_memtable_mapped_partitions(const struct columnar_memtable *memtable)
{
    return memtable->mapped_partitions;
}

uint32_t columnar_memtable_partition_count(const struct columnar_memtable *memtable)
{
    return memtable->partitions.count;
}

struct bytes columnar_memtable_partition_key(const struct columnar_memtable *memtable,
                                             uint32_t partition)
{
    check(partition < columnar_memtable_partition_count(memtable));
    return columnar_partition_key(&memtable->partitions, memtable->partitions.items[partition]);
}

int64_t columnar_memtable_partition_token(const struct columnar_memtable *memtable,
                                          uint32_t partition)
{
    check(partition < columnar_memtable_partition_count(memtable));
    return memtable->partitions.items[partition]->token;
}

uint32_t columnar_memtable_find(const struct columnar_memtable *memtable, struct bytes key)
{
    return columnar_partitions_find(&memtable->partitions, key);
}

struct partition_stats columnar_memtable_stats(const struct columnar_memtable *memtable,
                                               uint32_t partition, uint64_t frame)
{
    check(partition < columnar_memtable_partition_count(memtable));
    const struct columnar_partitions *partitions = &memtable->partitions;
    return packed_stats_view(
        &columnar_partitions_as_of(partitions, partitions->items[partition], frame)->stats);
}

uint64_t columnar_memtable_row_count(const struct columnar_memtable *memtable)
{
    return memtable->rows;
}

size_t columnar_memtable_bytes(const struct columnar_memtable *memtable)
{
    size_t bytes =
        columnar_partitions_bytes(&memtable->partitions) +
        memtable->row_capacity * (sizeof *memtable->row_partitions + sizeof *memtable->row_data) +
        memtable->mapped_capacity * sizeof(uint32_t);
    for (uint32_t i = 0; i < memtable->column_count; i++)
        if (memtable->strings[i] != NULL)
            bytes += string_table_bytes(memtable->strings[i]) +
                     memtable->mapped_capacity * sizeof(uint32_t);
    return bytes;
}

static uint64_t load_value(const uint8_t *from, uint8_t width, bool is_signed)
{
    switch (width) {
    case 1:
        return (uint64_t)(int64_t)(int8_t)*from;
    case 2:
        return is_signed ? (uint64_t)(int64_t)(int16_t)load_u16(from) : load_u16(from);
    case 4:
        return is_signed ? (uint64_t)(int64_t)(int32_t)load_u32(from) : load_u32(from);
    case 8:
        return load_u64(from);
    default:
        return 0;
    }
}

static inline void integers_gather(const struct chunk *chunk, struct cell_layout cell,
                                   uint64_t base, uint32_t count, int64_t *to, uint8_t width)
{
    const uint8_t *from = chunk->data + cell.offset;
    for (uint32_t row = 0; row < count; row++, from += chunk->layout->row_size)
        to[row] = (int64_t)(base + load_value(from, width, true));
}

static void codes_gather(const struct chunk *chunk, struct cell_layout cell, uint32_t constant,
                         uint32_t count, uint32_t *to)
{
    const uint8_t *from = chunk->data + cell.offset;
    for (uint32_t row = 0; row < count; row++, from += chunk->layout->row_size)
        to[row] = cell.width == 0 ? constant : (uint32_t)load_value(from, cell.width, false);
}

static void flags_gather(const struct chunk *chunk, size_t offset, bool is_stored, uint8_t constant,
                         uint32_t count, uint8_t *to)
{
    const uint8_t *from = chunk->data + offset;
    for (uint32_t row = 0; row < count; row++, from += chunk->layout->row_size)
        to[row] = is_stored ? *from : constant;
}

/* Absent values are read as 0, whatever the chunk has for them. */
static void absent_gather(struct columnar_rows *rows, struct columnar_vector *vector,
                          const struct chunk *chunk, struct cell_layout cell, uint8_t flags,
                          uint32_t count)
{
    uint8_t constant = (uint8_t)((flags & COLUMNAR_FLAG_ABSENT) >> COLUMNAR_ABSENT_SHIFT);
    if (!cell.has_absent && !constant) {
        if (vector->absent != NULL)
            memset(vector->absent + rows->rows, 0, count);
        return;
    }
    columnar_rows_absent(rows, vector);
    uint8_t *absent = vector->absent + rows->rows;
    size_t offset = (size_t)cell.offset + cell.width + cell.has_scales;
    flags_gather(chunk, offset, cell.has_absent, constant, count, absent);
    for (uint32_t row = 0; row < count; row++) {
        if (!absent[row])
            continue;
        if (vector->kind == VECTOR_CODE)
            vector->codes[rows->rows + row] = 0;
        else
            vector->integers[rows->rows + row] = 0;
        if (vector->kind == VECTOR_DECIMAL)
            vector->scales[rows->rows + row] = 0;
    }
}

static void column_gather(struct columnar_rows *rows, uint32_t index, const struct chunk *chunk,
                          int64_t constant, uint8_t flags, uint32_t count)
{
    struct columnar_vector *vector = &rows->vectors[index];
    struct cell_layout cell = chunk->layout->cells[index];
    uint64_t base = (uint64_t)constant;
    if (vector->kind == VECTOR_CODE) {
        codes_gather(chunk, cell, (uint32_t)base, count, vector->codes + rows->rows);
    } else {
        int64_t *to = vector->integers + rows->rows;
        if (cell.width == 2)
            integers_gather(chunk, cell, base, count, to, 2);
        else if (cell.width == 4)
            integers_gather(chunk, cell, base, count, to, 4);
        else
            integers_gather(chunk, cell, base, count, to, cell.width);
    }
    if (vector->kind == VECTOR_DECIMAL)
        flags_gather(chunk, (size_t)cell.offset + cell.width, cell.has_scales,
                     flags & COLUMNAR_FLAG_SCALE, count, vector->scales + rows->rows);
    absent_gather(rows, vector, chunk, cell, flags, count);
}

void columnar_memtable_rows(const struct columnar_memtable *memtable, uint32_t partition,
                            uint64_t frame, struct columnar_rows *rows)
{
    check(partition < columnar_memtable_partition_count(memtable));
    check(rows->column_count == memtable->column_count);
    const struct columnar_partition *source = memtable->partitions.items[partition];
    const struct columnar_slot *slot =
        columnar_partitions_as_of(&memtable->partitions, source, frame);
    const uint8_t *flags = columnar_partition_flags(&memtable->partitions, source);
    uint32_t left = (uint32_t)packed_stats_rows(&slot->stats);
    columnar_rows_clear(rows);
    columnar_rows_reserve(rows, left);
    rows->timestamp_us = slot->timestamp_us;
    for (uint32_t i = 0; i < memtable->column_count; i++) {
        if (memtable->strings[i] == NULL)
            continue;
        rows->vectors[i].strings = string_table_strings(memtable->strings[i]);
        rows->vectors[i].string_count = string_table_count(memtable->strings[i]);
        rows->vectors[i].strings_shared = true;
    }
    for (const struct chunk *chunk = source->head; left > 0; chunk = chunk->next) {
        uint32_t count = chunk->rows < left ? chunk->rows : left;
        for (uint32_t i = 0; i < memtable->column_count; i++)
            column_gather(rows, i, chunk, source->bases[i], flags[i], count);
        rows->rows += count;
        left -= count;
    }
    columnar_rows_sort(rows);
}

/* ---- frozen ---- */

static int partitions_compare(const void *a, const void *b, void *context)
{
    const struct columnar_memtable *memtable = context;
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    return partition_index_order(columnar_memtable_partition_token(memtable, left),
                                 columnar_memtable_partition_key(memtable, left),
                                 columnar_memtable_partition_token(memtable, right),
                                 columnar_memtable_partition_key(memtable, right));
}

static int64_t partition_token(const void *context, uint32_t partition)
{
    return columnar_memtable_partition_token(context, partition);
}

void columnar_memtable_freeze(struct columnar_memtable *memtable)
{
    check(!memtable->is_frozen);
    const struct partition_sort sort = {partition_token, partitions_compare, memtable};
    uint32_t count = columnar_memtable_partition_count(memtable);
    memtable->order = memory_alloc(count * sizeof *memtable->order);
    for (uint32_t i = 0; i < count; i++)
        memtable->order[i] = i;
    partition_index_sort_numbers(&sort, memtable->order, count);
    memtable->is_frozen = true;
}

const uint32_t *columnar_memtable_order(const struct columnar_memtable *memtable)
{
    check(memtable->is_frozen);
    return memtable->order;
}
