/* columnar_rows_order: rows put into clustering order, in steps.
 *
 * Flushes and merges sort a large partition in steps and do other work between them;
 * columnar_rows_sort does all steps.  Rows with the same clustering keep their order. */
#ifndef DAYBOOK_STORAGE_CELL_COLUMNAR_ROWS_ORDER_H
#define DAYBOOK_STORAGE_CELL_COLUMNAR_ROWS_ORDER_H

#include "base/radix_sort.h"
#include "storage/cell/columnar_rows.h"

/* The phases of the work, which columnar_rows_order.c describes. */
enum columnar_rows_phase {
    COLUMNAR_ROWS_CHECK,
    COLUMNAR_ROWS_RANGE,
    COLUMNAR_ROWS_NUMBERS,
    COLUMNAR_ROWS_RADIX,
    COLUMNAR_ROWS_PLACES,
    COLUMNAR_ROWS_EQUALS,
    COLUMNAR_ROWS_COMPARE,
    COLUMNAR_ROWS_GATHER,
    COLUMNAR_ROWS_SORTED
};

/* In the caller's memory; all members are private. */
struct columnar_rows_order {
    struct columnar_rows *rows;
    enum columnar_rows_phase phase;
    uint32_t done;                     /* rows for which the phase is done */
    int64_t least;                     /* the least and the greatest value of the first column */
    int64_t greatest;
    uint32_t number_bits;              /* bits of the number in each item of `numbers` */
    uint32_t row_bits;                 /* bits of the row's index below the number */
    uint32_t run;                      /* EQUALS: where the next run begins */
    uint32_t array;                    /* GATHER: the index for columnar_rows_array */
    uint32_t *places;                  /* row numbers in clustering order */
    uint64_t *numbers;
    uint64_t *scratch;
    struct radix_sort radix;
};

/* Until the order is released the rows may be changed by its steps only. */
void columnar_rows_order_begin(struct columnar_rows_order *order, struct columnar_rows *rows);
/* Do the work of one step: COLUMNAR_STEP_ROWS rows, or more rows in the phase COMPARE and for a
 * longer run of equals.  False: the rows are in order. */
bool columnar_rows_order_step(struct columnar_rows_order *order);
/* May be called before the last step; the contents of the rows are then undefined. */
void columnar_rows_order_release(struct columnar_rows_order *order);
#endif
