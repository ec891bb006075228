/* columnar_rows_order: rows put into clustering order, in steps.
 *
 * A flush or a merge does something else between the steps of a large partition; where nothing is
 * to be done in between, columnar_rows_sort does all of them.  Equals stay in the order they are
 * in. */
#ifndef DAYBOOK_STORAGE_CELL_COLUMNAR_ROWS_ORDER_H
#define DAYBOOK_STORAGE_CELL_COLUMNAR_ROWS_ORDER_H

#include "base/radix_sort.h"
#include "storage/cell/columnar_rows.h"

/* What is done next; columnar_rows_order.c says what each is. */
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

/* In the caller's memory; all of it private. */
struct columnar_rows_order {
    struct columnar_rows *rows;
    enum columnar_rows_phase phase;
    uint32_t done;                     /* rows that the phase has been through */
    int64_t least;                     /* of the first column */
    int64_t greatest;
    uint32_t number_bits;              /* that the numbers take, and rows behind them */
    uint32_t row_bits;
    uint32_t run;                      /* EQUALS: where the next run begins */
    uint32_t array;                    /* GATHER: the next of the arrays of the rows */
    uint32_t *places;                  /* the rows in their order */
    uint64_t *numbers;
    uint64_t *scratch;
    struct radix_sort radix;
};

/* The rows stay as they are, but for the steps, until the order is released. */
void columnar_rows_order_begin(struct columnar_rows_order *order, struct columnar_rows *rows);
/* Work for some COLUMNAR_STEP_ROWS rows of one array.  False: they are in order. */
bool columnar_rows_order_step(struct columnar_rows_order *order);
/* Before the last step, too: then the rows hold nothing that can be used. */
void columnar_rows_order_release(struct columnar_rows_order *order);
#endif
