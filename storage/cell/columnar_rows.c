/* columnar_rows: rows are appended in the order of their frames and sorted stably, so a row's place
 * among its equals is its rank, unless `ranks` has another.
 *
 * A merge appends all inputs and sorts them, because few branches of the sort depend on the data,
 * unlike those of a merge by comparison. */
#include "storage/cell/columnar_rows.h"

#include <string.h>

#include "base/memory.h"

/* ---- making and freeing ---- */

void columnar_rows_init(struct columnar_rows *rows, const struct table *table)
{
    *rows = (struct columnar_rows){.table = table, .column_count = block_column_count(table)};
    rows->vectors = memory_zeroed(rows->column_count, sizeof *rows->vectors);
    for (uint32_t i = 0; i < rows->column_count; i++) {
        struct columnar_vector *vector = &rows->vectors[i];
        vector->column = block_column_of(table, i);
        vector->column_id = vector->column->id;
        vector->kind = block_vector_kind(vector->column->type);
    }
}

void columnar_rows_release(struct columnar_rows *rows)
{
    for (uint32_t i = 0; i < rows->column_count; i++) {
        struct columnar_vector *vector = &rows->vectors[i];
        memory_free(vector->integers);
        memory_free(vector->scales);
        memory_free(vector->codes);
        memory_free(vector->absent_memory);
    }
    memory_free(rows->vectors);
    memory_free(rows->timestamps_memory);
    memory_free(rows->ranks_memory);
    *rows = (struct columnar_rows){0};
}

void columnar_rows_clear(struct columnar_rows *rows)
{
    rows->rows = 0;
    rows->timestamps_us = NULL;
    rows->timestamp_us = 0;
    rows->ranks = NULL;
    for (uint32_t i = 0; i < rows->column_count; i++) {
        struct columnar_vector *vector = &rows->vectors[i];
        vector->absent = NULL;
        vector->strings = NULL;
        vector->string_count = 0;
        vector->strings_shared = false;
    }
}

static void vector_resize(struct columnar_vector *vector, size_t capacity)
{
    if (vector->kind == VECTOR_CODE)
        vector->codes = memory_resize(vector->codes, capacity * sizeof *vector->codes);
    else
        vector->integers = memory_resize(vector->integers, capacity * sizeof *vector->integers);
    if (vector->kind == VECTOR_DECIMAL)
        vector->scales = memory_resize(vector->scales, capacity);
    if (vector->absent_memory == NULL)
        return;
    vector->absent_memory = memory_resize(vector->absent_memory, capacity);
    if (vector->absent != NULL)
        vector->absent = vector->absent_memory;
}

static void optional_resize(int64_t **memory, int64_t **active, size_t capacity)
{
    if (*memory == NULL)
        return;
    *memory = memory_resize(*memory, capacity * sizeof **memory);
    if (*active != NULL)
        *active = *memory;
}

void columnar_rows_reserve(struct columnar_rows *rows, uint32_t capacity)
{
    if (capacity <= rows->capacity)
        return;
    capacity = memory_grown(rows->capacity, capacity);
    for (uint32_t i = 0; i < rows->column_count; i++)
        vector_resize(&rows->vectors[i], capacity);
    optional_resize(&rows->timestamps_memory, &rows->timestamps_us, capacity);
    optional_resize(&rows->ranks_memory, &rows->ranks, capacity);
    rows->capacity = capacity;
}

static size_t vector_bytes(const struct columnar_vector *vector)
{
    size_t bytes = vector->kind == VECTOR_CODE ? sizeof *vector->codes : sizeof *vector->integers;
    return bytes + (vector->kind == VECTOR_DECIMAL) + (vector->absent_memory != NULL);
}

size_t columnar_rows_bytes(const struct columnar_rows *rows)
{
    size_t bytes = (rows->timestamps_memory != NULL) * sizeof *rows->timestamps_memory +
                   (rows->ranks_memory != NULL) * sizeof *rows->ranks_memory;
    for (uint32_t i = 0; i < rows->column_count; i++)
        bytes += vector_bytes(&rows->vectors[i]);
    return bytes * rows->capacity + rows->column_count * sizeof *rows->vectors;
}

bool columnar_rows_adopt(struct columnar_rows *rows, const struct table *table)
{
    if (rows->column_count != block_column_count(table))
        return false;
    for (uint32_t i = 0; i < rows->column_count; i++) {
        const struct column *column = block_column_of(table, i);
        if (column->id != rows->vectors[i].column_id ||
            block_vector_kind(column->type) != rows->vectors[i].kind)
            return false;
    }
    rows->table = table;
    for (uint32_t i = 0; i < rows->column_count; i++)
        rows->vectors[i].column = block_column_of(table, i);
    return true;
}

void columnar_rows_absent(struct columnar_rows *rows, struct columnar_vector *vector)
{
    if (vector->absent != NULL)
        return;
    if (vector->absent_memory == NULL)
        vector->absent_memory = memory_alloc(rows->capacity);
    vector->absent = vector->absent_memory;
    memset(vector->absent, 0, rows->rows);
}

static void optional_make(const struct columnar_rows *rows, int64_t **memory, int64_t **active,
                          int64_t implied)
{
    if (*active != NULL)
        return;
    if (*memory == NULL)
        *memory = memory_alloc(rows->capacity * sizeof **memory);
    *active = *memory;
    for (uint32_t i = 0; i < rows->rows; i++)
        (*active)[i] = implied;
}

void columnar_rows_timestamps(struct columnar_rows *rows)
{
    optional_make(rows, &rows->timestamps_memory, &rows->timestamps_us, rows->timestamp_us);
}

void columnar_rows_ranks(struct columnar_rows *rows)
{
    optional_make(rows, &rows->ranks_memory, &rows->ranks, COLUMNAR_RANK_IMPLIED);
}

/* ---- append ---- */

static void vector_append(struct columnar_rows *rows, uint32_t index,
                          const struct columnar_rows *source, uint32_t from, uint32_t count)
{
    struct columnar_vector *to = &rows->vectors[index];
    const struct columnar_vector *vector = &source->vectors[index];
    uint32_t at = rows->rows;
    if (vector->kind == VECTOR_CODE) {
        memcpy(to->codes + at, vector->codes + from, count * sizeof *to->codes);
        if (to->strings == NULL) {
            to->strings = vector->strings;
            to->string_count = vector->string_count;
            to->strings_shared = vector->strings_shared;
        }
    } else {
        memcpy(to->integers + at, vector->integers + from, count * sizeof *to->integers);
    }
    if (vector->kind == VECTOR_DECIMAL)
        memcpy(to->scales + at, vector->scales + from, count);
    if (vector->absent != NULL) {
        columnar_rows_absent(rows, to);
        memcpy(to->absent + at, vector->absent + from, count);
    } else if (to->absent != NULL) {
        memset(to->absent + at, 0, count);
    }
}

static void timestamps_append(struct columnar_rows *rows, const struct columnar_rows *source,
                              uint32_t from, uint32_t count)
{
    bool same = source->timestamps_us == NULL && source->timestamp_us == rows->timestamp_us;
    if (rows->rows == 0 && rows->timestamps_us == NULL && source->timestamps_us == NULL) {
        rows->timestamp_us = source->timestamp_us;
        return;
    }
    if (rows->timestamps_us == NULL && same)
        return;
    columnar_rows_timestamps(rows);
    for (uint32_t i = 0; i < count; i++)
        rows->timestamps_us[rows->rows + i] =
            source->timestamps_us != NULL ? source->timestamps_us[from + i] : source->timestamp_us;
}

static void ranks_append(struct columnar_rows *rows, const struct columnar_rows *source,
                         uint32_t from, uint32_t count)
{
    if (rows->ranks == NULL && source->ranks == NULL)
        return;
    columnar_rows_ranks(rows);
    for (uint32_t i = 0; i < count; i++)
        rows->ranks[rows->rows + i] =
            source->ranks != NULL ? source->ranks[from + i] : COLUMNAR_RANK_IMPLIED;
}

int columnar_rows_append(struct columnar_rows *rows, const struct columnar_rows *source,
                         uint32_t from, uint32_t count)
{
    check(count <= source->rows && from <= source->rows - count);
    if (count > UINT32_MAX - rows->rows)
        return ERROR_LIMIT;
    columnar_rows_reserve(rows, rows->rows + count);
    for (uint32_t i = 0; i < rows->column_count; i++)
        vector_append(rows, i, source, from, count);
    timestamps_append(rows, source, from, count);
    ranks_append(rows, source, from, count);
    rows->rows += count;
    return 0;
}

void *columnar_rows_array(const struct columnar_rows *rows, uint32_t index, size_t *size_out)
{
    *size_out = sizeof(int64_t);
    if (index / 3 >= rows->column_count)
        return index % 3 == 0 ? rows->timestamps_us : rows->ranks;
    const struct columnar_vector *vector = &rows->vectors[index / 3];
    *size_out = index % 3 > 0                 ? 1
                : vector->kind == VECTOR_CODE ? sizeof(uint32_t)
                                              : sizeof(int64_t);
    if (index % 3 == 0)
        return vector->kind == VECTOR_CODE ? (void *)vector->codes : vector->integers;
    return index % 3 == 2 ? vector->absent : vector->kind == VECTOR_DECIMAL ? vector->scales : NULL;
}

void columnar_rows_drop(struct columnar_rows *rows, uint32_t count)
{
    check(count <= rows->rows);
    rows->rows -= count;
    for (uint32_t i = 0; i < columnar_rows_arrays(rows); i++) {
        size_t size;
        uint8_t *values = columnar_rows_array(rows, i, &size);
        if (values != NULL)
            memmove(values, values + count * size, rows->rows * size);
    }
}

/* ---- stats ---- */

uint32_t columnar_rows_stats_column(const struct table *table)
{
    for (uint32_t i = table->clustering_count - 1; i < block_column_count(table); i++)
        if (block_vector_kind(block_column_of(table, i)->type) == VECTOR_DECIMAL)
            return i;
    return UINT32_MAX;
}

static void stats_add_vector(struct partition_stats *stats, const struct columnar_vector *vector,
                             uint32_t rows)
{
    struct scale_sum sums[STATS_SCALES_MAX] = {0};
    struct partition_stats more = {.sums = sums};
    for (uint32_t i = 0; i < rows; i++) {
        if (vector->absent != NULL && vector->absent[i])
            continue;
        sums[vector->scales[i]].count++;
        sums[vector->scales[i]].sum += vector->integers[i];
    }
    for (uint8_t scale = 0; scale < STATS_SCALES_MAX; scale++) {
        sums[scale].scale = scale;
        if (sums[scale].count > 0)
            sums[more.scale_count++] = sums[scale];
    }
    more.inline_sum = sums[0];
    stats_add(stats, &more);
}

void columnar_rows_stats(const struct columnar_rows *rows, struct partition_stats *stats)
{
    if (rows->rows == 0)
        return;
    struct partition_stats more = {.rows = rows->rows};
    if (columnar_rows_clustering_columns(rows) > 0 && rows->vectors[0].kind == VECTOR_INTEGER) {
        /* The rows are sorted, so the least and the greatest value are at the ends. */
        int64_t a = rows->vectors[0].integers[0];
        int64_t b = rows->vectors[0].integers[rows->rows - 1];
        more.first = a < b ? a : b;
        more.last = a < b ? b : a;
    }
    stats_add(stats, &more);
    uint32_t column = columnar_rows_stats_column(rows->table);
    if (column != UINT32_MAX)
        stats_add_vector(stats, &rows->vectors[column], rows->rows);
}

/* ---- merge ---- */

struct merged_strings {
    struct bytes *strings;
    uint32_t count;
    uint32_t capacity;
};

/* `codes` maps each code of one input's column to its merged code plus one; 0: none yet.  `used`
 * lists the items of `codes` that are not 0. */
struct columnar_strings {
    struct merged_strings *columns;
    uint32_t column_count;
    uint32_t *codes;
    uint32_t codes_capacity;
    uint32_t *used;
    uint32_t used_count;
};

struct columnar_strings *columnar_rows_strings_new(void)
{
    return memory_zeroed(1, sizeof(struct columnar_strings));
}

void columnar_rows_strings_free(struct columnar_strings *strings)
{
    if (strings == NULL)
        return;
    for (uint32_t i = 0; i < strings->column_count; i++)
        memory_free(strings->columns[i].strings);
    memory_free(strings->columns);
    memory_free(strings->codes);
    memory_free(strings->used);
    memory_free(strings);
}

static void strings_clear(struct columnar_strings *strings, uint32_t column_count)
{
    if (strings->column_count < column_count) {
        strings->columns = memory_resize(strings->columns, column_count * sizeof *strings->columns);
        for (uint32_t i = strings->column_count; i < column_count; i++)
            strings->columns[i] = (struct merged_strings){0};
        strings->column_count = column_count;
    }
    for (uint32_t i = 0; i < strings->column_count; i++)
        strings->columns[i].count = 0;
}

/* Between inputs `codes` is all zeros, so nothing is copied. */
static void strings_map_reserve(struct columnar_strings *strings, uint32_t string_count)
{
    if (string_count <= strings->codes_capacity)
        return;
    uint32_t capacity = memory_grown(strings->codes_capacity, string_count);
    memory_free(strings->codes);
    memory_free(strings->used);
    strings->codes = memory_zeroed(capacity, sizeof *strings->codes);
    strings->used = memory_alloc(capacity * sizeof *strings->used);
    strings->codes_capacity = capacity;
}

static uint32_t merged_strings_add(struct merged_strings *merged, struct bytes string)
{
    merged->strings = memory_make_room(merged->strings, merged->count, &merged->capacity,
                                       sizeof *merged->strings);
    merged->strings[merged->count] = string;
    return merged->count++;
}

/* The input was appended at row `at`. */
static void merge_codes(struct columnar_strings *strings, uint32_t index,
                        const struct columnar_vector *input, struct columnar_vector *merged,
                        uint32_t at, uint32_t rows)
{
    strings_map_reserve(strings, input->string_count);
    strings->used_count = 0;
    for (uint32_t i = at; i < at + rows; i++) {
        uint32_t code = merged->codes[i];
        if (merged->absent != NULL && merged->absent[i])
            continue;
        if (strings->codes[code] == 0) {
            strings->codes[code] =
                merged_strings_add(&strings->columns[index], input->strings[code]) + 1;
            strings->used[strings->used_count++] = code;
        }
        merged->codes[i] = strings->codes[code] - 1;
    }
    for (uint32_t i = 0; i < strings->used_count; i++)
        strings->codes[strings->used[i]] = 0;
}

static void merge_append(const struct columnar_rows *input, struct columnar_strings *strings,
                         struct columnar_rows *merged)
{
    uint32_t at = merged->rows;
    int rc = columnar_rows_append(merged, input, 0, input->rows);
    check(rc == 0);
    for (uint32_t i = 0; i < merged->column_count; i++)
        if (merged->vectors[i].kind == VECTOR_CODE)
            merge_codes(strings, i, &input->vectors[i], &merged->vectors[i], at, input->rows);
}

static void merge_ranks(struct columnar_rows *rows)
{
    int64_t next = 0;
    for (uint32_t i = 0; rows->ranks != NULL && i < rows->rows; i++) {
        if (i > 0 && columnar_rows_compare(rows, i - 1, rows, i) != 0)
            next = 0;
        if (rows->ranks[i] == COLUMNAR_RANK_IMPLIED)
            rows->ranks[i] = next;
        next = rows->ranks[i] + 1;
    }
}

int columnar_rows_merge(const struct columnar_rows *const *inputs, uint32_t input_count,
                        struct columnar_strings *strings, struct columnar_rows *merged)
{
    columnar_rows_clear(merged);
    strings_clear(strings, merged->column_count);
    uint64_t rows = 0;
    for (uint32_t i = 0; i < input_count; i++)
        rows += inputs[i]->rows;
    if (rows > UINT32_MAX)
        return ERROR_LIMIT;
    columnar_rows_reserve(merged, (uint32_t)rows);
    for (uint32_t i = 0; i < input_count; i++)
        merge_append(inputs[i], strings, merged);
    for (uint32_t i = 0; i < merged->column_count; i++) {
        struct columnar_vector *vector = &merged->vectors[i];
        vector->strings = strings->columns[i].strings;
        vector->string_count = strings->columns[i].count;
        vector->strings_shared = false;
    }
    columnar_rows_sort(merged);
    merge_ranks(merged);
    return 0;
}

/* ---- removing ---- */

/* Counts from the nearest equal, at or before the row, that has an explicit rank; if there is none,
 * from the first equal. */
static int64_t rank_of(const struct columnar_rows *rows, uint32_t row)
{
    uint32_t first = row;
    for (;; first--) {
        if (rows->ranks != NULL && rows->ranks[first] != COLUMNAR_RANK_IMPLIED)
            return rows->ranks[first] + (row - first);
        if (first == 0 || columnar_rows_compare(rows, first - 1, rows, row) != 0)
            return row - first;
    }
}

static void remove_marked(uint8_t *values, size_t size, const uint8_t *gone, uint32_t rows)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rows; i++)
        if (!gone[i])
            memmove(values + kept++ * size, values + i * size, size);
}

static void ranks_pin(struct columnar_rows *rows, const uint8_t *gone)
{
    for (uint32_t i = 1; i < rows->rows; i++) {
        if (gone[i] || !gone[i - 1] || columnar_rows_compare(rows, i - 1, rows, i) != 0)
            continue;
        int64_t rank = rank_of(rows, i);
        columnar_rows_ranks(rows);
        rows->ranks[i] = rank;
    }
}

void columnar_rows_remove(struct columnar_rows *rows, const uint8_t *gone)
{
    uint32_t kept = 0;
    ranks_pin(rows, gone);
    for (uint32_t i = 0; i < columnar_rows_arrays(rows); i++) {
        size_t size;
        uint8_t *values = columnar_rows_array(rows, i, &size);
        if (values != NULL)
            remove_marked(values, size, gone, rows->rows);
    }
    for (uint32_t i = 0; i < rows->rows; i++)
        kept += !gone[i];
    rows->rows = kept;
}

/* ---- stream ---- */

/* Rows [position, end) are still to be yielded.  `values` has the serialized numbers of the row
 * yielded last; the memory of `values` never moves, so that views stay valid. */
struct rows_stream {
    struct stream base;
    const struct columnar_rows *rows;
    bool reversed;
    uint32_t position;
    uint32_t end;
    uint32_t row; /* yielded last; UINT32_MAX: none yet */
    int64_t rank;
    struct buffer values;
    struct cell *cells;
};

static struct bytes vector_value(const struct columnar_vector *vector, uint32_t row,
                                 struct buffer *values)
{
    check(vector->kind == VECTOR_CODE || values->capacity - values->size >= COLUMNAR_VALUE_MAX);
    if (vector->kind == VECTOR_CODE)
        return vector->strings[vector->codes[row]];
    size_t start = values->size;
    block_vector_put(vector->column->type, vector->integers[row],
                     vector->kind == VECTOR_DECIMAL ? vector->scales[row] : 0, values);
    return bytes_of(values->data + start, values->size - start);
}

void columnar_rows_clustering(const struct columnar_rows *rows, uint32_t row, struct buffer *values,
                              struct clustering *clustering_out)
{
    clustering_out->count = columnar_rows_clustering_columns(rows);
    for (uint32_t i = 0; i < clustering_out->count; i++)
        clustering_out->values[i] = vector_value(&rows->vectors[i], row, values);
}

static void row_clustering(const struct columnar_rows *rows, uint32_t row, int64_t rank,
                           struct buffer *values, struct clustering *clustering_out)
{
    buffer_clear(values);
    columnar_rows_clustering(rows, row, values, clustering_out);
    size_t start = values->size;
    buffer_put_u64_be(values, (uint64_t)rank);
    clustering_out->values[clustering_out->count++] = bytes_of(values->data + start, sizeof rank);
}

static uint32_t rows_seek(struct rows_stream *stream, const struct bound *bound)
{
    const struct columnar_rows *rows = stream->rows;
    uint32_t low = 0;
    uint32_t high = rows->rows;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct clustering clustering;
        row_clustering(rows, middle, rank_of(rows, middle), &stream->values, &clustering);
        if (row_bound_compare_clustering(rows->table, bound, &clustering) < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* While all ranks are implied, an equal of the row yielded last has the rank next to that row's. */
static int64_t next_rank(const struct rows_stream *stream, uint32_t row)
{
    const struct columnar_rows *rows = stream->rows;
    if (rows->ranks != NULL || stream->row == UINT32_MAX)
        return rank_of(rows, row);
    if (columnar_rows_compare(rows, stream->row, rows, row) == 0)
        return stream->reversed ? stream->rank - 1 : stream->rank + 1;
    return stream->reversed ? rank_of(rows, row) : 0;
}

static void row_fill(struct rows_stream *stream, uint32_t row, struct row *row_out)
{
    const struct columnar_rows *rows = stream->rows;
    int64_t timestamp_us =
        rows->timestamps_us != NULL ? rows->timestamps_us[row] : rows->timestamp_us;
    stream->rank = next_rank(stream, row);
    stream->row = row;
    *row_out = (struct row){.marker = {timestamp_us, 0, EXPIRY_NONE},
                            .deletion = {.timestamp_us = TIMESTAMP_NONE},
                            .cells = stream->cells};
    row_clustering(rows, row, stream->rank, &stream->values, &row_out->clustering);
    for (uint32_t i = columnar_rows_clustering_columns(rows); i < rows->column_count; i++) {
        const struct columnar_vector *vector = &rows->vectors[i];
        if (vector->absent != NULL && vector->absent[row])
            continue;
        stream->cells[row_out->cell_count++] =
            (struct cell){.column_id = vector->column_id,
                          .timestamp_us = timestamp_us,
                          .expiry_s = EXPIRY_NONE,
                          .value = vector_value(vector, row, &stream->values)};
    }
}

/* Cells are made in the order of column names, and must be sorted by column id. */
static void cells_sort(struct cell *cells, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct cell cell = cells[i];
        uint32_t at = i;
        for (; at > 0 && cells[at - 1].column_id > cell.column_id; at--)
            cells[at] = cells[at - 1];
        cells[at] = cell;
    }
}

static int rows_stream_next(struct stream *base, struct unfiltered *out, struct error *err)
{
    (void)err;
    struct rows_stream *stream = (struct rows_stream *)base;
    if (stream->position >= stream->end)
        return 0;
    uint32_t row = stream->reversed ? --stream->end : stream->position++;
    *out = (struct unfiltered){.kind = UNFILTERED_ROW,
                               .before = {.timestamp_us = TIMESTAMP_NONE},
                               .after = {.timestamp_us = TIMESTAMP_NONE}};
    row_fill(stream, row, &out->row);
    cells_sort(stream->cells, out->row.cell_count);
    return 1;
}

static void rows_stream_close(struct stream *base)
{
    struct rows_stream *stream = (struct rows_stream *)base;
    buffer_release(&stream->values);
    memory_free(stream->cells);
    memory_free(stream);
}

struct stream *columnar_rows_stream(const struct columnar_rows *rows, const struct slice *slice)
{
    struct rows_stream *stream = memory_zeroed(1, sizeof *stream);
    stream->base = (struct stream){.table = rows->table,
                                   .partition_deletion = {.timestamp_us = TIMESTAMP_NONE},
                                   .next = rows_stream_next,
                                   .close = rows_stream_close};
    stream->rows = rows;
    stream->reversed = slice->reversed;
    stream->row = UINT32_MAX;
    buffer_reserve(&stream->values, ((size_t)rows->column_count + 1) * COLUMNAR_VALUE_MAX);
    stream->cells = memory_alloc(rows->column_count * sizeof *stream->cells);
    stream->position = rows_seek(stream, &slice->start);
    stream->end = rows_seek(stream, &slice->end);
    return &stream->base;
}
