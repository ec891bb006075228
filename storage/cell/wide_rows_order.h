/* wide_rows_order: rows put into clustering order, in steps.
 *
 * A flush or a merge does something else between the steps of a large partition; where nothing is
 * to be done in between, wide_rows_sort does all of them.  Equals stay in the order they are in. */
#ifndef DAYBOOK_STORAGE_CELL_WIDE_ROWS_ORDER_H
#define DAYBOOK_STORAGE_CELL_WIDE_ROWS_ORDER_H

#include "base/radix_sort.h"
#include "storage/cell/wide_rows.h"

/* What is done next; wide_rows_order.c says what each is. */
enum wide_rows_phase {
    WIDE_ROWS_CHECK,
    WIDE_ROWS_RANGE,
    WIDE_ROWS_NUMBERS,
    WIDE_ROWS_RADIX,
    WIDE_ROWS_PLACES,
    WIDE_ROWS_EQUALS,
    WIDE_ROWS_COMPARE,
    WIDE_ROWS_GATHER,
    WIDE_ROWS_SORTED
};

/* In the caller's memory; all of it private. */
struct wide_rows_order {
    struct wide_rows *rows;
    enum wide_rows_phase phase;
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
void wide_rows_order_begin(struct wide_rows_order *order, struct wide_rows *rows);
/* Work for some WIDE_STEP_ROWS rows of one array.  False: they are in order. */
bool wide_rows_order_step(struct wide_rows_order *order);
/* Before the last step, too: then the rows hold nothing that can be used. */
void wide_rows_order_release(struct wide_rows_order *order);
#endif
