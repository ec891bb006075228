/* wide_rows_order: comparing rows, and sorting their columns.
 *
 * What decides correctness: the sort is stable, for equals stand in the order of their frames.
 *
 * The first clustering column is nearly always an integer (a time) whose values nearly all differ.
 * So sorting is: numbers from it that ascend in clustering order, a radix sort of (number, row)
 * packed into 64 bits, and a comparison sort of the few runs of equal numbers by the columns behind
 * it.  Where the first column is no integer, or number and row do not fit 64 bits, everything is
 * one run. */
#include <string.h>

#include "base/memory.h"
#include "base/radix_sort.h"
#include "storage/cell/wide_rows.h"

enum {
    INSERTION_ROWS = 24 /* up to here it beats sorts that need scratch memory */
};

/* ---- comparing ---- */

static int strings_compare(const struct type *type, struct bytes a, struct bytes b)
{
    if (type->kind == TYPE_TEXT || type->kind == TYPE_ASCII || type->kind == TYPE_BLOB)
        return bytes_compare(a, b);
    return type_compare(type, a, b);
}

static int vectors_compare(const struct wide_vector *a, uint32_t row_a, const struct wide_vector *b,
                           uint32_t row_b)
{
    switch (a->kind) {
    case VECTOR_CODE:
        if (a->strings == b->strings && a->codes[row_a] == b->codes[row_b])
            return 0;
        return strings_compare(a->column->type, a->strings[a->codes[row_a]],
                               b->strings[b->codes[row_b]]);
    case VECTOR_DECIMAL:
        return decimal_compare(decimal_from(a->integers[row_a], a->scales[row_a]),
                               decimal_from(b->integers[row_b], b->scales[row_b]));
    case VECTOR_INTEGER:
        break;
    }
    int64_t left = a->integers[row_a];
    int64_t right = b->integers[row_b];
    return (left > right) - (left < right);
}

int wide_rows_compare(const struct wide_rows *a, uint32_t row_a, const struct wide_rows *b,
                      uint32_t row_b)
{
    for (uint32_t i = 0; i < wide_rows_clustering_columns(a); i++) {
        int order = vectors_compare(&a->vectors[i], row_a, &b->vectors[i], row_b);
        if (order != 0)
            return (order < 0) != a->vectors[i].column->descending ? -1 : 1;
    }
    return 0;
}

/* ---- sorting ---- */

/* Numbers that ascend where the first clustering column goes forward in clustering order; false if
 * it is no integer.  The greatest is the range of the values. */
static bool sort_numbers(const struct wide_rows *rows, uint64_t *numbers, uint64_t *range_out)
{
    const struct wide_vector *vector = &rows->vectors[0];
    if (wide_rows_clustering_columns(rows) == 0 || vector->kind != VECTOR_INTEGER)
        return false;
    int64_t least = vector->integers[0];
    int64_t greatest = least;
    for (uint32_t i = 0, end; i < rows->rows;)
        for (end = pace_piece(rows->pace, i, rows->rows); i < end; i++) {
            least = vector->integers[i] < least ? vector->integers[i] : least;
            greatest = vector->integers[i] > greatest ? vector->integers[i] : greatest;
        }
    bool descends = vector->column->descending;
    for (uint32_t i = 0, end; i < rows->rows;)
        for (end = pace_piece(rows->pace, i, rows->rows); i < end; i++)
            numbers[i] = descends ? (uint64_t)greatest - (uint64_t)vector->integers[i]
                                  : (uint64_t)vector->integers[i] - (uint64_t)least;
    *range_out = (uint64_t)greatest - (uint64_t)least;
    return true;
}

static uint32_t bit_length(uint64_t value)
{
    return value == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(value);
}

static void insertion_sort(uint64_t *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t item = items[i];
        uint32_t at = i;
        for (; at > 0 && items[at - 1] > item; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Stable merge sort of row numbers by the whole clustering. */
static void order_sort(const struct wide_rows *rows, uint32_t *order, uint32_t *scratch,
                       uint32_t count)
{
    if (count <= INSERTION_ROWS) {
        for (uint32_t i = 1; i < count; i++) {
            uint32_t row = order[i];
            uint32_t at = i;
            for (; at > 0 && wide_rows_compare(rows, order[at - 1], rows, row) > 0; at--)
                order[at] = order[at - 1];
            order[at] = row;
        }
        return;
    }
    uint32_t half = count / 2;
    order_sort(rows, order, scratch, half);
    order_sort(rows, order + half, scratch, count - half);
    if (wide_rows_compare(rows, order[half - 1], rows, order[half]) <= 0)
        return;
    memcpy(scratch, order, half * sizeof *order);
    uint32_t left = 0;
    uint32_t right = half;
    uint32_t to = 0;
    while (left < half && right < count) {
        bool take_right = wide_rows_compare(rows, scratch[left], rows, order[right]) > 0;
        order[to++] = take_right ? order[right++] : scratch[left++];
    }
    memcpy(order + to, scratch + left, (half - left) * sizeof *order);
}

/* `order` by the numbers, where a number and a row fit 64 bits together. */
static bool order_by_numbers(const struct wide_rows *rows, uint64_t *numbers, uint64_t range,
                             uint32_t *order)
{
    uint32_t count = rows->rows;
    uint32_t row_bits = bit_length(count);
    if (bit_length(range) + row_bits > 64)
        return false;
    uint64_t *other = memory_alloc(count * sizeof *other);
    for (uint32_t i = 0, end; i < count;)
        for (end = pace_piece(rows->pace, i, count); i < end; i++)
            numbers[i] = numbers[i] << row_bits | i;
    uint64_t *sorted = numbers;
    if (count <= INSERTION_ROWS)
        insertion_sort(numbers, count);
    else
        sorted = radix_sort(numbers, other, count, row_bits, bit_length(range), rows->pace);
    uint64_t row_mask = (UINT64_C(1) << row_bits) - 1;
    for (uint32_t i = 0, end; i < count;)
        for (end = pace_piece(rows->pace, i, count); i < end; i++)
            order[i] = (uint32_t)(sorted[i] & row_mask);
    memory_free(other);
    return true;
}

/* Sort each run of rows that are equal in the first column by the columns behind it. */
static void order_equals(const struct wide_rows *rows, uint32_t *order)
{
    const int64_t *first = rows->vectors[0].integers;
    uint32_t *scratch = NULL;
    uint32_t piece = 0;
    for (uint32_t start = 0, end; start < rows->rows; start = end) {
        if (start >= piece)
            piece = pace_piece(rows->pace, start, rows->rows);
        end = start + 1;
        while (end < rows->rows && first[order[end]] == first[order[start]])
            end++;
        if (end - start < 2)
            continue;
        if (end - start > INSERTION_ROWS && scratch == NULL)
            scratch = memory_alloc(rows->rows * sizeof *scratch);
        order_sort(rows, order + start, scratch, end - start);
    }
    memory_free(scratch);
}

static bool is_sorted(const struct wide_rows *rows)
{
    for (uint32_t i = 0, end; i < rows->rows;)
        for (end = pace_piece(rows->pace, i, rows->rows); i < end; i++)
            if (i > 0 && wide_rows_compare(rows, i - 1, rows, i) > 0)
                return false;
    return true;
}

static void gather_64(const struct wide_rows *rows, int64_t *values, int64_t *scratch,
                      const uint32_t *order)
{
    for (uint32_t i = 0, end; i < rows->rows;)
        for (end = pace_piece(rows->pace, i, rows->rows); i < end; i++)
            scratch[i] = values[order[i]];
    memcpy(values, scratch, rows->rows * sizeof *values);
}

static void gather_8(const struct wide_rows *rows, uint8_t *values, void *scratch,
                     const uint32_t *order)
{
    uint8_t *gathered = scratch;
    for (uint32_t i = 0, end; i < rows->rows;)
        for (end = pace_piece(rows->pace, i, rows->rows); i < end; i++)
            gathered[i] = values[order[i]];
    memcpy(values, gathered, rows->rows);
}

static void gather_codes(const struct wide_rows *rows, uint32_t *codes, uint32_t *scratch,
                         const uint32_t *order)
{
    for (uint32_t i = 0, end; i < rows->rows;)
        for (end = pace_piece(rows->pace, i, rows->rows); i < end; i++)
            scratch[i] = codes[order[i]];
    memcpy(codes, scratch, rows->rows * sizeof *codes);
}

static void rows_gather(struct wide_rows *rows, const uint32_t *order)
{
    int64_t *scratch = memory_alloc(rows->rows * sizeof *scratch);
    for (uint32_t i = 0; i < rows->column_count; i++) {
        struct wide_vector *vector = &rows->vectors[i];
        if (vector->kind == VECTOR_CODE)
            gather_codes(rows, vector->codes, (uint32_t *)scratch, order);
        else
            gather_64(rows, vector->integers, scratch, order);
        if (vector->kind == VECTOR_DECIMAL)
            gather_8(rows, vector->scales, scratch, order);
        if (vector->absent != NULL)
            gather_8(rows, vector->absent, scratch, order);
    }
    if (rows->timestamps_us != NULL)
        gather_64(rows, rows->timestamps_us, scratch, order);
    if (rows->ranks != NULL)
        gather_64(rows, rows->ranks, scratch, order);
    memory_free(scratch);
}

void wide_rows_sort(struct wide_rows *rows)
{
    if (is_sorted(rows))
        return;
    uint32_t count = rows->rows;
    uint32_t *order = memory_alloc(count * sizeof *order);
    uint64_t *numbers = memory_alloc(count * sizeof *numbers);
    uint64_t range = 0;
    if (sort_numbers(rows, numbers, &range) && order_by_numbers(rows, numbers, range, order)) {
        if (wide_rows_clustering_columns(rows) > 1)
            order_equals(rows, order);
    } else {
        uint32_t *scratch = memory_alloc(count * sizeof *scratch);
        for (uint32_t i = 0; i < count; i++)
            order[i] = i;
        order_sort(rows, order, scratch, count);
        memory_free(scratch);
    }
    rows_gather(rows, order);
    memory_free(numbers);
    memory_free(order);
}
