/* columnar_rows_order: comparing rows, and sorting their columns.
 *
 * The sort must be stable: rows with the same clustering stay in the order of their frames.  If the
 * first clustering column has integers that are not too far apart, rows are sorted by this column
 * with radix sort, and then rows that agree in it are sorted by all clustering columns.  Otherwise
 * rows are sorted by comparison. */
#include <string.h>

#include "base/memory.h"
#include "base/radix_sort.h"
#include "storage/cell/columnar_rows.h"

enum {
    INSERTION_ROWS = 24 /* up to so many rows, insertion sort is the fastest */
};

/* ---- comparing ---- */

static int strings_compare(const struct type *type, struct bytes a, struct bytes b)
{
    if (type->kind == TYPE_TEXT || type->kind == TYPE_ASCII || type->kind == TYPE_BLOB)
        return bytes_compare(a, b);
    return type_compare(type, a, b);
}

static int vectors_compare(const struct columnar_vector *a, uint32_t row_a,
                           const struct columnar_vector *b, uint32_t row_b)
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

int columnar_rows_compare(const struct columnar_rows *a, uint32_t row_a,
                          const struct columnar_rows *b, uint32_t row_b)
{
    for (uint32_t i = 0; i < columnar_rows_clustering_columns(a); i++) {
        int order = vectors_compare(&a->vectors[i], row_a, &b->vectors[i], row_b);
        if (order != 0)
            return (order < 0) != a->vectors[i].column->descending ? -1 : 1;
    }
    return 0;
}

/* ---- the order of the rows ---- */

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

static void order_sort(const struct columnar_rows *rows, uint32_t *order, uint32_t *scratch,
                       uint32_t count)
{
    if (count <= INSERTION_ROWS) {
        for (uint32_t i = 1; i < count; i++) {
            uint32_t row = order[i];
            uint32_t at = i;
            for (; at > 0 && columnar_rows_compare(rows, order[at - 1], rows, row) > 0; at--)
                order[at] = order[at - 1];
            order[at] = row;
        }
        return;
    }
    uint32_t half = count / 2;
    order_sort(rows, order, scratch, half);
    order_sort(rows, order + half, scratch, count - half);
    if (columnar_rows_compare(rows, order[half - 1], rows, order[half]) <= 0)
        return;
    memcpy(scratch, order, half * sizeof(*order));
    uint32_t left = 0;
    uint32_t right = half;
    uint32_t to = 0;
    while (left < half && right < count) {
        bool take_right = columnar_rows_compare(rows, scratch[left], rows, order[right]) > 0;
        order[to++] = take_right ? order[right++] : scratch[left++];
    }
    memcpy(order + to, scratch + left, (half - left) * sizeof(*order));
}

static bool is_sorted(const struct columnar_rows *rows)
{
    for (uint32_t i = 1; i < rows->rows; i++)
        if (columnar_rows_compare(rows, i - 1, rows, i) > 0)
            return false;
    return true;
}

/* False: the first column's values and the row numbers do not fit 64 bits together.  An item has a
 * number that ascends in clustering order in its high bits, and the row number in its low bits.
 * `items` must have space for twice as many items as rows. */
static bool order_by_first(const struct columnar_rows *rows, uint32_t *places, uint64_t *items)
{
    const struct columnar_vector *vector = &rows->vectors[0];
    const int64_t *values = vector->integers;
    uint32_t count = rows->rows;
    int64_t least = values[0];
    int64_t greatest = values[0];
    for (uint32_t i = 1; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        greatest = values[i] > greatest ? values[i] : greatest;
    }
    uint32_t row_bits = bit_length(count);
    uint32_t number_bits = bit_length((uint64_t)greatest - (uint64_t)least);
    if (number_bits + row_bits > 64)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = vector->column->descending ? (uint64_t)greatest - (uint64_t)values[i]
                                                     : (uint64_t)values[i] - (uint64_t)least;
        items[i] = number << row_bits | i;
    }
    const uint64_t *sorted = items;
    if (count > INSERTION_ROWS)
        sorted = radix_sort(items, items + count, count, row_bits, number_bits);
    else
        insertion_sort(items, count);
    for (uint32_t i = 0; i < count; i++)
        places[i] = (uint32_t)(sorted[i] & ((UINT64_C(1) << row_bits) - 1));
    return true;
}

static void order_equals(const struct columnar_rows *rows, uint32_t *places, uint32_t *scratch)
{
    const int64_t *first = rows->vectors[0].integers;
    for (uint32_t start = 0, end; start < rows->rows; start = end) {
        end = start + 1;
        while (end < rows->rows && first[places[end]] == first[places[start]])
            end++;
        if (end - start > 1)
            order_sort(rows, places + start, scratch, end - start);
    }
}

static void order_all(const struct columnar_rows *rows, uint32_t *places, uint32_t *scratch)
{
    for (uint32_t i = 0; i < rows->rows; i++)
        places[i] = i;
    order_sort(rows, places, scratch, rows->rows);
}

/* ---- sorting ---- */

/* Inlined with a constant size, so that a value is moved by one instruction. */
static inline void gather(const uint8_t *values, size_t size, const uint32_t *places,
                          uint32_t count, uint8_t *gathered)
{
    for (size_t i = 0; i < count; i++)
        memcpy(gathered + i * size, values + places[i] * size, size);
}

static void array_order(uint8_t *values, size_t size, const uint32_t *places, uint32_t count,
                        uint8_t *gathered)
{
    if (size == 1)
        gather(values, 1, places, count, gathered);
    else if (size == sizeof(uint32_t))
        gather(values, sizeof(uint32_t), places, count, gathered);
    else
        gather(values, sizeof(uint64_t), places, count, gathered);
    memcpy(values, gathered, count * size);
}

void columnar_rows_sort(struct columnar_rows *rows)
{
    uint32_t count = rows->rows;
    if (is_sorted(rows))
        return;
    uint32_t *places = memory_alloc(count * sizeof *places);
    uint64_t *items = memory_alloc(2 * sizeof *items * count);
    bool has_integers =
        columnar_rows_clustering_columns(rows) > 0 && rows->vectors[0].kind == VECTOR_INTEGER;
    if (!has_integers || !order_by_first(rows, places, items))
        order_all(rows, places, (uint32_t *)items);
    else if (columnar_rows_clustering_columns(rows) > 1)
        order_equals(rows, places, (uint32_t *)items);
    for (uint32_t i = 0; i < columnar_rows_arrays(rows); i++) {
        size_t size;
        uint8_t *values = columnar_rows_array(rows, i, &size);
        if (values != NULL)
            array_order(values, size, places, count, (uint8_t *)items);
    }
    memory_free(places);
    memory_free(items);
}
