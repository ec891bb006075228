/* columnar_rows_order: comparing rows, and sorting their columns.
 *
 * What decides correctness: the sort is stable, because rows with the same clustering must stay in
 * the order of their frames.
 *
 * The first clustering column is nearly always an integer (a time) whose values nearly all differ.
 * So sorting has these phases, each of which is a loop over all rows that is cut into pieces:
 *
 *     CHECK     find whether the rows are in order already; then sorting ends
 *     RANGE     find the least and the greatest value of the first column
 *     NUMBERS   make an item of each row: a number that ascends in clustering order, in the bits
 *               above the row index
 *     RADIX     sort the items by radix sort
 *     PLACES    take the row indexes out of the sorted items
 *     EQUALS    sort each run of equal numbers by all columns, with a comparison sort
 *     GATHER    put the values of each array into the order of the row indexes
 *
 * If the first column is no integer, COMPARE replaces the phases from RANGE to EQUALS.  If number
 * and row index do not fit 64 bits, COMPARE replaces the phases from NUMBERS to EQUALS.  COMPARE is
 * a comparison sort of all rows in one piece. */
#include "storage/cell/columnar_rows_order.h"

#include <string.h>

#include "base/memory.h"

enum {
    INSERTION_ROWS = 24 /* up to so many rows an insertion sort is faster than other sorts */
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

/* ---- the sorts that the phases use ---- */

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

/* ---- the phases of sorting ---- */

/* Does the work of a phase for rows [from, end) and returns the phase that comes next. */
typedef enum columnar_rows_phase (*phase_piece)(struct columnar_rows_order *order, uint32_t from,
                                                uint32_t end);

static bool has_numbers(const struct columnar_rows *rows)
{
    return columnar_rows_clustering_columns(rows) > 0 && rows->vectors[0].kind == VECTOR_INTEGER;
}

static enum columnar_rows_phase check_piece(struct columnar_rows_order *order, uint32_t from,
                                            uint32_t end)
{
    const struct columnar_rows *rows = order->rows;
    size_t count = rows->rows;
    for (uint32_t i = from > 0 ? from : 1; i < end; i++) {
        if (columnar_rows_compare(rows, i - 1, rows, i) <= 0)
            continue;
        order->places = memory_alloc(count * sizeof(*order->places));
        order->numbers = memory_alloc(count * sizeof(*order->numbers));
        order->scratch = memory_alloc(count * sizeof(*order->scratch));
        return has_numbers(rows) ? COLUMNAR_ROWS_RANGE : COLUMNAR_ROWS_COMPARE;
    }
    return end < rows->rows ? COLUMNAR_ROWS_CHECK : COLUMNAR_ROWS_SORTED;
}

static enum columnar_rows_phase range_piece(struct columnar_rows_order *order, uint32_t from,
                                            uint32_t end)
{
    const int64_t *values = order->rows->vectors[0].integers;
    int64_t least = from == 0 ? values[0] : order->least;
    int64_t greatest = from == 0 ? values[0] : order->greatest;
    for (uint32_t i = from; i < end; i++) {
        least = values[i] < least ? values[i] : least;
        greatest = values[i] > greatest ? values[i] : greatest;
    }
    order->least = least;
    order->greatest = greatest;
    if (end < order->rows->rows)
        return COLUMNAR_ROWS_RANGE;
    order->row_bits = bit_length(order->rows->rows);
    order->number_bits = bit_length((uint64_t)greatest - (uint64_t)least);
    return order->number_bits + order->row_bits > 64 ? COLUMNAR_ROWS_COMPARE
                                                     : COLUMNAR_ROWS_NUMBERS;
}

static enum columnar_rows_phase numbers_piece(struct columnar_rows_order *order, uint32_t from,
                                              uint32_t end)
{
    const struct columnar_vector *vector = &order->rows->vectors[0];
    const int64_t *values = vector->integers;
    bool descends = vector->column->descending;
    uint64_t least = (uint64_t)order->least;
    uint64_t greatest = (uint64_t)order->greatest;
    uint64_t *numbers = order->numbers;
    uint32_t row_bits = order->row_bits;
    for (uint32_t i = from; i < end; i++) {
        uint64_t value = (uint64_t)values[i];
        numbers[i] = (descends ? greatest - value : value - least) << row_bits | i;
    }
    uint32_t count = order->rows->rows;
    if (end < count)
        return COLUMNAR_ROWS_NUMBERS;
    radix_sort_begin(&order->radix, numbers, order->scratch, count, row_bits, order->number_bits);
    if (count > INSERTION_ROWS)
        return COLUMNAR_ROWS_RADIX;
    insertion_sort(numbers, count);
    return COLUMNAR_ROWS_PLACES;
}

static enum columnar_rows_phase radix_piece(struct columnar_rows_order *order, uint32_t from,
                                            uint32_t end)
{
    return radix_sort_step(&order->radix, end - from) ? COLUMNAR_ROWS_RADIX : COLUMNAR_ROWS_PLACES;
}

static enum columnar_rows_phase places_piece(struct columnar_rows_order *order, uint32_t from,
                                             uint32_t end)
{
    const uint64_t *sorted = order->radix.items;
    uint64_t row_mask = (UINT64_C(1) << order->row_bits) - 1;
    uint32_t *places = order->places;
    for (uint32_t i = from; i < end; i++)
        places[i] = (uint32_t)(sorted[i] & row_mask);
    if (end < order->rows->rows)
        return COLUMNAR_ROWS_PLACES;
    order->run = 0;
    return columnar_rows_clustering_columns(order->rows) > 1 ? COLUMNAR_ROWS_EQUALS
                                                             : COLUMNAR_ROWS_GATHER;
}

/* Sort the runs of equal numbers that begin in the piece, wherever they end. */
static enum columnar_rows_phase equals_piece(struct columnar_rows_order *order, uint32_t from,
                                             uint32_t end)
{
    const struct columnar_rows *rows = order->rows;
    const int64_t *first = rows->vectors[0].integers;
    uint32_t *places = order->places;
    uint32_t start = order->run;
    check(start >= from);
    for (uint32_t next; start < end; start = next) {
        next = start + 1;
        while (next < rows->rows && first[places[next]] == first[places[start]])
            next++;
        if (next - start > 1)
            order_sort(rows, places + start, (uint32_t *)order->scratch, next - start);
    }
    order->run = start;
    return end < rows->rows ? COLUMNAR_ROWS_EQUALS : COLUMNAR_ROWS_GATHER;
}

static enum columnar_rows_phase compare_piece(struct columnar_rows_order *order, uint32_t from,
                                              uint32_t end)
{
    uint32_t count = order->rows->rows;
    check(from == 0 && end > 0);
    for (uint32_t i = 0; i < count; i++)
        order->places[i] = i;
    order_sort(order->rows, order->places, (uint32_t *)order->scratch, count);
    return COLUMNAR_ROWS_GATHER;
}

/* Inlined with a constant size, so that a value is moved by one instruction. */
static inline void gather(const uint8_t *values, size_t size, const uint32_t *places, uint32_t from,
                          uint32_t end, uint8_t *gathered)
{
    for (size_t i = from; i < end; i++)
        memcpy(gathered + i * size, values + places[i] * size, size);
}

static enum columnar_rows_phase gather_piece(struct columnar_rows_order *order, uint32_t from,
                                             uint32_t end)
{
    const struct columnar_rows *rows = order->rows;
    size_t size = 0;
    uint8_t *values = NULL;
    while (order->array < columnar_rows_arrays(rows) &&
           (values = columnar_rows_array(rows, order->array, &size)) == NULL)
        order->array++;
    if (values == NULL)
        return COLUMNAR_ROWS_SORTED;
    uint8_t *gathered = (uint8_t *)order->scratch;
    if (size == 1)
        gather(values, 1, order->places, from, end, gathered);
    else if (size == sizeof(uint32_t))
        gather(values, sizeof(uint32_t), order->places, from, end, gathered);
    else
        gather(values, sizeof(uint64_t), order->places, from, end, gathered);
    if (end == rows->rows) {
        memcpy(values, order->scratch, rows->rows * size);
        order->array++;
    }
    return COLUMNAR_ROWS_GATHER;
}

/* ---- sorting ---- */

void columnar_rows_order_begin(struct columnar_rows_order *order, struct columnar_rows *rows)
{
    order->rows = rows;
    order->phase = COLUMNAR_ROWS_CHECK;
    order->done = 0;
    order->array = 0;
    order->places = NULL;
    order->numbers = NULL;
    order->scratch = NULL;
}

/* Do the next piece, of at most `left` rows; returns the number of its rows.  A phase that is not
 * finished at the last row begins again at the first row: RADIX with its next loop, GATHER with the
 * next array. */
static uint32_t order_piece(struct columnar_rows_order *order, uint32_t left)
{
    static const phase_piece pieces[] = {
        [COLUMNAR_ROWS_CHECK] = check_piece,     [COLUMNAR_ROWS_RANGE] = range_piece,
        [COLUMNAR_ROWS_NUMBERS] = numbers_piece, [COLUMNAR_ROWS_RADIX] = radix_piece,
        [COLUMNAR_ROWS_PLACES] = places_piece,   [COLUMNAR_ROWS_EQUALS] = equals_piece,
        [COLUMNAR_ROWS_COMPARE] = compare_piece, [COLUMNAR_ROWS_GATHER] = gather_piece};
    uint32_t from = order->done;
    uint32_t count = order->rows->rows;
    uint32_t end = count - from < left ? count : from + left;
    enum columnar_rows_phase next = pieces[order->phase](order, from, end);
    order->done = next == order->phase && end < count ? end : 0;
    order->phase = next;
    return end - from;
}

bool columnar_rows_order_step(struct columnar_rows_order *order)
{
    uint32_t left = COLUMNAR_STEP_ROWS;
    while (order->phase != COLUMNAR_ROWS_SORTED && left > 0)
        left -= order_piece(order, left);
    return order->phase != COLUMNAR_ROWS_SORTED;
}

void columnar_rows_order_release(struct columnar_rows_order *order)
{
    memory_free(order->places);
    memory_free(order->numbers);
    memory_free(order->scratch);
}

void columnar_rows_sort(struct columnar_rows *rows)
{
    struct columnar_rows_order order;
    columnar_rows_order_begin(&order, rows);
    while (columnar_rows_order_step(&order)) {
    }
    columnar_rows_order_release(&order);
}
